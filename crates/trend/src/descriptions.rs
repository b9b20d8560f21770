//! Texts that the table, the Markdown and the charts of a trend share.

use std::collections::BTreeSet;

use gpubench_compare::Difference;
use gpubench_model::Side;
use gpubench_model::report::machine::processor;
use gpubench_model::report::quantity::{factor_within, spread_text, time_text};
use gpubench_text::count::{self, agree};
use gpubench_text::cut;
use gpubench_text::percent;
use jiff::Timestamp;

use super::{Direction, IgnoredFile, ReportRef, Series, Step, Trend};

/// Maximum number of ignored files that are named.
const NAMED: usize = 3;

/// Smallest correlation between successive reports that is shown.
const MIN_CORRELATION: f64 = 0.3;

/// Maximum number of facts shown for a step.
const FACTS: usize = 3;

/// Maximum number of characters of a fact's value.
const LONGEST: usize = 60;

/// `1 report`, `2 reports`, `no report`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    if count == 0 { format!("no {thing}") } else { count::counted(count, thing) }
}

/// Counts and names the files that are not readable reports, with the reasons, in one line without a full stop; `None`
/// without any.
pub(crate) fn left_out(files: &[IgnoredFile]) -> Option<String> {
    files.first()?;
    // The reason starts with the path and ends with a next step for that file alone.
    let short = |file: &IgnoredFile| file.reason.split(';').next().unwrap_or_default().to_owned();
    let named: Vec<String> = files.iter().take(NAMED).map(short).collect();
    let more = files.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let are = agree(files.len(), "is not a readable report", "are not readable reports");
    let (count, named) = (counted(files.len(), "JSON file"), named.join(", "));
    Some(format!("{count} {are} ({named}{more}): correct or remove them"))
}

/// `2026-11-21 10:30`, UTC.
pub(crate) fn minute(report_ref: &ReportRef) -> String {
    formatted(report_ref, "%Y-%m-%d %H:%M")
}

/// `2026-11-21`, UTC.
pub(crate) fn day(report_ref: &ReportRef) -> String {
    formatted(report_ref, "%Y-%m-%d")
}

/// Formats the start of a report in UTC.
pub(crate) fn formatted(report_ref: &ReportRef, format: &str) -> String {
    let started = report_ref.started.parse::<Timestamp>();
    started.map_or_else(|_| report_ref.started.clone(), |started| started.strftime(format).to_string())
}

/// Returns the best known revision of the measured code: `abc123456`, `gpubench abc123456` or `gpubench 0.1.0`.
pub(crate) fn revision(report_ref: &ReportRef) -> String {
    match (&report_ref.git_revision, &report_ref.gpubench_revision) {
        (Some(revision), _) => short(revision),
        (None, Some(revision)) => format!("gpubench {}", short(revision)),
        (None, None) => format!("gpubench {}", report_ref.gpubench_version),
    }
}

/// Shortens a git revision to nine digits and keeps `-dirty`; returns other texts unchanged.
fn short(revision: &str) -> String {
    let (digits, rest) = revision.split_at(revision.find('-').unwrap_or(revision.len()));
    let is_hash = digits.len() > 9 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { format!("{}{rest}", &digits[..9]) } else { revision.to_owned() }
}

/// Formats a share: `2%`, `0.5%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{}%", percent::rounded(share, 2))
}

/// Formats the ratio of the time after to the time before: `1.31x slower`.
pub(crate) fn change(ratio: f64) -> String {
    format!("{} {}", factor_within(ratio.max(1.0 / ratio), 3), Direction::of(ratio).name())
}

/// `1.31x`.
pub(crate) fn factor(step: &Step) -> String {
    factor_within(step.factor(), 3)
}

/// Returns the changes of host, gpubench and environment at a step: `host a -> b, driver 580.1 -> 590.2`.
pub(crate) fn also_changed(trend: &Trend, step: &Step) -> Option<String> {
    let (before, after) = (&trend.reports[step.last_before], &trend.reports[step.first_after]);
    let host = (before.host != after.host).then(|| format!("host {} -> {}", before.host, after.host));
    let mut changes = Vec::from_iter(host);
    if before.gpubench_version != after.gpubench_version {
        changes.push(format!("gpubench {} -> {}", before.gpubench_version, after.gpubench_version));
    } else if let (Some(old), Some(new)) = (&before.gpubench_revision, &after.gpubench_revision)
        && old != new
    {
        changes.push(format!("gpubench {} -> {}", short(old), short(new)));
    }
    // The version of gpubench is already in the list.
    let facts = step.environment.iter().filter(|difference| difference.fact != "gpubench-version");
    let facts: Vec<String> = facts.map(fact).collect();
    changes.extend(facts.iter().take(FACTS).cloned());
    if facts.len() > FACTS {
        changes.push(format!("and {} more", facts.len() - FACTS));
    }
    (!changes.is_empty()).then(|| changes.join(", "))
}

/// `driver 580.1 -> 590.2`, `blas openblas: 0.3.21 -> 0.3.26`.
fn fact(difference: &Difference) -> String {
    let Difference { old, new, .. } = difference;
    let items = if old.lead().is_empty() { String::new() } else { format!("{}: ", old.lead()) };
    let [items, old, new] =
        [items.as_str(), old.rest(), new.rest()].map(|text| cut::shortened(text, LONGEST));
    format!("{} {items}{old} -> {new}", difference.fact)
}

