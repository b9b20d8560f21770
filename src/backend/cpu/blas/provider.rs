//! One loaded BLAS library: its identity, its routines and its threads. Knows no op.

use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::gemm::Gemm;
use super::{Vendor, shim};

/// A library that has every routine this program calls, with 32-bit integers.
pub struct Provider {
    path: PathBuf,
    version: String,
    lapack: Vec<Option<shim::Entry>>,
    pub(super) sgemm: Gemm<f32>,
    pub(super) dgemm: Gemm<f64>,
    set_threads: unsafe extern "C" fn(c_int),
    get_threads: unsafe extern "C" fn() -> c_int,
    threads: AtomicUsize,
}

/// LAPACK routines that the variants call; a library without one of them is refused.
const NEEDED: [&str; 12] = [
    "spotrf_", "dpotrf_", "spotrs_", "dpotrs_", "sgetrf_", "dgetrf_", "sgetrs_", "dgetrs_", "sgesdd_",
    "dgesdd_", "sgesvd_", "dgesvd_",
];

/// The provider at which the shim points.
static ACTIVE: AtomicPtr<Provider> = AtomicPtr::new(std::ptr::null_mut());

impl Provider {
    /// Opens a library and checks that it can be used; what is wrong with it otherwise.
    pub(super) fn open(vendor: Vendor, library: &Path) -> Result<Provider, String> {
        match vendor {
            Vendor::OpenBlas => open_openblas(library),
            Vendor::Mkl => open_mkl(library),
        }
    }

    /// The file it was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Version, configuration and kind of processor, as the library itself says.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Has the library use `threads` threads; it may use fewer, see [`Provider::threads`].
    pub fn set_threads(&self, threads: usize) {
        if self.threads.swap(threads, Ordering::Relaxed) != threads {
            let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
            // SAFETY: the routine takes a positive count by value and may be called at any time.
            unsafe { (self.set_threads)(threads) }
        }
    }

    /// The threads the library will use.
    pub fn threads(&self) -> usize {
        // SAFETY: the routine takes nothing and returns a count.
        usize::try_from(unsafe { (self.get_threads)() }).unwrap_or(0)
    }

    /// Points LAPACK's symbols at this library; one comparison if they point there already.
    pub fn activate(&'static self) {
        static SWITCHING: Mutex<()> = Mutex::new(());
        let this = std::ptr::from_ref(self).cast_mut();
        if ACTIVE.load(Ordering::Acquire) != this {
            let _guard = SWITCHING.lock().unwrap_or_else(PoisonError::into_inner);
            shim::fill(&self.lapack);
            ACTIVE.store(this, Ordering::Release);
        }
    }
}

/// A library being examined: never closed, and its symbols begin with `prefix`.
struct Opened {
    library: Library,
    prefix: &'static str,
}

impl Opened {
    fn new(library: &Path) -> Result<Opened, String> {
        // SAFETY: what is loaded is a BLAS library, whose initialisers only set up its threads and tables.
        let library = unsafe { Library::open(Some(library), RTLD_NOW) }.map_err(|e| reason(&e))?;
        Ok(Opened { library, prefix: "" })
    }

    /// The routine of that name, after the prefix.
    ///
    /// # Safety
    /// `F` is the type of a pointer to a function with the routine's signature.
    unsafe fn routine<F: Copy>(&self, name: &str) -> Result<F, String> {
        let symbol = format!("{}{name}\0", self.prefix);
        // SAFETY: the caller vouches for the type.
        let found = unsafe { self.library.get::<F>(symbol.as_bytes()) };
        found.map(|routine| *routine).map_err(|_| format!("it has no {}{name}", self.prefix))
    }

    /// Text that a routine without arguments returns; empty if there is no such routine.
    fn text(&self, name: &str) -> String {
        // SAFETY: OpenBLAS's text routines take nothing and return a constant C string.
        unsafe {
            self.routine::<unsafe extern "C" fn() -> *const c_char>(name).map_or_else(
                |_| String::new(),
                |routine| CStr::from_ptr(routine()).to_string_lossy().into_owned(),
            )
        }
    }

