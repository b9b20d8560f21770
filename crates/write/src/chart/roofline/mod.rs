//! Rooflines: every measured cell of a backend under the peaks of its machine.
//!
//! S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model", CACM 52 (2009).

mod draw;
mod roofs;

use std::collections::BTreeSet;

use gpubench_analysis::answer::has_both_caches;
use gpubench_ops::peak_share::{limit, peaks};
use gpubench_ops::{Limit, OPS};
use gpubench_report::case::{Cache, Case, DType};
use gpubench_report::report::{Outcome, Report, Row};
use gpubench_text::grouped::distinct;

use super::axis::{Axis, plain};
use super::frame::{Frame, LegendRow, LegendSample};
use super::series::{Stroke, Style};
use crate::palette::Role;
pub(super) use draw::draw;

pub(super) use roofs::precision_words;
use roofs::{Roof, roofs};

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
                let subject = RooflineSubject { backend: &backend.name, dtype, cache };
                charts.extend(chart(report, subject, captions(cache)));
            }
        }
    }
    charts
}

/// The backend and element type that all cells of a chart share.
#[derive(Clone, Copy)]
struct RooflineSubject<'a> {
    backend: &'a str,
    dtype: DType,
    cache: Cache,
}

impl RooflineSubject<'_> {
    /// Returns whether a row is a cell of the chart: measured, and limited by arithmetic or memory.
    fn has(&self, row: &Row) -> bool {
        let is_measured =
            row.outcome == Outcome::Measured && row.median_s().is_some_and(|median| median > 0.0);
        row.backend == self.backend
            && row.case.dtype == self.dtype
            && row.cache == self.cache
            && is_measured
            && matches!(limit(&row.case.op), Limit::Read | Limit::ReadAndWrite)
            && (row.work.flop > 0.0 && row.work.bytes > 0.0)
    }
}

fn chart(report: &Report, subject: RooflineSubject<'_>, captions: Vec<String>) -> Option<Roofline> {
    let peaks = peaks(report, subject.backend)?;
    let rows: Vec<&Row> = report.rows.iter().filter(|row| subject.has(row)).collect();
    let ops = ops(&rows);
    let dots = dots(&rows, &ops);
    let (xs, ys): (Vec<f64>, Vec<f64>) = dots.iter().map(|dot| (dot.x, dot.y)).unzip();
    let roofs = roofs(&peaks, &rows, (&xs, &ys)).filter(|_| !dots.is_empty())?;
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
    let suffix = if has_both_caches(report) { format!("-{}", subject.cache) } else { String::new() };
    let corners = || roofs.iter().flat_map(|roof| &roof.path);
    let held: [Vec<f64>; 2] = [
        xs.iter().copied().chain(corners().map(|corner| corner.0)).collect(),
        ys.iter().copied().chain(corners().map(|corner| corner.1)).collect(),
    ];
    let frame = Frame {
        name: format!("roofline-{}-{}{suffix}", subject.backend, subject.dtype),
        title: format!("{}, {}: share of the machine's peaks", subject.backend, subject.dtype.words()),
        subtitle: "Every measured cell. Larger marks: larger N. Numbers: N".into(),
        captions,
        x: Axis::decades("FLOP per byte of minimum traffic (log scale)", &held[0], plain),
        y: Axis::decades("Rate (log scale)", &held[1], |rate| rate_text(rate, "FLOP/s", plain)),
        rows_above: 0,
        legend,
    };
    Some(Roofline { frame, roofs, dots })
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

#[cfg(test)]
mod tests;
