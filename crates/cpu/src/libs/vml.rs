//! MKL's vector functions (VML): sines and cosines of arrays, in its mode of high accuracy.
//!
//! Names are those of the [oneMKL Developer
//! Reference](https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/), "Vector Mathematical Functions".

use std::ffi::c_int;

use gpubench_report::case::DType;
use gpubench_report::data::Real;

use super::blas::Provider;
use crate::{CellError, CellResult};

type VectorFunction<T> = unsafe extern "C" fn(c_int, *const T, *mut T);

/// The functions of one element type. A call may start threads, except within [`VmlFunctions::on_this_thread`].
pub(crate) struct VmlFunctions<T> {
    sine: VectorFunction<T>,
    cosine: VectorFunction<T>,
    set_threads: unsafe extern "C" fn(c_int) -> c_int,
}

impl<T: Real> VmlFunctions<T> {
    pub(crate) fn of(mkl: &Provider) -> CellResult<Self> {
        let (sine, cosine) = match T::DTYPE {
            DType::F64 => ("vdSin", "vdCos"),
            _ => ("vsSin", "vsCos"),
        };
        let functions = || -> Result<Self, String> {
            // SAFETY: the types are those of MKL's headers, where MKL_INT is `int` in the interface that gpubench chose.
            unsafe {
                Ok(VmlFunctions {
                    sine: mkl.routine(sine)?,
                    cosine: mkl.routine(cosine)?,
                    set_threads: mkl.routine("MKL_Set_Num_Threads_Local")?,
                })
            }
        };
        functions().map_err(|problem| CellError::call("MKL's VML", problem))
    }

    /// Runs `work` with MKL's functions on the calling thread alone; its calls of other routines have their number of
    /// threads afterwards.
    pub(crate) fn on_this_thread(&self, work: impl FnOnce()) {
        // SAFETY: the function takes any number; 0 is that of the process.
        let before = unsafe { (self.set_threads)(1) };
        work();
        // SAFETY: as above.
        unsafe { (self.set_threads)(before) };
    }

    pub(crate) fn sines(&self, from: &[T], to: &mut [T]) {
        apply(self.sine, from, to);
    }

    pub(crate) fn cosines(&self, from: &[T], to: &mut [T]) {
        apply(self.cosine, from, to);
    }
}

fn apply<T>(function: VectorFunction<T>, from: &[T], to: &mut [T]) {
    // A length above 32 bits never occurs: callers pass blocks.
    let Ok(len) = c_int::try_from(from.len().min(to.len())) else { return };
    // SAFETY: both arrays have `len` elements, and the function takes them.
    unsafe { function(len, from.as_ptr(), to.as_mut_ptr()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libs::blas::{self, Vendor};

    #[test]
    fn other_routines_keep_their_number_of_threads() {
        let libraries = blas::all(&[]);
        let mut mkls = libraries.iter().filter(|library| library.vendor() == Vendor::Mkl);
        let Some(mkl) = mkls.find_map(|library| library.provider().ok()) else { return };
        let (before, mut within) = (mkl.threads(), 0);
        VmlFunctions::<f32>::of(mkl).unwrap().on_this_thread(|| within = mkl.threads());
        assert_eq!((within, mkl.threads()), (1, before));
    }
}
