//! FFTs of MKL (DFTI): of a real matrix, on MKL's threads, and of lines, on the calling thread.
//!
//! Names and constants are those of the [oneMKL Developer
//! Reference](https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/), "FFT Functions".

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicI64, Ordering};

use gpubench_report::case::DType;
use gpubench_report::data::Real;
use gpubench_report::error::CellError;
use rustfft::num_complex::Complex;

use super::blas::Provider;

const CONJUGATE_EVEN_STORAGE: c_int = 10;
const PLACEMENT: c_int = 11;
const INPUT_STRIDES: c_int = 12;
const OUTPUT_STRIDES: c_int = 13;
const COMPLEX: c_int = 32;
const REAL: c_int = 33;
const SINGLE: c_int = 35;
const DOUBLE: c_int = 36;
const COMPLEX_COMPLEX: c_int = 39;
const NOT_INPLACE: c_int = 44;
/// Number of threads per call.
const THREAD_LIMIT: c_int = 27;

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
    /// Finds the routines. The error describes the problem.
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

/// A descriptor, and the first status other than 0 of any call.
struct DftiDescriptor {
    dfti: DftiRoutines,
    handle: DftiHandle,
    status: AtomicI64,
}

// SAFETY: the descriptor is only read once it is committed: any number of threads may compute with it at a time, on data
// of their own (Developer Reference, "FFT Functions": the functions are thread-safe). It is freed by its owner alone.
unsafe impl Send for DftiDescriptor {}
// SAFETY: as above.
unsafe impl Sync for DftiDescriptor {}

impl DftiDescriptor {
    /// Makes a descriptor with `create`, and commits it with the values that `set` has set. Both return statuses.
    ///
    /// # Errors
    /// The library has no DFTI, or a call failed.
    fn new<const N: usize>(
        mkl: &Provider,
        create: impl FnOnce(&DftiRoutines, *mut DftiHandle) -> c_long,
        set: impl FnOnce(&DftiRoutines, DftiHandle) -> [c_long; N],
    ) -> Result<Self, CellError> {
        let (dfti, mut handle) = (DftiRoutines::of(mkl).map_err(failed)?, std::ptr::null_mut());
        let status = create(&dfti, &raw mut handle);
        let made = DftiDescriptor { dfti, handle, status: AtomicI64::new(status) };
        made.checked()?;
        set(&made.dfti, handle).into_iter().for_each(|status| made.note(status));
        // SAFETY: the handle is that of a descriptor that was created.
        made.note(unsafe { (made.dfti.commit)(handle) });
        made.checked()?;
        Ok(made)
    }

    fn note(&self, status: c_long) {
        if status != 0 {
            let _ = self.status.compare_exchange(0, status, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Returns an error with the first problem of any call so far.
    fn checked(&self) -> Result<(), CellError> {
        let status = self.status.load(Ordering::Relaxed);
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the routine takes any status, and returns null or a constant C string.
        let text = unsafe {
            let text = (self.dfti.message)(status as c_long);
            if text.is_null() { "unknown".into() } else { CStr::from_ptr(text).to_string_lossy() }
        };
        Err(CellError::Failed(format!("MKL's DFTI: status {status}, {text}")))
    }
}

impl Drop for DftiDescriptor {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the descriptor was created and nobody computes with it any more; the routine sets it to null.
            unsafe { (self.dfti.free)(&raw mut self.handle) };
        }
    }
}

fn precision<T: Real>() -> c_int {
    match T::DTYPE {
        DType::F32 => SINGLE,
        DType::F64 => DOUBLE,
    }
}

/// In-place complex transforms of one length. Each call runs on the calling thread: MKL starts no thread of its own and
/// leaves none spinning.
pub(crate) struct MklLines<T> {
    descriptor: DftiDescriptor,
    side: usize,
    element: PhantomData<fn(T)>,
}

impl<T: Real> MklLines<T> {
    /// Plans transforms of length `side`.
    ///
    /// # Errors
    /// The library has no DFTI, or refuses the length.
    pub(crate) fn new(mkl: &Provider, side: usize) -> Result<Self, CellError> {
        let (length, one): (c_long, c_long) = (c_long::try_from(side).map_err(failed)?, 1);
        let descriptor = DftiDescriptor::new(
            mkl,
            // SAFETY: one dimension is followed by one length of the type MKL_LONG.
            |dfti, handle| unsafe { (dfti.create)(handle, precision::<T>(), COMPLEX, one, length) },
            // SAFETY: the limit is followed by one number of the type MKL_LONG.
            |dfti, handle| unsafe { [(dfti.set_value)(handle, THREAD_LIMIT, one)] },
        )?;
        Ok(MklLines { descriptor, side, element: PhantomData })
    }

