//! Gives access to the bytes of numbers.

use rustfft::num_complex::Complex;

use super::Values;

/// Types of which any bytes are a value, and which have no bytes between their fields.
///
/// # Safety
/// Both must hold.
pub unsafe trait Plain: Copy {}

// SAFETY: floating-point and integer numbers, which any bytes are.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}
// SAFETY: as above.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: two numbers of one type in C's layout, with nothing between them.
unsafe impl<T: Plain> Plain for Complex<T> {}

/// Returns the bytes of numbers.
pub fn bytes_mut<T: Plain>(numbers: &mut [T]) -> &mut [u8] {
    let bytes = size_of_val(numbers);
    // SAFETY: the bytes are those of the slice, borrowed for as long; `Plain` allows reading and writing any of them.
    unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), bytes) }
}

impl Values {
    /// Returns the bytes of the elements.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Values::F32(values) => bytes_mut(values),
            Values::F64(values) => bytes_mut(values),
            Values::C32(values) => bytes_mut(values),
            Values::C64(values) => bytes_mut(values),
        }
    }
}
