//! Opens CUDA's shared libraries and reads their file and version, without a CUDA context.

use std::ffi::{OsStr, c_int, c_void};
use std::path::PathBuf;

use gpubench_backend::host::shared_library::{file_of, loadable, reason};
use libloading::Library;

/// Opens a library by name or path. The error is the dynamic linker's message, or describes a file that it must not open.
pub(crate) fn open(name: impl AsRef<OsStr>) -> Result<Library, String> {
    let library = loadable(name.as_ref().as_ref())?;
    // SAFETY: only NVIDIA's driver and toolkit libraries are opened here; their initialisers have no preconditions.
    unsafe { Library::new(library) }.map_err(|error| reason(&error))
}

pub(crate) fn has_symbol(library: &Library, symbol: &str) -> bool {
    address(library, symbol).is_some()
}

fn address(library: &Library, symbol: &str) -> Option<*const c_void> {
    // SAFETY: the symbol is used as an address only and never called.
    let found = unsafe { library.get::<*const c_void>(symbol.as_bytes()) }.ok()?;
    // SAFETY: reading the address out of the symbol does not dereference it.
    let address = unsafe { found.try_as_raw_ptr() }?;
    (!address.is_null()).then_some(address.cast_const())
}

pub(crate) fn path_of(library: &Library, symbol: &str) -> Option<PathBuf> {
    file_of(address(library, symbol)?.cast())
}

/// Reads major, minor and patch level by a `GetProperty(kind, &mut value)` function of the library.
pub(crate) fn version_by_property(library: &Library, function: &str) -> Option<[c_int; 3]> {
    type GetProperty = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;
    // SAFETY: every CUDA library's GetProperty has this signature (library_types.h).
    let get = unsafe { library.get::<GetProperty>(function.as_bytes()) }.ok()?;
    let mut version = [0; 3];
    for (kind, value) in (0..).zip(&mut version) {
        // SAFETY: kinds 0, 1 and 2 are MAJOR_VERSION, MINOR_VERSION and PATCH_LEVEL; `value` is writable.
        if unsafe { get(kind, value) } != 0 {
            return None;
        }
    }
    Some(version)
}

/// Reads major and minor version by `nvrtcVersion`.
pub(crate) fn nvrtc_version(library: &Library) -> Option<[c_int; 2]> {
    type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    // SAFETY: the signature is nvrtc.h's.
    let get = unsafe { library.get::<Version>(b"nvrtcVersion") }.ok()?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both pointers are writable.
    (unsafe { get(&raw mut major, &raw mut minor) } == 0).then_some([major, minor])
}
