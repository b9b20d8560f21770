//! The sine of every element, taken once or many times over; knows no op.

use gpubench_model::data::Real;
use gpubench_model::error::CellError;
use rayon::prelude::*;

use super::{dense, relative, worst};
use crate::{Checked, Given};

/// What one sine may be off, in unit roundoffs: four units in the last place.
const ONE_SINE: f64 = 8.0;

/// The largest relative error of an element of `y`, where `y` is the sine of `a`, of that again, and so on, `times`
/// times in all.
///
/// At most 8 unit roundoffs a sine. The errors of many sines add up at most: a relative error of `x` becomes one of
/// `sin x` that is `x / tan x` times as large, which is never more between 0 and 1 (the condition number: Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2002, section 1.6).
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
