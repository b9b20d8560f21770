//! The cuBLASLt functions used here, looked up in the loaded library, and owned wrappers for the objects that they
//! create.
//!
//! API: <https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api>.

use std::ffi::{c_int, c_void};

use cudarc::cublas::sys::{cublasComputeType_t, cublasStatus_t, cudaDataType_t};

use crate::ffi::out_of_memory;
use crate::ffi::status::Status;
use crate::{CellError, Result};

/// A pointer to an object of the library.
pub(super) type Handle = *mut c_void;

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Algorithm {
    /// The algorithm in the library's own encoding.
    pub(crate) algorithm: [u64; 8],
    workspace_bytes: usize,
    /// Zero for an algorithm that works.
    pub state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

/// Declares the cuBLASLt functions used here, with the signatures of cublasLt.h.
macro_rules! calls {
    ($($name:ident = $symbol:literal ($($argument:ty),*);)*) => {
        /// The library's functions.
        #[derive(Clone, Copy)]
        pub(super) struct CublasLtCalls { $(pub $name: unsafe extern "C" fn($($argument),*) -> c_int,)* }

        impl CublasLtCalls {
            /// Looks up the functions. Returns `None` if one is missing.
            pub(crate) fn find(library: &libloading::Library) -> Option<CublasLtCalls> {
                // SAFETY: these are the signatures of cublasLt.h, and the loader never unloads the library.
                $(let $name = *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }.ok()?;)*
                Some(CublasLtCalls { $($name),* })
            }
        }
    };
}

calls! {
    create = "cublasLtCreate" (*mut Handle);
    destroy = "cublasLtDestroy" (Handle);
    operation = "cublasLtMatmulDescCreate" (*mut Handle, cublasComputeType_t, cudaDataType_t);
    set_operation = "cublasLtMatmulDescSetAttribute" (Handle, c_int, *const c_void, usize);
    destroy_operation = "cublasLtMatmulDescDestroy" (Handle);
    layout = "cublasLtMatrixLayoutCreate" (*mut Handle, cudaDataType_t, u64, u64, i64);
    set_layout = "cublasLtMatrixLayoutSetAttribute" (Handle, c_int, *const c_void, usize);
    destroy_layout = "cublasLtMatrixLayoutDestroy" (Handle);
    preference = "cublasLtMatmulPreferenceCreate" (*mut Handle);
    set_preference = "cublasLtMatmulPreferenceSetAttribute" (Handle, c_int, *const c_void, usize);
    destroy_preference = "cublasLtMatmulPreferenceDestroy" (Handle);
    algorithms = "cublasLtMatmulAlgoGetHeuristic"
        (Handle, Handle, Handle, Handle, Handle, Handle, Handle, c_int, *mut Algorithm, *mut c_int);
    multiply = "cublasLtMatmul"
        (Handle, Handle, *const c_void, *const c_void, Handle, *const c_void, Handle, *const c_void, *const c_void,
         Handle, *mut c_void, Handle, *const [u64; 8], *mut c_void, usize, *mut c_void);
}

/// Converts a failed call to an error that says what to use instead.
pub(super) fn check(call: &str, status: c_int) -> Result<()> {
    let status = Status::numbered::<cublasStatus_t>(status.cast_unsigned());
    if status.is_success() {
        return Ok(());
    }
    if status.is_out_of_memory() {
        return Err(out_of_memory());
    }
    Err(CellError::call(call, format!("{status}; use --variants cublas")))
}

/// A handle, a descriptor, a layout or a preference that is destroyed on drop.
pub(super) struct Owned {
    /// The library's pointer to it.
    pub(crate) raw: Handle,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
}

impl Owned {
    /// Wraps the object that `create` writes to the pointer passed to it.
    pub(crate) fn new(
        call: &str,
        destroy: unsafe extern "C" fn(Handle) -> c_int,
        create: impl FnOnce(*mut Handle) -> c_int,
    ) -> Result<Owned> {
        let mut raw = std::ptr::null_mut();
        check(call, create(&raw mut raw))?;
        Ok(Owned { raw, destroy })
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `destroy` belongs to what `raw` is, which nothing uses afterwards. A failure leaks it, no more.
        let _ = unsafe { (self.destroy)(self.raw) };
    }
}
