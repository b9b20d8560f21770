//! Builds the findings with their texts and next steps.

use gpubench_model::Side;
use gpubench_model::case::density_text;
use gpubench_text::count::{self, counted};
use gpubench_text::grouped::grouped;

use super::best::{BestResult, Key};
use super::facts::{Fact, differing};
use super::finding::{Finding, Group, Kind};
use super::identity::DeviceClass;
use super::table::{Column, Table};

/// Maximum number of cases or members named in a sentence; the others are counted.
const MAX_NAMED: usize = 4;

/// Builds the finding about a member that deviates overall; `most` is the op that deviates most.
pub(crate) fn member(group: &Group<'_>, column: usize, log: f64, most: Option<(&str, f64)>) -> Finding {
    let most = most.map(|(op, log)| format!(" (most in {op}: {})", by(log))).unwrap_or_default();
    let like = median_of_like(group);
    let what = match log > 0.0 {
        _ if log >= 2f64.ln() => format!("takes {} as long as {like}", times(log)),
        true => format!("is {} slower than {like}", by(log)),
        false => format!("takes {} less time than {like}", by(log)),
    };
    let text = format!("{} {what}{most}", group.table.columns[column].name);
    let next = differences(group, column).unwrap_or_else(|| no_difference(group.table.side).to_owned());
    finding(Kind::Member, group.table, column, Some(log), text, next)
}

/// Builds the finding about one cell; `whole` is the deviation of the member overall, if that is an outlier too.
pub(crate) fn cell(group: &Group<'_>, column: usize, line: usize, log: f64, whole: Option<f64>) -> Finding {
    let (table, like) = (group.table, median_of_like(group));
    let name = &table.columns[column].name;
    let what = match log > 0.0 {
        _ if log >= 2f64.ln() => format!("{} as long as {like}", times(log)),
        true => format!("{} longer than {like}", by(log)),
        false => format!("{} less time than {like}", by(log)),
    };
    let whole = whole.map(|log| {
        let direction = if log > 0.0 { "longer" } else { "less" };
        format!(" (overall it takes {} {direction})", by(log))
    });
    let variants = other_variant(group, column, line).unwrap_or_default();
    let case = case(&table.lines[line].key);
    let text = format!("{case}: {name} takes {what}{}{variants}", whole.unwrap_or_default());
    let rows = show(&table.columns[column]);
    let next = differences(group, column).map_or(rows.clone(), |differ| format!("{differ}; {rows}"));
    finding(Kind::Cell, table, column, Some(log), text, next)
}

/// Builds the finding about two similar members, of which the first is slower.
pub(crate) fn pair(group: &Group<'_>, slow: usize, fast: usize, log: f64) -> Finding {
    let columns = &group.table.columns;
    let what = match log {
        log if log >= 2f64.ln() => format!("takes {} as long as", times(log)),
        log => format!("is {} slower than", by(log)),
    };
    let (slow_name, fast_name) = (&columns[slow].name, &columns[fast].name);
    let noun = noun(group.table.side, 1);
    let text = format!(
        "{slow_name} {what} {fast_name}, the only similar {noun}: with two, gpubench cannot say which is unusual"
    );
    let next = differences(group, slow).unwrap_or_else(|| "measure a third similar one".into());
    finding(Kind::Pair, group.table, slow, Some(log), text, next)
}

/// Builds the finding about lines for which a column has no time although similar ones have.
pub(crate) fn missing_times(group: &Group<'_>, column: usize, lines: &[usize]) -> Finding {
    let table = group.table;
    let listed = lines.iter().map(|&line| {
        let line = &table.lines[line];
        let why = match &line.times[column] {
            Some(BestResult::Untimed(missing)) => {
                let reason =
                    missing.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                format!(" ({}{reason})", missing.outcome.name())
            }
            _ => String::new(),
        };
        case(&line.key) + &why
    });
    let (name, cases) = (&table.columns[column].name, counted(lines.len(), "case"));
    let nouns = noun(table.side, 2);
    let text = format!("{name} has no time for {cases} that similar {nouns} measured: {}", named(listed));
    finding(Kind::MissingTimes, table, column, None, text, show(&table.columns[column]))
}

