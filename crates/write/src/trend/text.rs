//! Formats a trend for a terminal and as Markdown: the series that changed, worst first, and a summary of the steady ones.

use std::fmt::Write;

use gpubench_document::table::{Column, Field, Table};
use gpubench_report::report::quantity::{spread_text, time_text};
use gpubench_text::count::counted;
use gpubench_text::escape::markdown as escape;

use gpubench_analysis::trend::select::MIN_REPORTS;
use gpubench_analysis::trend::{CellSeries, TimeStep, Trend, and_more, ignored_files_text};
use gpubench_document::trend::{
    also_changed, change, kept_apart, label, minute, percent, revision, span, status,
};

pub(super) fn text(trend: &Trend) -> String {
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

pub(super) fn markdown(trend: &Trend) -> String {
    let mut text = format!("# gpubench trend\n\n{}.\n", escape(&summary(trend)));
    let changed = changed(trend);
    if !changed.is_empty() {
        if changed.iter().any(|series| series.changes().next().is_some()) {
            let _ = write!(text, "\n## Steps\n\n{}", table(trend, &changed));
        }
        let _ = write!(text, "\n## Current times\n\n");
        for series in changed {
            let line = format!("{}: {}", label(trend, series), status(series));
            let _ = writeln!(text, "- {}", escape(&line));
        }
    }
    let mut rest = folded(trend);
    rest.extend(kept_apart(trend));
    rest.extend(ignored_files_text(trend));
    if !rest.is_empty() {
        text.push_str("\n## Other series and files\n\n");
        rest.iter().for_each(|line| text.push_str(&format!("- {}\n", escape(line))));
    }
    let _ = write!(
        text,
        "\n## Method\n\n- Times are the medians of the reports, in order of their start (UTC).\n- A step is a change of \
        level >= {} that the noise does not explain, with at least 3 reports on both sides. gpubench fits piecewise \
        constant levels to the logarithms; the noise may be correlated between successive reports.\n- \
        Noise is the standard deviation around the levels; its correlation is that of successive reports.\n- \
        The revision is that of the first report after the step: the cause lies between it and the report before.\n",
        percent(trend.threshold)
    );
    text
}

fn table(trend: &Trend, changed: &[&CellSeries]) -> String {
    let words = ["first seen", "revision", "reports", "changed at the same time"].map(Column::words);
    let mut columns = ["cell", "change"].map(Column::words).to_vec();
    columns.extend(["before", "after"].map(Column::figures).into_iter().chain(words));
    let row = |series: &CellSeries, step: &TimeStep, is_confirmed: bool| -> Vec<Field> {
        let first = &trend.reports[step.first_after];
        [
            label(trend, series),
            change(step.ratio),
            time_text(step.before_s),
            time_text(step.after_s),
            minute(first),
            revision(first),
            supporting_reports(step, is_confirmed),
            also_changed(trend, step).unwrap_or_else(|| "-".into()),
        ]
        .map(Field::from)
        .into()
    };
    let rows = changed
        .iter()
        .flat_map(|series| series.changes().map(|(step, is_confirmed)| row(series, step, is_confirmed)));
    crate::markdown::table(&Table::untitled(columns, rows.collect()))
}

/// `40 reports from 2026-09-01 to 2026-11-21, 42 series: 4 with steps, 1 with an unconfirmed change`.
fn summary(trend: &Trend) -> String {
    let span = span(&trend.reports[0], &trend.reports[trend.reports.len() - 1]);
    let count = |holds: fn(&CellSeries) -> bool| trend.series.iter().filter(|series| holds(series)).count();
    let drifting = count(|series| series.fit.drift.is_some());
    let unconfirmed = count(|series| series.latest.is_some());
    // A series that is too short to have a step says nothing about steps.
    let can_step = count(|series| series.points.len() >= MIN_REPORTS) > 0;
    let mut found = vec![match count(|series| !series.steps.is_empty()) {
        0 if can_step => "no steps".into(),
        0 => format!("none with the {MIN_REPORTS} reports that a step needs"),
        stepped => format!("{stepped} with steps"),
    }];
    found.extend((drifting > 0).then(|| format!("{drifting} drifting")));
    found.extend((unconfirmed > 0).then(|| format!("{unconfirmed} with an unconfirmed change")));
    format!(
        "{} {span}, {}: {}",
        counted(trend.reports.len(), "report"),
        counted(trend.series.len(), "series"),
        found.join(", ")
    )
}

/// Returns the series with steps, a drift or an unconfirmed change, those furthest above their best level first.
fn changed(trend: &Trend) -> Vec<&CellSeries> {
    let mut changed: Vec<&CellSeries> = trend.series.iter().filter(|series| !series.is_steady()).collect();
    changed.sort_by(|a, b| b.newest_over_best().total_cmp(&a.newest_over_best()));
    changed
}

fn steps(trend: &Trend, series: &CellSeries) -> String {
    let row = |(step, is_confirmed): (&TimeStep, bool)| {
        let first = &trend.reports[step.first_after];
        [
            change(step.ratio),
            format!("{} -> {}", time_text(step.before_s), time_text(step.after_s)),
            minute(first),
            revision(first),
            supporting_reports(step, is_confirmed),
        ]
    };
    let rows: Vec<[String; 5]> = series.changes().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [w0, w1, w3] = [0, 1, 3].map(width);
    let mut text = String::new();
    for ([change, times, minute, revision, reports], (step, _)) in rows.iter().zip(series.changes()) {
        let _ = writeln!(text, "  {change:<w0$}  {times:<w1$}  {minute}  {revision:<w3$}  {reports}");
        if let Some(changes) = also_changed(trend, step) {
            let _ = writeln!(text, "    changed at the same time: {changes}");
        }
    }
    text
}

/// Returns the numbers of reports that support a step.
fn supporting_reports(step: &TimeStep, is_confirmed: bool) -> String {
    let after = counted(step.reports_after, "report");
    match is_confirmed {
        true => format!("{} before, {} after", counted(step.reports_before, "report"), step.reports_after),
        false => format!("newest, {after}: not confirmed"),
    }
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
        let mut noises: Vec<f64> = long.iter().filter_map(|series| series.fit.noise).collect();
        noises.sort_by(f64::total_cmp);
        let [min, middle, max] =
            [0, noises.len() / 2, noises.len() - 1].map(|index| spread_text(noises[index]));
        let noise = match long.len() {
            1 | 2 => format!("noise up to {max}"),
            _ => format!("noise {min} to {max}, median {middle}"),
        };
        let (series, threshold) = (counted(long.len(), "series"), percent(trend.threshold));
        lines.push(format!("{series} steady (no step >= {threshold}); {noise}"));
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

/// Reports the series without a time in their newest report.
fn without_time(trend: &Trend) -> Option<String> {
    let ends_without = |series: &&CellSeries| {
        let newest = series.points.last().map(|point| point.report);
        series.without_time.last().map(|absence| absence.report) > newest
    };
    let lost: Vec<&CellSeries> = trend.series.iter().filter(ends_without).collect();
    let first = lost.first()?;
    let absence = first.without_time.last()?;
    let reason = absence.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let more = and_more(lost.len() - 1);
    Some(format!(
        "{} without a time in their newest report: {} ({}{reason}){more}; its report.md gives the next step",
        counted(lost.len(), "series"),
        label(trend, first),
        absence.outcome.name(),
    ))
}
