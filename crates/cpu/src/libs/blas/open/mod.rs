//! Opening a library: what it is, whether it can be used, and where its routines are.

mod mkl;

use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::sync::atomic::AtomicUsize;

use super::calls::Routines;
use super::provider::{GetThreads, Provider, SetThreads};
use super::{Vendor, shim};
use crate::libs::shared_library::SharedLibrary;

/// What stands before and after the names of routines: nothing, SciPy's prefix, and NumPy's suffix for 64-bit integers.
const SPELLINGS: [(&str, &str); 4] = [("", ""), ("scipy_", ""), ("scipy_", "64_"), ("", "64_")];

/// LAPACK routines that are called through the shim; a library with 32-bit integers that lacks one is refused.
const SHIMMED: [&str; 2] = ["sgesvd_", "dgesvd_"];

/// Opens a vendor's library and checks that it can be used; what is wrong with it otherwise.
pub(super) fn open(vendor: Vendor, library: &Path) -> Result<Provider, String> {
    match vendor {
        Vendor::OpenBlas => open_openblas(library),
        Vendor::Mkl => mkl::open(library),
        Vendor::Blis => open_blis(library),
    }
}

/// A library being examined, and how its routines are spelt; never closed.
pub(super) struct Opened {
    library: SharedLibrary,
    prefix: &'static str,
    suffix: &'static str,
}

impl Opened {
    fn new(library: &Path) -> Result<Opened, String> {
        // SAFETY: what is loaded is a BLAS library, whose initialisers only set up its threads and tables.
        let library = unsafe { SharedLibrary::open(library) }?;
        Ok(Opened { library, prefix: "", suffix: "" })
    }

    /// The routine of that name, as the library spells it.
    ///
    /// # Safety
    /// `F` is the type of a pointer to a function with the routine's signature.
    pub(super) unsafe fn routine<F: Copy>(&self, name: &str) -> Result<F, String> {
        // SAFETY: the caller vouches for the type.
        unsafe { self.library.symbol(&self.spelt(name)) }
    }

    fn spelt(&self, name: &str) -> String {
        format!("{}{name}{}", self.prefix, self.suffix)
    }

    /// Has every routine from now on come from the file that defines `mark`, which only this vendor's libraries have;
    /// an error where there is no such routine.
    fn check_mark(&mut self, mark: &str, vendor: Vendor) -> Result<(), String> {
        if self.library.own_file_defines(&self.spelt(mark)) {
            return Ok(());
        }
        Err(format!("it has no {mark}, so it is not {}", vendor.name()))
    }

    /// Text that a routine without arguments returns; empty if there is no such routine.
    fn text(&self, name: &str) -> String {
        // SAFETY: the text routines of OpenBLAS and BLIS take nothing and return a constant C string.
        unsafe {
            self.routine::<unsafe extern "C" fn() -> *const c_char>(name).map_or_else(
                |_| String::new(),
                |routine| CStr::from_ptr(routine()).to_string_lossy().into_owned(),
            )
        }
    }

    /// The provider, if no routine is missing.
    fn finish(self, about: About) -> Result<Provider, String> {
        // SAFETY: a routine's address is only stored; its type is restored by its caller.
        let entry = |name: &str| unsafe { self.routine::<shim::Entry>(name) };
        let shim = about.has_lapack && !about.has_long_integers;
        if shim {
            SHIMMED.iter().try_for_each(|name| entry(name).map(|_| ()))?;
        }
        let shim = shim.then(|| shim::SYMBOLS.iter().map(|name| entry(name).ok()).collect());
        // SAFETY: the types are those of the libraries' thread routines.
        let (set_threads, get_threads) = unsafe {
            (self.routine::<SetThreads>(about.set_threads)?, self.routine::<GetThreads>(about.get_threads)?)
        };
        let provider = Provider {
            path: self.library.file().ok_or("the loader does not know its path")?.to_path_buf(),
            version: about.version,
            has_long_integers: about.has_long_integers,
            single: Routines::find(&self, 's', about.has_lapack)?,
            double: Routines::find(&self, 'd', about.has_lapack)?,
            shim,
            set_threads,
            get_threads,
            threads: AtomicUsize::new(0),
        };
        // Its threads stay too.
        self.library.keep();
        Ok(provider)
    }
}

/// What a vendor's own routines tell, and the names of those for threads.
struct About {
    version: String,
    has_long_integers: bool,
    has_lapack: bool,
    set_threads: &'static str,
    get_threads: &'static str,
}

/// Opens OpenBLAS with its own thread settings.
///
/// Its idle threads spin for 2^26 cycles after a call, some 30 ms, which the warm-up of the next job
/// outlasts. Sending them to sleep at once (`OPENBLAS_THREAD_TIMEOUT=4`) would slow LAPACK's many short calls.
fn open_openblas(library: &Path) -> Result<Provider, String> {
    const MARK: &str = "openblas_get_config";
    let mut opened = Opened::new(library)?;
    let spelling = SPELLINGS.into_iter().find(|(prefix, suffix)| {
        (opened.prefix, opened.suffix) = (prefix, suffix);
        opened.library.own_file_defines(&opened.spelt(MARK))
    });
    (opened.prefix, opened.suffix) = spelling.unwrap_or_default();
    opened.check_mark(MARK, Vendor::OpenBlas)?;
    let configuration = opened.text(MARK);
    // SAFETY: the routine takes nothing and returns 0, 1 or 2.
    let threading = unsafe { opened.routine::<unsafe extern "C" fn() -> c_int>("openblas_get_parallel")?() };
    let threading =
        ["sequential", "pthreads", "OpenMP"].get(threading as usize).unwrap_or(&"unknown threads");
    let core = opened.text("openblas_get_corename");
    // A build for several kinds of processor names the present one in its configuration.
    let mut words: Vec<&str> =
        configuration.split_whitespace().filter(|&w| w != "OpenBLAS" && w != core).collect();
    words.extend([core.as_str(), *threading]);
    opened.finish(About {
        version: words.join(" "),
        has_long_integers: configuration.contains("USE64BITINT"),
        has_lapack: true,
        set_threads: "openblas_set_num_threads",
        get_threads: "openblas_get_num_threads",
    })
}

/// Opens BLIS or AOCL-BLIS, which have BLAS without LAPACK.
fn open_blis(library: &Path) -> Result<Provider, String> {
    const MARK: &str = "bli_info_get_version_str";
    let mut opened = Opened::new(library)?;
    opened.check_mark(MARK, Vendor::Blis)?;
    let version = opened.text(MARK);
    // SAFETY: the routine takes nothing and returns a count of bits.
    let bits = unsafe { opened.routine::<GetThreads>("bli_info_get_blas_int_type_size")?() };
    opened.finish(About {
        version,
        has_long_integers: bits == 64,
        has_lapack: false,
        set_threads: "bli_thread_set_num_threads",
        get_threads: "bli_thread_get_num_threads",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_without_the_routines_is_refused() {
        for (vendor, word) in [(Vendor::OpenBlas, "openblas"), (Vendor::Mkl, "MKL_"), (Vendor::Blis, "bli_")]
        {
            let Some(problem) = open(vendor, Path::new("libm.so.6")).err() else { panic!("libm is no BLAS") };
            assert!(problem.contains(word), "{problem}");
        }
    }
}
