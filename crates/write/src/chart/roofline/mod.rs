//! Rooflines: every measured cell of a backend under the peaks of its machine.
//!
//! S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model", CACM 52 (2009).

use std::collections::BTreeSet;

use gpubench_analysis::answer::has_both_caches;
use gpubench_ops::peak_share::{bandwidth, limit, peaks, precision};
use gpubench_ops::{Limit, OPS};
use gpubench_report::Peaks;
use gpubench_report::case::{Cache, Case, DType};
use gpubench_report::report::quantity::three_digits;
use gpubench_report::report::{Outcome, Report, Row};
use gpubench_text::grouped::distinct;

use crate::chart::axis::{Axis, plain};
use crate::chart::canvas::{Align, Canvas};
use crate::chart::draw::{FrameDrawing, baseline, grid, marker, medium, x_labels, y_labels};
use crate::chart::frame::{Frame, LegendRow, LegendSample};
use crate::chart::geometry::{CanvasPoint, Plane, Rect};
use crate::chart::layout::{Axes, Extent, TEXT};
use crate::chart::placing::{Placed, Room};
use crate::chart::series::{Stroke, Style};
use crate::chart::text::Caption;
use crate::palette::Role;

pub(crate) const CAPTION: Caption = ("Points: medians. Peaks: measured on this machine.", true);

/// The size of the mark of an op's smallest size over that of the largest.
const SMALLEST: f64 = 0.6;
/// Colours of the ops; with as many shapes of markers each op has both of its own.
const HUES: [Role; 7] =
    [Role::Blue, Role::Vermilion, Role::Green, Role::Orange, Role::Purple, Role::Sky, Role::Ink];

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dot {
    /// The looks of its op; open where another variant of its case is faster.
    pub(crate) style: Style,
    /// FLOP per byte.
    pub x: f64,
    /// FLOP a second.
    pub y: f64,
    /// The size of the mark over the largest, from small, for small sizes, to 1.
    pub(crate) scale: f64,
    /// The size N of the cell, where it has a label.
    pub label: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Roofline {
    pub(crate) frame: Frame,
    pub(crate) axes: Axes,
    pub(crate) roofs: Vec<Roof>,
    /// The cells; the best of their cases last, so that they lie on top.
    pub(crate) dots: Vec<Dot>,
}

/// The charts of a report: one per backend with peaks, element type and state of the caches.
pub(super) fn charts(report: &Report, captions: impl Fn(Cache) -> Vec<String>) -> Vec<Roofline> {
    let mut charts = vec![];
    for backend in &report.environment.backends {
        for &dtype in DType::ALL {
            for cache in Cache::ALL {
                let is_in =
                    |row: &&Row| row.backend == backend.name && row.case.dtype == dtype && row.cache == cache;
                let rows: Vec<&Row> =
                    report.rows.iter().filter(is_in).filter(|row| is_limited(row)).collect();
                charts.extend(chart(report, &rows, captions(cache)));
            }
        }
    }
    charts
}

/// Returns whether a row is measured, and limited by arithmetic or memory.
fn is_limited(row: &Row) -> bool {
    row.outcome == Outcome::Measured
        && row.median_s().is_some_and(|median| median > 0.0)
        && matches!(limit(&row.case.op), Limit::Read | Limit::ReadAndWrite)
        && (row.work.flop > 0.0 && row.work.bytes > 0.0)
}

/// The chart of rows of one backend, element type and state of the caches.
fn chart(report: &Report, rows: &[&Row], captions: Vec<String>) -> Option<Roofline> {
    let first = rows.first()?;
    let (backend, dtype) = (&first.backend, first.case.dtype);
    let peaks = peaks(report, backend)?;
    let ops = ops(rows);
    let dots = dots(rows, &ops);
    let (xs, ys): (Vec<f64>, Vec<f64>) = dots.iter().map(|dot| (dot.x, dot.y)).unzip();
    let roofs = roofs(&peaks, rows, (&xs, &ys)).filter(|_| !dots.is_empty())?;
    let mut legend = vec![LegendRow::Heading("Peaks".into())];
    legend.extend(
        roofs.iter().map(|roof| LegendRow::Entry(LegendSample::Rule(roof.style), roof.label.clone())),
    );
    legend.push(LegendRow::Heading("Ops".into()));
    legend.extend(
        ops.iter().map(|(op, style)| LegendRow::Entry(LegendSample::Marker(*style), (*op).to_owned())),
    );
    let mark =
        |filled| LegendSample::Marker(Style { hue: Role::Soft, stroke: Stroke::Solid, marker: 0, filled });
    let of_mark = |(filled, text): (bool, &str)| LegendRow::Entry(mark(filled), text.into());
    let marks = [(true, "best variant of its case"), (false, "another variant")].map(of_mark);
    legend.extend(LegendRow::headed("Marks", marks.to_vec()));
    let suffix = if has_both_caches(report) { format!("-{}", first.cache) } else { String::new() };
    let corners = || roofs.iter().flat_map(|roof| &roof.path);
    let held: [Vec<f64>; 2] = [
        xs.iter().copied().chain(corners().map(|corner| corner.0)).collect(),
        ys.iter().copied().chain(corners().map(|corner| corner.1)).collect(),
    ];
    let frame = Frame {
        name: format!("roofline-{backend}-{dtype}{suffix}"),
        title: format!("{backend}, {}: share of the machine's peaks", dtype.words()),
        subtitle: "Every measured cell. Larger marks: larger N. Numbers: N".into(),
        captions,
        legend,
    };
    let axes = Axes {
        x: Axis::decades("FLOP per byte of minimum traffic (log scale)", &held[0], plain),
        y: Axis::decades("Rate (log scale)", &held[1], |rate| rate_text(rate, "FLOP/s", plain)),
    };
    Some(Roofline { frame, axes, roofs, dots })
}

/// The ops of the rows in the order of [`OPS`], with their looks.
fn ops<'a>(rows: &[&'a Row]) -> Vec<(&'a str, Style)> {
    let mut names = distinct(rows.iter().map(|row| row.case.op.as_str()));
    names.sort_by_key(|name| OPS.iter().position(|op| op.name() == *name).unwrap_or(OPS.len()));
    let style = |index: usize| {
        let hue = HUES[index % HUES.len()];
        Style { hue, stroke: Stroke::Solid, marker: index, filled: true }
    };
    names.into_iter().enumerate().map(|(index, name)| (name, style(index))).collect()
}

