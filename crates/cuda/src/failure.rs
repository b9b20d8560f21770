//! Maps driver errors to cell errors: those of one call, and those after which the device is lost.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use gpubench_model::error::CellError;

/// Converts an error of the driver call `call` to a cell's error.
///
/// Errors that make every further call of the process fail become [`CellError::DeviceLost`].
pub(crate) fn driver(call: &'static str) -> impl Fn(DriverError) -> CellError {
    move |error| {
        // The enum's name instead of cuGetErrorString, which needs a driver; the driver may be what is missing.
        let text = format!("{call}: {:?}", error.0);
        if is_sticky(error.0) { CellError::DeviceLost(text) } else { CellError::Failed(text) }
    }
}

/// Returns whether the context is unusable after this error.
pub(crate) fn is_sticky(error: CUresult) -> bool {
    matches!(
        error,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUresult::CUDA_ERROR_DEINITIALIZED
            | CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE
            | CUresult::CUDA_ERROR_EXTERNAL_DEVICE
            | CUresult::CUDA_ERROR_MPS_CLIENT_TERMINATED
            | CUresult::CUDA_ERROR_UNKNOWN
    )
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
            let error = driver("cuStreamSynchronize")(DriverError(code));
            assert!(matches!(error, CellError::DeviceLost(_)), "{code:?}");
            assert!(error.to_string().starts_with("cuStreamSynchronize: CUDA_ERROR_"), "{error}");
        }
    }

    #[test]
    fn errors_of_one_call_leave_the_device_usable() {
        for code in [CUresult::CUDA_ERROR_INVALID_VALUE, CUresult::CUDA_ERROR_OUT_OF_MEMORY] {
            assert!(matches!(driver("cuMemAllocAsync")(DriverError(code)), CellError::Failed(_)), "{code:?}");
        }
    }
}
