//! BLAS and LAPACK libraries: files are searched when variants are listed, and loaded when a cell first needs them.
//!
//! Jobs call most routines directly ([`calls`], [`GesddFactors`]). They reach the rest of LAPACK through ndarray-linalg,
//! whose symbols [`shim`] defines and [`Provider::activate`] points at the provider.
//! References: <https://www.netlib.org/lapack/explore-html/>, <https://www.netlib.org/blas/>.

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use gpubench_report::data::Real;
use gpubench_report::error::{CellError, Unavailable};

mod abi;
mod calls;
mod discovery;
mod elf;
mod gesdd;
mod identity;
mod library;
mod open;
mod opened;
mod shim;
mod thread_pool;
mod vendor;

use abi::{Int, Lapack, Routines};
pub(crate) use gesdd::GesddFactors;
pub(crate) use identity::vendor_of;
pub(crate) use library::{BlasLibrary, all};
use opened::OpenedBlas;
pub(crate) use thread_pool::BlasThreads;
pub(crate) use vendor::Vendor;

/// A library that has every routine its variants call.
pub(crate) struct Provider {
    opened: OpenedBlas,
    path: PathBuf,
    version: String,
    /// Whether its integers have 64 bits.
    has_long_integers: bool,
    single: Routines<f32>,
    double: Routines<f64>,
    /// The addresses for the shim's symbols; `None` with 64-bit integers, which the shim's callers cannot pass.
    shim: Option<Vec<Option<shim::LapackAddress>>>,
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

/// The element types of BLAS and LAPACK.
pub(crate) trait Blas: Real + ndarray_linalg::Lapack<Real = Self> {
    fn routines(provider: &Provider) -> &Routines<Self>;
}

impl Blas for f32 {
    fn routines(provider: &Provider) -> &Routines<f32> {
        &provider.single
    }
}

impl Blas for f64 {
    fn routines(provider: &Provider) -> &Routines<f64> {
        &provider.double
    }
}

/// The provider at which the shim points.
static ACTIVE: AtomicPtr<Provider> = AtomicPtr::new(std::ptr::null_mut());

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

    /// Points the LAPACK symbols at this library. Costs one comparison when they already point there.
    ///
    /// # Errors
    /// The symbols expect 32-bit integers and this library has 64-bit ones.
    pub(crate) fn activate(&'static self) -> Result<(), Unavailable> {
        static SWITCHING: Mutex<()> = Mutex::new(());
        let this = std::ptr::from_ref(self).cast_mut();
        if ACTIVE.load(Ordering::Acquire) == this {
            return Ok(());
        }
        let entries = self.shim.as_ref().ok_or_else(|| {
            let path = self.path.display();
            Unavailable::new(
                format!("ndarray-linalg needs a LAPACK with 32-bit integers, and {path} has 64-bit ones"),
                "pip install scipy-openblas32",
            )
        })?;
        let _guard = SWITCHING.lock().unwrap_or_else(PoisonError::into_inner);
        shim::fill(entries);
        ACTIVE.store(this, Ordering::Release);
        Ok(())
    }

    fn lapack<T: Blas>(&self) -> Result<&Lapack<T>, CellError> {
        T::routines(self).lapack.as_ref().ok_or_else(|| CellError::call("LAPACK", "the library has none"))
    }

    fn int(&self, number: usize) -> Result<Int, CellError> {
        let most = if self.has_long_integers { i64::MAX } else { i64::from(i32::MAX) };
        let number = i64::try_from(number).ok().filter(|number| *number <= most);
        number.ok_or_else(|| CellError::call("BLAS", "a side exceeds what the library's integers hold"))
    }

    fn succeeded(&self, routine: &str, info: Int) -> Result<(), CellError> {
        // A library with 32-bit integers writes only the low half.
        let info = if self.has_long_integers { info } else { i64::from(info as i32) };
        if info == 0 { Ok(()) } else { Err(CellError::call(routine, format!("it ended with info {info}"))) }
    }
}