fn dots(rows: &[&Row], ops: &[(&str, Style)]) -> Vec<Dot> {
    let mut dots: Vec<Dot> = vec![];
    for &(op, style) in ops {
        let of_op: Vec<&Row> = rows.iter().copied().filter(|row| row.case.op == op).collect();
        let sizes: BTreeSet<u64> = of_op.iter().map(|row| row.case.n).collect();
        for row in &of_op {
            let Some(median_s) = row.median_s() else { continue };
            let is_best = best(&of_op, &row.case).is_some_and(|best| std::ptr::eq(best, *row));
            let rank = sizes.iter().position(|size| *size == row.case.n).unwrap_or_default();
            let share = if sizes.len() > 1 { rank as f64 / (sizes.len() - 1) as f64 } else { 1.0 };
            let is_end = rank == 0 || rank + 1 == sizes.len();
            dots.push(Dot {
                style: Style { filled: is_best, ..style },
                x: row.work.flop / row.work.bytes,
                y: row.work.flop / median_s,
                scale: SMALLEST + (1.0 - SMALLEST) * share,
                label: (is_best && is_end).then(|| row.case.n.to_string()),
            });
        }
    }
    dots.sort_by_key(|dot| dot.style.filled);
    dots
}

/// The fastest row in full precision of a case.
fn best<'a>(rows: &[&'a Row], case: &Case) -> Option<&'a Row> {
    let same = rows.iter().copied().filter(|row| row.case == *case && row.is_headline());
    same.min_by(|a, b| a.median_s().unwrap_or(f64::MAX).total_cmp(&b.median_s().unwrap_or(f64::MAX)))
}

/// A rate with the prefix that fits: `4.40 TB/s`.
fn rate_text(rate: f64, unit: &str, figure: impl Fn(f64) -> String) -> String {
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let fitting = prefixes.into_iter().find(|(factor, _)| rate >= 0.9995 * factor);
    let (factor, prefix) = fitting.filter(|_| rate < 1e18).unwrap_or((1.0, ""));
    format!("{} {prefix}{unit}", figure(rate / factor))
}

/// The factor by which lines extend beyond their data and corners.
const BEYOND: f64 = 1.6;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Roof {
    /// The name of the peak with its rate: `read 4.40 TB/s`.
    pub label: String,
    pub(crate) style: Style,
    /// The two ends of the line: FLOP per byte, and FLOP per second.
    pub path: [(f64, f64); 2],
}