    /// Transforms `lines`, stored one after another, in place.
    pub(crate) fn transform(&self, lines: &mut [Complex<T>]) {
        let DftiDescriptor { dfti, handle, .. } = &self.descriptor;
        for line in lines.chunks_exact_mut(self.side) {
            // SAFETY: the descriptor is committed, for in-place transforms of as many elements of this type as the
            // line has.
            self.descriptor.note(unsafe { (dfti.compute)(*handle, line.as_mut_ptr().cast()) });
        }
    }

    /// Returns an error with the first problem of any transform so far.
    pub(crate) fn checked(&self) -> Result<(), CellError> {
        self.descriptor.checked()
    }
}

/// The transform of a real matrix to the leading half of the columns of its spectrum, on MKL's threads.
pub(crate) struct MklMatrix<T> {
    descriptor: DftiDescriptor,
    side: usize,
    element: PhantomData<fn(T)>,
}

impl<T: Real> MklMatrix<T> {
    /// Plans the transform of a `side` by `side` matrix for the number of threads that MKL is set to.
    ///
    /// # Errors
    /// The library has no DFTI, or refuses the side.
    pub(crate) fn new(mkl: &Provider, side: usize) -> Result<Self, CellError> {
        let length = c_long::try_from(side).map_err(failed)?;
        let (lengths, strides): ([c_long; 2], [c_long; 3]) = ([length, length], [0, length, 1]);
        let descriptor = DftiDescriptor::new(
            mkl,
            // SAFETY: two dimensions are followed by two lengths of the type MKL_LONG.
            |dfti, handle| unsafe { (dfti.create)(handle, precision::<T>(), REAL, 2, lengths.as_ptr()) },
            // SAFETY: each set of strides has an offset and two strides of the type MKL_LONG; the other values are
            // enumerators.
            |dfti, handle| unsafe {
                [
                    (dfti.set_value)(handle, PLACEMENT, NOT_INPLACE),
                    (dfti.set_value)(handle, CONJUGATE_EVEN_STORAGE, COMPLEX_COMPLEX),
                    (dfti.set_value)(handle, INPUT_STRIDES, strides.as_ptr()),
                    (dfti.set_value)(handle, OUTPUT_STRIDES, strides.as_ptr()),
                ]
            },
        )?;
        Ok(MklMatrix { descriptor, side, element: PhantomData })
    }

    /// Writes columns 0 to `side / 2` of every row of `output`, which has rows of `side` elements, as `input` has.
    ///
    /// # Errors
    /// The call failed.
    ///
    /// # Panics
    /// One of them has another number of elements.
    pub(crate) fn transform(&self, input: &[T], output: &mut [Complex<T>]) -> Result<(), CellError> {
        let elements = self.side * self.side;
        assert_eq!((input.len(), output.len()), (elements, elements));
        let DftiDescriptor { dfti, handle, .. } = &self.descriptor;
        // SAFETY: the descriptor is committed, for a matrix of as many elements of this type as the input has, which a
        // transform that is not in place only reads, and for a result with rows of as many elements as the output has.
        let status = unsafe {
            (dfti.compute)(*handle, input.as_ptr().cast_mut().cast(), output.as_mut_ptr().cast::<c_void>())
        };
        self.descriptor.note(status);
        self.descriptor.checked()
    }
}
