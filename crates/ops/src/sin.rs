//! The sine of every element, judged element by element.

use gpubench_model::case::Case;
use gpubench_model::error::CellError;

use super::judge::sines;
use super::volume::{dense_bytes, element, side};
use super::{About, Checked, Given, Op, Work};

/// `y = sin(a)`.
pub(crate) struct Sin;

impl Op for Sin {
    fn about(&self) -> About {
        About::new("sin", "y = sin(a), element by element", &[100, 500, 1000, 5000, 10000])
    }

    /// Counts one operation per element.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: n * n, bytes: 2.0 * n * n * element(case.dtype) }
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 2, 0)
    }

    /// Returns the largest relative error of an element. The bound is 8 unit roundoffs, four units in the last place.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, sines(given, 1))
    }
}
