//! Layers: the values that one source of settings gives, each of which a layer above may replace.

use std::path::PathBuf;

use gpubench_text::pattern::Pattern;

use crate::backend::HostMemory;
use crate::case::{Cache, DType};
use crate::chart::Theme;
use crate::settings::threads::Threads;

/// What to measure, as far as one source says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// Names of ops.
    pub ops: Option<Vec<String>>,
    /// Sides of the operands.
    pub sizes: Option<Vec<u64>>,
    /// Element types.
    pub dtypes: Option<Vec<DType>>,
    /// Names of backends.
    pub backends: Option<Vec<String>>,
    /// Patterns that choose variants.
    pub variants: Option<Vec<Pattern>>,
    /// Share of stored entries of sparse operands.
    pub density: Option<f64>,
    /// States of the caches.
    pub caches: Option<Vec<Cache>>,
    /// Samples a cell, exactly.
    pub samples: Option<u32>,
    /// Executions before the first sample of a round.
    pub warmup: Option<u32>,
    /// Half width of the interval relative to the median at which a cell stops.
    pub precision: Option<f64>,
    /// Seconds of sampling after which a cell stops.
    pub max_time_s: Option<f64>,
    /// Rounds in which a cell is sampled.
    pub rounds: Option<u32>,
}

impl Layer {
    /// This layer's values, and those of `under` where this one has none.
    pub fn over(&self, under: &Layer) -> Layer {
        Layer {
            ops: self.ops.clone().or_else(|| under.ops.clone()),
            sizes: self.sizes.clone().or_else(|| under.sizes.clone()),
            dtypes: self.dtypes.clone().or_else(|| under.dtypes.clone()),
            backends: self.backends.clone().or_else(|| under.backends.clone()),
            variants: self.variants.clone().or_else(|| under.variants.clone()),
            density: self.density.or(under.density),
            caches: self.caches.clone().or_else(|| under.caches.clone()),
            samples: self.samples.or(under.samples),
            warmup: self.warmup.or(under.warmup),
            precision: self.precision.or(under.precision),
            max_time_s: self.max_time_s.or(under.max_time_s),
            rounds: self.rounds.or(under.rounds),
        }
    }
}

/// Values that hold for a whole run, as far as one source says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunWide {
    /// Seed of the operands.
    pub seed: Option<u64>,
    /// CPU threads.
    pub threads: Option<Threads>,
    /// Whether CPU threads are bound to processors.
    pub pin: Option<bool>,
    /// BLAS libraries to take before those that are found.
    pub blas: Option<Vec<PathBuf>>,
    /// Ordinal of the CUDA device.
    pub device: Option<u32>,
    /// Script of the simulated device.
    pub sim: Option<PathBuf>,
    /// Seconds after which a cell is given up.
    pub cell_timeout_s: Option<f64>,
    /// Seconds the whole run should take.
    pub budget_s: Option<f64>,
    /// Host memory of copies to a device and back.
    pub transfer: Option<HostMemory>,
    /// Whether cells are added at sizes near crossovers.
    pub refine: Option<bool>,
    /// Whether the report is to have the ceilings of each backend.
    pub peaks: Option<bool>,
    /// Backends without which the run must not start.
    pub require: Option<Vec<String>>,
    /// The look of charts.
    pub theme: Option<Theme>,
}

impl RunWide {
    /// This layer's values, and those of `under` where this one has none.
    pub fn over(&self, under: &RunWide) -> RunWide {
        RunWide {
            seed: self.seed.or(under.seed),
            threads: self.threads.clone().or_else(|| under.threads.clone()),
            pin: self.pin.or(under.pin),
            blas: self.blas.clone().or_else(|| under.blas.clone()),
            device: self.device.or(under.device),
            sim: self.sim.clone().or_else(|| under.sim.clone()),
            cell_timeout_s: self.cell_timeout_s.or(under.cell_timeout_s),
            budget_s: self.budget_s.or(under.budget_s),
            transfer: self.transfer.or(under.transfer),
            refine: self.refine.or(under.refine),
            peaks: self.peaks.or(under.peaks),
            require: self.require.clone().or_else(|| under.require.clone()),
            theme: self.theme.or(under.theme),
        }
    }
}