/// The roofs over cells at the given places: a slope for each way to use memory, a level for each precision that a row
/// has; `None` where no peak is known.
pub(crate) fn roofs(peaks: &Peaks, rows: &[&Row], (xs, ys): (&[f64], &[f64])) -> Option<Vec<Roof>> {
    let usable = |rate: &f64| rate.is_finite() && *rate > 0.0;
    let slopes = slopes(peaks).into_iter().filter(|(_, rate)| usable(rate)).collect::<Vec<_>>();
    let mut precisions = distinct(rows.iter().map(|row| precision(row)));
    // A wider type that is faster lifts the roof of full precision.
    let rate = |name: &str| peaks.matmul.get(name).copied().unwrap_or(0.0);
    if precisions.contains(&"f32") && !precisions.contains(&"f64") && rate("f64") > rate("f32") {
        precisions.push("f64");
    }
    precisions.sort_by_key(|name| !["f32", "f64"].contains(name));
    let peaks = precisions.into_iter().filter_map(|name| Some((name, *peaks.matmul.get(name)?)));
    let peaks: Vec<(&str, f64)> = peaks.filter(|(_, rate)| usable(rate)).collect();
    let fastest = slopes.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let highest = peaks.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let min_x = xs.iter().copied().fold(f64::INFINITY, f64::min) / BEYOND;
    let max_x = xs.iter().copied().fold(0.0, f64::max);
    let ridge = if fastest > 0.0 { highest / fastest } else { 0.0 };
    let max_x = max_x.max(ridge) * BEYOND;
    // Far below the lowest cell, a slope would only stretch the axis.
    let lowest = ys.iter().copied().fold(f64::INFINITY, f64::min);
    let slope = |(index, (label, rate)): (usize, &(&str, f64))| {
        let from = min_x.max(lowest / rate).min(max_x);
        let to = if highest > 0.0 { highest / rate } else { max_x };
        let stroke = if index == 0 { Stroke::Solid } else { Stroke::Dashed };
        let label = format!("{label} {}", rate_text(*rate, "B/s", three_digits));
        Roof { label, style: style(stroke), path: [(from.min(to), from.min(to) * rate), (to, to * rate)] }
    };
    let level = |(index, (name, rate)): (usize, &(&str, f64))| {
        let from = if fastest > 0.0 { rate / fastest } else { min_x };
        let stroke = if index == 0 { Stroke::Solid } else { Stroke::Dotted };
        let label = format!("{} {}", precision_words(name), rate_text(*rate, "FLOP/s", three_digits));
        Roof { label, style: style(stroke), path: [(from, *rate), (max_x, *rate)] }
    };
    let found: Vec<Roof> =
        slopes.iter().enumerate().map(slope).chain(peaks.iter().enumerate().map(level)).collect();
    (!found.is_empty()).then_some(found)
}

/// Rates of memory with their names; one where reading is as fast as reading and writing.
fn slopes(peaks: &Peaks) -> Vec<(&'static str, f64)> {
    let read = bandwidth(peaks, Limit::Read).map(|rate| ("read", rate));
    let mixed = bandwidth(peaks, Limit::ReadAndWrite).map(|rate| ("read, write", rate));
    match (read, mixed) {
        (Some(read), Some(mixed)) if read.1 == mixed.1 => vec![("memory", read.1)],
        (read, mixed) => read.into_iter().chain(mixed).collect(),
    }
}

/// The precision of that name in reports, in words.
pub(crate) fn precision_words(name: &str) -> &str {
    match name {
        "f32" => "float32",
        "f64" => "float64",
        "tf32" => "TF32",
        "f16" => "float16",
        "bf16" => "bfloat16",
        other => other,
    }
}

fn style(stroke: Stroke) -> Style {
    Style { hue: Role::Ink, stroke, marker: 0, filled: true }
}

/// Half the side of the square that the largest marker takes, and of that of a variant that is not the best.
const LARGEST: f64 = 11.0;
const LARGEST_OTHER: f64 = 8.0;
/// Em of the sizes next to cells.
const SIZE_TEXT: f64 = 20.0;
/// Thickness of the peaks.
const ROOF: f64 = 2.6;

pub(crate) fn draw(chart: &Roofline, extent: Extent, canvas: &Canvas) {
    let frame = FrameDrawing::begin(canvas, &chart.frame, &chart.axes, extent);
    let plane = frame.layout.plane;
    frame.titles();
    grid(canvas, &plane);
    x_labels(canvas, &plane, TEXT);
    y_labels(canvas, &plane, TEXT);
    for roof in &chart.roofs {
        let ends = roof.path.map(|(x, y)| plane.place(x, y));
        canvas.stroke(&ends, roof.style.hue, ROOF, roof.style.stroke);
    }
    for dot in &chart.dots {
        marker(canvas, plane.place(dot.x, dot.y), dot.style, dot.style.hue, radius(dot));
    }
    for (index, label) in labels(chart, &plane) {
        let place = (label.area.left, baseline(label.area.middle().1, SIZE_TEXT));
        let hue = chart.dots[index].style.hue;
        canvas.text(&label.text, place, medium(SIZE_TEXT, hue.text(), Align::Left));
    }
    frame.legend()
}

fn radius(dot: &Dot) -> f64 {
    dot.scale * if dot.style.filled { LARGEST } else { LARGEST_OTHER }
}

/// The sizes that there is room for, each with the index of its cell.
pub(crate) fn labels(chart: &Roofline, plane: &Plane<'_>) -> Vec<(usize, Placed)> {
    let mut room = Room::of(&plane.area);
    for roof in &chart.roofs {
        room.keep_line(&roof.path.map(|(x, y)| plane.place(x, y)));
    }
    let places: Vec<CanvasPoint> = chart.dots.iter().map(|dot| plane.place(dot.x, dot.y)).collect();
    for (dot, place) in chart.dots.iter().zip(&places) {
        let half = radius(dot) + 2.0;
        room.keep(Rect::around(*place, half, half));
    }
    let mut labels = vec![];
    for (index, (dot, place)) in chart.dots.iter().zip(places).enumerate() {
        let Some(text) = &dot.label else { continue };
        labels
            .extend(room.place_near(place, radius(dot), text, SIZE_TEXT, false).map(|label| (index, label)));
    }
    labels
}

#[cfg(test)]
mod tests;
