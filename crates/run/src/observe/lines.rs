//! Shows progress as plain text: one line per finished cell.

use std::collections::BTreeSet;
use std::io::Write;

use gpubench_report::report::{Outcome, Row};

use super::Observer;

pub(crate) struct ProgressLines<W> {
    sink: W,
    done: usize,
    total: usize,
    /// Reasons of skipped cells so far, each with its backend.
    reasons: BTreeSet<(String, String)>,
}

impl<W: Write> ProgressLines<W> {
    pub(crate) fn new(sink: W) -> Self {
        ProgressLines { sink, done: 0, total: 0, reasons: BTreeSet::new() }
    }
}

impl<W: Write> Observer for ProgressLines<W> {
    fn run_started(&mut self, total: usize) {
        self.total = total;
    }

    fn cells_added(&mut self, total: usize) {
        self.total = total;
    }

    fn cell_finished(&mut self, row: &Row) {
        self.done += 1;
        let reason = row.reason.clone().filter(|_| row.outcome == Outcome::Skipped);
        let once = if reason.is_some() { " (each reason to skip is shown once)" } else { "" };
        // Cells that lack the same library are skipped for the same reason, which one line gives.
        if reason.is_some_and(|reason| !self.reasons.insert((row.backend.clone(), reason))) {
            return;
        }
        // A closed standard error must not end the run.
        let _ = writeln!(self.sink, "[{}/{}] {} {}{once}", self.done, self.total, row.cell(), result(row));
    }

    fn resumed(&mut self, finished: usize) {
        self.done += finished;
    }

    fn note(&mut self, line: &str) {
        let _ = writeln!(self.sink, "{line}");
    }
}

/// Returns the result of a cell in a few words.
pub(crate) fn result(row: &Row) -> String {
    let reason = row.reason.as_deref().unwrap_or("no reason given");
    match (row.outcome, &row.execute) {
        (Outcome::Measured, Some(execute)) => execute.median_text(),
        (Outcome::Measured, None) => "measured".into(),
        (Outcome::Incorrect, _) => format!("incorrect: {reason}"),
        (Outcome::Skipped, _) => format!("skipped: {reason}"),
        (Outcome::Failed, _) => format!("failed: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::measure::stopping::Reason;
    use gpubench_report::report::{Report, example};

    #[test]
    fn an_interrupted_run_counts_the_cells_with_a_result_and_those_cut_short() {
        let finished = example::measured("fft", 8, "cpu", "realfft", 1e-3);
        let mut short = finished.clone();
        short.execute.as_mut().unwrap().stopped = Some(Reason::CutShort);
        let line = |rows: &[&Row]| {
            let rows = rows.iter().map(|row| (*row).clone()).collect();
            let mut report = Report { rows, ..example::empty() };
            report.environment.planned_rows = Some(16);
            let mut text = vec![];
            ProgressLines::new(&mut text).interrupted(&report);
            String::from_utf8(text).unwrap()
        };
        assert_eq!(line(&[]), "interrupted: the report has 0 of 16 cells\n");
        assert_eq!(line(&[&finished]), "interrupted: the report has 1 of 16 cells\n");
        assert_eq!(
            line(&[&finished, &short, &short]),
            "interrupted: the report has 3 of 16 cells, 2 of them with fewer samples than planned\n"
        );
    }

    #[test]
    fn a_finished_cell_is_one_line_and_a_reason_to_skip_is_given_once() {
        let missing = "OpenBLAS is missing";
        let row = example::without_time("matmul", 1000, "cpu", "openblas", Outcome::Skipped, missing, None);
        let mut text = vec![];
        let mut lines = ProgressLines::new(&mut text);
        lines.run_started(35);
        lines.cell_finished(&row);
        lines.cell_finished(&row);
        let skipped = "[1/35] matmul N=1000 f32 cpu/openblas cold skipped: OpenBLAS is missing";
        let expected = format!("{skipped} (each reason to skip is shown once)\n");
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
