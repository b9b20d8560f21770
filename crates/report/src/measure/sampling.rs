//! Defines the settings of sampling: the time and the precision for each cell.

use serde::{Deserialize, Serialize};

use super::batch::WarmUp;
use super::stopping::Rule;
use crate::Side;

/// Settings of a cell's sampling.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Minimum executions before the first sample of a round.
    pub warmup: u32,
    /// Exact number of samples; `None` takes as many as the precision needs.
    pub samples: Option<u32>,
    /// Half width of the 95 % interval, relative to the median, at which sampling stops; `None` uses the side's default.
    pub precision: Option<f64>,
    /// Seconds of sampling after which a cell stops, once it has [`MIN_SAMPLES`].
    pub max_time_s: f64,
    /// Rounds in which the samples are taken, with other cells in between.
    pub rounds: u32,
}

/// Minimum samples of a cell, unless they would take [`HARD_FACTOR`] times its time.
pub const MIN_SAMPLES: u32 = 12;
/// Maximum samples of a cell, at any precision.
pub(crate) const MAX_SAMPLES: u32 = 2000;
/// Multiple of `max_time_s` that a cell of long executions may take to reach [`MIN_SAMPLES`].
pub const HARD_FACTOR: f64 = 10.0;
/// Maximum of the minimum seconds of warm-up in the first round; later rounds take a quarter.
const WARMUP_S: f64 = 0.05;
/// Multiple of [`WARMUP_S`] from which an execution is long: it needs no warm-up once others came before, because clocks and
/// threads are awake after a small part of it.
const LONG_FACTOR: f64 = 10.0;
/// Factor by which a warm-up may be extended while times still fall.
const WARMUP_EXTENSION: f64 = 5.0;

impl Default for Sampling {
    fn default() -> Self {
        Sampling { warmup: 2, samples: None, precision: None, max_time_s: 0.5, rounds: 3 }
    }
}

impl Default for Rule {
    fn default() -> Self {
        Sampling::default().rule(Side::Cpu)
    }
}

impl Sampling {
    /// Returns the target half width of the side.
    pub fn precision(&self, side: Side) -> f64 {
        self.precision.unwrap_or(match side {
            Side::Gpu => 0.005,
            Side::Cpu => 0.01,
        })
    }

    /// Returns the stopping rule of a cell on that side.
    pub fn rule(&self, side: Side) -> Rule {
        Rule {
            fixed: self.samples,
            min_samples: MIN_SAMPLES,
            max_samples: MAX_SAMPLES,
            precision: self.precision(side),
            max_time_s: self.max_time_s,
            hard_time_s: HARD_FACTOR * self.max_time_s,
            rounds: self.rounds,
        }
    }

    /// Returns the warm-up of a round (from 0). Later rounds need less, since clocks and threads are still partly awake.
    /// `known_s` are the seconds of the shortest sample so far.
    pub fn warm_up(&self, round: u32, known_s: Option<f64>) -> WarmUp {
        let is_long = known_s.is_some_and(|seconds| seconds >= LONG_FACTOR * WARMUP_S);
        if self.warmup == 0 || is_long {
            return WarmUp { executions: 0, min_s: 0.0, max_s: 0.0 };
        }
        let full = WARMUP_S.min(self.max_time_s / 4.0);
        let min_s = if round == 0 { full } else { full / 4.0 };
        WarmUp { executions: self.warmup, min_s, max_s: WARMUP_EXTENSION * full }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_rounds_and_long_executions_need_less_warm_up() {
        let of = |round, known_s| {
            let warm_up = Sampling::default().warm_up(round, known_s);
            (warm_up.executions, warm_up.min_s)
        };
        assert_eq!((of(0, None), of(0, Some(0.1))), ((2, WARMUP_S), (2, WARMUP_S)));
        assert_eq!(of(1, Some(0.1)), (2, WARMUP_S / 4.0));
        assert_eq!(of(1, Some(0.6)), (0, 0.0));
    }
}
