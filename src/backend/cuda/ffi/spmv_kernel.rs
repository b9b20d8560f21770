//! Launches of the kernel in `kernels/spmv_csr.cu`, with the lengths it indexes by checked.

use cudarc::driver::{CudaFunction, CudaSlice, LaunchConfig, PushKernelArg};

use crate::backend::cuda::context::{Cuda, Element, driver};
use crate::backend::cuda::kernels::{KernelSource, kernel_source};
use crate::backend::cuda::sparse::DeviceCsr;
use crate::case::DType;
use crate::error::CellError;

/// The kernel's source.
pub(crate) static SOURCE: KernelSource = kernel_source!("spmv_csr");

const BLOCK: u32 = 256;

/// The loaded kernel for elements of type `T`.
pub(crate) fn row_per_thread<T: Element>(cuda: &Cuda) -> Result<CudaFunction, CellError> {
    match T::DTYPE {
        DType::F32 => cuda.function(&SOURCE, "spmv_row_per_thread_f32"),
        DType::F64 => cuda.function(&SOURCE, "spmv_row_per_thread_f64"),
    }
}

/// Enqueues y = A x by `kernel`, which is [`row_per_thread`]'s for `T`.
pub(crate) fn launch_row_per_thread<T: Element>(
    cuda: &Cuda,
    kernel: &CudaFunction,
    a: &DeviceCsr<T>,
    x: &CudaSlice<T>,
    y: &mut CudaSlice<T>,
) -> Result<(), CellError> {
    let rows = u32::try_from(a.rows()).map_err(|e| CellError::call("spmv_row_per_thread", e))?;
    if x.len() < a.cols() || y.len() < a.rows() {
        let text = format!("{} x {} by {} to {}", a.rows(), a.cols(), x.len(), y.len());
        return Err(CellError::call("spmv_row_per_thread", text));
    }
    let config = LaunchConfig {
        grid_dim: (rows.div_ceil(BLOCK).max(1), 1, 1),
        block_dim: (BLOCK, 1, 1),
        shared_mem_bytes: 0,
    };
    let mut launch = cuda.stream.launch_builder(kernel);
    launch.arg(a.indptr()).arg(a.indices()).arg(a.values()).arg(x).arg(y).arg(&rows);
    // SAFETY: the arguments are the kernel's. It reads offsets up to `rows`, entries between offsets and elements of x
    // at stored columns, all in bounds by `DeviceCsr`'s checks and those above, and writes y below `rows`.
    unsafe { launch.launch(config) }.map_err(driver("spmv_row_per_thread"))?;
    Ok(())
}
