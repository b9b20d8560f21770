//! The sine of every element; knows how it is judged element by element.

use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::judge::sines;
use super::volume::{dense_bytes, element, side};
use super::{Checked, Op, Rounding, Work, uniform_square};

/// `y = sin(a)`.
pub struct Sin;

impl Op for Sin {
    fn name(&self) -> &'static str {
        "sin"
    }

    fn summary(&self) -> &'static str {
        "y = sin(a), element by element"
    }

    fn default_sizes(&self) -> &'static [u64] {
        &[100, 500, 1000, 5000, 10000]
    }

    /// One operation an element.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: n * n, bytes: 2.0 * n * n * element(case.dtype) }
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 2, 0)
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![uniform_square(case, 0)]
    }

    /// The largest relative error of an element; at most 8 unit roundoffs, four units in the last place.
    fn check(
        &self,
        case: &Case,
        inputs: &[Operand],
        answer: &[Operand],
        rounding: Rounding,
    ) -> Result<Checked, CellError> {
        for_dtype!(case.dtype, sines(case, inputs, answer, rounding, 1))
    }
}
