//! Computes the probability that an unchanged run passes against a baseline.
//!
//! A cell passes if the upper end of its interval lies within its threshold. With few passes the interval is wide even
//! for an identical run, so no run passes. More passes narrow it down to the variation of the one run.

use statrs::distribution::{ContinuousCDF, Normal};

use super::calibration::Calibrated;
use crate::statistics::shift::{CONFIDENCE, quantile, standard_error};

/// Smallest useful probability of passing.
pub const MIN_CHANCE: f64 = 0.5;

/// Largest number of passes, or of runs compared with them, that is tried.
pub const MAX_COUNT: usize = 50;

/// The variation of a baseline's passes, to compute the effect of other numbers of passes or runs.
#[derive(Clone, Copy, Debug)]
pub struct Repetition<'a> {
    /// The variation of each cell.
    pub cells: &'a [Calibrated],
    /// Number of passes that it was measured from.
    pub passes: usize,
}

impl Repetition<'_> {
    /// Returns the probability that `runs` unchanged runs pass in every cell, compared with `passes` passes.
    pub fn chance(&self, passes: usize, runs: usize) -> f64 {
        self.cells.iter().map(|cell| self.chance_of(cell, passes, runs)).product()
    }

    /// Returns the probability that one cell passes.
    pub fn chance_of(&self, cell: &Calibrated, passes: usize, runs: usize) -> f64 {
        let more = passes as f64 + runs as f64 - 1.0 - self.passes as f64;
        let error = |variation: f64| standard_error(variation.powi(2), passes, runs);
        let half = quantile(cell.df + more, (1.0 + CONFIDENCE) / 2.0) * error(cell.variation_between_runs);
        let room = cell.threshold.ln_1p() - half;
        match error(cell.own_variation) {
            error if error > 0.0 => Normal::new(0.0, error).map_or(0.0, |normal| normal.cdf(room)),
            _ => f64::from(u8::from(room >= 0.0)),
        }
    }

    /// Returns the smallest number of passes with which an unchanged run is likely to pass; `None` if [`MAX_COUNT`] are too
    /// few.
    pub fn passes_needed(&self) -> Option<usize> {
        (self.passes..=MAX_COUNT).find(|passes| self.chance(*passes, 1) >= MIN_CHANCE)
    }

    /// Returns the smallest number of runs that is likely to pass against the existing passes.
    pub fn runs_needed(&self) -> Option<usize> {
        (1..=MAX_COUNT).find(|runs| self.chance(self.passes, *runs) >= MIN_CHANCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::case::{Cache, Case, Cell, DType};

    fn cell(variation_between_runs: f64, df: f64) -> Calibrated {
        let case = Case { op: "fft".into(), n: 8, dtype: DType::F32, density: None, seed: 1 };
        let cell = Cell { case, backend: "cpu".into(), variant: "realfft".into(), cache: Cache::Cold };
        Calibrated {
            cell,
            variation_between_runs,
            own_variation: variation_between_runs,
            df,
            pass_range: 0.0,
            threshold: 0.1,
            is_measured: true,
        }
    }

    #[test]
    fn two_passes_of_a_cell_that_differs_by_four_per_cent_never_pass_and_steadier_cells_do() {
        let noisy = [cell(0.04, 7.0)];
        let repetition = Repetition { cells: &noisy, passes: 2 };
        assert!(repetition.chance(2, 1) < 0.35, "{}", repetition.chance(2, 1));
        assert_eq!(repetition.passes_needed(), Some(9));
        let sweep: Vec<Calibrated> = (0..22).map(|_| cell(0.04, 7.0)).collect();
        let repetition = Repetition { cells: &sweep, passes: 2 };
        assert!(repetition.chance(2, 1) < 1e-9 && repetition.passes_needed().is_none());
        let steady: Vec<Calibrated> = (0..22).map(|_| cell(0.01, 7.0)).collect();
        assert_eq!(Repetition { cells: &steady, passes: 2 }.passes_needed(), Some(2));
        assert!(Repetition { cells: &steady, passes: 5 }.chance(5, 1) > 0.99);
    }

    #[test]
    fn more_runs_against_enough_passes_decide_what_one_cannot() {
        let sweep: Vec<Calibrated> = (0..22).map(|_| cell(0.03, 10.0)).collect();
        let repetition = Repetition { cells: &sweep, passes: 5 };
        assert!(repetition.chance(5, 1) < MIN_CHANCE);
        let runs = repetition.runs_needed().unwrap();
        assert!((2..=6).contains(&runs), "{runs}");
        assert!(repetition.chance(5, runs) >= MIN_CHANCE);
    }
}