    /// The provider, if no routine is missing.
    fn finish(self, version: String, set_threads: &str, get_threads: &str) -> Result<Provider, String> {
        // SAFETY: a LAPACK routine's address is only stored; its type is restored by its caller.
        let lapack = shim::SYMBOLS.iter().map(|name| unsafe { self.routine::<shim::Entry>(name) }.ok());
        let lapack: Vec<Option<shim::Entry>> = lapack.collect();
        for needed in NEEDED {
            // SAFETY: as above.
            unsafe { self.routine::<shim::Entry>(needed) }?;
        }
        // SAFETY: the types are those of CBLAS's gemm and of the thread routines of OpenBLAS and MKL.
        unsafe {
            let sgemm: Gemm<f32> = self.routine("cblas_sgemm")?;
            let provider = Provider {
                path: file_of(sgemm as *const ()).ok_or("the loader does not tell its path")?,
                version,
                lapack,
                sgemm,
                dgemm: self.routine("cblas_dgemm")?,
                set_threads: self.routine(set_threads)?,
                get_threads: self.routine(get_threads)?,
                threads: AtomicUsize::new(0),
            };
            // Routines and their threads must stay for as long as the process lives.
            std::mem::forget(self.library);
            Ok(provider)
        }
    }
}

/// Opens OpenBLAS with its own thread settings.
///
/// Its idle threads spin for 2^26 cycles after a call, some 30 ms, which the warm-up of the next job
/// outlasts. Sending them to sleep at once (`OPENBLAS_THREAD_TIMEOUT=4`) would slow LAPACK's many short calls.
fn open_openblas(library: &Path) -> Result<Provider, String> {
    let mut opened = Opened::new(library)?;
    let mut configuration = opened.text("openblas_get_config");
    if configuration.is_empty() {
        opened.prefix = "scipy_";
        configuration = opened.text("openblas_get_config");
    }
    if configuration.is_empty() {
        return Err("it has no openblas_get_config, so it is not OpenBLAS".to_owned());
    }
    if configuration.contains("USE64BITINT") {
        return Err("it is an ILP64 build (64-bit integers); an LP64 build is needed".to_owned());
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
    let version = words.join(" ");
    opened.finish(version, "openblas_set_num_threads", "openblas_get_num_threads")
}

fn open_mkl(library: &Path) -> Result<Provider, String> {
    // MKL's parts use libm without naming it as a dependency.
    let libm = open_for_all("libm.so.6")?;
    let opened = Opened::new(library)?;
    // SAFETY: the types are those of MKL's service routines.
    let (set_interface, set_threading, get_version) = unsafe {
        (
            opened.routine::<unsafe extern "C" fn(c_int) -> c_int>("MKL_Set_Interface_Layer")?,
            opened.routine::<unsafe extern "C" fn(c_int) -> c_int>("MKL_Set_Threading_Layer")?,
            opened.routine::<unsafe extern "C" fn(*mut c_char, c_int)>("MKL_Get_Version_String")?,
        )
    };
    require_parts(&file_of(get_version as *const ()).ok_or("the loader does not tell its path")?)?;
    let mut text = [0 as c_char; 256];
    // SAFETY: layers are chosen before any other call, 0 being LP64 and Intel's threads; the version is
    // written with its final zero into a buffer of the length given.
    let version = unsafe {
        set_interface(0);
        set_threading(0);
        get_version(text.as_mut_ptr(), text.len() as c_int - 1);
        CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
    };
    let provider = opened.finish(version.trim().to_owned(), "MKL_Set_Num_Threads", "MKL_Get_Max_Threads")?;
    std::mem::forget(libm);
    Ok(provider)
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

/// What the loader said, which libloading keeps as the source of its error.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Opens a library whose symbols every later one may use.
fn open_for_all(library: impl AsRef<Path>) -> Result<Library, String> {
    // SAFETY: the libraries opened here, libm and Intel's OpenMP, have harmless initialisers.
    unsafe { Library::open(Some(library.as_ref()), RTLD_NOW | RTLD_GLOBAL) }.map_err(|e| reason(&e))
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
