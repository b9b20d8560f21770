//! Who hears of a run's progress: a bar on a terminal, plain lines elsewhere, or nobody. Knows no worker.

mod bar;
mod lines;

use std::io::{self, IsTerminal};

pub(crate) use bar::Bar;
pub(crate) use lines::Lines;

use gpubench_model::case::Cell;
use gpubench_model::report::Row;

/// Hears of a run's progress.
pub trait Observer {
    /// The run begins; it has `total` cells.
    fn run_started(&mut self, _total: usize) {}

    /// Cells are added to the run, which now has `total`.
    fn cells_added(&mut self, _total: usize) {}

    /// Something about the machine is measured before the first cell, such as `the peaks of cuda`.
    fn measuring(&mut self, _what: &str) {}

    /// A cell has its turn: to be prepared, or to be sampled in that round (from 0).
    fn cell_started(&mut self, _cell: &Cell, _round: Option<u32>) {}

    /// A phase of the present cell begins.
    fn phase(&mut self, _phase: &str) {}

    /// A cell is finished and on disk.
    fn cell_finished(&mut self, _row: &Row) {}

    /// No more cells follow.
    fn run_finished(&mut self) {}

    /// The user has ended the run after `finished` of its `total` cells.
    fn interrupted(&mut self, _finished: usize, _total: usize) {}
}

/// Nobody.
pub struct Silent;

impl Observer for Silent {}

/// Returns the observer for standard error: a bar where it is a terminal, else lines; nobody when `quiet`.
pub fn for_stderr(quiet: bool) -> Box<dyn Observer> {
    if quiet {
        Box::new(Silent)
    } else if io::stderr().is_terminal() {
        Box::new(Bar::new())
    } else {
        Box::new(Lines::new(io::stderr()))
    }
}
