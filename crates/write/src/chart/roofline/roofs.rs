//! The peaks of a backend as lines over FLOP per byte.

use crate::palette::Role;
use gpubench_ops::Limit;
use gpubench_ops::peak_share::{bandwidth, precision};
use gpubench_report::Peaks;
use gpubench_report::report::Row;
use gpubench_report::report::quantity::three_digits;
use gpubench_text::grouped::distinct;

use super::rate_text;
use crate::chart::series::{Stroke, Style};

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
