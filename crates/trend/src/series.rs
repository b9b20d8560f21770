//! Groups the rows of reports into series, one per cell, device model and accuracy class, and fits their levels.

use std::collections::BTreeMap;

use gpubench_model::case::{Cache, DType};
use gpubench_model::pattern::Pattern;
use gpubench_ops::OPS;
use rayon::prelude::*;

use super::gather::{DatedReport, Entry};
use super::{Absence, Direction, Level, Point, Request, Series, Step, steps};

/// Returns the requested series that have a time. Only times with the operands of the cell's newest report count.
pub(crate) fn series(reports: &[DatedReport], request: &Request) -> Vec<Series> {
    let mut found: Vec<Series> = vec![];
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let newest = newest_operands(reports);
    for (index, report) in reports.iter().enumerate() {
        for entry in report.rows.iter().filter(|entry| is_wanted(entry, request)) {
            let (side, accuracy) = (entry.row.side, entry.row.accuracy);
            let key = format!("{}\n{side:?}\n{}\n{accuracy:?}", cell_key(entry), entry.device);
            let place = *places.entry(key).or_insert_with(|| {
                found.push(empty(entry));
                found.len() - 1
            });
            match newest.get(&cell_key(entry)).zip(entry.row.inputs.as_deref()) {
                Some((newest, own)) if *newest != own => found[place].other_operands += 1,
                _ => add(&mut found[place], index, entry),
            }
        }
    }
    found.retain(|series| !series.points.is_empty());
    found.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    found.par_iter_mut().for_each(|series| fit(series, request.threshold));
    found
}

/// Returns the identity of a cell; its text omits the seed.
fn cell_key(entry: &Entry) -> String {
    format!("{}\n{}", entry.row.cell(), entry.row.case.seed)
}

/// Returns the fingerprint of each cell's operands in the newest report that contains it.
fn newest_operands(reports: &[DatedReport]) -> BTreeMap<String, &str> {
    let rows = reports.iter().flat_map(|report| &report.rows);
    rows.filter_map(|entry| Some((cell_key(entry), entry.row.inputs.as_deref()?))).collect()
}

fn is_wanted(entry: &Entry, request: &Request) -> bool {
    let row = &entry.row;
    let is_named = |pattern: &Pattern| pattern.matches(&row.backend, &row.variant);
    request.ops.as_ref().is_none_or(|ops| ops.contains(&row.case.op))
        && request.variants.as_ref().is_none_or(|patterns| patterns.iter().any(is_named))
}

/// Returns the sort key: op, element type, caches, density and size. Sorting is stable: variants keep the order of the
/// reports.
fn order(series: &Series) -> (usize, &str, DType, Cache, f64, u64) {
    let case = &series.case;
    let op = OPS.iter().position(|op| op.name() == case.op).unwrap_or(OPS.len());
    (op, &case.op, case.dtype, series.cache, case.density.unwrap_or(1.0), case.n)
}

fn empty(entry: &Entry) -> Series {
    Series {
        case: entry.row.case.clone(),
        backend: entry.row.backend.clone(),
        variant: entry.row.variant.clone(),
        cache: entry.row.cache,
        side: entry.row.side,
        device: entry.device.clone(),
        accuracy: entry.row.accuracy,
        points: vec![],
        other_operands: 0,
        without_time: vec![],
        noise: None,
        correlation: None,
        drift: None,
        levels: vec![],
        steps: vec![],
        latest: None,
        newest_s: 0.0,
        best_level_s: 0.0,
    }
}

/// Adds the result of a report; only the first row of a cell counts.
fn add(series: &mut Series, report: usize, entry: &Entry) {
    let last = series.points.last().map(|point| point.report);
    if last.max(series.without_time.last().map(|absence| absence.report)) == Some(report) {
        return;
    }
    match entry.time {
        Some((median_s, ci95_s)) => series.points.push(Point { report, median_s, ci95_s }),
        None => {
            let (outcome, reason) = (entry.row.outcome, entry.row.reason.clone());
            series.without_time.push(Absence { report, outcome, reason });
        }
    }
}

fn fit(series: &mut Series, threshold: f64) {
    let times: Vec<f64> = series.points.iter().map(|point| point.median_s).collect();
    let fit = steps::fit(&times, threshold);
    series.levels = fit.levels;
    (series.noise, series.correlation, series.drift) = (fit.noise, fit.correlation, fit.drift);
    series.newest_s = times.last().copied().unwrap_or_default();
    series.best_level_s = series.levels.iter().map(|level| level.median_s).fold(f64::INFINITY, f64::min);
    series.steps = series.levels.windows(2).map(|pair| step(&series.points, &pair[0], &pair[1])).collect();
    let last = series.levels.last().zip(fit.latest);
    series.latest = last.map(|(level, latest)| {
        let count = times.len() - latest.first;
        let after = Level { first: latest.first, count, median_s: level.median_s * latest.ratio };
        step(&series.points, level, &after)
    });
}

fn step(points: &[Point], before: &Level, after: &Level) -> Step {
    let ratio = after.median_s / before.median_s;
    Step {
        last_before: points[after.first - 1].report,
        first_after: points[after.first].report,
        direction: Direction::of(ratio),
        ratio,
        before_s: before.median_s,
        after_s: after.median_s,
        reports_before: before.count,
        reports_after: after.count,
        environment: vec![],
    }
}
