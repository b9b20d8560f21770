//! Sum, mean and standard deviation of one matrix; knows how the three numbers are judged.

use super::judge::{self, relative};
use super::volume::{dense_bytes, element, side};
use super::{Checked, Limit, Op, Rounding, Work, uniform_square};
use crate::case::Case;
use crate::data::{Operand, Real};
use crate::error::CellError;

/// Sum, mean and population standard deviation of all elements.
pub struct Reduction;

impl Op for Reduction {
    fn name(&self) -> &'static str {
        "reduction"
    }

    fn summary(&self) -> &'static str {
        "sum, mean and population standard deviation of a matrix"
    }

    fn default_sizes(&self) -> &'static [u64] {
        &[100, 500, 1000, 5000, 10000]
    }

    /// Four operations an element: an addition for the sum, and a subtraction, a square and an addition
    /// for the deviation.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: 4.0 * n * n, bytes: n * n * element(case.dtype) + 24.0 }
    }

    fn limit(&self) -> Limit {
        Limit::Read
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 1, 0).saturating_add(24)
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![uniform_square(case, 0)]
    }

    /// The largest relative error of the three numbers against compensated float64 sums.
    ///
    /// At most `2 n` unit roundoffs, and never less than 16: the plainest running sum of `n^2` terms
    /// rounds by a fraction of `n`. A float32 deviation that drifts, 1 % at 4096 x 4096, is far beyond.
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
    let a = judge::dense::<T>(inputs, 0, "a", (n, n))?;
    let found = judge::dense::<f64>(answer, 0, "[sum, mean, std]", (3, 1))?;
    let expected = judge::moments(a);
    let [sum, mean, std] = expected;
    // A single element deviates by nothing; what is found instead is measured by the element.
    let scales = [sum, mean, if std > 0.0 { std } else { mean }];
    let errors = found.iter().zip(expected).zip(scales);
    let error = errors.map(|((found, expected), scale)| relative((found - expected).abs(), scale));
    let error =
        error.fold(0.0, |worst: f64, error| if error > worst || error.is_nan() { error } else { worst });
    Ok(Checked::new(error, (2.0 * n as f64).max(16.0) * rounding.sum))
}
