//! Texts that the document and the charts of a trend share.

use std::collections::BTreeSet;

use gpubench_analysis::compare::Difference;
use gpubench_analysis::compare::runs::ReportRef;
use gpubench_analysis::trend::{CellSeries, TimeStep, Trend, direction};
use gpubench_report::Side;
use gpubench_report::report::machine::processor;
use gpubench_report::report::quantity::{factor_within, spread_text, time_text};
use gpubench_text::count::{and_more, counted};
use gpubench_text::cut;
use gpubench_text::grouped::grouped;
use gpubench_text::percent;
use jiff::Timestamp;

const MIN_CORRELATION: f64 = 0.3;

const FACTS: usize = 3;

const LONGEST: usize = 60;

/// `2026-11-21 10:30`, UTC.
pub fn minute(report_ref: &ReportRef) -> String {
    formatted(report_ref, "%Y-%m-%d %H:%M")
}

/// `2026-11-21`, UTC.
pub fn day(report_ref: &ReportRef) -> String {
    formatted(report_ref, "%Y-%m-%d")
}

/// Formats the start of a report in UTC.
pub fn formatted(report_ref: &ReportRef, format: &str) -> String {
    let started = report_ref.started.parse::<Timestamp>();
    started.map_or_else(|_| report_ref.started.clone(), |started| started.strftime(format).to_string())
}

