//! MKL's vector functions (VML): sines and cosines of arrays, in its mode of high accuracy.
//!
//! Names are those of the [oneMKL Developer
//! Reference](https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/), "Vector Mathematical Functions". A call
//! may start threads, except within [`on_this_thread`].

use std::ffi::c_int;
use std::path::Path;
use std::sync::OnceLock;

use gpubench_host::shared_library::SharedLibrary;
use gpubench_model::error::CellError;

type Function<T> = unsafe extern "C" fn(c_int, *const T, *mut T);

/// The functions of one element type.
pub(crate) struct Functions<T> {
    sine: Function<T>,
    cosine: Function<T>,
    set_threads: unsafe extern "C" fn(c_int) -> c_int,
}

/// An element type of the functions. A process loads one MKL.
pub(crate) trait VmlReal: Copy + 'static {
    const SINE: &str;
    const COSINE: &str;
    fn functions() -> &'static OnceLock<Functions<Self>>;
}

impl VmlReal for f32 {
    const SINE: &str = "vsSin";
    const COSINE: &str = "vsCos";

    fn functions() -> &'static OnceLock<Functions<f32>> {
        static FUNCTIONS: OnceLock<Functions<f32>> = OnceLock::new();
        &FUNCTIONS
    }
}

impl VmlReal for f64 {
    const SINE: &str = "vdSin";
    const COSINE: &str = "vdCos";

    fn functions() -> &'static OnceLock<Functions<f64>> {
        static FUNCTIONS: OnceLock<Functions<f64>> = OnceLock::new();
        &FUNCTIONS
    }
}

/// Finds the functions in the MKL at that path, which is already loaded.
///
/// # Errors
/// It lacks one.
pub(crate) fn load<T: VmlReal>(library: &Path) -> Result<(), CellError> {
    let found = || -> Result<Functions<T>, String> {
        // SAFETY: the library is loaded, so that nothing is initialised; the types are those of its headers, where MKL_INT is
        // `int` in the interface that gpubench chose.
        unsafe {
            let mut library = SharedLibrary::open(library)?;
            library.own_file_defines("MKL_Get_Version_String");
            let functions = Functions {
                sine: library.symbol(T::SINE)?,
                cosine: library.symbol(T::COSINE)?,
                set_threads: library.symbol("MKL_Set_Num_Threads_Local")?,
            };
            library.keep();
            Ok(functions)
        }
    };
    if T::functions().get().is_none() {
        let found = found().map_err(|problem| CellError::call("MKL's VML", problem))?;
        let _ = T::functions().set(found);
    }
    Ok(())
}

/// Runs `work` with MKL's functions on the calling thread alone; its calls of other routines have their number of threads afterwards.
pub(crate) fn on_this_thread<T: VmlReal>(work: impl FnOnce()) {
    let Some(functions) = T::functions().get() else { return };
    // SAFETY: the function takes any number; 0 is that of the process.
    let before = unsafe { (functions.set_threads)(1) };
    work();
    // SAFETY: as above.
    unsafe { (functions.set_threads)(before) };
}

/// Writes the sines of `from`; no value where [`load`] was not called.
pub(crate) fn sines<T: VmlReal>(from: &[T], to: &mut [T]) {
    apply(from, to, |functions| functions.sine);
}

/// Writes the cosines of `from`; no value where [`load`] was not called.
pub(crate) fn cosines<T: VmlReal>(from: &[T], to: &mut [T]) {
    apply(from, to, |functions| functions.cosine);
}

fn apply<T: VmlReal>(from: &[T], to: &mut [T], function: impl Fn(&Functions<T>) -> Function<T>) {
    let Some(functions) = T::functions().get() else { return };
    // A length above 32 bits never occurs: callers pass blocks.
    let Ok(len) = c_int::try_from(from.len().min(to.len())) else { return };
    // SAFETY: both arrays have `len` elements, and the function takes them.
    unsafe { function(functions)(len, from.as_ptr(), to.as_mut_ptr()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libs::blas::{self, Vendor};

    #[test]
    fn other_routines_keep_their_number_of_threads() {
        let libraries = blas::all(&[]);
        let mkl = libraries.iter().find(|one| one.vendor() == Vendor::Mkl && one.provider().is_ok());
        let Some(path) = mkl.map(|mkl| mkl.provider().unwrap().path()) else { return };
        load::<f32>(path).unwrap();
        // SAFETY: the library is loaded already, and the type is that of its header.
        let threads: unsafe extern "C" fn() -> c_int = unsafe {
            let library = SharedLibrary::open(path).unwrap();
            let found = library.symbol("MKL_Get_Max_Threads").unwrap();
            library.keep();
            found
        };
        // SAFETY: it takes nothing and returns a number.
        let threads = || unsafe { threads() };
        let (before, mut within) = (threads(), 0);
        on_this_thread::<f32>(|| within = threads());
        assert_eq!((within, threads()), (1, before));
    }
}
