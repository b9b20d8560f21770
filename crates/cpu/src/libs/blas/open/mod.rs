//! Opens a library file, checks that it is usable, and finds its routines.

mod mkl;

use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::sync::atomic::AtomicUsize;

use gpubench_backend::host::shared_library::SharedLibrary;

use super::{ComplexLapack, GemmRoutines, GetThreads, Lapack, Provider, SetThreads, Vendor};

/// An opened library and the spelling of its routine names.
pub(super) struct OpenedBlas {
    pub(super) library: SharedLibrary,
    pub(super) prefix: &'static str,
    pub(super) suffix: &'static str,
}

impl OpenedBlas {
    pub(super) fn new(library: &Path) -> Result<OpenedBlas, String> {
        // SAFETY: what is loaded is a BLAS library, whose initialisers only set up its threads and tables.
        let library = unsafe { SharedLibrary::open(library) }?;
        Ok(OpenedBlas { library, prefix: "", suffix: "" })
    }

    /// Returns the routine of that name, spelt as in this library.
    ///
    /// # Safety
    /// `F` is the type of a pointer to a function with the routine's signature.
    pub(super) unsafe fn routine<F: Copy>(&self, name: &str) -> Result<F, String> {
        // SAFETY: the caller vouches for the type.
        unsafe { self.library.symbol(&self.spelt(name)) }
    }

    pub(super) fn spelt(&self, name: &str) -> String {
        format!("{}{name}{}", self.prefix, self.suffix)
    }

    /// Checks that the file itself defines `mark`, a routine that only the libraries of this vendor have.
    pub(super) fn check_mark(&mut self, mark: &str, vendor: Vendor) -> Result<(), String> {
        if self.library.own_file_defines(&self.spelt(mark)) {
            return Ok(());
        }
        Err(format!("it has no {mark}, so it is not {}", vendor.name()))
    }

    /// Returns the text that a routine without arguments returns; empty if there is no such routine.
    pub(super) fn text(&self, name: &str) -> String {
        // SAFETY: the text routines of OpenBLAS and BLIS take nothing and return a constant C string.
        unsafe {
            let routine = self.routine::<unsafe extern "C" fn() -> *const c_char>(name);
            routine
                .map_or_else(|_| String::new(), |text| CStr::from_ptr(text()).to_string_lossy().into_owned())
        }
    }
}

/// Opens the library of a vendor and checks that it is usable; the error describes the problem.
pub(super) fn open(vendor: Vendor, library: &Path) -> Result<Provider, String> {
    match vendor {
        Vendor::OpenBlas => open_openblas(library),
        Vendor::Mkl => mkl::open(library),
        Vendor::Blis => open_blis(library),
    }
}

/// Opens BLIS or AOCL-BLIS, which have BLAS without LAPACK. Reference:
/// <https://github.com/flame/blis/tree/master/docs>.
fn open_blis(library: &Path) -> Result<Provider, String> {
    const MARK: &str = "bli_info_get_version_str";
    let mut opened = OpenedBlas::new(library)?;
    opened.check_mark(MARK, Vendor::Blis)?;
    let version = opened.text(MARK);
    // SAFETY: the routine takes nothing and returns a count of bits.
    let bits = unsafe { opened.routine::<GetThreads>("bli_info_get_blas_int_type_size")?() };
    // SAFETY: the routine takes nothing and returns 0 or 1.
    let enabled = unsafe { opened.routine::<GetThreads>("bli_info_get_enable_openmp").map(|ask| ask()) };
    let uses_openmp = enabled.is_ok_and(|enabled| enabled != 0);
    finish(
        opened,
        VendorTraits {
            version,
            has_long_integers: bits == 64,
            has_lapack: false,
            uses_openmp,
            set_threads: "bli_thread_set_num_threads",
            get_threads: "bli_thread_get_num_threads",
        },
    )
}

/// Prefixes and suffixes of the routine names: none, the prefix of SciPy, and the suffix of NumPy for 64-bit integers.
const SPELLINGS: [(&str, &str); 4] = [("", ""), ("scipy_", ""), ("scipy_", "64_"), ("", "64_")];

/// Opens OpenBLAS with its own thread settings, under each of the names that its routines may have. Reference:
/// <https://github.com/OpenMathLib/OpenBLAS/wiki>.
///
/// Idle threads of OpenBLAS spin for 2^26 cycles after a call, about 30 ms, which is shorter than the warm-up of the next job.
/// Putting them to sleep immediately (`OPENBLAS_THREAD_TIMEOUT=4`) would slow the many short calls of LAPACK.
fn open_openblas(library: &Path) -> Result<Provider, String> {
    const MARK: &str = "openblas_get_config";
    let mut opened = OpenedBlas::new(library)?;
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
    // A build for several CPU types names the type in use in its configuration.
    let mut words: Vec<&str> =
        configuration.split_whitespace().filter(|&w| w != "OpenBLAS" && w != core).collect();
    words.extend([core.as_str(), *threading]);
    finish(
        opened,
        VendorTraits {
            version: words.join(" "),
            has_long_integers: configuration.contains("USE64BITINT"),
            has_lapack: true,
            uses_openmp: *threading == "OpenMP",
            set_threads: "openblas_set_num_threads",
            get_threads: "openblas_get_num_threads",
        },
    )
}

/// The answers of a vendor's own routines, and the names of its thread routines.
struct VendorTraits {
    version: String,
    has_long_integers: bool,
    has_lapack: bool,
    /// Whether OpenMP starts its threads.
    uses_openmp: bool,
    set_threads: &'static str,
    get_threads: &'static str,
}

/// Returns the maximum number of threads that OpenMP gives a program. A library reports the requested number even above it.
fn openmp_limit() -> usize {
    let limit = std::env::var("OMP_THREAD_LIMIT").ok().and_then(|text| text.trim().parse().ok());
    limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX)
}

/// Returns the provider, or an error if a real routine is missing.
fn finish(opened: OpenedBlas, about: VendorTraits) -> Result<Provider, String> {
    // SAFETY: the types are those of the libraries' thread routines.
    let (set_threads, get_threads) = unsafe {
        (opened.routine::<SetThreads>(about.set_threads)?, opened.routine::<GetThreads>(about.get_threads)?)
    };
    Ok(Provider {
        path: opened.library.file().ok_or("the loader does not know its path")?.to_path_buf(),
        version: about.version,
        has_long_integers: about.has_long_integers,
        single: GemmRoutines::find(&opened, "sgemm")?,
        double: GemmRoutines::find(&opened, "dgemm")?,
        complex_single: GemmRoutines::find(&opened, "cgemm").ok(),
        complex_double: GemmRoutines::find(&opened, "zgemm").ok(),
        bf16: GemmRoutines::find(&opened, "gemm_bf16bf16f32").ok(),
        f16: GemmRoutines::find(&opened, "gemm_f16f16f32").ok(),
        lapack_single: about.has_lapack.then(|| Lapack::find(&opened, 's')).transpose()?,
        lapack_double: about.has_lapack.then(|| Lapack::find(&opened, 'd')).transpose()?,
        complex_lapack_single: ComplexLapack::find(&opened, 'c').ok().filter(|_| about.has_lapack),
        complex_lapack_double: ComplexLapack::find(&opened, 'z').ok().filter(|_| about.has_lapack),
        set_threads,
        get_threads,
        max_threads: if about.uses_openmp { openmp_limit() } else { usize::MAX },
        threads: AtomicUsize::new(0),
        opened,
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
