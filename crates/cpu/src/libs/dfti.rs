//! One-dimensional FFTs of MKL (DFTI), as lines of the real FFT.
//!
//! Names and constants are those of the [oneMKL Developer
//! Reference](https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/), "FFT Functions". Each call
//! runs on the calling thread: MKL starts no thread of its own and leaves none spinning.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::fmt::Display;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

use gpubench_host::shared_library::SharedLibrary;
use gpubench_model::case::DType;
use gpubench_model::data::Real;
use gpubench_model::error::CellError;
use rustfft::num_complex::Complex;

use super::fft_lines::Lines;

const COMPLEX: c_int = 32;
const SINGLE: c_int = 35;
const DOUBLE: c_int = 36;
/// Number of threads per call.
const THREAD_LIMIT: c_int = 27;

type Handle = *mut c_void;
type Create = unsafe extern "C" fn(*mut Handle, c_int, c_int, c_long, ...) -> c_long;
type SetValue = unsafe extern "C" fn(Handle, c_int, ...) -> c_long;
type Commit = unsafe extern "C" fn(Handle) -> c_long;
type Compute = unsafe extern "C" fn(Handle, *mut c_void, ...) -> c_long;
type Free = unsafe extern "C" fn(*mut Handle) -> c_long;
type Message = unsafe extern "C" fn(c_long) -> *const c_char;

struct Dfti {
    create: Create,
    set_value: SetValue,
    commit: Commit,
    compute: Compute,
    free: Free,
    message: Message,
}

/// Turns a failed call into an error with the name of the routine.
fn failed(problem: impl Display) -> CellError {
    CellError::call("MKL's DFTI", problem)
}

impl Dfti {
    /// Finds the routines in the MKL at that path, which is already loaded. The error describes the problem.
    fn of(library: &Path) -> Result<Dfti, String> {
        // SAFETY: the library is loaded, so that nothing is initialised; the types are those of its header,
        // mkl_dfti.h, where MKL_LONG is `long`.
        unsafe {
            let mut library = SharedLibrary::open(library)?;
            library.own_file_defines("MKL_Get_Version_String");
            let dfti = Dfti {
                create: library.symbol("DftiCreateDescriptor")?,
                set_value: library.symbol("DftiSetValue")?,
                commit: library.symbol("DftiCommitDescriptor")?,
                compute: library.symbol("DftiComputeForward")?,
                free: library.symbol("DftiFreeDescriptor")?,
                message: library.symbol("DftiErrorMessage")?,
            };
            library.keep();
            Ok(dfti)
        }
    }

    /// Returns the message for a status; `None` for success.
    fn problem(&self, status: i64) -> Option<String> {
        if status == 0 {
            return None;
        }
        // SAFETY: the routine takes any status, and returns null or a constant C string.
        let text = unsafe {
            let text = (self.message)(status as c_long);
            if text.is_null() { "unknown".into() } else { CStr::from_ptr(text).to_string_lossy() }
        };
        Some(format!("MKL's DFTI: status {status}, {text}"))
    }
}

/// A committed descriptor of in-place complex transforms of one length.
pub(crate) struct MklLines<T> {
    dfti: Dfti,
    handle: Handle,
    side: usize,
    /// The first status other than 0 of any call.
    status: AtomicI64,
    element: PhantomData<T>,
}

// SAFETY: the descriptor is only read once it is committed: any number of threads may compute with it at a time, on data
// of their own (Developer Reference, "FFT Functions": the functions are thread-safe). It is freed by its owner alone.
unsafe impl<T> Send for MklLines<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for MklLines<T> {}

impl<T: Real> MklLines<T> {
    /// Plans transforms of length `side` with the MKL at that path, which is already loaded.
    ///
    /// # Errors
    /// The library has no DFTI, or refuses the length.
    pub(crate) fn new(library: &Path, side: usize) -> Result<Self, CellError> {
        let precision = match T::DTYPE {
            DType::F32 => SINGLE,
            DType::F64 => DOUBLE,
        };
        let dfti = Dfti::of(library).map_err(failed)?;
        let length = c_long::try_from(side).map_err(failed)?;
        let mut lines = MklLines {
            dfti,
            handle: std::ptr::null_mut(),
            side,
            status: AtomicI64::new(0),
            element: PhantomData,
        };
        let one: c_long = 1;
        // SAFETY: the handle is written before it is used; one dimension is followed by one length, and the limit by
        // one number, both of the type MKL_LONG.
        unsafe {
            let created = (lines.dfti.create)(&raw mut lines.handle, precision, COMPLEX, one, length);
            lines.note(created);
            if lines.problem().is_none() {
                lines.note((lines.dfti.set_value)(lines.handle, THREAD_LIMIT, one));
                lines.note((lines.dfti.commit)(lines.handle));
            }
        }
        match lines.problem() {
            Some(problem) => Err(CellError::Failed(problem)),
            None => Ok(lines),
        }
    }

    fn note(&self, status: c_long) {
        if status != 0 {
            let _ = self.status.compare_exchange(0, status, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

impl<T: Real> Lines<T> for MklLines<T> {
    fn work(&self) -> usize {
        0
    }

    fn transform(&self, lines: &mut [Complex<T>], _: &mut [Complex<T>]) {
        for line in lines.chunks_exact_mut(self.side) {
            // SAFETY: the descriptor is committed, for in-place transforms of as many elements of this type as the
            // line has.
            self.note(unsafe { (self.dfti.compute)(self.handle, line.as_mut_ptr().cast()) });
        }
    }

    fn problem(&self) -> Option<String> {
        self.dfti.problem(self.status.load(Ordering::Relaxed))
    }
}

impl<T> Drop for MklLines<T> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the descriptor was created and nobody computes with it any more; the routine sets it to null.
            unsafe { (self.dfti.free)(&raw mut self.handle) };
        }
    }
}
