//! Reads the status codes of CUDA's libraries as numbers, and knows their names.
//!
//! The bindings declare each library's codes as a Rust enum. A library may return a code that its enum lacks, as newer
//! releases do, and to format or match such a value is undefined behaviour: it has crashed workers. So every code that
//! reaches this crate becomes a [`Status`] before anything else is done with it. The first calls into a driver return a
//! number to begin with (`ffi::driver`).
//!
//! The bindings still return the enum from their own functions, which is formally undefined for an unknown code, and those
//! of the driver compare it with success before this crate sees it. `tests/stubs` shows that unknown codes of the driver
//! and of NVRTC arrive here. Code 1000 of the driver would not: `Result<(), DriverError>` represents success by that
//! number. Only bindings that return integers would remove this.

use std::fmt;

use cudarc::cublas::sys::cublasStatus_t;
use cudarc::cufft::sys::cufftResult;
use cudarc::cusolver::sys::cusolverStatus_t;
use cudarc::cusparse::sys::cusparseStatus_t;
use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use cudarc::nvrtc::sys::nvrtcResult;

/// A status code: its number, and its name if the bindings have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    number: u32,
    name: Option<&'static str>,
    library: &'static str,
}

impl Status {
    /// Returns the status of this number in the enum `E`.
    pub(crate) fn numbered<E: Code>(number: u32) -> Status {
        let name = E::NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
        Status { number, name, library: E::LIBRARY }
    }

    /// Converts what a driver call of our own signature returned to a result.
    pub(crate) fn driver(number: u32) -> Result<(), Status> {
        let status = Status::numbered::<CUresult>(number);
        if status.is_success() { Ok(()) } else { Err(status) }
    }

    /// Returns whether the bindings have the code.
    pub(crate) fn is_known(&self) -> bool {
        self.is_success() || self.name.is_some()
    }

    /// Every library reports success as 0.
    pub(crate) fn is_success(&self) -> bool {
        self.number == 0
    }

    /// Returns whether an allocation failed, of the driver or inside a library.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.is(CUresult::CUDA_ERROR_OUT_OF_MEMORY)
            || self.is(cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED)
            || self.is(cufftResult::CUFFT_ALLOC_FAILED)
            || self.is(cusolverStatus_t::CUSOLVER_STATUS_ALLOC_FAILED)
            || self.is(cusparseStatus_t::CUSPARSE_STATUS_ALLOC_FAILED)
    }

    pub(crate) fn is<E: Code>(&self, code: E) -> bool {
        *self == Status::from(code)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "{} error {}", self.library, self.number),
        }
    }
}

impl<E: Code> From<E> for Status {
    fn from(code: E) -> Status {
        Status::numbered::<E>(number(&code))
    }
}

impl From<DriverError> for Status {
    fn from(error: DriverError) -> Status {
        Status::from(error.0)
    }
}

/// An enum of status codes in the bindings.
pub trait Code: Copy {
    /// The library in messages about unknown codes.
    const LIBRARY: &'static str;
    /// Every code except success.
    const NAMES: &'static [(u32, &'static str)];
}

/// Reads the number of a code, which may be none of the enum's.
fn number<E: Code>(code: &E) -> u32 {
    const { assert!(size_of::<E>() == size_of::<u32>()) };
    // Volatile, because the compiler otherwise assumes that the number is one of the enum's: it once took the code 77 of
    // NVRTC, whose 18 codes are all known here, for success.
    // SAFETY: the enums are `repr(u32)`, and any four bytes are a `u32`.
    unsafe { std::ptr::from_ref(code).cast::<u32>().read_volatile() }
}

macro_rules! codes {
    ($($type:ident, $library:literal { $($name:ident),* $(,)? })*) => {
        $(impl Code for $type {
            const LIBRARY: &'static str = $library;
            const NAMES: &'static [(u32, &'static str)] = &[$(($type::$name as u32, stringify!($name))),*];
        })*
    };
}

