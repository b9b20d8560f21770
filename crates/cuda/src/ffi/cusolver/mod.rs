//! cuSOLVER's dense handle and workspaces as owned values.
//!
//! API: <https://docs.nvidia.com/cuda/cusolver/>.

mod approximate;
mod eigen;
mod jacobi;
mod linear;
mod svd;

pub(crate) use jacobi::Jacobi;
pub(crate) use svd::Vectors;

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::cusolver::sys;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr};
use gpubench_report::error::CellError;

use super::succeeded;
use crate::context::Cuda;
use crate::failure::driver;

/// Symmetric matrices are read from their lower triangles in column-major order.
const LOWER: sys::cublasFillMode_t = sys::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;

fn check(call: &str, status: sys::cusolverStatus_t) -> Result<(), CellError> {
    succeeded(call, status)
}

/// An element type of cuSOLVER's dense routines.
pub(crate) trait SolverReal: DeviceRepr + Copy + 'static {
    /// cuSOLVER's value for the type.
    const TYPE: sys::cudaDataType;
    /// Machine epsilon of the type: the tolerance at which Jacobi sweeps stop.
    const EPSILON: f64;
}

impl SolverReal for f32 {
    const TYPE: sys::cudaDataType = sys::cudaDataType::CUDA_R_32F;
    const EPSILON: f64 = f32::EPSILON as f64;
}

impl SolverReal for f64 {
    const TYPE: sys::cudaDataType = sys::cudaDataType::CUDA_R_64F;
    const EPSILON: f64 = f64::EPSILON;
}

/// Calls the routine for float32 or the one for float64, by the element type, with arguments whose pointers are cast to its types.
macro_rules! by_element {
    ($element:ty => [$single:path, $double:path] $($argument:expr),*) => {
        match <$element>::TYPE {
            sys::cudaDataType::CUDA_R_32F => $single($($argument),*),
            _ => $double($($argument),*),
        }
    };
}
use by_element;

/// The routine, matrix size and element type that a workspace is for.
type Purpose = (&'static str, usize, sys::cudaDataType);

/// Bytes of workspace that a routine needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkspaceSize {
    device: usize,
    host: usize,
    purpose: Purpose,
}

impl WorkspaceSize {
    fn none(routine: &'static str, n: usize, element: sys::cudaDataType) -> Self {
        WorkspaceSize { device: 0, host: 0, purpose: (routine, n, element) }
    }
}

/// Parts of a workspace in the form that routines take.
type Pointers = (*mut c_void, usize, *mut c_void, usize, *mut f64);

/// Workspace of a routine on device and host.
pub(crate) struct SolverWorkspace {
    size: WorkspaceSize,
    device: CudaSlice<u8>,
    /// 16-byte units, which are aligned for every type that cuSOLVER stores there.
    host: Vec<u128>,
    /// `gesvdp` writes here how far it perturbed a singular value near zero.
    perturbation: Box<f64>,
}

impl SolverWorkspace {
    /// Allocates a workspace of the size returned by a query.
    pub(crate) fn alloc(cuda: &Cuda, size: WorkspaceSize) -> Result<Self, CellError> {
        // At least one byte, because no workspace may be null.
        let bytes = size.device.max(1);
        cuda.reserve(bytes as u128)?;
        let device = cuda.alloc(bytes)?;
        let host = vec![0; size.host.div_ceil(16).max(1)];
        Ok(SolverWorkspace { size, device, host, perturbation: Box::new(0.0) })
    }

    /// Returns the pointers for a routine, if this workspace was made for it: the device's part and its bytes, the host's part and
    /// its bytes, and the place of the perturbation. They are valid as long as the workspace.
    fn pointers(
        &mut self,
        stream: &CudaStream,
        routine: &'static str,
        n: usize,
        element: sys::cudaDataType,
    ) -> Result<Pointers, CellError> {
        if self.size.purpose != (routine, n, element) {
            return Err(CellError::call(
                routine,
                format!("the workspace was made for {:?}", self.size.purpose),
            ));
        }
        let device = self.device.device_ptr_mut(stream).0 as *mut c_void;
        let (WorkspaceSize { device: len, host: host_len, .. }, host) =
            (self.size, self.host.as_mut_ptr().cast());
        Ok((device, len, host, host_len, &mut *self.perturbation))
    }
}

impl Drop for SolverWorkspace {
    fn drop(&mut self) {
        // Routines in the queue may still read or write the host part.
        let _ = self.device.stream().synchronize();
    }
}

/// A dense handle with its stream and default parameters.
pub(crate) struct Solver {
    handle: sys::cusolverDnHandle_t,
    params: sys::cusolverDnParams_t,
    stream: Arc<CudaStream>,
}

impl Solver {
    /// Creates the handle on `stream`.
    pub(crate) fn new(stream: &Arc<CudaStream>) -> Result<Self, CellError> {
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
        Ok(solver)
    }

    /// Returns the address of an operand that a routine reads.
    fn read<T>(&self, operand: &CudaSlice<T>) -> *const c_void {
        operand.device_ptr(&self.stream).0 as *const c_void
    }

    /// Returns the address of an operand that a routine writes.
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
fn checked_side(call: &str, n: usize, lengths: &[(usize, usize)]) -> Result<i64, CellError> {
    if let Some((given, needed)) = lengths.iter().find(|(given, needed)| given < needed) {
        return Err(CellError::call(call, format!("an operand has {given} elements; {needed} are needed")));
    }
    i64::try_from(n)
        .ok()
        .filter(|n| *n >= 1)
        .ok_or_else(|| CellError::call(call, format!("invalid size N = {n}")))
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
