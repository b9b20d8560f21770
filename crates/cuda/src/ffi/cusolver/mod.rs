//! cuSOLVER's dense handle, workspaces and routines as owned values. A routine is a closure that owns its workspace.
//!
//! API: <https://docs.nvidia.com/cuda/cusolver/>.

mod linear;
mod svd;

pub(crate) use linear::{Solution, SolutionRoutine, Systems, cholesky, cholesky_batched, lu};
pub use svd::{Decomposition, EigenDecomposition, MatrixBatch, Vectors, gesvd, gesvdp, syevd};
pub(crate) use svd::{SvdRoutine, gesvda, gesvdj};

use std::ffi::{c_int, c_void};
use std::rc::Rc;
use std::sync::Arc;

use cudarc::cusolver::sys;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use gpubench_report::case::DType;

use super::succeeded;
use crate::{CellError, Cuda, Result, driver};

/// Symmetric matrices are read from their lower triangles in column-major order.
const LOWER: sys::cublasFillMode_t = sys::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;

fn check(call: &str, status: sys::cusolverStatus_t) -> Result<()> {
    succeeded(call, status)
}

/// Returns cuSOLVER's value for an element type.
fn type_of(dtype: DType) -> sys::cudaDataType {
    match dtype {
        DType::F64 => sys::cudaDataType::CUDA_R_64F,
        DType::C64 => sys::cudaDataType::CUDA_C_32F,
        DType::C128 => sys::cudaDataType::CUDA_C_64F,
        _ => sys::cudaDataType::CUDA_R_32F,
    }
}

/// Workspace of a routine on device and host.
struct SolverWorkspace {
    device: CudaSlice<u8>,
    device_bytes: usize,
    /// 16-byte units, which are aligned for every type that cuSOLVER stores there.
    host: Vec<u128>,
    host_bytes: usize,
    /// `gesvdp` writes here how far it perturbed a singular value near zero.
    perturbation: Box<f64>,
}

impl SolverWorkspace {
    /// Allocates the bytes that `query` writes for device and host.
    fn ask(
        cuda: &Cuda,
        call: &str,
        query: impl FnOnce(*mut usize, *mut usize) -> sys::cusolverStatus_t,
    ) -> Result<Self> {
        let (mut device_bytes, mut host_bytes) = (0, 0);
        check(call, query(&raw mut device_bytes, &raw mut host_bytes))?;
        // At least one byte, because no workspace may be null.
        cuda.reserve(device_bytes.max(1) as u128)?;
        let device = cuda.alloc(device_bytes)?;
        let host = vec![0; host_bytes.div_ceil(16).max(1)];
        Ok(SolverWorkspace { device, device_bytes, host, host_bytes, perturbation: Box::new(0.0) })
    }

    /// Returns the device's part and its bytes, the host's part and its bytes, and the place of the perturbation. They are valid as
    /// long as the workspace.
    fn parts(&mut self, stream: &CudaStream) -> (*mut c_void, usize, *mut c_void, usize, *mut f64) {
        let device = self.device.device_ptr_mut(stream).0 as *mut c_void;
        let host = self.host.as_mut_ptr().cast();
        (device, self.device_bytes, host, self.host_bytes, &mut *self.perturbation)
    }
}

impl Drop for SolverWorkspace {
    fn drop(&mut self) {
        // Routines in the queue may still read or write the host part.
        let _ = self.device.stream().synchronize();
    }
}

/// A dense handle with its stream and default parameters.
pub struct Solver {
    handle: sys::cusolverDnHandle_t,
    params: sys::cusolverDnParams_t,
    stream: Arc<CudaStream>,
}

impl Solver {
    /// Creates the handle on `stream`.
    ///
    /// # Errors
    /// The library has too little memory, or its context is lost.
    pub fn new(stream: &Arc<CudaStream>) -> Result<Rc<Self>> {
        stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` is a place for one handle.
        check("cusolverDnCreate", unsafe { sys::cusolverDnCreate(&mut handle) })?;
        // From here on, Drop destroys what has been created.
        let mut solver = Solver { handle, params: std::ptr::null_mut(), stream: stream.clone() };
        // SAFETY: the handle is live, and the stream outlives it: this value shares its ownership.
        check("cusolverDnSetStream", unsafe { sys::cusolverDnSetStream(handle, stream.cu_stream().cast()) })?;
        // SAFETY: `params` is a place for one pointer.
        check("cusolverDnCreateParams", unsafe { sys::cusolverDnCreateParams(&mut solver.params) })?;
        Ok(Rc::new(solver))
    }

    fn read<T>(&self, operand: &CudaSlice<T>) -> *const c_void {
        operand.device_ptr(&self.stream).0 as *const c_void
    }

    fn write<T>(&self, operand: &mut CudaSlice<T>) -> *mut c_void {
        operand.device_ptr_mut(&self.stream).0 as *mut c_void
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        // Work still in the queue uses the handle's own memory.
        let _ = self.stream.synchronize();
        if !self.params.is_null() {
            // SAFETY: this value owns the parameters, and nothing uses them afterwards.
            let _ = unsafe { sys::cusolverDnDestroyParams(self.params) };
        }
        // SAFETY: this value owns the handle, and nothing uses it afterwards. A failure leaks it, no more.
        let _ = unsafe { sys::cusolverDnDestroy(self.handle) };
    }
}

/// Converts a size for cuSOLVER's 64-bit routines, after checking the lengths of the operands: pairs of elements
/// given and elements needed.
fn checked_side(call: &str, n: usize, lengths: &[(usize, usize)]) -> Result<i64> {
    if let Some((given, needed)) = lengths.iter().find(|(given, needed)| given < needed) {
        return Err(CellError::call(call, format!("an operand has {given} elements; {needed} are needed")));
    }
    i64::try_from(n)
        .ok()
        .filter(|n| *n >= 1)
        .ok_or_else(|| CellError::call(call, format!("a dimension of {n} is not valid")))
}

/// Calls the routine for float32 or the one for float64, or those for complex elements, by the element type, with arguments whose pointers
/// are cast to its types.
macro_rules! by_element {
    ($element:ty => [$single:path, $double:path, $complex:path, $complex_double:path] $($argument:expr),*) => {
        match <$element>::DTYPE {
            DType::F64 => $double($($argument),*),
            DType::C64 => $complex($($argument),*),
            DType::C128 => $complex_double($($argument),*),
            _ => $single($($argument),*),
        }
    };
    ($element:ty => [$single:path, $double:path] $($argument:expr),*) => {
        match <$element>::DTYPE {
            DType::F64 => $double($($argument),*),
            _ => $single($($argument),*),
        }
    };
}

use by_element;

/// Converts a size for cuSOLVER's 32-bit routines.
fn narrow(call: &str, side: i64) -> Result<c_int> {
    c_int::try_from(side).map_err(|_| CellError::call(call, format!("a dimension of {side} exceeds 32 bits")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_operands_and_empty_sides_are_refused() {
        assert_eq!(checked_side("potrf", 3, &[(9, 9), (3, 3)]).unwrap(), 3);
        assert!(checked_side("potrf", 3, &[(9, 9), (2, 3)]).unwrap_err().to_string().contains("potrf"));
        assert!(checked_side("potrf", 0, &[]).is_err());
    }
}
