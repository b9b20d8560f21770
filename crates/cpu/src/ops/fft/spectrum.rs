//! The complex spectrum: its initial value, and its form as an answer.

use gpubench_backend::Lent;
use gpubench_model::data::{Dense, Operand, Real};
use gpubench_model::error::CellError;
use rustfft::FftNum;
use rustfft::num_complex::Complex;

use crate::ops::taken::{self, Taken};

/// Below this number of elements, threads cost more than they save.
pub(super) const SERIAL: usize = 1 << 14;

pub(super) fn zero<T: FftNum>() -> Complex<T> {
    Complex::new(T::zero(), T::zero())
}

/// Returns a full complex result as an answer.
pub(super) fn spectrum<T: Real>(side: usize, values: Vec<Complex<T>>) -> Operand {
    Operand::Dense(Dense { rows: side, cols: side, values: T::into_complex_values(values) })
}

/// Lends the matrix, and its full complex result with its side.
pub(super) fn lend<T: Real>(
    input: &mut Taken<T>,
    (side, values): (usize, &mut Vec<Complex<T>>),
    to: &mut dyn FnMut(Lent<'_>),
) -> Result<(), CellError> {
    let answer = spectrum(side, std::mem::take(values));
    let lent = taken::lend([input], std::slice::from_ref(&answer), to);
    *values = T::from_complex_values(answer.into_values())?;
    lent
}
