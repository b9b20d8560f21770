//! A matrix copied from one place to another; knows that it must arrive as it was.

use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;
use rayon::prelude::*;

use super::judge;
use super::volume::{dense_bytes, element, side};
use super::{Checked, Limit, Op, Rounding, Work, uniform_square};

/// `y = a`, somewhere else.
pub struct Transfer;

impl Op for Transfer {
    fn name(&self) -> &'static str {
        "transfer"
    }

    fn summary(&self) -> &'static str {
        "a matrix copied: host to device, device to host"
    }

    /// From 1 KiB to 256 MiB in float32.
    fn default_sizes(&self) -> &'static [u64] {
        &[16, 64, 256, 1024, 4096, 8192]
    }

    /// No arithmetic; each element crosses once.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: 0.0, bytes: n * n * element(case.dtype) }
    }

    fn limit(&self) -> Limit {
        Limit::Bus
    }

    fn copies_itself(&self) -> bool {
        true
    }

    fn compares_sides(&self) -> bool {
        false
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 2, 0)
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![uniform_square(case, 0)]
    }

    /// The number of elements that arrived as other bits than they left; none may.
    fn check(
        &self,
        case: &Case,
        inputs: &[Operand],
        answer: &[Operand],
        _rounding: Rounding,
    ) -> Result<Checked, CellError> {
        for_dtype!(case.dtype, check(case, inputs, answer))
    }
}

fn check<T: Real>(case: &Case, inputs: &[Operand], answer: &[Operand]) -> Result<Checked, CellError> {
    let shape = (case.side(), case.side());
    let a = judge::dense::<T>(inputs, 0, "a", shape)?;
    let y = judge::dense::<T>(answer, 0, "y", shape)?;
    let different = |(y, a): (&T, &T)| match y.bit_pattern() == a.bit_pattern() {
        true => 0.0,
        false if y.to_f64().is_finite() => 1.0,
        // What is not a number at all makes the count what the largest error is.
        false => f64::INFINITY,
    };
    Ok(Checked::new(y.par_iter().zip(a).map(different).sum(), 0.0))
}
