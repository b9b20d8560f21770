//! Adds to each step the differences between the environments of the reports before and after it, by the facts of
//! `gpubench compare`.

use std::collections::{BTreeMap, HashMap};

use gpubench_compare::environment::differences;
use gpubench_compare::{Difference, Run, Runs, Severity};
use gpubench_model::case::Cell;
use gpubench_model::report::Report;

use super::Series;
use super::gather::{DatedReport, Entry};

/// The rows of every report by the text of their cell, so that a step finds those of its cell without a search.
pub(crate) struct CellIndex<'a> {
    reports: &'a [DatedReport],
    entries: Vec<HashMap<String, Vec<&'a Entry>>>,
}

impl<'a> CellIndex<'a> {
    pub(crate) fn of(reports: &'a [DatedReport]) -> CellIndex<'a> {
        let entries = |report: &'a DatedReport| {
            let mut of_cell = HashMap::<String, Vec<&Entry>>::new();
            for entry in &report.rows {
                of_cell.entry(entry.row.cell().to_string()).or_default().push(entry);
            }
            of_cell
        };
        CellIndex { reports, entries: reports.iter().map(entries).collect() }
    }

    /// Adds the changes of the environment to each step of `series`.
    pub(crate) fn add_changes(&self, series: &mut Series) {
        let cell = series.cell();
        for step in series.steps.iter_mut().chain(&mut series.latest) {
            step.environment = self.changes(step.last_before, step.first_after, &cell);
        }
    }

    /// Returns the differences that may explain a change of `cell`'s times, most severe first.
    fn changes(&self, before: usize, after: usize, cell: &Cell) -> Vec<Difference> {
        let [before, after] = [before, after].map(|report| self.only_cell(report, cell));
        let mut found = differences(&before, &after, &BTreeMap::new());
        found.retain(|difference| difference.severity != Severity::Ignore);
        found
    }

    /// Reduces a report to that cell, so that facts about other cells are ignored.
    fn only_cell(&self, report: usize, cell: &Cell) -> Runs {
        let dated = &self.reports[report];
        let mut environment = dated.environment.clone();
        if let Some(sweeps) = environment.settings.get_mut("sweeps").and_then(|sweeps| sweeps.as_array_mut())
        {
            sweeps.retain(|sweep| sweep["op"].as_str().is_none_or(|op| op == cell.case.op));
        }
        let entries = self.entries[report].get(&cell.to_string()).into_iter().flatten();
        // The text of a cell omits its seed.
        let rows = entries.filter(|entry| entry.row.cell() == *cell).map(|entry| entry.row.clone());
        let report = Report { schema_version: dated.schema_version, environment, rows: rows.collect() };
        Runs { runs: vec![Run { name: dated.report_ref.name.clone(), report }], ..Runs::default() }
    }
}
