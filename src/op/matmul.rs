//! Dense matrix product; knows how `C = A B` is judged without computing it.

use rayon::prelude::*;

use super::judge::{self, relative, worst};
use super::volume::{dense_bytes, element, side};
use super::{Checked, Op, Rounding, Work, uniform_square};
use crate::case::Case;
use crate::data::{Operand, Real};
use crate::error::CellError;

/// `C = A B`.
pub struct Matmul;

impl Op for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn summary(&self) -> &'static str {
        "dense matrix product C = A B"
    }

    fn default_sizes(&self) -> &'static [u64] {
        &[100, 500, 1000, 5000, 10000]
    }

    /// `2 n^3`: a multiplication and an addition for each term.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: 2.0 * n * n * n, bytes: 3.0 * n * n * element(case.dtype) }
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        2.0 * side(case) * side(case) * element(case.dtype)
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 3, 0)
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![uniform_square(case, 0), uniform_square(case, 1)]
    }

    /// The largest error of a row under two projections: `(C x - A (B x))_i` relative to the 2-norm of row
    /// `i`, which is the relative error of a typical entry, for balanced random weights `x`, and the relative
    /// error of the row's sum. The finding nearer to its bound is returned.
    ///
    /// Balanced weights cancel what a row's entries have in common, so the operands' rounding stands as its
    /// average over a row (`input / sqrt(n)`), and one wrong entry stands out even at half precision; sums
    /// see common errors, such as a wrong factor. Rounding of sums grows with `sqrt(n)` in both.
    fn check(
        &self,
        case: &Case,
        inputs: &[Operand],
        answer: &[Operand],
        rounding: Rounding,
    ) -> Result<Checked, CellError> {
        for_dtype!(case.dtype, check(case, inputs, answer, rounding))
    }
}

fn check<T: Real>(
    case: &Case,
    inputs: &[Operand],
    answer: &[Operand],
    rounding: Rounding,
) -> Result<Checked, CellError> {
    let n = case.side();
    let a = judge::dense::<T>(inputs, 0, "A", (n, n))?;
    let b = judge::dense::<T>(inputs, 1, "B", (n, n))?;
    let c = judge::dense::<T>(answer, 0, "C", (n, n))?;
    let probes = judge::balanced_and_ones(case.seed, n);
    let expected = judge::rows_times(a, &judge::rows_times(b, &probes));
    let found = judge::rows_times(c, &probes);
    let rows = found.par_iter().zip(&expected);
    let root = (n as f64).sqrt();
    let weighted =
        worst(rows.clone().map(|(found, expected)| relative(found[0] - expected[0], expected[1] / root)));
    let sums = worst(rows.map(|(found, expected)| relative(found[1] - expected[1], expected[1])));
    let sum_rounding = root * rounding.sum;
    let weighted = Checked::new(weighted, 16.0 * rounding.input / root + 2.0 * sum_rounding);
    Ok(weighted.worse(Checked::new(sums, 8.0 * (rounding.input + sum_rounding))))
}
