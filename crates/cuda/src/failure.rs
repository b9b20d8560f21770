//! Maps driver errors to cell errors: those of one call, and those after which the device is lost.

use cudarc::driver::sys::CUresult;
pub use gpubench_report::error::CellError;

use super::ffi::out_of_memory;
use super::ffi::status::Status;

/// The result of a call on the device or of making a job.
pub type Result<T, E = CellError> = std::result::Result<T, E>;

/// Errors after which every further call of the process fails, according to cuda.h.
const STICKY: &[CUresult] = &[
    CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
    CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    CUresult::CUDA_ERROR_ASSERT,
    CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUresult::CUDA_ERROR_INVALID_PC,
    CUresult::CUDA_ERROR_TENSOR_MEMORY_LEAK,
    CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
    CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUresult::CUDA_ERROR_CONTAINED,
    CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUresult::CUDA_ERROR_DEINITIALIZED,
    CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE,
    CUresult::CUDA_ERROR_EXTERNAL_DEVICE,
    CUresult::CUDA_ERROR_MPS_CLIENT_TERMINATED,
    CUresult::CUDA_ERROR_UNKNOWN,
];

/// Converts an error of the driver call `call` to a cell's error.
///
/// Errors that make every further call of the process fail become [`CellError::DeviceLost`], and a lack of device memory
/// becomes [`CellError::OutOfMemory`].
pub fn driver<E: Into<Status>>(call: &'static str) -> impl Fn(E) -> CellError {
    move |error| {
        let status = error.into();
        // The name from the bindings instead of cuGetErrorString's, which needs a driver that works.
        let text = format!("{call}: {status}");
        // Page-locked memory is the host's.
        if status.is_out_of_memory() && call != "cuMemHostAlloc" {
            return out_of_memory();
        }
        if is_sticky(status) { CellError::DeviceLost(text) } else { CellError::Failed(text) }
    }
}

/// Returns whether the context may be unusable after this error. An error that the bindings do not know may be of any
/// kind, and a new worker costs less than wrong results.
pub(crate) fn is_sticky(error: impl Into<Status>) -> bool {
    let status = error.into();
    !status.is_known() || STICKY.iter().any(|code| status.is(*code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_corrupt_the_context_lose_the_device() {
        for code in [
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            CUresult::CUDA_ERROR_LAUNCH_FAILED,
            CUresult::CUDA_ERROR_ASSERT,
            CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
        ] {
            let error = driver("cuStreamSynchronize")(code);
            assert!(matches!(error, CellError::DeviceLost(_)), "{code:?}");
            assert!(error.to_string().starts_with("cuStreamSynchronize: CUDA_ERROR_"), "{error}");
        }
    }

    #[test]
    fn an_error_that_the_bindings_do_not_know_loses_the_device() {
        for number in [12345, 1001, u32::MAX] {
            let error = driver("cuLaunchKernel")(Status::numbered::<CUresult>(number));
            assert!(matches!(error, CellError::DeviceLost(_)), "{number}");
            assert_eq!(error.to_string(), format!("cuLaunchKernel: CUDA error {number}"));
        }
    }

    #[test]
    fn errors_of_one_call_leave_the_device_usable() {
        let of = |call, code: CUresult| driver(call)(code);
        let (invalid, full) = (CUresult::CUDA_ERROR_INVALID_VALUE, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        assert!(matches!(of("cuMemAllocAsync", invalid), CellError::Failed(_)));
        assert!(matches!(of("cuMemAllocAsync", full), CellError::OutOfMemory { place: "device", .. }));
        assert!(matches!(of("cuMemHostAlloc", full), CellError::Failed(_)), "the host's memory");
    }
}
