//! Shows progress as a bar on a terminal: share of the cells, current cell and phase.

use std::collections::HashMap;
use std::time::Duration;

use gpubench_report::case::Cell;
use gpubench_report::report::{Outcome, Row};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Observer, lines};

/// A bar on standard error. Cells that were not measured are listed above it.
pub(crate) struct Bar {
    bar: ProgressBar,
    cell: String,
    cells: usize,
    finished: usize,
    /// Rounds of each begun cell before its present one.
    rounds: HashMap<String, u64>,
}

/// Interval in which the bar moves while nothing is timed.
const TICK: Duration = Duration::from_millis(200);
/// Steps of the bar per cell: the usual number of rounds.
const STEPS: u64 = 3;

impl Bar {
    /// Creates a bar that is hidden until the run starts.
    pub(crate) fn new() -> Self {
        Bar { bar: ProgressBar::hidden(), cell: String::new(), cells: 0, finished: 0, rounds: HashMap::new() }
    }

    fn show(&self, phase: &str) {
        // The text that changes most comes first, since a narrow terminal cuts off the end.
        let separator = if phase.is_empty() || self.cell.is_empty() { "" } else { ": " };
        self.bar.set_position(STEPS * self.finished as u64 + self.rounds.values().sum::<u64>());
        self.bar.set_message(format!("[{}/{}] {phase}{separator}{}", self.finished, self.cells, self.cell));
    }
}

impl Observer for Bar {
    fn run_started(&mut self, total: usize) {
        self.cells = total;
        self.bar = ProgressBar::new(STEPS * total as u64);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {bar:16} {elapsed} {wide_msg}") {
            self.bar.set_style(style);
        }
        self.bar.enable_steady_tick(TICK);
        self.show("starting");
    }

    fn cells_added(&mut self, total: usize) {
        self.cells = total;
        self.bar.set_length(STEPS * total as u64);
    }

    fn measuring(&mut self, what: &str) {
        self.show(what);
    }

    fn cell_started(&mut self, cell: &Cell, round: Option<u32>) {
        // From here only progress redraws the bar: a ticking thread would take time from the cell being timed.
        self.bar.disable_steady_tick();
        self.rounds.insert(cell.to_string(), round.unwrap_or(0).into());
        self.cell = match round {
            Some(round) => format!("{cell}, round {}", round + 1),
            None => cell.to_string(),
        };
        self.show("");
    }

    fn phase(&mut self, phase: &str) {
        self.show(phase);
    }

    fn cell_finished(&mut self, row: &Row) {
        if row.outcome != Outcome::Measured && !row.screened {
            self.note(&format!("{} {}", row.cell(), lines::result(row)));
        }
        self.finished += 1;
        self.rounds.remove(&row.cell().to_string());
    }

    fn run_finished(&mut self) {
        self.bar.finish_and_clear();
    }

    fn resumed(&mut self, finished: usize) {
        self.finished += finished;
    }

    fn note(&mut self, line: &str) {
        self.bar.println(line);
    }
}
