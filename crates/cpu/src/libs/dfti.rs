//! The FFT of MKL (DFTI) of real and complex arrays, on MKL's threads.
//!
//! Names and constants are those of the [oneMKL Developer
//! Reference](https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/), "FFT Functions".

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::fmt::Display;
use std::marker::PhantomData;

use gpubench_ops::fft::Transforms;
use gpubench_report::case::DType;
use rustfft::num_complex::Complex;

use super::blas::Provider;
use crate::operands::ArrayElement;
use crate::{CellError, CellResult};

const NUMBER_OF_TRANSFORMS: c_int = 7;
const CONJUGATE_EVEN_STORAGE: c_int = 10;
const PLACEMENT: c_int = 11;
const INPUT_STRIDES: c_int = 12;
const OUTPUT_STRIDES: c_int = 13;
const INPUT_DISTANCE: c_int = 14;
const OUTPUT_DISTANCE: c_int = 15;
const COMPLEX: c_int = 32;
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

/// The transforms of real arrays to the leading half of the columns of their spectra, or of complex arrays, on MKL's threads.
pub(crate) struct MklTransform<T> {
    dfti: DftiRoutines,
    handle: DftiHandle,
    elements: usize,
    element: PhantomData<fn(T)>,
}

// SAFETY: the descriptor may be used on any thread (Developer Reference, "FFT Functions": they are thread-safe).
unsafe impl<T> Send for MklTransform<T> {}

impl<T: ArrayElement> MklTransform<T> {
    /// Plans transforms for the number of threads that MKL is set to. Fails if the library has no DFTI, or refuses an extent.
    pub(crate) fn new(mkl: &Provider, transforms: &Transforms) -> CellResult<Self> {
        let long = |extent: usize| c_long::try_from(extent).map_err(failed);
        let lengths = transforms.sides.iter().map(|side| long(*side)).collect::<CellResult<Vec<c_long>>>()?;
        let (distance, count) = (long(transforms.points())?, long(transforms.batch)?);
        // The offset, then the elements from one index to the next of each axis.
        let mut strides = vec![1];
        lengths.iter().skip(1).rev().for_each(|side| strides.push(strides[strides.len() - 1] * side));
        strides.push(0);
        strides.reverse();
        let precision = if T::DTYPE.working() == DType::F64 { DOUBLE } else { SINGLE };
        let domain = if T::DTYPE.is_complex() { COMPLEX } else { REAL };
        let (dfti, handle) = (DftiRoutines::of(mkl).map_err(failed)?, std::ptr::null_mut());
        let elements = transforms.elements();
        let mut made = MklTransform { dfti, handle, elements, element: PhantomData };
        // SAFETY: one dimension is followed by a length of the type MKL_LONG, several by as many lengths.
        let status = unsafe {
            match lengths[..] {
                [length] => (made.dfti.create)(&raw mut made.handle, precision, domain, 1, length),
                _ => (made.dfti.create)(
                    &raw mut made.handle,
                    precision,
                    domain,
                    lengths.len() as c_long,
                    lengths.as_ptr(),
                ),
            }
        };
        made.checked(status)?;
        let (set, handle) = (made.dfti.set_value, made.handle);
        // SAFETY: the handle is that of a descriptor that was created. Each set of strides has an offset and a stride for each dimension,
        // of the type MKL_LONG, as numbers and distances are; the other values are enumerators.
        let statuses = unsafe {
            [
                set(handle, PLACEMENT, NOT_INPLACE),
                set(handle, CONJUGATE_EVEN_STORAGE, COMPLEX_COMPLEX),
                set(handle, INPUT_STRIDES, strides.as_ptr()),
                set(handle, OUTPUT_STRIDES, strides.as_ptr()),
                set(handle, NUMBER_OF_TRANSFORMS, count),
                set(handle, INPUT_DISTANCE, distance),
                set(handle, OUTPUT_DISTANCE, distance),
                (made.dfti.commit)(handle),
            ]
        };
        statuses.into_iter().try_for_each(|status| made.checked(status))?;
        Ok(made)
    }

    /// Writes every row of `output`, of real arrays the leading half of the columns up to the middle one. Rows are as long as those of `input`.
    /// Panics if one of them has another number of elements.
    pub(crate) fn transform(&self, input: &[T], output: &mut [Complex<T::Part>]) -> CellResult<()> {
        assert_eq!((input.len(), output.len()), (self.elements, self.elements));
        let (input, output) = (input.as_ptr().cast_mut().cast(), output.as_mut_ptr().cast::<c_void>());
        // SAFETY: the descriptor is committed, for as many elements of this type as the input has, which a transform that is not in place
        // only reads, and for a result with rows of as many elements as the output has.
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

impl<T> Drop for MklTransform<T> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the descriptor was created and nobody computes with it any more; the routine sets it to null.
            unsafe { (self.dfti.free)(&raw mut self.handle) };
        }
    }
}
