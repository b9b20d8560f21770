//! Opens shared libraries at run time and verifies that each symbol is the library's own.

use std::ffi::CStr;
use std::os::raw::c_int;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// A worker process loads one library, so that no other one can define what this one calls. What the user preloads
/// still can: then the library's own routines come first. AddressSanitizer refuses to open libraries in this way.
#[cfg(not(sanitized))]
const OWN_ROUTINES_FIRST: c_int = libc::RTLD_DEEPBIND;
#[cfg(sanitized)]
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
        let library = unsafe { open_linked(library, RTLD_NOW | OWN_ROUTINES_FIRST, &mut vec![]) }?;
        Ok(SharedLibrary { library, file: None })
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
    std::mem::forget(unsafe { open_linked(library, RTLD_NOW | RTLD_GLOBAL, &mut vec![]) }?);
    Ok(())
}

/// Opens a library. Where the loader does not find what the library needs, and its folder has it, that is opened first, and stays
/// loaded: the OpenBLAS in older wheels of NumPy and SciPy needs the libgfortran next to it. `tried` lists the files opened on the
/// way to this one.
///
/// # Safety
/// The initialisers of the library and of its neighbours do no harm.
unsafe fn open_linked(library: &Path, flags: c_int, tried: &mut Vec<PathBuf>) -> Result<Library, String> {
    let library = &loadable(library)?;
    tried.push(library.clone());
    loop {
        // SAFETY: the caller vouches for the initialisers.
        let problem = match unsafe { Library::open(Some(library), flags) } {
            Ok(library) => return Ok(library),
            Err(error) => reason(&error),
        };
        let missing = problem.split_once(": ").map(|(name, _)| library.with_file_name(name));
        let is_new = |file: &PathBuf| file.is_absolute() && file.is_file() && !tried.contains(file);
        let Some(neighbour) = missing.filter(is_new) else { return Err(problem) };
        // SAFETY: the caller vouches for the initialisers.
        std::mem::forget(unsafe { open_linked(&neighbour, flags, tried) }?);
    }
}

/// Returns what to pass to the loader for a library given by path or by a name that the loader knows. A path becomes
/// absolute, because the loader searches other folders for one without a slash.
///
/// # Errors
/// The file is no ordinary one, such as a pipe, on which the loader would wait. Anything else about it is for the loader to report.
pub fn loadable(library: &Path) -> Result<PathBuf, String> {
    if library.parent().is_some_and(|folder| folder.as_os_str().is_empty()) {
        return Ok(library.to_path_buf());
    }
    match library.metadata() {
        Ok(found) if !found.is_file() => {
            Err(format!("{} is not a file: name a shared library", library.display()))
        }
        _ => Ok(std::path::absolute(library).unwrap_or_else(|_| library.to_path_buf())),
    }
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

#[cfg(test)]
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

    /// Compiles a library without code of its own that needs the library `needed`. Returns `None` without a compiler.
    fn compile(library: &Path, needed: Option<&Path>) -> Option<()> {
        let source = library.with_extension("c");
        std::fs::write(&source, "int data[8192] = {1};").ok()?;
        let name = library.file_name()?.to_str()?;
        let mut cc = std::process::Command::new("cc");
        cc.args(["-shared", "-fPIC", "-Wl,--no-as-needed", &format!("-Wl,-soname,{name}"), "-o"]);
        cc.args([library, &source]).args(needed);
        // The linker need not find what the needed library needs.
        cc.arg("-Wl,--unresolved-symbols=ignore-all")
            .status()
            .ok()
            .filter(|status| status.success())
            .map(|_| ())
    }

    #[test]
    fn a_library_finds_what_it_needs_in_its_own_folder() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let [blas, fortran, quad] = ["libblas-own.so", "libfortran-own.so", "libquad-own.so"].map(at);
        if compile(&quad, None).is_none() {
            return;
        }
        compile(&fortran, Some(&quad)).unwrap();
        compile(&blas, Some(&fortran)).unwrap();
        // SAFETY: the libraries have no initialisers.
        let open = || unsafe { SharedLibrary::open(&blas) }.map(SharedLibrary::keep);
        std::fs::rename(&quad, at("away")).unwrap();
        let problem = open().unwrap_err();
        assert!(problem.contains("libquad-own.so: cannot open shared object file"), "{problem}");
        std::fs::rename(at("away"), &quad).unwrap();
        open().unwrap();
    }

    #[test]
    fn only_files_are_loaded_and_by_absolute_paths() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for other in [&pipe, folder.path(), Path::new("/dev/zero")] {
            let problem = loadable(other).unwrap_err();
            assert!(problem.contains("is not a file: name a shared library"), "{problem}");
        }
        let here = std::env::current_dir().unwrap();
        assert_eq!(loadable(Path::new("./libnone.so")), Ok(here.join("libnone.so")));
        assert_eq!(
            loadable(Path::new("libm.so.6")),
            Ok("libm.so.6".into()),
            "the loader searches for a name"
        );
    }
}
