//! The complex spectrum: its initial value, and its form as an answer.

use gpubench_model::data::{Dense, Operand, Real};
use rustfft::FftNum;
use rustfft::num_complex::Complex;

/// Below this number of elements, threads cost more than they save.
pub(super) const SERIAL: usize = 1 << 14;

pub(super) fn zero<T: FftNum>() -> Complex<T> {
    Complex::new(T::zero(), T::zero())
}

/// Returns a full complex result as an answer.
pub(super) fn spectrum<T: Real>(side: usize, values: Vec<Complex<T>>) -> Operand {
    Operand::Dense(Dense { rows: side, cols: side, values: T::into_complex_values(values) })
}