/// `from 2026-09-01 to 2026-11-21`, or `of 2026-11-21`.
pub(crate) fn span(first: &ReportRef, last: &ReportRef) -> String {
    match (day(first), day(last)) {
        (first, last) if first == last => format!("of {first}"),
        (first, last) => format!("from {first} to {last}"),
    }
}

/// Returns the newest time and the noise between reports: `now 16.1 µs, 1.30x the best level of 12.4 µs, noise 1.3%`,
/// with `correlation 0.6` and `drift: 1.20x slower from first to last` if they apply.
pub(crate) fn status(series: &Series) -> String {
    let now = format!("now {}", time_text(series.newest_s));
    let over = series.newest_over_best();
    let best = time_text(series.best_level_s);
    // New values scatter around their level, so values within the noise count as at the level.
    let is_above = over > (2.0 * series.noise.unwrap_or(0.0)).exp().max(1.02);
    let at = if is_above { factor_within(over, 3) } else { "at".into() };
    let noise = series.noise.map(|noise| format!(", noise {}", spread_text(noise))).unwrap_or_default();
    let correlation = series.correlation.filter(|correlation| *correlation >= MIN_CORRELATION);
    let correlation = correlation.map(|found| format!(", correlation {found:.1}")).unwrap_or_default();
    let drift = series.drift.map(|ratio| format!(", drift: {} from first to last", change(ratio)));
    format!("{now}, {at} the best level of {best}{noise}{correlation}{}", drift.unwrap_or_default())
}

/// Returns the name of a series, with the device and the seed only if other series differ in nothing else.
pub(crate) fn label(trend: &Trend, series: &Series) -> String {
    let mut label = series.cell().to_string();
    let name = label.clone();
    // Comparing the fields first saves formatting the cells of all series for each label.
    let alike = |other: &&Series| {
        other.case.n == series.case.n
            && other.case.dtype == series.case.dtype
            && other.cache == series.cache
            && other.variant == series.variant
            && other.cell().to_string() == name
    };
    if trend.series.iter().filter(alike).any(|other| other.case.seed != series.case.seed) {
        label.push_str(&format!(", seed {}", series.case.seed));
    }
    if trend.series.iter().filter(alike).any(|other| other.device != series.device) {
        label.push_str(&format!(", {}", processor(&series.device)));
    }
    if trend.series.iter().any(|other| differs_in_arithmetic(series, other)) {
        label.push_str(&format!(", {}", series.accuracy.name()));
    }
    label
}

/// Returns true if two series are the same cell on the same device with different accuracy classes.
pub(crate) fn differs_in_arithmetic(a: &Series, b: &Series) -> bool {
    a.accuracy != b.accuracy && a.side == b.side && a.device == b.device && a.cell() == b.cell()
}

/// Returns the models of a side with the number of reports of each, in order of appearance.
pub(crate) fn devices(trend: &Trend, side: Side) -> Vec<(String, usize)> {
    let mut devices: Vec<(&str, BTreeSet<usize>)> = vec![];
    for series in trend.series.iter().filter(|series| series.side == side) {
        let reports = series.points.iter().map(|point| point.report);
        match devices.iter_mut().find(|(name, _)| *name == series.device) {
            Some((_, known)) => known.extend(reports),
            None => devices.push((&series.device, reports.collect())),
        }
    }
    devices.into_iter().map(|(name, reports)| (processor(name), reports.len())).collect()
}

/// Returns one line per reason for separate series: several models on a side, changed accuracy classes, other operands.
pub(crate) fn kept_apart(trend: &Trend) -> Vec<String> {
    let several = [Side::Cpu, Side::Gpu].into_iter().filter_map(|side| {
        let devices = devices(trend, side);
        let each = devices.iter().map(|(device, count)| format!("{device} ({})", counted(*count, "report")));
        let (models, each) = (side.label(), each.collect::<Vec<_>>().join(", "));
        (devices.len() > 1).then(|| format!("each {models} model has its own series: {each}"))
    });
    several.chain(changed_arithmetic(trend)).chain(other_operands(trend)).collect()
}

/// Counts the times that are ignored because of other operands.
fn other_operands(trend: &Trend) -> Option<String> {
    let mut with = trend.series.iter().filter(|series| series.other_operands > 0);
    let first = with.next()?;
    let more = match with.count() {
        0 => String::new(),
        more => format!(", and of {more} more"),
    };
    Some(format!(
        "ignored, because their operands differ from those of the newest report: {} of {}{more}; the operands of a \
        seed depend on the version of gpubench",
        counted(first.other_operands, "report"),
        first.cell()
    ))
}

/// Returns the cells with several accuracy classes, such as `ieee` in old reports and `tf32` in new ones.
fn changed_arithmetic(trend: &Trend) -> Option<String> {
    let alike = |series: &Series| -> Vec<&Series> {
        trend.series.iter().filter(|other| differs_in_arithmetic(series, other)).collect()
    };
    let is_first = |index: usize| {
        let others = alike(&trend.series[index]);
        !others.is_empty() && trend.series[..index].iter().all(|earlier| !others.contains(&earlier))
    };
    let mut first =
        (0..trend.series.len()).filter(|index| is_first(*index)).map(|index| &trend.series[index]);
    let series = first.next()?;
    let each =
        |series: &Series| format!("{} ({})", series.accuracy.name(), counted(series.points.len(), "report"));
    let each: Vec<String> = std::iter::once(series).chain(alike(series)).map(each).collect();
    let more = match first.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(format!("each accuracy class has its own series: {} by {}{more}", series.cell(), each.join(" and ")))
}
