//! Shows progress as a bar on a terminal: share of the time, time left, current cell and phase.

use std::time::{Duration, Instant};

use gpubench_report::case::Cell;
use gpubench_report::report::{Outcome, Row};
use indicatif::{ProgressBar, ProgressStyle};

use super::pace::RunPace;
use super::{Observer, lines};

/// A bar on standard error. Cells that were not measured are listed above it.
pub(crate) struct Bar {
    bar: ProgressBar,
    start: Instant,
    pace: RunPace,
    cell: String,
    finished: usize,
    cells: usize,
}

/// Length of the bar, which stands for all of the run's time.
const LENGTH: u64 = 1000;
/// Interval in which the bar moves while nothing is timed.
const TICK: Duration = Duration::from_millis(200);

impl Bar {
    /// Creates a bar that is hidden until the run starts.
    pub(crate) fn new() -> Self {
        Bar {
            bar: ProgressBar::hidden(),
            start: Instant::now(),
            pace: RunPace::default(),
            cell: String::new(),
            finished: 0,
            cells: 0,
        }
    }

    fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn show(&self, phase: &str) {
        // The text that changes most comes first, since a narrow terminal cuts off the end.
        let separator = if phase.is_empty() || self.cell.is_empty() { "" } else { ": " };
        let (now_s, left_s) = (self.now_s(), self.pace.left_s());
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
        self.pace.plan(total);
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
        self.pace.plan(total);
    }

    fn measuring(&mut self, what: &str) {
        self.show(&lines::measuring(what));
    }

    fn cell_started(&mut self, cell: &Cell, round: Option<u32>) {
        // From here only progress redraws the bar: a ticking thread would take time from the cell being timed.
        self.bar.disable_steady_tick();
        self.pace.begin(&cell.to_string(), round.is_none_or(|round| round == 0), self.now_s());
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
        self.pace.finish(&row.cell().to_string(), row.outcome == Outcome::Skipped, self.now_s());
    }

    fn run_finished(&mut self) {
        self.bar.finish_and_clear();
    }

    fn resumed(&mut self, finished: usize, total: usize) {
        self.finished += finished;
        self.pace.plan(total - finished);
        self.note(&lines::resumed(finished, total));
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
