//! Groups the rows of reports into series, one per cell, device model and accuracy class, fits their levels, and looks for
//! the causes of their steps.

use std::collections::BTreeMap;

use crate::compare::environment::differences;
use crate::compare::{Difference, Run, Runs, Severity};
use gpubench_ops::OPS;
use gpubench_report::case::Cell;
use gpubench_report::pattern::Pattern;
use gpubench_report::report::{Report, Row};
use rayon::prelude::*;

use super::gather::{DatedReport, DatedRow};
use super::{Absence, CellSeries, TimeLevel, TimePoint, TimeStep, TrendRequest, direction, steps};

/// Returns the requested series that have a time. Only times with the operands of the cell's newest report count.
pub(crate) fn series(reports: &[DatedReport], request: &TrendRequest) -> Vec<CellSeries> {
    let (mut rows, mut indices) = (Vec::<Vec<(usize, &DatedRow)>>::new(), BTreeMap::new());
    for (report, dated) in reports.iter().enumerate() {
        for row in dated.rows.iter().filter(|row| is_wanted(row, request)) {
            let key = format!(
                "{}\n{:?}\n{}\n{:?}",
                row.row.cell().key(),
                row.row.side,
                row.device,
                row.row.accuracy
            );
            let index = *indices.entry(key).or_insert(rows.len());
            if index == rows.len() {
                rows.push(vec![]);
            }
            rows[index].push((report, row));
        }
    }
    // The fingerprint of each cell's operands in the newest report that contains it.
    let all = reports.iter().flat_map(|report| &report.rows);
    let newest: BTreeMap<String, &str> =
        all.filter_map(|row| Some((row.row.cell().key(), row.row.inputs.as_deref()?))).collect();
    let of_rows = |rows: &Vec<(usize, &DatedRow)>| {
        let newest = newest.get(&rows[0].1.row.cell().key()).copied();
        of_cell(reports, rows, newest, request.threshold)
    };
    let mut found: Vec<CellSeries> = rows.par_iter().filter_map(of_rows).collect();
    found.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    found
}

fn is_wanted(dated: &DatedRow, request: &TrendRequest) -> bool {
    let row = &dated.row;
    let is_named = |pattern: &Pattern| pattern.matches(&row.backend, &row.variant);
    request.ops.as_ref().is_none_or(|ops| ops.contains(&row.case.op))
        && request.variants.as_ref().is_none_or(|patterns| patterns.iter().any(is_named))
}

/// Returns the sort key. Sorting is stable: variants keep the order of the reports.
fn order(series: &CellSeries) -> impl PartialOrd {
    let Cell { case, cache, .. } = &series.cell;
    let op = OPS.iter().position(|op| op.name() == case.op).unwrap_or(OPS.len());
    (op, &case.op, case.dtype, *cache, case.family(), case.n)
}

/// Returns the series of a cell's rows: the first of each report, if its operands are the `newest` or unknown.
fn of_cell(
    reports: &[DatedReport],
    rows: &[(usize, &DatedRow)],
    newest: Option<&str>,
    threshold: f64,
) -> Option<CellSeries> {
    let (mut points, mut without_time, mut other_operands) = (vec![], vec![], 0);
    let mut last = None;
    for &(report, DatedRow { row, time, .. }) in rows {
        if newest.zip(row.inputs.as_deref()).is_some_and(|(newest, own)| newest != own) {
            other_operands += 1;
        } else if last.replace(report) != Some(report) {
            match *time {
                Some((median_s, ci95_s)) => points.push(TimePoint { report, median_s, ci95_s }),
                None => {
                    without_time.push(Absence { report, outcome: row.outcome, reason: row.reason.clone() })
                }
            }
        }
    }
    let times: Vec<f64> = points.iter().map(|point| point.median_s).collect();
    let fit = steps::fit(&times, threshold);
    let DatedRow { row, device, .. } = rows[0].1;
    let step = |before: &TimeLevel, after: &TimeLevel| {
        let ratio = after.median_s / before.median_s;
        let [last_before, first_after] = [after.first - 1, after.first].map(|index| points[index].report);
        TimeStep {
            last_before,
            first_after,
            direction: direction(ratio),
            ratio,
            before_s: before.median_s,
            after_s: after.median_s,
            reports_before: before.count,
            reports_after: after.count,
            environment: changes(&reports[last_before], &reports[first_after], row),
        }
    };
    let latest = fit.levels.last().zip(fit.latest.as_ref()).map(|(level, latest)| {
        let count = times.len() - latest.first;
        let after = TimeLevel { first: latest.first, count, median_s: level.median_s * latest.ratio };
        step(level, &after)
    });
    Some(CellSeries {
        cell: row.cell(),
        side: row.side,
        device: device.clone(),
        accuracy: row.accuracy,
        other_operands,
        without_time,
        steps: fit.levels.windows(2).map(|pair| step(&pair[0], &pair[1])).collect(),
        latest,
        newest_s: *times.last()?,
        best_level_s: fit.levels.iter().map(|level| level.median_s).fold(f64::INFINITY, f64::min),
        fit,
        points,
    })
}

/// Returns the differences around a step that may explain it, by the facts of `gpubench compare`.
fn changes(before: &DatedReport, after: &DatedReport, row: &Row) -> Vec<Difference> {
    let [before, after] = [before, after].map(|report| only_cell(report, row));
    let mut found = differences(&before, &after, &BTreeMap::new());
    found.retain(|difference| difference.severity != Severity::Ignore);
    found
}

/// Reduces a report to the cell of a row, so that facts about other cells are ignored.
fn only_cell(dated: &DatedReport, cell: &Row) -> Runs {
    let mut environment = dated.environment.clone();
    let sweeps = environment.settings.get_mut("sweeps").and_then(|sweeps| sweeps.as_array_mut());
    if let Some(sweeps) = sweeps {
        sweeps.retain(|sweep| sweep["op"].as_str().is_none_or(|op| op == cell.case.op));
    }
    let wanted = cell.cell();
    let is_same = |row: &&Row| row.cell() == wanted;
    let rows = dated.rows.iter().map(|dated| &dated.row).filter(is_same).cloned().collect();
    let report = Report { schema_version: dated.schema_version, environment, rows };
    Runs { runs: vec![Run { name: dated.report_ref.name.clone(), report }], ..Runs::default() }
}
