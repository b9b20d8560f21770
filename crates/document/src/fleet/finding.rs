//! Builds the findings about a fleet: outliers and differences, with their texts and next steps.

use gpubench_report::Side;
use gpubench_text::count::{self, counted};
use gpubench_text::grouped::grouped;
use serde::Serialize;

use super::facts::{DeviceFact, differing, of_gpu, of_host};
use crate::blocks::Remark;
use crate::table::Tone;
use gpubench_analysis::fleet::best::{BestResult, LineKey};
use gpubench_analysis::fleet::identity::DeviceClass;
use gpubench_analysis::fleet::table::{FleetColumn, FleetTable};

/// Maximum number of cases or members named in a sentence; the others are counted.
const MAX_NAMED: usize = 4;

/// Kinds of findings, in the order in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FindingKind {
    /// A GPU or host lacks times that similar ones have.
    MissingTimes,
    /// A GPU or host is slower or faster than similar ones overall.
    Member,
    /// Two similar ones differ, and it is unknown which is the outlier.
    Pair,
    /// Devices of one model have different configurations.
    MixedClasses,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct FleetFinding {
    pub kind: FindingKind,
    pub side: Side,
    pub name: String,
    /// Time of the device or host over that of similar ones, if the finding is about times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    pub text: String,
    pub next: String,
}

impl FleetFinding {
    fn new(
        table: &FleetTable<'_>,
        column: usize,
        kind: FindingKind,
        log: Option<f64>,
        text: String,
        next: String,
    ) -> Self {
        let name = table.columns[column].name.clone();
        FleetFinding { kind, side: table.side, name, ratio: log.map(f64::exp), text, next }
    }

    /// Returns the finding as a remark. What `next` names is often a recorded difference, so it follows in the sentence.
    pub(super) fn remark(&self) -> Remark {
        let (kind, tone) = match (self.kind, self.ratio) {
            (FindingKind::MissingTimes, _) => ("missing", Tone::Wrong),
            (FindingKind::MixedClasses, _) => ("mixed", Tone::Inconclusive),
            (FindingKind::Pair, _) => ("differ", Tone::Inconclusive),
            (_, Some(ratio)) if ratio > 1.0 => ("slower", Tone::Worse),
            _ => ("faster", Tone::Better),
        };
        Remark { kind: kind.into(), tone, text: format!("{}; {}", self.text, self.next), ..Remark::default() }
    }
}

pub(super) struct SimilarColumns<'a> {
    pub table: &'a FleetTable<'a>,
    /// Indices of the columns in the table.
    pub columns: Vec<usize>,
}

impl SimilarColumns<'_> {
    pub(super) fn member(&self, column: usize, log: f64, most: Option<(&str, f64)>) -> FleetFinding {
        let most = most.map(|(op, log)| format!(" (most in {op}: {})", by(log))).unwrap_or_default();
        let (name, like) = (&self.table.columns[column].name, self.median_of_others());
        let text = format!("{name} {}{most}", compared(log, "is", "slower", &like));
        let check = match self.table.side {
            Side::Gpu => "its cooling, its slot and other processes (nvidia-smi -q)",
            Side::Cpu => "other processes, its memory and its power settings",
        };
        let next = self.differences(column);
        let next = next.unwrap_or_else(|| format!("its report shows no difference: check {check}"));
        FleetFinding::new(self.table, column, FindingKind::Member, Some(log), text, next)
    }

    /// Builds the finding about two similar members, of which the first is slower.
    pub(super) fn pair(&self, slow: usize, fast: usize, log: f64) -> FleetFinding {
        let [slow_name, fast_name] = [slow, fast].map(|column| &self.table.columns[column].name);
        let (what, noun) = (compared(log, "is", "slower", fast_name), noun(self.table.side, 1));
        let text = format!(
            "{slow_name} {what}, the only similar {noun}: with two, gpubench cannot say which is unusual"
        );
        let next = self.differences(slow).unwrap_or_else(|| "measure a third similar one".into());
        FleetFinding::new(self.table, slow, FindingKind::Pair, Some(log), text, next)
    }

    pub(super) fn missing_times(&self, column: usize, lines: &[usize]) -> FleetFinding {
        let listed = lines.iter().map(|&line| {
            let line = &self.table.lines[line];
            let why = match &line.times[column] {
                Some(BestResult::Untimed(missing)) => {
                    let reason = missing.reason.as_deref().map(|reason| format!(": {reason}"));
                    format!(" ({}{})", missing.outcome.name(), reason.unwrap_or_default())
                }
                _ => String::new(),
            };
            case(&line.key) + &why
        });
        let (owner, cases) = (&self.table.columns[column], counted(lines.len(), "case"));
        let (name, nouns) = (&owner.name, noun(self.table.side, 2));
        let text = format!("{name} has no time for {cases} that similar {nouns} measured: {}", named(listed));
        FleetFinding::new(self.table, column, FindingKind::MissingTimes, None, text, show(owner))
    }

    fn median_of_others(&self) -> String {
        let others = self.columns.len() - 1;
        format!("the median of {others} similar {}", noun(self.table.side, others))
    }

    fn others(&self, column: usize) -> impl Iterator<Item = usize> {
        self.columns.iter().copied().filter(move |other| *other != column)
    }

    fn differences(&self, column: usize) -> Option<String> {
        let facts = |column: usize| -> Vec<DeviceFact> {
            let reports = &self.table.columns[column].reports;
            match self.table.side {
                Side::Cpu => of_host(reports),
                Side::Gpu => of_gpu(reports[0]),
            }
        };
        let found = differing(&facts(column), &self.others(column).map(facts).collect::<Vec<_>>());
        (!found.is_empty()).then(|| format!("different from the others: {}", found.join(", ")))
    }
}

