//! Opens shared libraries at run time and verifies that each symbol is the library's own.

use std::ffi::CStr;
use std::os::raw::c_int;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// A worker process loads one library, so that no other one can define what this one calls. What the user preloads,
/// or `--isolate no` puts into the same process, still can: then the library's own routines come first.
/// AddressSanitizer refuses to open libraries in this way.
#[cfg(all(target_os = "linux", target_env = "gnu", not(sanitized)))]
const OWN_ROUTINES_FIRST: c_int = libc::RTLD_DEEPBIND;
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(sanitized))))]
const OWN_ROUTINES_FIRST: c_int = 0;

/// A library that is loaded.
pub struct SharedLibrary {
    library: Library,
    /// File that defines its routines, once it is known.
    file: Option<PathBuf>,
}

impl SharedLibrary {
    /// Opens a library by path, or by a name that the loader knows; returns the loader's message on failure.
    ///
    /// # Safety
    /// The library's initialisers do no harm.
    pub unsafe fn open(library: &Path) -> Result<SharedLibrary, String> {
        // SAFETY: the caller vouches for the initialisers.
        let library = unsafe { Library::open(Some(library), RTLD_NOW | OWN_ROUTINES_FIRST) };
        Ok(SharedLibrary { library: library.map_err(|error| reason(&error))?, file: None })
    }

    /// Takes the file that defines `mark`, a symbol unique to this kind of library, as the library's own. Later symbols
    /// must be defined in that file. Returns whether the symbol exists.
    pub fn own_file_defines(&mut self, mark: &str) -> bool {
        // SAFETY: the address is only looked up, never followed.
        self.file = unsafe { self.address(mark) }.and_then(file_of);
        self.file.is_some()
    }

    /// Returns the file that defines its routines, if [`own_file_defines`](Self::own_file_defines) has found it.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the symbol of that name; an error if the library lacks it or takes it from another library.
    ///
    /// # Safety
    /// `F` is the type of a pointer to the symbol.
    pub unsafe fn symbol<F: Copy>(&self, name: &str) -> Result<F, String> {
        const { assert!(size_of::<F>() == size_of::<*const ()>()) };
        // SAFETY: the address is checked and then given the type that the caller vouches for.
        unsafe {
            let address = self.address(name).ok_or_else(|| format!("it has no {name}"))?;
            self.check_owner(name, address)?;
            Ok(std::mem::transmute_copy(&address))
        }
    }

    /// Keeps the library loaded until the process ends.
    pub fn keep(self) {
        std::mem::forget(self.library);
    }

    fn check_owner(&self, name: &str, address: *const ()) -> Result<(), String> {
        let Some(own) = &self.file else { return Ok(()) };
        match file_of(address) {
            Some(file) if file == *own => Ok(()),
            Some(other) => Err(format!("its {name} belongs to another library, {}", other.display())),
            None => Err(format!("the loader does not know where its {name} is")),
        }
    }

    unsafe fn address(&self, name: &str) -> Option<*const ()> {
        // SAFETY: any symbol is an address, which is null for one that is defined as such.
        let found = unsafe { self.library.get::<*const ()>(format!("{name}\0").as_bytes()) };
        found.ok().map(|found| *found).filter(|address| !address.is_null())
    }
}

/// Opens a library whose symbols later libraries may use, and keeps it loaded.
///
/// # Safety
/// The library's initialisers do no harm.
pub unsafe fn open_for_all(library: &Path) -> Result<(), String> {
    // SAFETY: the caller vouches for the initialisers.
    let library = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_GLOBAL) };
    std::mem::forget(library.map_err(|error| reason(&error))?);
    Ok(())
}

/// Returns the canonical path of the library that contains `address`; `None` if the loader does not know it.
pub fn file_of(address: *const ()) -> Option<PathBuf> {
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

/// Returns the loader's message, which libloading keeps as the source of its error.
pub fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_of_another_library_is_refused_by_name() {
        type Routine = unsafe extern "C" fn();
        // SAFETY: the system's library of mathematics has no harmful initialisers, and its routines are not called.
        unsafe {
            let mut libm = SharedLibrary::open(Path::new("libm.so.6")).unwrap();
            assert!(!libm.own_file_defines("no_such_routine") && libm.file().is_none());
            assert!(libm.own_file_defines("cos"));
            assert!(libm.file().unwrap().to_string_lossy().contains("libm"));
            assert!(libm.symbol::<Routine>("sin").is_ok());
            assert_eq!(libm.symbol::<Routine>("no_such_routine").unwrap_err(), "it has no no_such_routine");
            // The handle finds what libm depends on as well.
            let problem = libm.symbol::<Routine>("malloc").unwrap_err();
            assert!(problem.starts_with("its malloc belongs to another library, /"), "{problem}");
        }
    }
}
