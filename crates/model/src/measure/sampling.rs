//! What was asked for: how long and how precisely a cell is to be sampled.

use serde::{Deserialize, Serialize};

use super::batch::WarmUp;
use super::stopping::Rule;
use crate::Side;

/// How a cell is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Executions before the first sample of a round, at least.
    pub warmup: u32,
    /// Samples to take, exactly; as many as the precision needs when `None`.
    pub samples: Option<u32>,
    /// Half width of the 95 % interval relative to the median at which sampling stops; by side when `None`.
    pub precision: Option<f64>,
    /// Seconds of sampling after which a cell stops, once it has [`LEAST_SAMPLES`].
    pub max_time_s: f64,
    /// Rounds in which the samples are taken, with other cells in between.
    pub rounds: u32,
}

/// Samples that a cell takes unless even that would take [`HARD_FACTOR`] times its time.
pub const LEAST_SAMPLES: u32 = 12;
/// Samples after which a cell stops whatever the precision.
pub(crate) const MOST_SAMPLES: u32 = 2000;
/// How many times `max_time_s` a cell whose executions are long may take to reach [`LEAST_SAMPLES`].
pub const HARD_FACTOR: f64 = 10.0;
/// Seconds of warm-up in the first round, at most; later rounds take a quarter of it.
const WARMUP_S: f64 = 0.1;
/// How many times as long a warm-up may take when times still fall.
const PATIENCE: f64 = 5.0;

impl Default for Sampling {
    fn default() -> Self {
        Sampling { warmup: 2, samples: None, precision: None, max_time_s: 2.0, rounds: 3 }
    }
}

impl Default for Rule {
    fn default() -> Self {
        Sampling::default().rule(Side::Cpu)
    }
}

impl Sampling {
    /// The half width aimed at on that side.
    pub fn precision(&self, side: Side) -> f64 {
        self.precision.unwrap_or(match side {
            Side::Gpu => 0.005,
            Side::Cpu => 0.01,
        })
    }

    /// When a cell of that side has enough samples.
    pub fn rule(&self, side: Side) -> Rule {
        Rule {
            fixed: self.samples,
            min_samples: LEAST_SAMPLES,
            max_samples: MOST_SAMPLES,
            precision: self.precision(side),
            max_time_s: self.max_time_s,
            hard_time_s: HARD_FACTOR * self.max_time_s,
            rounds: self.rounds,
        }
    }

    /// How a round (from 0) begins: a first one wakes clocks and threads up, a later one finds them half awake.
    pub fn warm_up(&self, round: u32) -> WarmUp {
        if self.warmup == 0 {
            return WarmUp { executions: 0, least_s: 0.0, most_s: 0.0 };
        }
        let full = WARMUP_S.min(self.max_time_s / 4.0);
        let least_s = if round == 0 { full } else { full / 4.0 };
        WarmUp { executions: self.warmup, least_s, most_s: PATIENCE * full }
    }
}
