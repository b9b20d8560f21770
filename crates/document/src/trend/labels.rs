//! Texts that the document and the charts of a trend share.

use gpubench_analysis::compare::Difference;
use gpubench_analysis::compare::runs::ReportRef;
use gpubench_analysis::trend::{CellSeries, TimeStep, Trend, direction};
use gpubench_report::report::machine::processor;
use gpubench_report::report::quantity::{factor_within, spread_text, time_text};
use gpubench_text::count::{and_more, counted};
use gpubench_text::cut;
use gpubench_text::percent;
use jiff::Timestamp;

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

/// Returns the changes of host and environment at a step: `host a -> b, driver 580.1 -> 590.2`.
pub fn also_changed(trend: &Trend, step: &TimeStep) -> Option<String> {
    let (before, after) = (&trend.reports[step.last_before], &trend.reports[step.first_after]);
    let host = (before.host != after.host).then(|| format!("host {} -> {}", before.host, after.host));
    let mut changes = Vec::from_iter(host);
    changes.extend(step.environment.iter().take(FACTS).map(fact));
    let more = and_more(step.environment.len().saturating_sub(FACTS));
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

/// `16.1 µs, 1.30x the best level of 12.4 µs, noise 1.3%`, with a drift if there is one.
pub fn status(series: &CellSeries) -> String {
    let now = time_text(series.newest_s);
    let over = series.newest_over_best();
    let best = time_text(series.best_level_s);
    // New values scatter around their level, so values within the noise count as at the level.
    let is_above = over > (2.0 * series.fit.noise.unwrap_or(0.0)).exp().max(1.02);
    let at = if is_above { factor_within(over, 3) } else { "at".into() };
    let noise = series.fit.noise.map(|noise| format!(", noise {}", spread_text(noise))).unwrap_or_default();
    let drift = series.fit.drift.map(|ratio| format!(", drift: {} from first to last", change(ratio)));
    format!("{now}, {at} the best level of {best}{noise}{}", drift.unwrap_or_default())
}

/// Returns the name of a series, with seed, device and accuracy class as far as other series of the same cell differ in them.
pub fn label(trend: &Trend, series: &CellSeries) -> String {
    let has_other = |differs: &dyn Fn(&CellSeries) -> bool| {
        trend.series.iter().any(|other| series.is_same_but_for_seed(other) && differs(other))
    };
    let differs_in_arithmetic = |other: &CellSeries| {
        other.accuracy != series.accuracy && (&other.cell, &other.device) == (&series.cell, &series.device)
    };
    let parts = [
        Some(series.cell.to_string()),
        has_other(&|other| other.cell.case.seed != series.cell.case.seed)
            .then(|| format!("seed {}", series.cell.case.seed)),
        has_other(&|other| other.device != series.device).then(|| processor(&series.device)),
        has_other(&differs_in_arithmetic).then(|| series.accuracy.name().to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<String>>().join(", ")
}

/// Counts the times that are ignored because of other operands.
pub fn other_operands(trend: &Trend) -> Option<String> {
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
