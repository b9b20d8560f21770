//! The document of a trend: a summary, the series that changed, worst first, and counts of the others.

pub mod labels;

use gpubench_analysis::trend::select::MIN_REPORTS;
use gpubench_analysis::trend::{CellSeries, TimeStep, Trend, left_out_text};
use gpubench_report::report::quantity::time_text;
use gpubench_text::count::{and_more, counted};

use self::labels::{also_changed, change, label, minute, other_operands, percent, revision, span, status};
use crate::blocks::{Block, Document};

/// The part of the document that a terminal shows: summary, changed series, counts of the others.
pub fn blocks(trend: &Trend) -> Vec<Block> {
    // Those furthest above their best level come first.
    let mut changed: Vec<&CellSeries> = trend.series.iter().filter(|series| !series.is_steady()).collect();
    changed.sort_by(|a, b| b.newest_over_best().total_cmp(&a.newest_over_best()));
    let mut blocks = vec![Block::paragraph(summary(trend))];
    blocks.extend(Block::items(other_operands(trend)));
    blocks.extend(changed.into_iter().filter_map(|series| changes(trend, series)));
    blocks.extend(Block::items(folded(trend)));
    blocks
}

/// The whole document: also the files that are not readable reports, and the method.
pub fn document(trend: &Trend) -> Document {
    let step = format!(
        "A step is a change of level >= {} that the noise does not explain, with at least 3 reports on both sides. \
         gpubench fits piecewise constant levels to the logarithms; the noise may be correlated between successive \
         reports.",
        percent(trend.threshold)
    );
    let method = [
        "Times are the medians of the reports, in order of their start (UTC).",
        step.as_str(),
        "Noise is the standard deviation around the levels.",
        "The revision is that of the first report after the step: the cause lies between it and the report before.",
    ];
    let mut blocks = blocks(trend);
    blocks.extend(Block::items(left_out_text(&trend.left_out)));
    blocks.extend(Block::section("Method", Block::items(method)));
    Document { title: "gpubench trend".into(), blocks }
}

/// `40 reports from 2026-09-01 to 2026-11-21, 42 series: 4 with steps, 1 with an unconfirmed change`.
fn summary(trend: &Trend) -> String {
    let count = |holds: fn(&CellSeries) -> bool| trend.series.iter().filter(|series| holds(series)).count();
    let drifting = count(|series| series.fit.drift.is_some());
    let unconfirmed = count(|series| series.latest.is_some());
    let mut found = vec![match count(|series| !series.steps.is_empty()) {
        0 => "no steps".into(),
        stepped => format!("{stepped} with steps"),
    }];
    found.extend((drifting > 0).then(|| format!("{drifting} drifting")));
    found.extend((unconfirmed > 0).then(|| format!("{unconfirmed} with an unconfirmed change")));
    format!(
        "{} {}, {}: {}",
        counted(trend.reports.len(), "report"),
        span(&trend.reports[0], &trend.reports[trend.reports.len() - 1]),
        counted(trend.series.len(), "series"),
        found.join(", ")
    )
}

fn changes(trend: &Trend, series: &CellSeries) -> Option<Block> {
    let change = |(step, is_confirmed): (&TimeStep, bool)| {
        let first = &trend.reports[step.first_after];
        let reports = match (counted(step.reports_after, "report"), is_confirmed) {
            (after, false) => format!("newest, {after}: not confirmed"),
            _ => format!("{} before, {} after", counted(step.reports_before, "report"), step.reports_after),
        };
        let also = also_changed(trend, step).map(|changes| format!("; changed at the same time: {changes}"));
        let text = format!(
            "{} -> {}, {}, {}, {reports}{}",
            time_text(step.before_s),
            time_text(step.after_s),
            minute(first),
            revision(first),
            also.unwrap_or_default()
        );
        (change(step.ratio), text.into())
    };
    let now = ("now".to_owned(), status(series).into());
    let facts = [now].into_iter().chain(series.changes().map(change)).collect();
    Block::section(label(trend, series), [Block::Facts(facts)])
}

/// Summarizes steady series, unconfirmed changes, short series and missing times in a few lines.
fn folded(trend: &Trend) -> Vec<String> {
    let steady = trend.series.iter().filter(|series| series.is_steady());
    let (short, long): (Vec<&CellSeries>, Vec<&CellSeries>) =
        steady.partition(|series| series.points.len() < MIN_REPORTS);
    let mut lines = vec![];
    let unconfirmed = trend.series.iter().filter(|series| series.latest.is_some()).count();
    if unconfirmed > 0 {
        let changes = counted(unconfirmed, "unconfirmed change");
        lines.push(format!("{changes}: run the sweep again to distinguish a step from an outlier"));
    }
    if !long.is_empty() {
        let (series, threshold) = (counted(long.len(), "series"), percent(trend.threshold));
        lines.push(format!("{series} steady (no step >= {threshold})"));
    }
    if !short.is_empty() {
        let series = counted(short.len(), "series");
        lines.push(format!(
            "{series} too short: a step needs {MIN_REPORTS} reports; run the sweep again to add some"
        ));
    }
    lines.extend(without_time(trend));
    lines
}

fn without_time(trend: &Trend) -> Option<String> {
    let absence = |series: &CellSeries| {
        let newest = series.points.last().map(|point| point.report);
        series.without_time.last().filter(|absence| Some(absence.report) > newest).cloned()
    };
    let lost = trend.series.iter().filter_map(|series| Some((series, absence(series)?)));
    let lost: Vec<_> = lost.collect();
    let (first, absence) = lost.first()?;
    let reason = absence.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    Some(format!(
        "{} without a time in their newest report: {} ({}{reason}){}; its report.md gives the next step",
        counted(lost.len(), "series"),
        label(trend, first),
        absence.outcome.name(),
        and_more(lost.len() - 1),
    ))
}
