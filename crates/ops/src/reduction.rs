//! Sum, mean and standard deviation of one matrix; knows how the three numbers are judged.

use gpubench_model::case::Case;
use gpubench_model::data::Real;
use gpubench_model::error::CellError;

use super::judge::{self, relative};
use super::volume::{dense_bytes, element, side};
use super::{About, Checked, Given, Limit, Op, Work};

/// Sum, mean and population standard deviation of all elements.
pub(crate) struct Reduction;

impl Op for Reduction {
    fn about(&self) -> About {
        About {
            limit: Limit::Read,
            ..About::new(
                "reduction",
                "sum, mean and population standard deviation of a matrix",
                &[100, 500, 1000, 5000, 10000],
            )
        }
    }

    /// Four operations an element: an addition for the sum, and a subtraction, a square and an addition
    /// for the deviation.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: 4.0 * n * n, bytes: n * n * element(case.dtype) + 24.0 }
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 1, 0).saturating_add(24)
    }

    /// The largest relative error of the three numbers against compensated float64 sums.
    ///
    /// Answers in the element type: at most 8 unit roundoffs. Sums in blocks, in pairs or with compensation stay below
    /// two at every size (Higham 1993; Blanchard, Higham and Mary 2020); one running sum of all elements rounds by about
    /// `n / 4` and is no full-precision answer. Answers that carry more digits than the element type has are sums in the
    /// element type that float64 has joined, and are judged as such: see [`joined`].
    ///
    /// Operands rounded to fewer bits change the sum by about 3500 / n float32 roundoffs (11 bits), at random: an
    /// answer in float32 hides that for `n` above a few hundred, since right answers in float32 are as far from the truth.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, check(given))
    }
}

fn check<T: Real>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
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
    // The element type's precision shows in the numbers, since all come as float64.
    let in_type = found.iter().any(|&number| T::from_f64(number).to_f64() == number);
    let units = if in_type { IN_TYPE } else { joined(n).min(IN_TYPE) };
    Ok(Checked::new(error, units * rounding.sum))
}

/// Unit roundoffs by which an answer in the element type may be off.
const IN_TYPE: f64 = 8.0;
/// Elements that at least one running sum in the element type may add up before float64 takes it.
const RUN: f64 = 64.0;
/// Running sums at once: about as many threads as a GPU has.
const THREADS: f64 = (1 << 18) as f64;

/// Unit roundoffs by which `n^2` numbers may be off that are added in runs of the element type, and then in float64.
///
/// Rounding is independent in each run (Higham and Mary 2019): a run of `b` elements rounds by about `sqrt(b) / 3`
/// roundoffs of its own, and the mean of `n^2 / b` runs by `b / 3 n`. The bound is six times that.
fn joined(n: usize) -> f64 {
    let n = n as f64;
    2.0 * RUN.max(n * n / THREADS) / n
}
