//! Defines the elements of operands, their types and their bytes.

use half::{bf16, f16};
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
unsafe impl Plain for bf16 {}
// SAFETY: as above.
unsafe impl Plain for f16 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
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
    /// Real, bfloat16.
    Bf16(Vec<bf16>),
    /// Real, binary16.
    F16(Vec<f16>),
    /// Complex, binary32 parts.
    C64(Vec<Complex<f32>>),
    /// Complex, binary64 parts.
    C128(Vec<Complex<f64>>),
}

/// Evaluates an expression on the elements of any type.
macro_rules! on_elements {
    ($values:expr, $v:ident => $result:expr) => {
        match $values {
            Values::F32($v) => $result,
            Values::F64($v) => $result,
            Values::Bf16($v) => $result,
            Values::F16($v) => $result,
            Values::C64($v) => $result,
            Values::C128($v) => $result,
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

    /// Returns the type of the elements.
    pub fn dtype(&self) -> DType {
        match self {
            Values::F32(_) => DType::F32,
            Values::F64(_) => DType::F64,
            Values::Bf16(_) => DType::Bf16,
            Values::F16(_) => DType::F16,
            Values::C64(_) => DType::C64,
            Values::C128(_) => DType::C128,
        }
    }

    /// Returns one element of a type: the number nearest to `value`.
    pub fn single(dtype: DType, value: f64) -> Values {
        fn of<T: Element>(value: f64) -> Values {
            T::into_values(vec![T::narrow(value.into())])
        }
        match dtype {
            DType::F32 => of::<f32>(value),
            DType::F64 => of::<f64>(value),
            DType::Bf16 => of::<bf16>(value),
            DType::F16 => of::<f16>(value),
            DType::C64 => of::<Complex<f32>>(value),
            DType::C128 => of::<Complex<f64>>(value),
        }
    }

    /// Returns the element at `index`, of a complex one the real part; `None` past the end.
    pub fn real_part(&self, index: usize) -> Option<f64> {
        on_elements!(self, v => v.get(index).map(|x| x.widen().complex().re))
    }

    /// Changes the element at `index`, of a complex one the real part. Past the end it does nothing.
    pub fn change_real_part(&mut self, index: usize, change: impl Fn(f64) -> f64) {
        fn changed<T: Element>(x: T, change: impl Fn(f64) -> f64) -> T {
            let wide = x.widen();
            T::narrow(wide.with_real(change(wide.complex().re)))
        }
        on_elements!(self, v => if let Some(x) = v.get_mut(index) { *x = changed(*x, change) })
    }

    fn unexpected(&self, expected: DType) -> CellError {
        CellError::Failed(format!("expected {} elements, got {}", expected.words(), self.dtype().words()))
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

/// Numbers in which sums of elements are judged: `f64`, or complex ones with such parts.
pub trait Wide:
    Plain
    + Send
    + Sync
    + Default
    + PartialEq
    + std::fmt::Debug
    + From<f64>
    + std::iter::Sum
    + std::ops::AddAssign
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<f64, Output = Self>
    + 'static
{
    /// Returns the magnitude.
    fn magnitude(self) -> f64;

    /// Returns the number as a complex one.
    fn complex(self) -> Complex<f64>;

    /// Replaces the real part.
    fn with_real(self, re: f64) -> Self;

    /// Returns the complex conjugate.
    fn conjugate(self) -> Self;
}

impl Wide for f64 {
    fn magnitude(self) -> f64 {
        self.abs()
    }

    fn complex(self) -> Complex<f64> {
        self.into()
    }

    fn with_real(self, re: f64) -> f64 {
        re
    }

    fn conjugate(self) -> f64 {
        self
    }
}

impl Wide for Complex<f64> {
    fn magnitude(self) -> f64 {
        self.norm()
    }

    fn complex(self) -> Complex<f64> {
        self
    }

    fn with_real(self, re: f64) -> Self {
        Complex::new(re, self.im)
    }

    fn conjugate(self) -> Self {
        self.conj()
    }
}

/// The type of an element of an operand, one for each [`DType`].
pub trait Element: Plain + Send + Sync + Default + PartialEq + std::fmt::Debug + 'static {
    /// The run-time name of this type.
    const DTYPE: DType;

    /// The type in which sums of elements are judged.
    type Wide: Wide;

    /// Returns the same value, exactly.
    fn widen(self) -> Self::Wide;

    /// Returns the nearest value of this type.
    fn narrow(value: Self::Wide) -> Self;

    /// Returns the complex conjugate.
    fn conjugate(self) -> Self {
        Self::narrow(self.widen().conjugate())
    }

    /// Returns the uniform value, each part in [0, 1), of the element at `index` of a stream of `bits`. The parts of a complex one are those
    /// of two elements of a real operand.
    fn uniform(bits: impl Fn(u64) -> u64, index: u64) -> Self;

    /// Wraps elements.
    fn into_values(values: Vec<Self>) -> Values;

    /// Returns the elements, if they are of this type.
    fn slice(values: &Values) -> Result<&[Self], CellError>;

    /// Unwraps elements, if they are of this type.
    fn from_values(values: Values) -> Result<Vec<Self>, CellError>;
}

/// Returns the elements of values of that type, or the error that others were expected.
macro_rules! elements {
    ($values:expr, $variant:ident) => {
        match $values {
            Values::$variant(elements) => Ok(elements),
            other => Err(other.unexpected(DType::$variant)),
        }
    };
}

/// Implements [`Element`] for the type of a variant of [`Values`].
macro_rules! element {
    ($t:ty, $variant:ident, $wide:ty, ($self:ident) $widen:expr, ($value:ident) $narrow:expr,
     ($bits:ident) $uniform:expr) => {
        impl Element for $t {
            const DTYPE: DType = DType::$variant;
            type Wide = $wide;

            #[inline]
            fn widen($self) -> $wide {
                $widen
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation)]
            fn narrow($value: $wide) -> Self {
                $narrow
            }

            #[inline]
            fn uniform(bits: impl Fn(u64) -> u64, index: u64) -> Self {
                let $bits = bits(index);
                $uniform
            }

            fn into_values(values: Vec<Self>) -> Values {
                Values::$variant(values)
            }

            fn slice(values: &Values) -> Result<&[Self], CellError> {
                elements!(values, $variant)
            }

            fn from_values(values: Values) -> Result<Vec<Self>, CellError> {
                elements!(values, $variant)
            }
        }
    };
}

/// Returns the leading `bits` of 64 as a fraction of 2^bits, in [0, 1).
#[inline]
fn leading(bits: u32, of: u64) -> f64 {
    (of >> (64 - bits)) as f64 / (1u64 << bits) as f64
}

element!(f32, F32, f64, (self) f64::from(self), (value) value as f32,
    (bits) (bits >> 40) as f32 * (1.0 / 16_777_216.0));
element!(f64, F64, f64, (self) self, (value) value, (bits) leading(53, bits));
element!(bf16, Bf16, f64, (self) self.to_f64(), (value) bf16::from_f64(value),
    (bits) bf16::from_f64(leading(8, bits)));
element!(f16, F16, f64, (self) self.to_f64(), (value) f16::from_f64(value),
    (bits) f16::from_f64(leading(11, bits)));

impl<T: Real> Element for Complex<T> {
    const DTYPE: DType = T::COMPLEX;
    type Wide = Complex<f64>;

    #[inline]
    fn widen(self) -> Complex<f64> {
        Complex::new(self.re.widen(), self.im.widen())
    }

    #[inline]
    fn narrow(value: Complex<f64>) -> Self {
        Complex::new(T::narrow(value.re), T::narrow(value.im))
    }

    #[inline]
    fn uniform(bits: impl Fn(u64) -> u64, index: u64) -> Self {
        Complex::new(T::uniform(&bits, 2 * index), T::uniform(&bits, 2 * index + 1))
    }

    fn into_values(values: Vec<Self>) -> Values {
        T::into_complex_values(values)
    }

    fn slice(values: &Values) -> Result<&[Self], CellError> {
        T::complex_slice(values)
    }

    fn from_values(values: Values) -> Result<Vec<Self>, CellError> {
        T::from_complex_values(values)
    }
}

/// `f32` or `f64`.
pub trait Real:
    Element<Wide = f64>
    + PartialOrd
    + std::ops::AddAssign
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
{
    /// The run-time name of complex elements whose parts are of this type.
    const COMPLEX: DType;

    /// Returns the nearest value of this type.
    #[inline]
    fn from_f64(x: f64) -> Self {
        Self::narrow(x)
    }

    /// Returns the same value, exactly.
    #[inline]
    fn to_f64(self) -> f64 {
        self.widen()
    }

    /// `self * factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;

    /// Returns the parts of complex elements: the real and the imaginary one of each.
    fn parts(elements: &[Complex<Self>]) -> &[Self] {
        // SAFETY: a complex number is two of its parts in C's layout, and the slice is borrowed for as long.
        unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), 2 * elements.len()) }
    }

    /// Wraps complex elements.
    fn into_complex_values(values: Vec<Complex<Self>>) -> Values;

    /// Unwraps complex elements, if their parts are of this type.
    fn from_complex_values(values: Values) -> Result<Vec<Complex<Self>>, CellError>;

    /// Returns the complex elements, if their parts are of this type.
    fn complex_slice(values: &Values) -> Result<&[Complex<Self>], CellError>;
}

macro_rules! real {
    ($t:ty, $complex:ident) => {
        impl Real for $t {
            const COMPLEX: DType = DType::$complex;

            #[inline(always)]
            fn fused(self, factor: $t, term: $t) -> $t {
                self.mul_add(factor, term)
            }

            fn into_complex_values(values: Vec<Complex<Self>>) -> Values {
                Values::$complex(values)
            }

            fn from_complex_values(values: Values) -> Result<Vec<Complex<Self>>, CellError> {
                elements!(values, $complex)
            }

            fn complex_slice(values: &Values) -> Result<&[Complex<Self>], CellError> {
                elements!(values, $complex)
            }
        }
    };
}

real!(f32, C64);
real!(f64, C128);
