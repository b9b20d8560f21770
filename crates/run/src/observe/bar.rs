//! Shows progress as a bar on a terminal: share of the time, time left, current cell and phase.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use gpubench_report::case::Cell;
use gpubench_report::report::{Outcome, Row};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Observer, lines};

/// A bar on standard error. Cells that were not measured are listed above it.
pub(crate) struct Bar {
    bar: ProgressBar,
    start: Instant,
    cell: String,
    cells: usize,
    finished: usize,
    /// Finished cells that an earlier start of the run had finished, or that were skipped: they take no time.
    without_time: usize,
    /// Cells that were prepared, and the turns of all cells after their first.
    prepared: HashSet<String>,
    later_turns: usize,
}

/// Length of the bar, which stands for all of the run's time.
const LENGTH: u64 = 1000;
/// Interval in which the bar moves while nothing is timed.
const TICK: Duration = Duration::from_millis(200);
/// Usual number of turns of a cell after its first, and the time of one over that of a first turn, in which the cell is
/// prepared. Only the estimate of the time left depends on them.
const LATER_TURNS: f64 = 2.0;
const LATER_TURN: f64 = 0.25;

impl Bar {
    /// Creates a bar that is hidden until the run starts.
    pub(crate) fn new() -> Self {
        Bar {
            bar: ProgressBar::hidden(),
            start: Instant::now(),
            cell: String::new(),
            cells: 0,
            finished: 0,
            without_time: 0,
            prepared: HashSet::new(),
            later_turns: 0,
        }
    }

    fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Returns the estimated seconds left, if as many cells are skipped as so far; `None` before any cell was measured.
    fn left_s(&self) -> Option<f64> {
        let (begun, later) = (self.prepared.len() as f64, self.later_turns as f64);
        let measured = self.finished.saturating_sub(self.without_time) as f64;
        let known = self.prepared.len() + self.without_time;
        let to_come = begun / known.max(1) as f64 * self.cells.saturating_sub(known) as f64;
        let turns = (LATER_TURNS * (begun - measured)).min(LATER_TURNS * begun - later).max(0.0);
        let left = to_come * (1.0 + LATER_TURNS * LATER_TURN) + turns * LATER_TURN;
        // The present turn has not ended.
        let done = begun + later * LATER_TURN - 1.0;
        (done > 0.0).then(|| self.now_s() * left / done)
    }

    fn show(&self, phase: &str) {
        // The text that changes most comes first, since a narrow terminal cuts off the end.
        let separator = if phase.is_empty() || self.cell.is_empty() { "" } else { ": " };
        let (now_s, left_s) = (self.now_s(), self.left_s());
        if let Some(left_s) = left_s {
            let done = LENGTH as f64 * now_s / (now_s + left_s).max(f64::MIN_POSITIVE);
            // A longer estimate than before does not take the bar back.
            self.bar.set_position(self.bar.position().max(done as u64));
        }
        let left = left_s.map(|left_s| format!("{} left, ", time_text(left_s))).unwrap_or_default();
        self.bar
            .set_message(format!("[{}/{}] {left}{phase}{separator}{}", self.finished, self.cells, self.cell));
    }
}

impl Observer for Bar {
    fn run_started(&mut self, total: usize) {
        self.cells = total;
        self.bar = ProgressBar::new(LENGTH);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {bar:16} {elapsed} {wide_msg}") {
            self.bar.set_style(style);
        }
        self.bar.enable_steady_tick(TICK);
        self.start = Instant::now();
        self.show("starting");
    }

    fn cells_added(&mut self, total: usize) {
        self.cells = total;
    }

    fn measuring(&mut self, what: &str) {
        self.show(what);
    }

    fn cell_started(&mut self, cell: &Cell, round: Option<u32>) {
        // From here only progress redraws the bar: a ticking thread would take time from the cell being timed.
        self.bar.disable_steady_tick();
        match round {
            Some(1..) => self.later_turns += 1,
            _ => drop(self.prepared.insert(cell.to_string())),
        }
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
        self.without_time += usize::from(row.outcome == Outcome::Skipped);
    }

    fn run_finished(&mut self) {
        self.bar.finish_and_clear();
    }

    fn resumed(&mut self, finished: usize) {
        self.finished += finished;
        self.without_time += finished;
    }

    fn note(&mut self, line: &str) {
        self.bar.println(line);
    }
}

/// Formats the time left: in seconds, or from a minute upward in minutes and seconds.
fn time_text(seconds: f64) -> String {
    let seconds = seconds.ceil();
    match seconds < 60.0 {
        true => format!("{seconds:.0} s"),
        false => format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), seconds % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_seconds_or_minutes() {
        assert_eq!((time_text(9.2), time_text(119.5)), ("10 s".into(), "2 min 00 s".into()));
    }
}
