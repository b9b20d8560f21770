//! Estimates the rest of a run's time from the turns of its cells so far.

use std::collections::{HashMap, HashSet};

/// Usual number of rounds. Only the estimate depends on it.
const ROUNDS: u32 = 3;
/// Expected time of a turn in a later round, over that of a first one, until a later one has been seen.
const LATER_SHARE: f64 = 0.25;

/// The turns of a run so far. The first turn of a cell prepares it, which takes longer than its later turns; a skipped cell
/// takes no time.
#[derive(Debug, Default)]
pub(crate) struct RunPace {
    cells: usize,
    /// Cells that have begun or ended.
    known: HashSet<String>,
    /// Cells that are not finished, and their turns in later rounds.
    running: HashMap<String, u32>,
    skipped: usize,
    /// Seconds of all first turns, and of all later turns with their number.
    first_s: f64,
    later: (f64, u32),
    /// The present turn: whether it is a first one, and the second of its beginning.
    turn: Option<(bool, f64)>,
}

impl RunPace {
    /// The run has `cells` cells.
    pub(crate) fn plan(&mut self, cells: usize) {
        self.cells = cells;
    }

    /// A turn of a cell begins at `now_s`: its first one, in which it is prepared, or a later one.
    pub(crate) fn begin(&mut self, cell: &str, is_first: bool, now_s: f64) {
        self.end_turn(now_s);
        self.turn = Some((is_first, now_s));
        self.known.insert(cell.to_owned());
        let turns = self.running.entry(cell.to_owned()).or_default();
        *turns += u32::from(!is_first);
    }

    /// A cell is finished at `now_s`.
    pub(crate) fn finish(&mut self, cell: &str, is_skipped: bool, now_s: f64) {
        self.end_turn(now_s);
        self.known.insert(cell.to_owned());
        self.running.remove(cell);
        self.skipped += usize::from(is_skipped);
    }

    fn end_turn(&mut self, now_s: f64) {
        match self.turn.take() {
            Some((true, begun_s)) => self.first_s += now_s - begun_s,
            Some((false, begun_s)) => self.later = (self.later.0 + now_s - begun_s, self.later.1 + 1),
            None => {}
        }
    }

    /// Returns the estimated seconds left; `None` before any cell was measured.
    pub(crate) fn left_s(&self) -> Option<f64> {
        // The present turn has not ended, so its time is not known.
        let under_way = usize::from(self.turn.is_some_and(|(is_first, _)| is_first));
        let ended = self.known.len().checked_sub(self.skipped + under_way).filter(|cells| *cells > 0)? as f64;
        let first_s = self.first_s / ended;
        let later_s =
            if self.later.1 > 0 { self.later.0 / f64::from(self.later.1) } else { LATER_SHARE * first_s };
        // Of the cells to come, as many are skipped as so far.
        let share = (self.known.len() - self.skipped) as f64 / self.known.len() as f64;
        let to_come = share * self.cells.saturating_sub(self.known.len()) as f64;
        let rounds = ROUNDS - 1;
        let turns: u32 = self.running.values().map(|turns| rounds.saturating_sub(*turns)).sum();
        Some(to_come * first_s + later_s * (f64::from(turns) + to_come * f64::from(rounds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs ten cells whose first turns take 1 s and whose two later ones take 0.25 s, with `skipped` skipped ones after each,
    /// and returns the greatest ratio of the estimate to the truth, or the reverse, from the third second to the last but one.
    fn worst_ratio(skipped: usize) -> f64 {
        let (mut pace, mut now_s, mut worst) = (RunPace::default(), 0.0, 1.0_f64);
        pace.plan(10 * (1 + skipped));
        for round in 0..3 {
            for name in (0..10).map(|k| format!("cell {k}")) {
                pace.begin(&name, round == 0, now_s);
                let (left_s, true_s) = (pace.left_s(), 15.0 - now_s);
                if let Some(left_s) = left_s.filter(|_| now_s > 3.0 && true_s > 1.0) {
                    worst = worst.max(left_s / true_s).max(true_s / left_s);
                }
                now_s += if round == 0 { 1.0 } else { 0.25 };
                if round == 2 {
                    pace.finish(&name, false, now_s);
                }
                for other in (0..skipped).filter(|_| round == 0) {
                    pace.finish(&format!("{name} {other}"), true, now_s);
                }
            }
        }
        worst
    }

    #[test]
    fn the_time_left_is_right_within_a_third_and_ignores_skipped_cells() {
        for skipped in [0, 1, 4] {
            let worst = worst_ratio(skipped);
            assert!(worst < 4.0 / 3.0, "{skipped} skipped: {worst}");
        }
    }

    #[test]
    fn before_the_first_measured_cell_there_is_no_estimate() {
        let mut pace = RunPace::default();
        pace.plan(3);
        assert_eq!(pace.left_s(), None);
        pace.finish("a", true, 0.0);
        assert_eq!(pace.left_s(), None);
        pace.begin("b", true, 0.0);
        assert_eq!(pace.left_s(), None);
        pace.begin("c", true, 1.0);
        assert!(pace.left_s().is_some());
    }
}
