//! Judges the sine of every element, applied once or many times.

use gpubench_model::data::Real;
use gpubench_model::error::CellError;
use rayon::prelude::*;

use super::{dense, relative, worst};
use crate::{Checked, Given};

/// Permitted error per sine in unit roundoffs: four units in the last place.
const ONE_SINE: f64 = 8.0;

/// Returns the largest relative error of an element of `y`, where `y` is the sine applied `times` times to `a`.
///
/// The bound is 8 unit roundoffs per sine. The errors of many sines at most add up: a relative error of `x` becomes
/// one of `sin x` that is `x / tan x` times as large, which is at most 1 between 0 and 1 (the condition number:
/// Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 1.6).
pub(crate) fn sines<T: Real>(given: &Given, times: usize) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let shape = (case.side(), case.side());
    let a = dense::<T>(inputs, 0, "a", shape)?;
    let y = dense::<T>(answer, 0, "y", shape)?;
    let error = worst(y.par_iter().zip(a).map(|(y, a)| {
        let expected = (0..times).fold(a.to_f64(), |x, _| x.sin());
        relative(y.to_f64() - expected, expected)
    }));
    Ok(Checked::new(error, ONE_SINE * times as f64 * rounding.input))
}
