//! Shows progress as plain text: one line per finished cell.

use std::collections::BTreeSet;
use std::io::Write;

use gpubench_model::report::quantity::time_text;
use gpubench_model::report::{Outcome, Row};
use gpubench_text::count::counted;

use super::Observer;

pub(crate) struct Lines<W> {
    sink: W,
    done: usize,
    total: usize,
    /// Reasons of skipped cells so far, each with its backend.
    reasons: BTreeSet<(String, String)>,
}

impl<W: Write> Lines<W> {
    pub(crate) fn new(sink: W) -> Self {
        Lines { sink, done: 0, total: 0, reasons: BTreeSet::new() }
    }
}

impl<W: Write> Observer for Lines<W> {
    fn run_started(&mut self, total: usize) {
        self.total = total;
    }

    fn cells_added(&mut self, total: usize) {
        self.total = total;
    }

    fn measuring(&mut self, what: &str) {
        let _ = writeln!(self.sink, "{}", measuring(what));
    }

    fn cell_finished(&mut self, row: &Row) {
        self.done += 1;
        let reason = row.reason.clone().filter(|_| row.outcome == Outcome::Skipped);
        // Cells that lack the same library are skipped for the same reason, which one line gives.
        if reason.is_some_and(|reason| !self.reasons.insert((row.backend.clone(), reason))) {
            return;
        }
        // A closed standard error must not end the run.
        let _ = writeln!(self.sink, "[{}/{}] {} {}", self.done, self.total, row.cell(), result(row));
    }

    fn interrupted(&mut self, finished: usize, total: usize) {
        let _ = writeln!(self.sink, "{}", interrupted(finished, total));
    }
}

/// Returns the line printed before a measurement of the machine.
pub(crate) fn measuring(what: &str) -> String {
    format!("measuring {what}")
}

/// Returns the line printed when the user ends a run.
pub(crate) fn interrupted(finished: usize, total: usize) -> String {
    format!("interrupted after {finished} of {}; finished cells are saved", counted(total, "cell"))
}

/// Returns the result of a cell in a few words.
pub(crate) fn result(row: &Row) -> String {
    let reason = row.reason.as_deref().unwrap_or("no reason given");
    match (row.outcome, row.median_s()) {
        (Outcome::Measured, Some(median)) => time_text(median),
        (Outcome::Measured, None) => "measured".into(),
        (Outcome::Incorrect, _) => format!("incorrect: {reason}"),
        (Outcome::Skipped, _) => format!("skipped: {reason}"),
        (Outcome::Failed, _) => format!("failed: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::report::example;

    #[test]
    fn a_finished_cell_is_one_line_and_a_reason_to_skip_is_given_once() {
        let missing = "OpenBLAS is missing";
        let row = example::without_time("matmul", 1000, "cpu", "openblas", Outcome::Skipped, missing, None);
        let mut text = vec![];
        let mut lines = Lines::new(&mut text);
        lines.run_started(35);
        lines.cell_finished(&row);
        lines.cell_finished(&row);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "[1/35] matmul N=1000 f32 cpu/openblas cold skipped: OpenBLAS is missing\n");
    }
}
