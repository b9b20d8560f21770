//! A trend as text for a terminal: the series that changed, worst first, and a summary of the steady ones.

use std::fmt::Write;

use gpubench_model::format::Makes;
use gpubench_model::report::quantity::{spread_text, time_text};

use super::view::Format;
use crate::descriptions::{
    also_changed, change, counted, kept_apart, label, minute, percent, revision, span, status,
};
use crate::levels::MIN_REPORTS;
use crate::{Series, Step, Trend};

/// The trend as text.
pub static TABLE: Format = Format {
    name: "table",
    summary: "text: what changed, worst first",
    by_default: true,
    makes: Makes::Screen(|trend, _| Ok(text(trend))),
};

pub(crate) fn text(trend: &Trend) -> String {
    let mut text = format!("{}\n", summary(trend));
    for line in kept_apart(trend) {
        let _ = writeln!(text, "{line}");
    }
    for series in changed(trend) {
        let _ = writeln!(text, "\n{}: {}", label(trend, series), status(series));
        text.push_str(&steps(trend, series));
    }
    text.push('\n');
    for line in folded(trend) {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// `40 reports from 2026-09-01 to 2026-11-21, 42 series: 4 with steps, 1 with an unconfirmed change`.
pub(crate) fn summary(trend: &Trend) -> String {
    let ends = trend.reports.first().zip(trend.reports.last());
    let span = ends.map(|(first, last)| span(first, last)).unwrap_or_default();
    let stepped = trend.series.iter().filter(|series| !series.steps.is_empty()).count();
    let drifting = trend.series.iter().filter(|series| series.drift.is_some()).count();
    let apart = trend.series.iter().filter(|series| series.latest.is_some()).count();
    // A series that is too short to have a step says nothing about steps.
    let can_step = trend.series.iter().any(|series| series.points.len() >= MIN_REPORTS);
    let mut found = vec![match stepped {
        0 if can_step || trend.series.is_empty() => "no steps".into(),
        0 => format!("none with the {MIN_REPORTS} reports that a step needs"),
        _ => format!("{stepped} with steps"),
    }];
    found.extend((drifting > 0).then(|| format!("{drifting} drifting")));
    found.extend((apart > 0).then(|| format!("{apart} with an unconfirmed change")));
    format!(
        "{} {span}, {}: {}",
        counted(trend.reports.len(), "report"),
        counted(trend.series.len(), "series"),
        found.join(", ")
    )
}

/// Returns the series with steps, a drift or an unconfirmed change, those furthest above their best level first.
pub(crate) fn changed(trend: &Trend) -> Vec<&Series> {
    let mut changed: Vec<&Series> = trend.series.iter().filter(|series| !series.is_steady()).collect();
    changed.sort_by(|a, b| b.newest_over_best().total_cmp(&a.newest_over_best()));
    changed
}

fn steps(trend: &Trend, series: &Series) -> String {
    let all: Vec<(&Step, bool)> = series.changes().collect();
    let wide = |words: &dyn Fn(&Step) -> String| {
        all.iter().map(|(step, _)| words(step).chars().count()).max().unwrap_or(0)
    };
    let times = |step: &Step| format!("{} -> {}", time_text(step.before_s), time_text(step.after_s));
    let at = |step: &Step| revision(&trend.reports[step.first_after]);
    let widths = [wide(&|step| change(step.ratio)), wide(&times), wide(&at)];
    let mut text = String::new();
    for (step, is_confirmed) in all {
        let _ = writeln!(
            text,
            "  {:<w0$}  {:<w1$}  {}  {:<w2$}  {}",
            change(step.ratio),
            times(step),
            minute(&trend.reports[step.first_after]),
            at(step),
            supporting_reports(step, is_confirmed),
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
        );
        if let Some(changes) = also_changed(trend, step) {
            let _ = writeln!(text, "    changed at the same time: {changes}");
        }
    }
    text
}

/// Returns the numbers of reports that support a step.
pub(crate) fn supporting_reports(step: &Step, is_confirmed: bool) -> String {
    let after = counted(step.reports_after, "report");
    match is_confirmed {
        true => format!("{} before, {} after", counted(step.reports_before, "report"), step.reports_after),
        false => format!("newest, {after}: not confirmed"),
    }
}

/// Summarizes steady series, unconfirmed changes, short series and missing times in a few lines.
pub(crate) fn folded(trend: &Trend) -> Vec<String> {
    let (short, long): (Vec<&Series>, Vec<&Series>) = trend
        .series
        .iter()
        .filter(|series| series.is_steady())
        .partition(|series| series.points.len() < MIN_REPORTS);
    let mut lines = vec![];
    let apart = trend.series.iter().filter(|series| series.latest.is_some()).count();
    if apart > 0 {
        let changes = counted(apart, "unconfirmed change");
        lines.push(format!("{changes}: run the sweep again to distinguish a step from an outlier"));
    }
    if !long.is_empty() {
        let mut noises: Vec<f64> = long.iter().filter_map(|series| series.noise).collect();
        noises.sort_by(f64::total_cmp);
        let [least, middle, most] = [0, noises.len() / 2, noises.len() - 1].map(|at| spread_text(noises[at]));
        let noise = match long.len() {
            1 | 2 => format!("noise up to {most}"),
            _ => format!("noise {least} to {most}, median {middle}"),
        };
        let threshold = percent(trend.threshold);
        let steady = counted(long.len(), "series");
        lines.push(format!("{steady} steady (no step >= {threshold}); {noise}"));
    }
    if !short.is_empty() {
        lines.push(format!(
            "{} too short: a step needs {} reports; run the sweep again to add some",
            counted(short.len(), "series"),
            MIN_REPORTS
        ));
    }
    lines.extend(without_time(trend));
    lines
}

/// Reports the series without a time in their newest report.
fn without_time(trend: &Trend) -> Option<String> {
    let lost = |series: &&Series| {
        series
            .without_time
            .last()
            .is_some_and(|last| series.points.iter().all(|point| point.report < last.report))
    };
    let lost: Vec<&Series> = trend.series.iter().filter(lost).collect();
    let first = lost.first()?;
    let absence = first.without_time.last()?;
    let reason = absence.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let which = label(trend, first);
    let more = if lost.len() > 1 { format!(", and {} more", lost.len() - 1) } else { String::new() };
    Some(format!(
        "{} without a time in their newest report: {which} ({}{reason}){more}; its report.md gives the next step",
        counted(lost.len(), "series"),
        absence.outcome.name(),
    ))
}
