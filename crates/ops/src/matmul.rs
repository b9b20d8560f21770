//! The dense matrix product. The judge checks `C = A B` by projections, without computing the product.

use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;
use rayon::prelude::*;

use super::judge::{self, JUDGE_ROUNDOFF, relative, worst};
use super::volume::{dense_bytes, element, side};
use super::{About, Checked, Given, Op, Work, uniform_square};

/// `C = A B`.
pub(crate) struct Matmul;

impl Op for Matmul {
    fn about(&self) -> About {
        About::new("matmul", "dense matrix product C = A B", &[100, 500, 1000, 5000, 10000])
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

    /// Computes three errors and returns the one nearest to its bound, on the scale of the first:
    ///
    /// - of a row under balanced random weights `x`: the largest `(C x - A (B x))_i` relative to the 2-norm of row `i`,
    ///   which is the relative error of a typical entry. It finds one wrong entry, even at half precision, as balanced
    ///   weights cancel what the rounding of operands adds to all entries of a row alike.
    /// - of the sum of a row, relative to it, and of the sums of some columns. An operand's rounding stays in a sum of
    ///   `C`, since it is multiplied by the other operand's mean; the rounding of the `n` entries averages out.
    ///
    /// A running sum of `n` numbers of one sign rounds by `sqrt(n) / 3` unit roundoffs, not by `n`, as errors of both
    /// signs add up (Higham and Mary 2019; Connolly, Higham and Mary 2021), and the mean of `n` of them by a third of
    /// one: the bounds are about six times as much, for the largest of many. Measured, with one running sum for each
    /// entry up to `n = 10000`: `0.26 sqrt(n)`, and 0.2 to 0.7 for the sums. Operands rounded to 11 bits move the sums by
    /// about `3400 / sqrt(n)` float32 roundoffs.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, check(given))
    }
}

fn check<T: Real>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
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
    // The judge's sums round too.
    let own = 4.0 * root * JUDGE_ROUNDOFF;
    let weighted = Checked::new(weighted, 16.0 * rounding.input / root + 4.0 * root * rounding.sum + own);
    let sums = Checked::new(sums, 4.0 * (rounding.input + rounding.sum) + own);
    // Enough rows to make the rounding of sums small; the rounding of their entries does not average out any further.
    let height = n.min(COLUMN_HEIGHT);
    let left = (n as f64 / height as f64).sqrt();
    let columns =
        Checked::new(column_error(a, b, c, n, height), 4.0 * (rounding.input + left * rounding.sum) + own);
    Ok([sums, columns].into_iter().fold(weighted, |worst, sum| worst.worse(sum.on_scale_of(worst.bound))))
}

/// Number of leading rows in the sum by which a column is judged.
const COLUMN_HEIGHT: usize = 1024;
/// Number of leading columns that are judged: enough to see the rounding of B, which moves each column differently.
const COLUMNS: usize = 64;

/// Returns the largest relative error of the sums of the leading `height` entries of the leading columns.
fn column_error<T: Real>(a: &[T], b: &[T], c: &[T], n: usize, height: usize) -> f64 {
    let (width, ones) = (n.min(COLUMNS), vec![[1.0]; height]);
    let leading =
        |matrix: &[T]| -> Vec<T> { matrix.chunks(n).flat_map(|row| &row[..width]).copied().collect() };
    let found = judge::columns_times(&leading(&c[..height * n]), &ones);
    let weights = judge::columns_times(&a[..height * n], &ones);
    let expected = judge::columns_times(&leading(b), &weights);
    worst(found.par_iter().zip(&expected).map(|([found], [expected])| relative(found - expected, *expected)))
}
