//! What changed around a cell when its level stepped: the environments of the reports before and after, by the facts that
//! a comparison looks at.

use std::collections::BTreeMap;

use gpubench_compare::environment::differences;
use gpubench_compare::{Difference, Run, Runs, Severity};
use gpubench_model::case::Cell;
use gpubench_model::report::Report;

use super::Series;
use super::gather::DatedReport;

/// Tells each step of `series` what else changed.
pub(crate) fn add_changes(reports: &[DatedReport], series: &mut Series) {
    let cell = series.cell();
    for step in series.steps.iter_mut().chain(&mut series.latest) {
        step.environment = changes(&reports[step.last_before], &reports[step.first_after], &cell);
    }
}

/// The differences that may explain a change of `cell`'s times, the gravest first.
fn changes(before: &DatedReport, after: &DatedReport, cell: &Cell) -> Vec<Difference> {
    let [before, after] = [before, after].map(|dated| only_cell(dated, cell));
    let mut found = differences(&before, &after, &BTreeMap::new());
    found.retain(|difference| difference.severity != Severity::Ignore);
    found
}

/// The report as if it had that cell alone, so that facts about others are not told.
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
