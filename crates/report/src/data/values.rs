//! Defines the elements of operands, their types and their bytes.

use num_complex::Complex;

use crate::case::DType;
use crate::error::CellError;

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

/// The elements of an operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Real, binary32.
    F32(Vec<f32>),
    /// Real, binary64.
    F64(Vec<f64>),
    /// Complex, binary32 parts.
    C32(Vec<Complex<f32>>),
    /// Complex, binary64 parts.
    C64(Vec<Complex<f64>>),
}

/// Evaluates an expression on the elements of any type.
macro_rules! on_elements {
    ($values:expr, $v:ident => $result:expr) => {
        match $values {
            Values::F32($v) => $result,
            Values::F64($v) => $result,
            Values::C32($v) => $result,
            Values::C64($v) => $result,
        }
    };
}

impl Values {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        on_elements!(self, v => v.len())
    }

    /// Returns whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether no element is a NaN or an infinity.
    pub fn are_finite(&self) -> bool {
        on_elements!(self, v => v.iter().all(|x| x.is_finite()))
    }

    /// Returns the number of bytes of the elements.
    pub fn bytes(&self) -> u64 {
        on_elements!(self, v => size_of_val(v.as_slice()) as u64)
    }

    /// Returns the bytes of the elements.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        on_elements!(self, v => bytes_mut(v))
    }
}

impl Default for Values {
    fn default() -> Self {
        Values::F32(Vec::new())
    }
}

/// `f32` or `f64`.
pub trait Real:
    Plain
    + Send
    + Sync
    + Default
    + PartialOrd
    + std::fmt::Debug
    + std::ops::AddAssign
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + 'static
{
    /// The run-time name of this type.
    const DTYPE: DType;

    /// Returns the nearest value of this type.
    fn from_f64(x: f64) -> Self;

    /// Returns the same value, exactly.
    fn to_f64(self) -> f64;

    /// `self * factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;

    /// Returns a uniform value in [0, 1) from the leading 24 or 53 bits of `bits`.
    fn from_bits_uniform(bits: u64) -> Self;

    /// Returns the bit pattern, zero-extended.
    fn bit_pattern(self) -> u64;

    /// Wraps real elements.
    fn into_values(values: Vec<Self>) -> Values;

    /// Wraps complex elements.
    fn into_complex_values(values: Vec<Complex<Self>>) -> Values;

    /// Returns the real elements, if they are of this type.
    fn slice(values: &Values) -> Result<&[Self], CellError>;

    /// Unwraps real elements, if they are of this type.
    fn from_values(values: Values) -> Result<Vec<Self>, CellError>;

    /// Unwraps complex elements, if their parts are of this type.
    fn from_complex_values(values: Values) -> Result<Vec<Complex<Self>>, CellError>;

    /// Returns the complex elements, if their parts are of this type.
    fn complex_slice(values: &Values) -> Result<&[Complex<Self>], CellError>;
}

/// Returns the elements of values of that variant, or the error that others were expected.
macro_rules! elements {
    ($values:expr, $variant:ident, $expected:expr) => {
        match $values {
            Values::$variant(elements) => Ok(elements),
            _ => Err(CellError::Failed(concat!("expected ", $expected, " elements").into())),
        }
    };
}

macro_rules! real {
    ($t:ty, $dtype:expr, $real:ident, $complex:ident, $shift:literal, $scale:expr) => {
        impl Real for $t {
            const DTYPE: DType = $dtype;

            #[inline]
            #[allow(clippy::cast_possible_truncation)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }

            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn fused(self, factor: $t, term: $t) -> $t {
                self.mul_add(factor, term)
            }

            #[inline]
            fn from_bits_uniform(bits: u64) -> Self {
                (bits >> $shift) as $t * $scale
            }

            #[inline]
            fn bit_pattern(self) -> u64 {
                u64::from(self.to_bits())
            }

            fn into_values(values: Vec<Self>) -> Values {
                Values::$real(values)
            }

            fn into_complex_values(values: Vec<Complex<Self>>) -> Values {
                Values::$complex(values)
            }

            fn slice(values: &Values) -> Result<&[Self], CellError> {
                elements!(values, $real, concat!("real ", stringify!($t)))
            }

            fn complex_slice(values: &Values) -> Result<&[Complex<Self>], CellError> {
                elements!(values, $complex, concat!("complex ", stringify!($t)))
            }

            fn from_values(values: Values) -> Result<Vec<Self>, CellError> {
                elements!(values, $real, concat!("real ", stringify!($t)))
            }

            fn from_complex_values(values: Values) -> Result<Vec<Complex<Self>>, CellError> {
                elements!(values, $complex, concat!("complex ", stringify!($t)))
            }
        }
    };
}

real!(f32, DType::F32, F32, C32, 40, 1.0 / 16_777_216.0);
real!(f64, DType::F64, F64, C64, 11, 1.0 / 9_007_199_254_740_992.0);
