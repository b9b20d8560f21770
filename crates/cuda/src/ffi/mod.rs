//! The unsafe calls into CUDA, wrapped in functions that check lengths and lifetimes.

pub(crate) mod completion;
pub mod cublas;
pub mod cublaslt;
pub(crate) mod cufft;
pub mod cusolver;
pub(crate) mod cusparse;
pub(crate) mod dl;
pub(crate) mod driver;
pub mod launch;
pub mod map;
pub(crate) mod mapped;
pub(crate) mod nvrtc;
pub mod pinned;
pub(crate) mod pool;
pub mod replay;
pub mod status;
pub(crate) mod timing;
pub mod tuning;

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, DevicePtrMut};
use gpubench_backend::contents::{Memory, Span};
use gpubench_report::error::CellError;
use status::Status;

fn succeeded(call: &str, status: impl Into<Status>) -> Result<(), CellError> {
    let status = status.into();
    if status.is_success() {
        return Ok(());
    }
    if status.is_out_of_memory() {
        return Err(out_of_memory());
    }
    Err(CellError::call(call, format!("{status}; try a smaller size, or run `gpubench doctor`")))
}

/// Describes the memory of a device array.
pub fn device<T>(array: &mut CudaSlice<T>) -> Memory<'_> {
    let (stream, bytes) = (Arc::clone(array.stream()), array.num_bytes());
    let address = array.device_ptr_mut(&stream).0;
    Memory::Device(Span { address, bytes }, PhantomData)
}

/// Returns the error of an allocation inside the driver or a library, which does not say how much it needed.
pub(crate) fn out_of_memory() -> CellError {
    CellError::OutOfMemory { place: "device", needed: None, free: driver::free_bytes() }
}

#[cfg(test)]
mod tests {
    use cudarc::cublas::sys::cublasStatus_t;
    use cudarc::cufft::sys::cufftResult;
    use cudarc::cusolver::sys::cusolverStatus_t;
    use cudarc::cusparse::sys::cusparseStatus_t;

    use super::*;

    #[test]
    fn a_failed_allocation_of_a_library_is_too_little_memory() {
        for status in [
            Status::from(cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED),
            Status::from(cufftResult::CUFFT_ALLOC_FAILED),
            Status::from(cusolverStatus_t::CUSOLVER_STATUS_ALLOC_FAILED),
            Status::from(cusparseStatus_t::CUSPARSE_STATUS_ALLOC_FAILED),
        ] {
            let error = succeeded("create", status);
            assert!(
                matches!(error, Err(CellError::OutOfMemory { place: "device", needed: None, .. })),
                "{status}: {error:?}"
            );
        }
    }

    #[test]
    fn any_other_status_is_a_failed_call_with_its_name() {
        assert!(succeeded("create", cufftResult::CUFFT_SUCCESS).is_ok());
        for (status, name) in [
            (
                Status::from(cusolverStatus_t::CUSOLVER_STATUS_INTERNAL_ERROR),
                "CUSOLVER_STATUS_INTERNAL_ERROR",
            ),
            (Status::numbered::<cusparseStatus_t>(77), "cuSPARSE error 77"),
        ] {
            let Err(CellError::Failed(text)) = succeeded("create", status) else { panic!("{status}") };
            assert!(text.starts_with(&format!("create: {name}; ")), "{text}");
        }
    }
}
