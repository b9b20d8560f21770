//! Shared libraries opened at run time, and their symbols; knows none of them.

use std::os::raw::c_int;
use std::path::Path;

use libloading::os::unix::Library;

/// Opens the library in a file, or of a name that the loader knows; what the loader says otherwise.
///
/// # Safety
/// The library's initialisers do no harm.
pub unsafe fn open(library: &Path, flags: c_int) -> Result<Library, String> {
    // SAFETY: the caller vouches for the initialisers.
    unsafe { Library::open(Some(library), flags) }.map_err(|error| reason(&error))
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
