//! Shows the progress of a run: a bar on a terminal, plain lines otherwise, or nothing.

mod bar;
mod lines;
mod pace;

use std::io::{self, IsTerminal};

pub(crate) use bar::Bar;
pub(crate) use lines::ProgressLines;

use gpubench_model::case::Cell;
use gpubench_model::report::{Report, Row};

/// Receives the progress of a run.
pub trait Observer {
    /// The run begins; it has `total` cells.
    fn run_started(&mut self, _total: usize) {}

    /// Cells are added to the run, which now has `total`.
    fn cells_added(&mut self, _total: usize) {}

    /// The run is resumed: an earlier start has finished `finished` of its `total` cells.
    fn resumed(&mut self, _finished: usize, _total: usize) {}

    /// A measurement of the machine begins, such as `peak bandwidth and FLOP rate of the GPU`.
    fn measuring(&mut self, _what: &str) {}

    /// A worker takes long to start, and fails after `limit`.
    fn slow_start(&mut self, _worker: &str, _limit: &str) {}

    /// A cell's turn begins: it is prepared, or sampled in that round (from 0).
    fn cell_started(&mut self, _cell: &Cell, _round: Option<u32>) {}

    /// A phase of the present cell begins.
    fn phase(&mut self, _phase: &str) {}

    /// A cell is finished and on disk.
    fn cell_finished(&mut self, _row: &Row) {}

    /// The results so far could not be saved; the run goes on and tries again.
    fn not_saved(&mut self, _error: &anyhow::Error) {}

    /// No more cells follow.
    fn run_finished(&mut self) {}

    /// The user has ended the run, which leaves this report of the planned cells.
    fn interrupted(&mut self, _report: &Report) {}
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
