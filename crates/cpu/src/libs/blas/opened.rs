//! An opened library, and the spelling of its routine names.

use std::ffi::{CStr, c_char};
use std::path::Path;

use gpubench_backend::host::shared_library::SharedLibrary;

use super::Vendor;

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
