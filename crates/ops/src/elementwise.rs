//! The elementwise expression `a b + sin(a) + cos(b)`; knows how it is judged element by element.

use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;
use rayon::prelude::*;

use super::judge::{self, relative, worst};
use super::volume::{dense_bytes, element, side};
use super::{Checked, Op, Rounding, Work, uniform_square};

/// `y = a b + sin(a) + cos(b)`.
pub struct Elementwise;

impl Op for Elementwise {
    fn name(&self) -> &'static str {
        "elementwise"
    }

    fn summary(&self) -> &'static str {
        "y = a*b + sin(a) + cos(b), element by element"
    }

    fn default_sizes(&self) -> &'static [u64] {
        &[100, 500, 1000, 5000, 10000]
    }

    /// Five operations an element: a product, two sums, and a sine and a cosine counted as one each.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: 5.0 * n * n, bytes: 3.0 * n * n * element(case.dtype) }
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

    /// The largest error of an element relative to `|a b| + |sin a| + |cos b|`; at most 8 unit roundoffs,
    /// room for five roundings and for sines good to a few units in the last place.
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
    let shape = (case.side(), case.side());
    let a = judge::dense::<T>(inputs, 0, "a", shape)?;
    let b = judge::dense::<T>(inputs, 1, "b", shape)?;
    let y = judge::dense::<T>(answer, 0, "y", shape)?;
    let elements = y.par_iter().zip(a).zip(b);
    let error = worst(elements.map(|((y, a), b)| {
        let (a, b) = (a.to_f64(), b.to_f64());
        let terms = [a * b, a.sin(), b.cos()];
        relative(y.to_f64() - terms.iter().sum::<f64>(), terms.iter().map(|term| term.abs()).sum())
    }));
    Ok(Checked::new(error, 8.0 * rounding.input))
}
