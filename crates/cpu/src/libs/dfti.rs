//! The two-dimensional FFT of MKL (DFTI) of a real matrix, on MKL's threads.
//!
//! Names and constants are those of the [oneMKL Developer
//! Reference](https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/), "FFT Functions".

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::fmt::Display;
use std::marker::PhantomData;

use gpubench_report::case::DType;
use gpubench_report::data::Real;
use rustfft::num_complex::Complex;

use super::blas::Provider;
use crate::{CellError, CellResult};

const CONJUGATE_EVEN_STORAGE: c_int = 10;
const PLACEMENT: c_int = 11;
const INPUT_STRIDES: c_int = 12;
const OUTPUT_STRIDES: c_int = 13;
const REAL: c_int = 33;
const SINGLE: c_int = 35;
const DOUBLE: c_int = 36;
const COMPLEX_COMPLEX: c_int = 39;
const NOT_INPLACE: c_int = 44;

type DftiHandle = *mut c_void;

/// The routines, with the types of MKL's header mkl_dfti.h, where MKL_LONG is `long`.
struct DftiRoutines {
    create: unsafe extern "C" fn(*mut DftiHandle, c_int, c_int, c_long, ...) -> c_long,
    set_value: unsafe extern "C" fn(DftiHandle, c_int, ...) -> c_long,
    commit: unsafe extern "C" fn(DftiHandle) -> c_long,
    compute: unsafe extern "C" fn(DftiHandle, *mut c_void, ...) -> c_long,
    free: unsafe extern "C" fn(*mut DftiHandle) -> c_long,
    message: unsafe extern "C" fn(c_long) -> *const c_char,
}

/// Turns a failed call into an error with the name of the routine.
fn failed(problem: impl Display) -> CellError {
    CellError::call("MKL's DFTI", problem)
}

impl DftiRoutines {
    fn of(mkl: &Provider) -> Result<DftiRoutines, String> {
        // SAFETY: the types are those of the header.
        unsafe {
            Ok(DftiRoutines {
                create: mkl.routine("DftiCreateDescriptor")?,
                set_value: mkl.routine("DftiSetValue")?,
                commit: mkl.routine("DftiCommitDescriptor")?,
                compute: mkl.routine("DftiComputeForward")?,
                free: mkl.routine("DftiFreeDescriptor")?,
                message: mkl.routine("DftiErrorMessage")?,
            })
        }
    }
}

/// The transform of a real matrix to the leading half of the columns of its spectrum, on MKL's threads.
pub(crate) struct MklMatrix<T> {
    dfti: DftiRoutines,
    handle: DftiHandle,
    side: usize,
    element: PhantomData<fn(T)>,
}

// SAFETY: the descriptor may be used on any thread (Developer Reference, "FFT Functions": they are thread-safe).
unsafe impl<T> Send for MklMatrix<T> {}

impl<T: Real> MklMatrix<T> {
    /// Plans the transform of a `side` by `side` matrix for the number of threads that MKL is set to.
    /// Fails if the library has no DFTI, or refuses the side.
    pub(crate) fn new(mkl: &Provider, side: usize) -> CellResult<Self> {
        let length = c_long::try_from(side).map_err(failed)?;
        let (lengths, strides): ([c_long; 2], [c_long; 3]) = ([length, length], [0, length, 1]);
        let precision = match T::DTYPE {
            DType::F32 => SINGLE,
            DType::F64 => DOUBLE,
        };
        let (dfti, handle) = (DftiRoutines::of(mkl).map_err(failed)?, std::ptr::null_mut());
        let mut made = MklMatrix { dfti, handle, side, element: PhantomData };
        // SAFETY: two dimensions are followed by two lengths of the type MKL_LONG.
        let status =
            unsafe { (made.dfti.create)(&raw mut made.handle, precision, REAL, 2, lengths.as_ptr()) };
        made.checked(status)?;
        let (set, handle) = (made.dfti.set_value, made.handle);
        // SAFETY: the handle is that of a descriptor that was created. Each set of strides has an offset and two strides of
        // the type MKL_LONG; the other values are enumerators.
        let statuses = unsafe {
            [
                set(handle, PLACEMENT, NOT_INPLACE),
                set(handle, CONJUGATE_EVEN_STORAGE, COMPLEX_COMPLEX),
                set(handle, INPUT_STRIDES, strides.as_ptr()),
                set(handle, OUTPUT_STRIDES, strides.as_ptr()),
                (made.dfti.commit)(handle),
            ]
        };
        statuses.into_iter().try_for_each(|status| made.checked(status))?;
        Ok(made)
    }

    /// Writes columns 0 to `side / 2` of every row of `output`, which has rows of `side` elements, as `input` has.
    /// Panics if one of them has another number of elements.
    pub(crate) fn transform(&self, input: &[T], output: &mut [Complex<T>]) -> CellResult<()> {
        let elements = self.side * self.side;
        assert_eq!((input.len(), output.len()), (elements, elements));
        let (input, output) = (input.as_ptr().cast_mut().cast(), output.as_mut_ptr().cast::<c_void>());
        // SAFETY: the descriptor is committed, for a matrix of as many elements of this type as the input has, which a
        // transform that is not in place only reads, and for a result with rows of as many elements as the output has.
        self.checked(unsafe { (self.dfti.compute)(self.handle, input, output) })
    }

    fn checked(&self, status: c_long) -> CellResult<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the routine takes any status, and returns null or a constant C string.
        let text = unsafe {
            let text = (self.dfti.message)(status);
            if text.is_null() { "unknown".into() } else { CStr::from_ptr(text).to_string_lossy() }
        };
        Err(CellError::Failed(format!("MKL's DFTI: status {status}, {text}")))
    }
}

impl<T> Drop for MklMatrix<T> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the descriptor was created and nobody computes with it any more; the routine sets it to null.
            unsafe { (self.dfti.free)(&raw mut self.handle) };
        }
    }
}
