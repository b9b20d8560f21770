//! The elementwise expression `a b + sin(a) + cos(b)`, judged element by element.

use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Element, Operand};
use gpubench_report::error::CellError;
use rayon::prelude::*;

use super::judge::{self, relative, worst};
use super::volume::{bytes_of, element, product};
use super::{About, Checked, Given, Op, Work, uniform};

/// The dimensions of the operands and of the answer.
const MATRIX: [&str; 2] = ["rows", "cols"];

/// `y = a b + sin(a) + cos(b)`.
pub(crate) struct Elementwise;

impl Op for Elementwise {
    fn about(&self) -> About {
        About::new(
            "elementwise",
            "y = a*b + sin(a) + cos(b), element by element",
            &[100, 500, 1000, 5000, 10000],
        )
        .shaped(&MATRIX, &[])
        .of_types(DType::REAL_AND_HALF)
    }

    /// Counts five operations per element: a product, two sums, a sine and a cosine.
    fn work(&self, case: &Case) -> Work {
        let elements = product(case, &MATRIX);
        Work { flop: 5.0 * elements, bytes: 3.0 * elements * element(case.dtype) }
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        2.0 * product(case, &MATRIX) * element(case.dtype)
    }

    fn footprint(&self, case: &Case) -> u128 {
        bytes_of(case, &[&MATRIX, &MATRIX, &MATRIX])
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![uniform(case, 0, case.extents(MATRIX)), uniform(case, 1, case.extents(MATRIX))]
    }

    /// Returns the largest error of an element relative to `|a b| + |sin a| + |cos b|`. The bound of 8 unit roundoffs
    /// allows for five roundings and for sines accurate to a few units in the last place; libraries round 16-bit types as often.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(real given.case.dtype, check(given))
    }
}

fn check<T: Element<Wide = f64>>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let shape = case.extents(MATRIX).into();
    let a = judge::dense::<T>(inputs, 0, "a", shape)?;
    let b = judge::dense::<T>(inputs, 1, "b", shape)?;
    let y = judge::dense::<T>(answer, 0, "y", shape)?;
    let elements = y.par_iter().zip(a).zip(b);
    let error = worst(elements.map(|((y, a), b)| {
        let (a, b) = (a.widen(), b.widen());
        let terms = [a * b, a.sin(), b.cos()];
        relative(y.widen() - terms.iter().sum::<f64>(), terms.iter().map(|term| term.abs()).sum())
    }));
    Ok(Checked::new(error, 8.0 * rounding.input.max(rounding.element)))
}
