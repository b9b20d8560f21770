//! Shared libraries opened at run time, and their symbols; knows none of them.

use std::os::raw::c_int;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// Libraries have routines of the same names, and MKL's parts offer theirs to whatever is loaded later: what a library
/// calls must be its own first, or OpenBLAS's LAPACK would work with MKL's parts, and FFTW crash in them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ITS_OWN_FIRST: c_int = libc::RTLD_DEEPBIND;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const ITS_OWN_FIRST: c_int = 0;

/// Opens the library in a file, or of a name that the loader knows; what the loader says otherwise.
///
/// # Safety
/// The library's initialisers do no harm.
pub unsafe fn open(library: &Path) -> Result<Library, String> {
    // SAFETY: the caller vouches for the initialisers.
    unsafe { Library::open(Some(library), RTLD_NOW | ITS_OWN_FIRST) }.map_err(|error| reason(&error))
}

/// As [`open`], for a library whose symbols every later one may use.
///
/// # Safety
/// The library's initialisers do no harm.
pub unsafe fn open_for_all(library: &Path) -> Result<Library, String> {
    // SAFETY: the caller vouches for the initialisers.
    unsafe { Library::open(Some(library), RTLD_NOW | RTLD_GLOBAL) }.map_err(|error| reason(&error))
}

/// What the symbol of that name stands for; `it has no NAME` otherwise.
///
/// # Safety
/// `F` is the type of a pointer to it.
pub unsafe fn symbol<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    // SAFETY: the caller vouches for the type.
    let found = unsafe { library.get::<F>(format!("{name}\0").as_bytes()) };
    found.map(|found| *found).map_err(|_| format!("it has no {name}"))
}

/// What the loader said, which libloading keeps as the source of its error.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
