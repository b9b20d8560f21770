//! Shows the progress of a run: a bar on a terminal, plain lines otherwise, or nothing.

mod bar;
mod lines;

use std::io::{self, IsTerminal};

pub(crate) use bar::Bar;
pub(crate) use lines::ProgressLines;

use gpubench_report::case::Cell;
use gpubench_report::report::{Report, Row};
use gpubench_text::count::counted;

/// Receives the progress of a run.
pub trait Observer {
    /// The run begins; it has `total` cells.
    fn run_started(&mut self, _total: usize) {}

    /// Cells are added to the run, which now has `total`.
    fn cells_added(&mut self, _total: usize) {}

    /// The run is resumed: an earlier start has finished this number of its cells.
    fn resumed(&mut self, _finished: usize) {}

    /// A measurement of the machine begins, such as `measuring peak bandwidth and FLOP rate of the GPU`.
    fn measuring(&mut self, what: &str) {
        self.note(what);
    }

    /// A worker takes long to start, and fails after `limit`.
    fn slow_start(&mut self, worker: &str, limit: &str) {
        self.note(&format!("still starting {worker}; its cells fail if that takes more than {limit}"));
    }

    /// A cell's turn begins: it is prepared, or sampled in that round (from 0).
    fn cell_started(&mut self, _cell: &Cell, _round: Option<u32>) {}

    /// A phase of the present cell begins.
    fn phase(&mut self, _phase: &str) {}

    /// A cell is finished and on disk.
    fn cell_finished(&mut self, _row: &Row) {}

    /// The results so far could not be saved; the run goes on and tries again.
    fn not_saved(&mut self, error: &anyhow::Error) {
        self.note(&format!("{error:#}; the run goes on and tries again after the next cell"));
    }

    /// No more cells follow.
    fn run_finished(&mut self) {}

    /// The user has ended the run, which leaves this report, with complete and incomplete cells.
    fn interrupted(&mut self, report: &Report) {
        let short = match report.rows.iter().filter(|row| row.was_cut_short()).count() {
            0 => String::new(),
            short => format!(", {short} of them with fewer samples than planned"),
        };
        let planned = report.environment.planned_rows.unwrap_or(0) as usize;
        let (rows, planned) = (report.rows.len(), counted(planned, "cell"));
        self.note(&format!("interrupted: the report has {rows} of {planned}{short}"));
    }

    /// A line for the user, besides the progress.
    fn note(&mut self, _line: &str) {}
}

/// Shows nothing.
pub struct Silent;

impl Observer for Silent {}

/// Returns the observer for standard error: a bar on a terminal, otherwise lines; nothing if `quiet`.
pub fn for_stderr(quiet: bool) -> Box<dyn Observer> {
    if quiet {
        Box::new(Silent)
    } else if io::stderr().is_terminal() {
        Box::new(Bar::new())
    } else {
        Box::new(ProgressLines::new(io::stderr()))
    }
}
