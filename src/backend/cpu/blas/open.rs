//! Opening a library: what it is, whether it can be used, and where its routines are.

use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;

use libloading::os::unix::Library;

use super::calls::Routines;
use super::provider::{GetThreads, Provider, SetThreads};
use super::{Vendor, shim};
use crate::backend::cpu::shared_library::{self, symbol};

/// What stands before and after the names of routines: nothing, SciPy's prefix, and NumPy's suffix for 64-bit integers.
const SPELLINGS: [(&str, &str); 4] = [("", ""), ("scipy_", ""), ("scipy_", "64_"), ("", "64_")];

/// LAPACK routines that are called through the shim; a library with 32-bit integers that lacks one is refused.
const SHIMMED: [&str; 2] = ["sgesvd_", "dgesvd_"];

/// Opens a vendor's library and checks that it can be used; what is wrong with it otherwise.
pub(super) fn open(vendor: Vendor, library: &Path) -> Result<Provider, String> {
    match vendor {
        Vendor::OpenBlas => open_openblas(library),
        Vendor::Mkl => open_mkl(library),
        Vendor::Blis => open_blis(library),
    }
}

/// A library being examined, and how its routines are spelt; never closed.
pub(super) struct Opened {
    library: Library,
    prefix: &'static str,
    suffix: &'static str,
}

impl Opened {
    fn new(library: &Path) -> Result<Opened, String> {
        // SAFETY: what is loaded is a BLAS library, whose initialisers only set up its threads and tables.
        let library = unsafe { shared_library::open(library) }?;
        Ok(Opened { library, prefix: "", suffix: "" })
    }

    /// The routine of that name, as the library spells it.
    ///
    /// # Safety
    /// `F` is the type of a pointer to a function with the routine's signature.
    pub(super) unsafe fn routine<F: Copy>(&self, name: &str) -> Result<F, String> {
        // SAFETY: the caller vouches for the type.
        unsafe { symbol(&self.library, &format!("{}{name}{}", self.prefix, self.suffix)) }
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
        let any = entry("sgemm_")?;
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
            path: file_of(any as *const ()).ok_or("the loader does not tell its path")?,
            version: about.version,
            has_long_integers: about.has_long_integers,
            single: Routines::find(&self, 's', about.has_lapack)?,
            double: Routines::find(&self, 'd', about.has_lapack)?,
            shim,
            set_threads,
            get_threads,
            threads: AtomicUsize::new(0),
        };
        // Routines and their threads must stay for as long as the process lives.
        std::mem::forget(self.library);
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
    let mut opened = Opened::new(library)?;
    let mut configuration = String::new();
    for (prefix, suffix) in SPELLINGS {
        (opened.prefix, opened.suffix) = (prefix, suffix);
        configuration = opened.text("openblas_get_config");
        if !configuration.is_empty() {
            break;
        }
    }
    if configuration.is_empty() {
        return Err("it has no openblas_get_config, so it is not OpenBLAS".to_owned());
    }
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

fn open_mkl(library: &Path) -> Result<Provider, String> {
    // MKL's parts use libm without naming it as a dependency.
    let libm = open_for_all("libm.so.6")?;
    let opened = Opened::new(library)?;
    // SAFETY: the types are those of MKL's service routines.
    let (set_interface, set_threading, set_dynamic, get_version) = unsafe {
        (
            opened.routine::<unsafe extern "C" fn(c_int) -> c_int>("MKL_Set_Interface_Layer")?,
            opened.routine::<unsafe extern "C" fn(c_int) -> c_int>("MKL_Set_Threading_Layer")?,
            opened.routine::<unsafe extern "C" fn(c_int)>("MKL_Set_Dynamic")?,
            opened.routine::<unsafe extern "C" fn(*mut c_char, c_int)>("MKL_Get_Version_String")?,
        )
    };
    require_parts(&file_of(get_version as *const ()).ok_or("the loader does not tell its path")?)?;
    let mut text = [0 as c_char; 256];
    // SAFETY: layers are chosen before any other call, 0 being LP64 and Intel's threads; the number of threads
    // is not MKL's to lower; the version is written with its final zero into a buffer of the length given.
    let version = unsafe {
        set_interface(0);
        set_threading(0);
        set_dynamic(0);
        get_version(text.as_mut_ptr(), text.len() as c_int - 1);
        CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
    };
    let provider = opened.finish(About {
        version: version.trim().to_owned(),
        has_long_integers: false,
        has_lapack: true,
        set_threads: "MKL_Set_Num_Threads",
        get_threads: "MKL_Get_Max_Threads",
    })?;
    std::mem::forget(libm);
    Ok(provider)
}

/// Opens BLIS or AOCL-BLIS, which have BLAS without LAPACK.
fn open_blis(library: &Path) -> Result<Provider, String> {
    let opened = Opened::new(library)?;
    let version = opened.text("bli_info_get_version_str");
    if version.is_empty() {
        return Err("it has no bli_info_get_version_str, so it is not BLIS".to_owned());
    }
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

/// Checks for the parts that `libmkl_rt` loads at its first call: it ends the process if one is missing.
fn require_parts(runtime: &Path) -> Result<(), String> {
    let folder = runtime.parent().unwrap_or(Path::new("/"));
    let names: Vec<String> = std::fs::read_dir(folder)
        .map_err(|e| e.to_string())?
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    for part in ["libmkl_core.so", "libmkl_intel_lp64.so", "libmkl_intel_thread.so"] {
        if !names.iter().any(|name| name.starts_with(part)) {
            return Err(format!("{part} is missing beside it"));
        }
    }
    let beside = folder.join("libiomp5.so");
    let openmp = if beside.is_file() { beside } else { PathBuf::from("libiomp5.so") };
    std::mem::forget(open_for_all(&openmp)?);
    Ok(())
}

/// Opens a library whose symbols every later one may use.
fn open_for_all(library: impl AsRef<Path>) -> Result<Library, String> {
    // SAFETY: the libraries opened here, libm and Intel's OpenMP, have harmless initialisers.
    unsafe { shared_library::open_for_all(library.as_ref()) }
}

/// The file of the library that holds `address`.
fn file_of(address: *const ()) -> Option<PathBuf> {
    // SAFETY: Dl_info is plain data; dladdr fills it in when it returns non-zero, with a C string that
    // lives as long as the library.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address.cast(), &raw mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        let name = CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned();
        Some(std::fs::canonicalize(&name).unwrap_or_else(|_| name.into()))
    }
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