/// Limits of the numbers that any source may give.
pub mod limits {
    use anyhow::{Result, ensure};

    /// Samples or warm-up executions: beyond, a slip.
    pub const MOST_REPETITIONS: u64 = 1_000_000;
    /// Threads: beyond, a slip.
    pub const MOST_THREADS: u64 = 4096;

    /// Samples a cell: at least 1.
    pub fn samples(count: u64) -> Result<u32> {
        ensure!(count >= 1, "0 samples measure nothing: take at least 1");
        repetitions("samples", count)
    }

    /// Executions before the first sample; 0 is allowed.
    pub fn warmup(count: u64) -> Result<u32> {
        repetitions("warm-up executions", count)
    }

    fn repetitions(what: &str, count: u64) -> Result<u32> {
        ensure!(count <= MOST_REPETITIONS, "{count} {what} are too many: take at most {MOST_REPETITIONS}");
        Ok(u32::try_from(count)?)
    }

    /// Rounds: at least 1; beyond 100, a slip.
    pub fn rounds(count: u64) -> Result<u32> {
        ensure!((1..=100).contains(&count), "{count} rounds cannot be made: take 1 to 100");
        Ok(u32::try_from(count)?)
    }

    /// Seconds of sampling a cell: at least a millisecond.
    pub fn max_time(seconds: f64) -> Result<f64> {
        ensure!(seconds >= 1e-3, "a cell cannot be sampled in less than 1 ms: give it at least 1ms");
        Ok(seconds)
    }

    /// Seconds of a whole run: at least one.
    pub fn budget(seconds: f64) -> Result<f64> {
        ensure!(seconds >= 1.0, "a run cannot be made in less than a second: give it at least 1s");
        Ok(seconds)
    }

    /// CPU threads: at least 1.
    pub fn threads(count: u64) -> Result<usize> {
        ensure!(count >= 1, "0 threads do no work: take at least 1, or leave it out for all");
        ensure!(count <= MOST_THREADS, "{count} threads are too many: take at most {MOST_THREADS}");
        Ok(usize::try_from(count)?)
    }

    /// Seconds after which a cell is given up: at least a millisecond, the resolution of waiting for a worker.
    pub fn cell_timeout(seconds: f64) -> Result<f64> {
        ensure!(seconds >= 1e-3, "a cell cannot be done in less than 1 ms: give it at least 1ms");
        Ok(seconds)
    }

    /// Share of stored entries: in (0, 1].
    pub fn density(share: f64) -> Result<f64> {
        ensure!(share > 0.0 && share <= 1.0, "density {share} is not above 0 and at most 1");
        Ok(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_s_own_value_hides_the_one_below_and_only_that() {
        let above = Layer { sizes: Some(vec![1]), samples: Some(5), ..Layer::default() };
        let below = Layer { sizes: Some(vec![2]), density: Some(0.5), ..Layer::default() };
        let expected =
            Layer { sizes: Some(vec![1]), samples: Some(5), density: Some(0.5), ..Layer::default() };
        assert_eq!(above.over(&below), expected);
    }

    #[test]
    fn limits_refuse_what_measures_nothing() {
        assert!(limits::samples(0).is_err() && limits::samples(1).is_ok());
        assert!(limits::warmup(0).is_ok() && limits::warmup(u64::MAX).is_err());
        assert!(limits::threads(0).is_err() && limits::threads(4).is_ok());
        assert!(limits::cell_timeout(9e-4).is_err() && limits::cell_timeout(1e-3).is_ok());
        for density in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(limits::density(density).is_err(), "{density}");
        }
        assert!(limits::density(1.0).is_ok());
    }
}
