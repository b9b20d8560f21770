//! FFTs of MKL (DFTI): of a real matrix, on MKL's threads, and of lines, on the calling thread.
//!
//! Names and constants are those of the [oneMKL Developer
//! Reference](https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/), "FFT Functions".

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

/// A descriptor, and the first status other than 0 of any call.
struct Descriptor {
    dfti: Dfti,
    handle: Handle,
    status: AtomicI64,
}

// SAFETY: the descriptor is only read once it is committed: any number of threads may compute with it at a time, on data
// of their own (Developer Reference, "FFT Functions": the functions are thread-safe). It is freed by its owner alone.
unsafe impl Send for Descriptor {}
// SAFETY: as above.
unsafe impl Sync for Descriptor {}

impl Descriptor {
    fn new(library: &Path) -> Result<Self, CellError> {
        let dfti = Dfti::of(library).map_err(failed)?;
        Ok(Descriptor { dfti, handle: std::ptr::null_mut(), status: AtomicI64::new(0) })
    }

    fn note(&self, status: c_long) {
        if status != 0 {
            let _ = self.status.compare_exchange(0, status, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    fn problem(&self) -> Option<String> {
        self.dfti.problem(self.status.load(Ordering::Relaxed))
    }

    /// Returns an error with the first problem of any call so far.
    fn checked(&self) -> Result<(), CellError> {
        self.problem().map_or(Ok(()), |problem| Err(CellError::Failed(problem)))
    }
}

fn precision<T: Real>() -> c_int {
    match T::DTYPE {
        DType::F32 => SINGLE,
        DType::F64 => DOUBLE,
    }
}

/// In-place complex transforms of one length. Each call runs on the calling thread: MKL starts no thread of its own and leaves none
/// spinning.
pub(crate) struct MklLines<T> {
    descriptor: Descriptor,
    side: usize,
    element: PhantomData<fn(T)>,
}

impl<T: Real> MklLines<T> {
    /// Plans transforms of length `side` with the MKL at that path, which is already loaded.
    ///
    /// # Errors
    /// The library has no DFTI, or refuses the length.
    pub(crate) fn new(library: &Path, side: usize) -> Result<Self, CellError> {
        let length = c_long::try_from(side).map_err(failed)?;
        let mut made = Descriptor::new(library)?;
        let one: c_long = 1;
        // SAFETY: the handle is written before it is used; one dimension is followed by one length, and the limit by
        // one number, both of the type MKL_LONG.
        unsafe {
            let created = (made.dfti.create)(&raw mut made.handle, precision::<T>(), COMPLEX, one, length);
            made.note(created);
            if made.problem().is_none() {
                made.note((made.dfti.set_value)(made.handle, THREAD_LIMIT, one));
                made.note((made.dfti.commit)(made.handle));
            }
        }
        made.checked()?;
        Ok(MklLines { descriptor: made, side, element: PhantomData })
    }
}

impl<T: Real> Lines<T> for MklLines<T> {
    fn work(&self) -> usize {
        0
    }

    fn transform(&self, lines: &mut [Complex<T>], _: &mut [Complex<T>]) {
        let Descriptor { dfti, handle, .. } = &self.descriptor;
        for line in lines.chunks_exact_mut(self.side) {
            // SAFETY: the descriptor is committed, for in-place transforms of as many elements of this type as the
            // line has.
            self.descriptor.note(unsafe { (dfti.compute)(*handle, line.as_mut_ptr().cast()) });
        }
    }

    fn problem(&self) -> Option<String> {
        self.descriptor.problem()
    }
}

/// The transform of a real matrix to the leading half of the columns of its spectrum, on MKL's threads.
pub(crate) struct MklMatrix<T> {
    descriptor: Descriptor,
    side: usize,
    element: PhantomData<fn(T)>,
}

impl<T: Real> MklMatrix<T> {
    /// Plans the transform of a `side` by `side` matrix with the MKL at that path, which is already loaded, for the number of threads
    /// that MKL is set to.
    ///
    /// # Errors
    /// The library has no DFTI, or refuses the side.
    pub(crate) fn new(library: &Path, side: usize) -> Result<Self, CellError> {
        let length = c_long::try_from(side).map_err(failed)?;
        let mut made = Descriptor::new(library)?;
        let (lengths, strides): ([c_long; 2], [c_long; 3]) = ([length, length], [0, length, 1]);
        // SAFETY: the handle is written before it is used; two dimensions are followed by two lengths, each set of strides has an
        // offset and two strides, all of the type MKL_LONG, and the other values are enumerators.
        unsafe {
            let dimensions: c_long = 2;
            let kind = precision::<T>();
            let lengths = lengths.as_ptr();
            let created = (made.dfti.create)(&raw mut made.handle, kind, REAL, dimensions, lengths);
            made.note(created);
            if made.problem().is_none() {
                made.note((made.dfti.set_value)(made.handle, PLACEMENT, NOT_INPLACE));
                made.note((made.dfti.set_value)(made.handle, CONJUGATE_EVEN_STORAGE, COMPLEX_COMPLEX));
                made.note((made.dfti.set_value)(made.handle, INPUT_STRIDES, strides.as_ptr()));
                made.note((made.dfti.set_value)(made.handle, OUTPUT_STRIDES, strides.as_ptr()));
                made.note((made.dfti.commit)(made.handle));
            }
        }
        made.checked()?;
        Ok(MklMatrix { descriptor: made, side, element: PhantomData })
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
        let Descriptor { dfti, handle, .. } = &self.descriptor;
        // SAFETY: the descriptor is committed, for a matrix of as many elements of this type as the input has, which a transform that
        // is not in place only reads, and for a result with rows of as many elements as the output has.
        let status = unsafe {
            (dfti.compute)(*handle, input.as_ptr().cast_mut().cast(), output.as_mut_ptr().cast::<c_void>())
        };
        self.descriptor.note(status);
        self.descriptor.checked()
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the descriptor was created and nobody computes with it any more; the routine sets it to null.
            unsafe { (self.dfti.free)(&raw mut self.handle) };
        }
    }
}
