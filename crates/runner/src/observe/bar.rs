//! Shows progress as a bar on a terminal: position, time left, current cell and phase.

use std::time::{Duration, Instant};

use gpubench_model::case::Cell;
use gpubench_model::report::{Outcome, Report, Row};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Observer, lines};

/// A bar on standard error. Cells that were not measured are listed above it.
pub(crate) struct Bar {
    bar: ProgressBar,
    start: Instant,
    cell: String,
    finished: usize,
    cells: usize,
}

/// Usual number of turns per cell, one per round. Only the pace of the bar depends on it.
const TURNS: u64 = 3;

impl Bar {
    /// Creates a bar that is hidden until the run starts.
    pub(crate) fn new() -> Self {
        Bar { bar: ProgressBar::hidden(), start: Instant::now(), cell: String::new(), finished: 0, cells: 0 }
    }

    fn show(&self, phase: &str) {
        // The text that changes most comes first, since a narrow terminal cuts off the end.
        let separator = if phase.is_empty() || self.cell.is_empty() { "" } else { ": " };
        let total = self.bar.length().unwrap_or(0);
        let left = time_left(self.start.elapsed(), self.bar.position(), total);
        let left = left.map(|left| format!("{left} left, ")).unwrap_or_default();
        self.bar
            .set_message(format!("[{}/{}] {left}{phase}{separator}{}", self.finished, self.cells, self.cell));
    }
}

impl Observer for Bar {
    fn run_started(&mut self, total: usize) {
        self.cells = total;
        self.bar = ProgressBar::new(TURNS * total as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:16} {elapsed} {wide_msg}") {
            self.bar.set_style(style);
        }
        // Only progress redraws the bar: a ticking thread would take time from the cell being timed.
        self.bar.tick();
        self.start = Instant::now();
    }

    fn cells_added(&mut self, total: usize) {
        self.cells = total;
        self.bar.set_length(TURNS * total as u64);
    }

    fn measuring(&mut self, what: &str) {
        self.show(&lines::measuring(what));
    }

    fn cell_started(&mut self, cell: &Cell, round: Option<u32>) {
        self.cell = match round {
            Some(round) => format!("{cell}, round {}", round + 1),
            None => cell.to_string(),
        };
        // Stop before the end: extra rounds are not part of the bar's length.
        if self.bar.position() + 1 < self.bar.length().unwrap_or(0) {
            self.bar.inc(1);
        }
        self.show("");
    }

    fn phase(&mut self, phase: &str) {
        self.show(phase);
    }

    fn cell_finished(&mut self, row: &Row) {
        if row.outcome != Outcome::Measured {
            self.bar.println(format!("{} {}", row.cell(), lines::result(row)));
        }
        self.finished += 1;
        self.bar.set_position(self.bar.position().max(TURNS * self.finished as u64));
    }

    fn run_finished(&mut self) {
        self.bar.finish_and_clear();
    }

    fn interrupted(&mut self, report: &Report, total: usize) {
        self.bar.println(lines::interrupted(report, total));
    }
}

/// Estimates the time of the remaining turns from the pace so far; `None` when none remains.
fn time_left(elapsed: Duration, done: u64, total: u64) -> Option<String> {
    let to_come = total.checked_sub(done).filter(|&turns| turns > 0 && done > 0)?;
    let seconds = (elapsed.as_secs_f64() / done as f64 * to_come as f64).ceil();
    Some(if seconds < 60.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), seconds % 60.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_the_pace_so_far() {
        assert_eq!(time_left(Duration::from_secs(10), 5, 10).as_deref(), Some("10 s"));
        assert_eq!(time_left(Duration::from_secs(60), 1, 3).as_deref(), Some("2 min 00 s"));
        assert_eq!(time_left(Duration::from_secs(60), 3, 3), None);
        assert_eq!(time_left(Duration::from_secs(60), 0, 3), None);
    }
}
