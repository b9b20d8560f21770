//! The two real element types, as one trait for code that is generic inside a kernel.

use rustfft::num_complex::Complex;

use super::{Plain, Values};
use crate::case::DType;
use crate::error::CellError;

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

/// Returns the error of elements that are not of the expected type.
fn unexpected(expected: &str) -> CellError {
    CellError::Failed(format!("expected {expected} elements"))
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
                match values {
                    Values::$real(v) => Ok(v),
                    _ => Err(unexpected(concat!("real ", stringify!($t)))),
                }
            }

            fn complex_slice(values: &Values) -> Result<&[Complex<Self>], CellError> {
                match values {
                    Values::$complex(v) => Ok(v),
                    _ => Err(unexpected(concat!("complex ", stringify!($t)))),
                }
            }

            fn from_values(values: Values) -> Result<Vec<Self>, CellError> {
                match values {
                    Values::$real(v) => Ok(v),
                    _ => Err(unexpected(concat!("real ", stringify!($t)))),
                }
            }

            fn from_complex_values(values: Values) -> Result<Vec<Complex<Self>>, CellError> {
                match values {
                    Values::$complex(v) => Ok(v),
                    _ => Err(unexpected(concat!("complex ", stringify!($t)))),
                }
            }
        }
    };
}

real!(f32, DType::F32, F32, C32, 40, 1.0 / 16_777_216.0);
real!(f64, DType::F64, F64, C64, 11, 1.0 / 9_007_199_254_740_992.0);