/// Builds the findings about models with several configurations, which are not compared.
pub(crate) fn mixed_classes(table: &Table) -> Vec<Finding> {
    let mut found: Vec<Finding> = vec![];
    for (model, kinds) in grouped(table.kinds().into_iter().map(|kind| (&kind.0.model, kind))) {
        let Some((_, rarest)) = kinds.iter().min_by_key(|(_, columns)| columns.len()) else { continue };
        if kinds.len() < 2 {
            continue;
        }
        let listed = kinds.iter().map(|(kind, columns)| {
            let names = named(columns.iter().map(|&column| table.columns[column].name.clone()));
            let details = if kind.details.is_empty() { "nothing recorded" } else { &kind.details };
            format!("{} with {details} ({names})", columns.len())
        });
        let count = kinds.len();
        let listed = listed.collect::<Vec<_>>().join(", ");
        let text = format!(
            "{model} {} have {count} configurations, which gpubench does not compare: {listed}",
            noun(table.side, 2)
        );
        let next = "to compare them, give all the same driver, clocks and CPUs".into();
        found.push(finding(Kind::MixedClasses, table, rarest[0], None, text, next));
    }
    found
}

/// Returns the line for a device class without outliers.
pub(crate) fn no_outliers(table: &Table, kind: &DeviceClass, count: usize) -> String {
    let nouns = noun(table.side, count);
    match count {
        2 => format!("The 2 similar {nouns} differ by at most 3 %: {kind}."),
        _ => format!("No outlier among {count} similar {nouns}: {kind}."),
    }
}

/// `matmul N=1000 f32, cold cache`.
pub(crate) fn case(key: &Key) -> String {
    let density =
        key.density.map(|density| format!(" density {}", density_text(density))).unwrap_or_default();
    let variant = key.variant.as_ref().map(|variant| format!(" {variant}")).unwrap_or_default();
    format!("{}{variant} N={} {}{density}, {} cache", key.op, key.n, key.dtype, key.cache)
}

/// Returns the noun for the columns of a side.
pub(crate) fn noun(side: Side, count: usize) -> String {
    let one = match side {
        Side::Gpu => "device",
        Side::Cpu => "host",
    };
    count::noun(count, one)
}

fn finding(
    kind: Kind,
    table: &Table,
    column: usize,
    log: Option<f64>,
    text: String,
    next: String,
) -> Finding {
    let name = table.columns[column].name.clone();
    Finding { kind, side: table.side, name, ratio: log.map(f64::exp), text, next }
}

fn median_of_like(group: &Group<'_>) -> String {
    let others = group.columns.len() - 1;
    format!("the median of {others} similar {}", noun(group.table.side, others))
}

/// Returns the recorded differences from the other columns of the group.
fn differences(group: &Group<'_>, column: usize) -> Option<String> {
    let facts = |&column: &usize| group.table.columns[column].facts.as_slice();
    let others: Vec<&[Fact]> = group.columns.iter().filter(|other| **other != column).map(facts).collect();
    let found = differing(facts(&column), &others);
    (!found.is_empty()).then(|| format!("different from the others: {}", found.join(", ")))
}

fn no_difference(side: Side) -> &'static str {
    match side {
        Side::Gpu => {
            "its report shows no difference: check its cooling, its slot and other processes (nvidia-smi -q)"
        }
        Side::Cpu => {
            "its report shows no difference: check other processes, its memory and its power settings"
        }
    }
}

fn show(column: &Column) -> String {
    let member = column.members.first().unwrap_or(&column.name);
    format!("rows: gpubench show FLEET --member '{member}' --all-variants")
}

/// Returns the variant of a cell, if it differs from that of most similar columns.
fn other_variant(group: &Group<'_>, column: usize, line: usize) -> Option<String> {
    let line = &group.table.lines[line];
    let own = &line.timing(column)?.variant;
    let others = group.columns.iter().filter(|other| **other != column);
    let others: Vec<&String> = others.filter_map(|&other| Some(&line.timing(other)?.variant)).collect();
    let usual = others
        .iter()
        .find(|variant| 2 * others.iter().filter(|other| other == variant).count() > others.len())?;
    (*usual != own).then(|| format!(" (its best variant is {own}; for most others it is {usual})"))
}

fn named(listed: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = listed.collect();
    let mut shown: Vec<String> = all.iter().take(MAX_NAMED).cloned().collect();
    if all.len() > MAX_NAMED {
        shown.push(format!("{} more", all.len() - MAX_NAMED));
    }
    shown.join(", ")
}

/// Formats a deviation in per cent, without its sign.
fn by(log: f64) -> String {
    format!("{:.0} %", 100.0 * (log.exp() - 1.0).abs())
}

fn times(log: f64) -> String {
    format!("{:.1} times", log.exp())
}

/// Returns the side as in titles of tables.
pub(crate) fn side(side: Side) -> String {
    side.name().to_uppercase()
}
