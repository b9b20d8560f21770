//! Builds the charts of a trend: one per series, with its times in the order of the reports and the levels through them.
//!
//! Reports are equally spaced, because they come in bursts that would overlap on an axis of dates.

use crate::chart::axis::{Axis, Tick, times_axis};
use crate::chart::frame::{Frame, LegendRow, LegendSample};
use crate::chart::layout::Axes;
use crate::chart::lines::{LineChart, PlotLines};
use crate::chart::series::{ChartSeries, Marks, Point, Stroke, Style};
use crate::chart::{Chart, ChartKind, Format, pictures};
use crate::palette::{Role, Theme};
use gpubench_analysis::trend::{CellSeries, TimeLevel, TimePoint, TimeStep, Trend};
use gpubench_document::trend::labels::{change, day, formatted, label, percent, revision, span, status};
use gpubench_report::Side;
use gpubench_report::report::file::File;
use gpubench_report::report::machine::processor;
use gpubench_text::count::counted;
use gpubench_text::cut::fitted;

/// Unconfirmed times beyond this factor are drawn at the edge of the plot.
const MAX_UNCONFIRMED_FACTOR: f64 = 1.5;

/// Largest number of characters of the name of a series.
const MAX_NAME_CHARS: usize = 60;

/// Largest number of reports whose dates are below a chart.
const MAX_DATES: usize = 8;

/// Returns the charts as files.
pub(super) fn files(trend: &Trend, format: Format, theme: Theme) -> anyhow::Result<Vec<File>> {
    let charts: Vec<Chart> = charts(trend).into_iter().map(Chart::Lines).collect();
    pictures(&charts, &[format], theme)
}

/// Builds a chart per series.
pub(super) fn charts(trend: &Trend) -> Vec<LineChart> {
    trend.series.iter().enumerate().map(|(index, series)| chart(trend, index, series)).collect()
}

fn chart(trend: &Trend, index: usize, series: &CellSeries) -> LineChart {
    let reports: Vec<usize> = series.points.iter().map(|point| point.report).collect();
    let hue = if series.side == Side::Gpu { Role::Blue } else { Role::Vermilion };
    let style = |hue| Style { hue, stroke: Stroke::Solid, marker: 0, filled: true };
    let times: Vec<f64> = series.points.iter().map(|point| point.median_s).collect();
    let levels = series.fit.levels.iter().map(|level| level.median_s);
    // Unconfirmed times have room unless they would flatten the rest.
    let newest = series.latest.iter().filter(|step| step.factor() < MAX_UNCONFIRMED_FACTOR);
    let held: Vec<f64> = levels.chain(newest.map(|step| step.after_s)).collect();
    let y = times_axis("Median time", &times, &held);
    let point = |(index, point): (usize, &TimePoint)| {
        let within = |time: f64| time.clamp(y.low, y.high);
        let ([low, high], y) = (point.ci95_s.map(within), within(point.median_s));
        let (marks, note) = (Marks::default(), String::new());
        Point { x: index as f64, y, low, high, label: None, marks, note }
    };
    let points = series.points.iter().enumerate().map(point).collect();
    let ends = |level: &TimeLevel| {
        let [first, last] = [level.first, level.first + level.count - 1].map(|index| index as f64);
        [(first - 0.4, level.median_s), (last + 0.4, level.median_s)]
    };
    let line = |label: &str, hue, points, bends| {
        let label = label.to_owned();
        ChartSeries { label, group: "Medians by report", style: style(hue), points, bends }
    };
    let levels = line("levels", Role::Ink, vec![], series.fit.levels.iter().flat_map(ends).collect());
    let variant = format!("{}/{}", series.cell.backend, series.cell.variant);
    let times = line(&fitted(&variant, MAX_NAME_CHARS), hue, points, vec![]);
    let legend = vec![
        LegendRow::Entry(LegendSample::Line(times.style), times.label.clone()),
        LegendRow::Entry(LegendSample::Rule(levels.style), "fitted levels".into()),
    ];
    // `1.30x slower, 2026-11-21, abc123456`
    let step_text = |(step, is_confirmed): (&TimeStep, bool)| {
        let after = &trend.reports[step.first_after];
        let end = if is_confirmed { revision(after) } else { "not confirmed".into() };
        format!("{}, {}, {end}", change(step.ratio), day(after))
    };
    let steps = series.changes().map(step_text).collect();
    let frame = Frame {
        name: name(index, series),
        title: format!("{}: time by report", fitted(&label(trend, series), MAX_NAME_CHARS)),
        subtitle: subtitle(trend, series, &reports),
        captions: vec![
            format!("{}: {}. Now {}", series.side.label(), processor(&series.device), status(series)),
            format!(
                "Bands: 95 % intervals. Steps >= {}. The y axis does not begin at 0; times beyond it are at its ends.",
                percent(trend.threshold)
            ),
        ],
        legend: [LegendRow::headed("Medians", legend), LegendRow::notes("Changes", steps)].concat(),
    };
    let axes = Axes { x: x_axis(trend, &reports), y };
    let lines =
        PlotLines { series: vec![levels, times], has_sides: false, crossings: vec![], levels: vec![] };
    LineChart { kind: ChartKind::Time, frame, axes, lines }
}

/// Returns the name of a chart, such as `trend-12-spgemm-f32-n1024-cuda-cusparse`: the number makes it unique.
fn name(index: usize, series: &CellSeries) -> String {
    let (case, backend, variant) = (&series.cell.case, &series.cell.backend, &series.cell.variant);
    format!("trend-{}-{}-{}-n{}-{backend}-{variant}", index + 1, case.op, case.dtype, case.n)
}

fn subtitle(trend: &Trend, series: &CellSeries, reports: &[usize]) -> String {
    let [first, last] = [0, reports.len() - 1].map(|index| &trend.reports[reports[index]]);
    let without = match series.without_time.len() {
        0 => String::new(),
        count => format!("; {} without a time", counted(count, "report")),
    };
    format!("{} {}{without}", counted(reports.len(), "report"), span(first, last))
}

/// An axis with the dates of a few reports, equally spaced.
fn x_axis(trend: &Trend, reports: &[usize]) -> Axis {
    let every = reports.len().div_ceil(MAX_DATES);
    let dated = reports.iter().enumerate().step_by(every);
    let ticks = dated.map(|(index, report)| Tick {
        value: index as f64,
        label: formatted(&trend.reports[*report], "%m-%d %H:%M"),
    });
    let title = "Reports in order of time, equally spaced (UTC)";
    Axis::linear(title, (-0.5, reports.len() as f64 - 0.5), ticks.collect())
}
