//! BLAS and LAPACK libraries: files are searched when variants are listed, and loaded when a cell first needs them.
//!
//! Jobs call most routines directly ([`routines`]), and gesvd through ndarray-linalg ([`shim`]).

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use half::{bf16, f16};
use rustfft::num_complex::Complex;

mod discovery;
mod elf;
mod library;
mod open;
mod routines;
mod shim;
#[cfg(test)]
mod tests;
mod thread_pool;
mod vendor;

pub(crate) use library::{BlasLibrary, all};
use open::OpenedBlas;
pub(crate) use routines::{Blas, BlasElement, PosvElement, SvdElement, ThinSvd};
use routines::{ComplexLapack, GemmRoutines, Lapack};
pub(crate) use thread_pool::BlasThreads;
pub(crate) use vendor::{Vendor, vendor_of};

/// A library that has every real routine its variants call; those of other element types may be absent.
pub(crate) struct Provider {
    opened: OpenedBlas,
    path: PathBuf,
    version: String,
    /// Whether its integers have 64 bits.
    has_long_integers: bool,
    single: GemmRoutines<f32>,
    double: GemmRoutines<f64>,
    complex_single: Option<GemmRoutines<Complex<f32>>>,
    complex_double: Option<GemmRoutines<Complex<f64>>>,
    bf16: Option<GemmRoutines<bf16>>,
    f16: Option<GemmRoutines<f16>>,
    lapack_single: Option<Lapack<f32>>,
    lapack_double: Option<Lapack<f64>>,
    complex_lapack_single: Option<ComplexLapack<f32>>,
    complex_lapack_double: Option<ComplexLapack<f64>>,
    set_threads: SetThreads,
    get_threads: GetThreads,
    /// Most threads that its runtime gives it.
    max_threads: usize,
    /// The number of threads last set; 0 before the first call.
    threads: AtomicUsize,
}

/// Takes a count, which a library that expects 32 bits reads from the low half of the register.
type SetThreads = unsafe extern "C" fn(i64);
/// Returns a count, of which the low half is read.
type GetThreads = unsafe extern "C" fn() -> c_int;

impl Provider {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Version, configuration and CPU type, as the library reports them.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Returns a further routine of this library.
    ///
    /// # Safety
    /// `F` is the type of a pointer to a function with the routine's signature.
    pub(crate) unsafe fn routine<F: Copy>(&self, name: &str) -> Result<F, String> {
        // SAFETY: the caller vouches for the type.
        unsafe { self.opened.routine(name) }
    }

    /// Sets the number of threads; the library may use fewer, see [`Provider::threads`]. Costs one comparison when the
    /// number is unchanged.
    pub(crate) fn set_threads(&self, threads: usize) {
        if self.threads.swap(threads, Ordering::Relaxed) != threads {
            let threads = i64::from(i32::try_from(threads).unwrap_or(i32::MAX));
            // SAFETY: the routine takes a positive count by value and may be called at any time.
            unsafe { (self.set_threads)(threads) }
        }
    }

    /// Sets the number of threads as near to `threads` as the library allows, and returns that.
    pub(crate) fn set_threads_up_to(&self, threads: usize) -> usize {
        let allowed = threads.min(self.max_threads).max(1);
        self.set_threads(allowed);
        self.threads().clamp(1, allowed)
    }

    /// Returns the number of threads that the library will use.
    pub(crate) fn threads(&self) -> usize {
        // SAFETY: the routine takes nothing and returns a count.
        usize::try_from(unsafe { (self.get_threads)() }).unwrap_or(0)
    }
}