codes! {
    CUresult, "CUDA" {
        CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_INITIALIZED,
        CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_PROFILER_DISABLED, CUDA_ERROR_PROFILER_NOT_INITIALIZED,
        CUDA_ERROR_PROFILER_ALREADY_STARTED, CUDA_ERROR_PROFILER_ALREADY_STOPPED, CUDA_ERROR_STUB_LIBRARY,
        CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_ERROR_NO_DEVICE,
        CUDA_ERROR_INVALID_DEVICE, CUDA_ERROR_DEVICE_NOT_LICENSED, CUDA_ERROR_INVALID_IMAGE,
        CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_CONTEXT_ALREADY_CURRENT, CUDA_ERROR_MAP_FAILED,
        CUDA_ERROR_UNMAP_FAILED, CUDA_ERROR_ARRAY_IS_MAPPED, CUDA_ERROR_ALREADY_MAPPED,
        CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_ALREADY_ACQUIRED, CUDA_ERROR_NOT_MAPPED,
        CUDA_ERROR_NOT_MAPPED_AS_ARRAY, CUDA_ERROR_NOT_MAPPED_AS_POINTER, CUDA_ERROR_ECC_UNCORRECTABLE,
        CUDA_ERROR_UNSUPPORTED_LIMIT, CUDA_ERROR_CONTEXT_ALREADY_IN_USE, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
        CUDA_ERROR_INVALID_PTX, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, CUDA_ERROR_NVLINK_UNCORRECTABLE,
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        CUDA_ERROR_JIT_COMPILATION_DISABLED, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
        CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, CUDA_ERROR_CONTAINED, CUDA_ERROR_INVALID_SOURCE,
        CUDA_ERROR_FILE_NOT_FOUND, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
        CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, CUDA_ERROR_OPERATING_SYSTEM, CUDA_ERROR_INVALID_HANDLE,
        CUDA_ERROR_ILLEGAL_STATE, CUDA_ERROR_LOSSY_QUERY, CUDA_ERROR_NOT_FOUND, CUDA_ERROR_NOT_READY,
        CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_TIMEOUT,
        CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
        CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, CUDA_ERROR_CONTEXT_IS_DESTROYED,
        CUDA_ERROR_ASSERT, CUDA_ERROR_TOO_MANY_PEERS, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
        CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_TENSOR_MEMORY_LEAK,
        CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_SYSTEM_NOT_READY,
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
        CUDA_ERROR_MPS_CONNECTION_FAILED, CUDA_ERROR_MPS_RPC_FAILURE, CUDA_ERROR_MPS_SERVER_NOT_READY,
        CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,
        CUDA_ERROR_MPS_CLIENT_TERMINATED, CUDA_ERROR_CDP_NOT_SUPPORTED, CUDA_ERROR_CDP_VERSION_MISMATCH,
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
        CUDA_ERROR_STREAM_CAPTURE_MERGE, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
        CUDA_ERROR_STREAM_CAPTURE_UNJOINED, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
        CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CUDA_ERROR_CAPTURED_EVENT, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
        CUDA_ERROR_TIMEOUT, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CUDA_ERROR_EXTERNAL_DEVICE,
        CUDA_ERROR_INVALID_CLUSTER_SIZE, CUDA_ERROR_FUNCTION_NOT_LOADED, CUDA_ERROR_INVALID_RESOURCE_TYPE,
        CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, CUDA_ERROR_KEY_ROTATION, CUDA_ERROR_UNKNOWN
    }
    nvrtcResult, "NVRTC" {
        NVRTC_ERROR_OUT_OF_MEMORY, NVRTC_ERROR_PROGRAM_CREATION_FAILURE, NVRTC_ERROR_INVALID_INPUT,
        NVRTC_ERROR_INVALID_PROGRAM, NVRTC_ERROR_INVALID_OPTION, NVRTC_ERROR_COMPILATION,
        NVRTC_ERROR_BUILTIN_OPERATION_FAILURE, NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
        NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
        NVRTC_ERROR_INTERNAL_ERROR, NVRTC_ERROR_TIME_FILE_WRITE_FAILED, NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED,
        NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED, NVRTC_ERROR_PCH_CREATE, NVRTC_ERROR_CANCELLED,
        NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED
    }
    cublasStatus_t, "cuBLAS" {
        CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_ALLOC_FAILED, CUBLAS_STATUS_INVALID_VALUE,
        CUBLAS_STATUS_ARCH_MISMATCH, CUBLAS_STATUS_MAPPING_ERROR, CUBLAS_STATUS_EXECUTION_FAILED,
        CUBLAS_STATUS_INTERNAL_ERROR, CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_LICENSE_ERROR
    }
    cufftResult, "cuFFT" {
        CUFFT_INVALID_PLAN, CUFFT_ALLOC_FAILED, CUFFT_INVALID_TYPE, CUFFT_INVALID_VALUE, CUFFT_INTERNAL_ERROR,
        CUFFT_EXEC_FAILED, CUFFT_SETUP_FAILED, CUFFT_INVALID_SIZE, CUFFT_UNALIGNED_DATA, CUFFT_INVALID_DEVICE,
        CUFFT_NO_WORKSPACE, CUFFT_NOT_IMPLEMENTED, CUFFT_NOT_SUPPORTED, CUFFT_MISSING_DEPENDENCY,
        CUFFT_NVRTC_FAILURE, CUFFT_NVJITLINK_FAILURE, CUFFT_NVSHMEM_FAILURE
    }
    cusolverStatus_t, "cuSOLVER" {
        CUSOLVER_STATUS_NOT_INITIALIZED, CUSOLVER_STATUS_ALLOC_FAILED, CUSOLVER_STATUS_INVALID_VALUE,
        CUSOLVER_STATUS_ARCH_MISMATCH, CUSOLVER_STATUS_MAPPING_ERROR, CUSOLVER_STATUS_EXECUTION_FAILED,
        CUSOLVER_STATUS_INTERNAL_ERROR, CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED,
        CUSOLVER_STATUS_NOT_SUPPORTED, CUSOLVER_STATUS_ZERO_PIVOT, CUSOLVER_STATUS_INVALID_LICENSE,
        CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED, CUSOLVER_STATUS_IRS_PARAMS_INVALID,
        CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC, CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE,
        CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER, CUSOLVER_STATUS_IRS_INTERNAL_ERROR,
        CUSOLVER_STATUS_IRS_NOT_SUPPORTED, CUSOLVER_STATUS_IRS_OUT_OF_RANGE,
        CUSOLVER_STATUS_IRS_NRHS_NOT_SUPPORTED_FOR_REFINE_GMRES, CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED,
        CUSOLVER_STATUS_IRS_INFOS_NOT_DESTROYED, CUSOLVER_STATUS_IRS_MATRIX_SINGULAR,
        CUSOLVER_STATUS_INVALID_WORKSPACE
    }
    cusparseStatus_t, "cuSPARSE" {
        CUSPARSE_STATUS_NOT_INITIALIZED, CUSPARSE_STATUS_ALLOC_FAILED, CUSPARSE_STATUS_INVALID_VALUE,
        CUSPARSE_STATUS_ARCH_MISMATCH, CUSPARSE_STATUS_MAPPING_ERROR, CUSPARSE_STATUS_EXECUTION_FAILED,
        CUSPARSE_STATUS_INTERNAL_ERROR, CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, CUSPARSE_STATUS_ZERO_PIVOT,
        CUSPARSE_STATUS_NOT_SUPPORTED, CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_code_has_its_name_and_an_unknown_one_its_number() {
        let shown = |number| Status::numbered::<CUresult>(number).to_string();
        assert_eq!(shown(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
        assert_eq!(shown(999), "CUDA_ERROR_UNKNOWN");
        assert_eq!(shown(12345), "CUDA error 12345");
        assert_eq!(shown(u32::MAX), "CUDA error 4294967295");
        assert_eq!(Status::numbered::<nvrtcResult>(6).to_string(), "NVRTC_ERROR_COMPILATION");
        assert_eq!(Status::numbered::<cublasStatus_t>(2).to_string(), "cuBLAS error 2");
    }

    #[test]
    fn a_code_of_the_bindings_is_read_as_its_number() {
        assert!(Status::from(CUresult::CUDA_SUCCESS).is_success());
        assert_eq!(Status::from(CUresult::CUDA_ERROR_NO_DEVICE), Status::numbered::<CUresult>(100));
        assert!(Status::numbered::<cufftResult>(2).is(cufftResult::CUFFT_ALLOC_FAILED));
        assert!(
            !Status::numbered::<cufftResult>(2).is(CUresult::CUDA_ERROR_OUT_OF_MEMORY),
            "another library"
        );
        assert!(!Status::numbered::<cusolverStatus_t>(77).is_known());
        assert!(Status::numbered::<cusparseStatus_t>(11).is_known());
    }
}