/// Returns the best known revision of the measured code: `abc123456`, `gpubench abc123456` or `gpubench 0.1.0`.
pub fn revision(report_ref: &ReportRef) -> String {
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
pub fn percent(share: f64) -> String {
    format!("{}%", percent::rounded(share, 2))
}

/// Formats the ratio of the time after to the time before: `1.31x slower`.
pub fn change(ratio: f64) -> String {
    format!("{} {}", factor_within(ratio.max(1.0 / ratio), 3), direction(ratio))
}

/// Returns the changes of host, gpubench and environment at a step: `host a -> b, driver 580.1 -> 590.2`.
pub fn also_changed(trend: &Trend, step: &TimeStep) -> Option<String> {
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
    changes.extend(facts.clone().take(FACTS).map(fact));
    let more = and_more(facts.count().saturating_sub(FACTS));
    (!changes.is_empty()).then(|| changes.join(", ") + &more)
}

/// `driver 580.1 -> 590.2`, `blas openblas: 0.3.21 -> 0.3.26`.
fn fact(difference: &Difference) -> String {
    let Difference { fact, old, new, .. } = difference;
    // Both sides begin with the same items, such as libraries.
    let items = old.split_once(": ").zip(new.split_once(": ")).filter(|(old, new)| old.0 == new.0);
    let (items, old, new) = match items {
        Some(((items, old), (_, new))) => (format!("{items}: "), old, new),
        None => (String::new(), old.as_str(), new.as_str()),
    };
    let [items, old, new] = [items.as_str(), old, new].map(|text| cut::shortened(text, LONGEST));
    format!("{fact} {items}{old} -> {new}")
}

/// `from 2026-09-01 to 2026-11-21`, or `of 2026-11-21`.
pub fn span(first: &ReportRef, last: &ReportRef) -> String {
    match (day(first), day(last)) {
        (first, last) if first == last => format!("of {first}"),
        (first, last) => format!("from {first} to {last}"),
    }
}

/// `16.1 µs, 1.30x the best level of 12.4 µs, noise 1.3%`, with a correlation and a drift if there are any.
pub fn status(series: &CellSeries) -> String {
    let now = time_text(series.newest_s);
    let over = series.newest_over_best();
    let best = time_text(series.best_level_s);
    // New values scatter around their level, so values within the noise count as at the level.
    let is_above = over > (2.0 * series.fit.noise.unwrap_or(0.0)).exp().max(1.02);
    let at = if is_above { factor_within(over, 3) } else { "at".into() };
    let noise = series.fit.noise.map(|noise| format!(", noise {}", spread_text(noise))).unwrap_or_default();
    let correlation = series.fit.correlation.filter(|correlation| *correlation >= MIN_CORRELATION);
    let correlation = correlation.map(|found| format!(", correlation {found:.1}")).unwrap_or_default();
    let drift = series.fit.drift.map(|ratio| format!(", drift: {} from first to last", change(ratio)));
    format!("{now}, {at} the best level of {best}{noise}{correlation}{}", drift.unwrap_or_default())
}

/// Returns the name of a series, with what distinguishes it from others of the same cell.
pub fn label(trend: &Trend, series: &CellSeries) -> String {
    series.cell.to_string() + &distinction(trend, series)
}

/// Returns seed, device and accuracy class, each only if other series of the same cell differ in it: `, NVIDIA H200`.
pub fn distinction(trend: &Trend, series: &CellSeries) -> String {
    let has_other = |differs: &dyn Fn(&CellSeries) -> bool| {
        trend.series.iter().any(|other| series.is_same_but_for_seed(other) && differs(other))
    };
    let differs_in_arithmetic = |other: &CellSeries| {
        other.accuracy != series.accuracy && all_but_accuracy(other) == all_but_accuracy(series)
    };
    let parts = [
        has_other(&|other| other.cell.case.seed != series.cell.case.seed)
            .then(|| format!(", seed {}", series.cell.case.seed)),
        has_other(&|other| other.device != series.device).then(|| format!(", {}", processor(&series.device))),
        has_other(&differs_in_arithmetic).then(|| format!(", {}", series.accuracy.name())),
    ];
    parts.into_iter().flatten().collect()
}

/// What series of a cell share that differ in their accuracy class only.
fn all_but_accuracy(series: &CellSeries) -> impl PartialEq {
    (&series.cell, &series.device)
}

fn devices(trend: &Trend, side: Side) -> Vec<(String, usize)> {
    let of_side = trend.series.iter().filter(|series| series.side == side);
    let points = of_side.flat_map(|series| series.points.iter().map(|point| (&series.device, point.report)));
    let reports = |(device, reports): (&String, Vec<usize>)| {
        (processor(device), reports.into_iter().collect::<BTreeSet<usize>>().len())
    };
    grouped(points).into_iter().map(reports).collect()
}

/// Returns one line per reason for separate series: several models on a side, changed accuracy classes, other operands.
pub fn kept_apart(trend: &Trend) -> Vec<String> {
    let several = [Side::Cpu, Side::Gpu].into_iter().filter_map(|side| {
        let devices = devices(trend, side);
        let each = devices.iter().map(|(device, count)| format!("{device} ({})", counted(*count, "report")));
        let each = each.collect::<Vec<_>>().join(", ");
        (devices.len() > 1).then(|| format!("each {} model has its own series: {each}", side.label()))
    });
    several.chain(changed_arithmetic(trend)).chain(other_operands(trend)).collect()
}

/// Counts the times that are ignored because of other operands.
fn other_operands(trend: &Trend) -> Option<String> {
    let mut with = trend.series.iter().filter(|series| series.other_operands > 0);
    let first = with.next()?;
    Some(format!(
        "ignored, because their operands differ from those of the newest report: {} of {}{}; the operands of a \
        seed depend on the version of gpubench",
        counted(first.other_operands, "report"),
        first.cell,
        and_more(with.count())
    ))
}

/// Returns the cells with several accuracy classes, such as `ieee` in old reports and `tf32` in new ones.
fn changed_arithmetic(trend: &Trend) -> Option<String> {
    let cells = grouped(trend.series.iter().map(|series| (all_but_accuracy(series), series)));
    let mut several = cells.iter().map(|(_, cell)| cell).filter(|cell| cell.len() > 1);
    let cell = several.next()?;
    let each = |series: &&CellSeries| {
        format!("{} ({})", series.accuracy.name(), counted(series.points.len(), "report"))
    };
    let each: Vec<String> = cell.iter().map(each).collect();
    let (text, more) = (&cell[0].cell, and_more(several.count()));
    Some(format!("each accuracy class has its own series: {text} by {}{more}", each.join(" and ")))
}
