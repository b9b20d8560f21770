//! Adds to each step the differences between the environments of the reports before and after it, by the facts of
//! `gpubench compare`.

use std::collections::BTreeMap;

use gpubench_compare::environment::differences;
use gpubench_compare::{Difference, Run, Runs, Severity};
use gpubench_model::case::Cell;
use gpubench_model::report::Report;

use super::Series;
use super::gather::DatedReport;

/// Adds the changes of the environment to each step of `series`.
pub(crate) fn add_changes(reports: &[DatedReport], series: &mut Series) {
    let cell = series.cell();
    for step in series.steps.iter_mut().chain(&mut series.latest) {
        step.environment = changes(&reports[step.last_before], &reports[step.first_after], &cell);
    }
}

/// Returns the differences that may explain a change of `cell`'s times, most severe first.
fn changes(before: &DatedReport, after: &DatedReport, cell: &Cell) -> Vec<Difference> {
    let [before, after] = [before, after].map(|dated| only_cell(dated, cell));
    let mut found = differences(&before, &after, &BTreeMap::new());
    found.retain(|difference| difference.severity != Severity::Ignore);
    found
}

/// Reduces the report to that cell, so that facts about other cells are ignored.
fn only_cell(dated: &DatedReport, cell: &Cell) -> Runs {
    let mut environment = dated.environment.clone();
    if let Some(sweeps) = environment.settings.get_mut("sweeps").and_then(|sweeps| sweeps.as_array_mut()) {
        sweeps.retain(|sweep| sweep["op"].as_str().is_none_or(|op| op == cell.case.op));
    }
    let entries = dated.rows.iter().filter(|entry| entry.row.cell() == *cell);
    let rows = entries.map(|entry| entry.row.clone());
    let report = Report { schema_version: dated.schema_version, environment, rows: rows.collect() };
    Runs { runs: vec![Run { name: dated.report_ref.name.clone(), report }], ..Runs::default() }
}