pub(super) fn mixed_classes(table: &FleetTable<'_>) -> Vec<FleetFinding> {
    let by_model = grouped(table.classes().into_iter().map(|class| (&class.0.model, class)));
    let several = by_model.into_iter().filter(|(_, classes)| classes.len() > 1);
    let finding = |(model, classes): (&String, Vec<(&DeviceClass, Vec<usize>)>)| {
        let (_, rarest) = classes.iter().min_by_key(|(_, columns)| columns.len())?;
        let listed = classes.iter().map(|(class, columns)| {
            let names = named(columns.iter().map(|&column| table.columns[column].name.clone()));
            let details = if class.details.is_empty() { "nothing recorded" } else { &class.details };
            format!("{} with {details} ({names})", columns.len())
        });
        let text = format!(
            "{model} {} have {} configurations, which gpubench does not compare: {}",
            noun(table.side, 2),
            classes.len(),
            listed.collect::<Vec<_>>().join(", ")
        );
        let next = "to compare them, give all the same driver, clocks and CPUs".into();
        Some(FleetFinding::new(table, rarest[0], FindingKind::MixedClasses, None, text, next))
    };
    several.filter_map(finding).collect()
}

/// Returns the line for a device class without outliers.
pub(super) fn no_outliers(side: Side, class: &DeviceClass, count: usize) -> String {
    let nouns = noun(side, count);
    match count {
        2 => format!("The 2 similar {nouns} differ by at most 3 %: {class}."),
        _ => format!("No outlier among {count} similar {nouns}: {class}."),
    }
}

/// `matmul N=1000 f32, cold cache`.
fn case(key: &LineKey) -> String {
    let family = key.family().words().map(|words| format!(" {words}"));
    let variant = key.variant.as_ref().map(|variant| format!(" {variant}")).unwrap_or_default();
    let LineKey { op, n, dtype, cache, .. } = key;
    format!("{op}{variant} N={n} {dtype}{}, {cache} cache", family.unwrap_or_default())
}

pub(super) fn noun(side: Side, count: usize) -> String {
    count::noun(count, if side == Side::Gpu { "device" } else { "host" })
}

fn show(column: &FleetColumn<'_>) -> String {
    format!("rows: gpubench show FLEET --member '{}' --all-variants", column.members[0])
}

fn named(listed: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = listed.collect();
    if all.len() > MAX_NAMED {
        let more = format!("{} more", all.len() - MAX_NAMED);
        all.splice(MAX_NAMED.., [more]);
    }
    all.join(", ")
}

/// Says how much slower or faster than `other` something is: `is 8 % slower than a GPU 0`.
fn compared(log: f64, verb: &str, slower: &str, other: &str) -> String {
    match log > 0.0 {
        _ if log >= 2f64.ln() => format!("takes {:.1} times as long as {other}", log.exp()),
        true => format!("{verb} {} {slower} than {other}", by(log)),
        false => format!("takes {} less time than {other}", by(log)),
    }
}

/// Formats a deviation in per cent, without its sign.
fn by(log: f64) -> String {
    format!("{:.0} %", 100.0 * (log.exp() - 1.0).abs())
}
