//! Batches whose matrices a call takes by their addresses.

use std::ffi::c_void;

use cudarc::cublas::sys::{self, cublasDiagType_t, cublasFillMode_t, cublasOperation_t, cublasSideMode_t};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use gpubench_report::case::DType;

use super::{Arithmetic, Cublas, check, checked_side};
use crate::{CellError, Cuda, DeviceValue, Result, driver};

/// The addresses, on the device, of matrices that follow each other in one slice.
pub(crate) struct Addresses {
    /// Address of the slice.
    slice: u64,
    addresses: CudaSlice<u64>,
}

impl Addresses {
    /// Copies the addresses of `count` matrices of `len` elements to the device. The copy is not one of operands, so it is not counted.
    ///
    /// # Errors
    /// The slice is too short, or the device has too little memory.
    pub(crate) fn new<T>(cuda: &Cuda, slice: &CudaSlice<T>, len: usize, count: usize) -> Result<Addresses> {
        if count.checked_mul(len).is_none_or(|needed| needed > slice.len()) {
            return Err(CellError::Failed(format!(
                "{count} matrices of {len} elements exceed {}",
                slice.len()
            )));
        }
        let first = slice.device_ptr(&cuda.stream).0;
        let host: Vec<u64> = (0..count).map(|index| first + (index * len * size_of::<T>()) as u64).collect();
        cuda.reserve(8 * count as u128)?;
        let mut addresses = cuda.alloc::<u64>(count)?;
        cuda.stream.memcpy_htod(&host, &mut addresses).map_err(driver("cuMemcpyHtoDAsync"))?;
        // The copy reads `host`.
        cuda.synchronize()?;
        Ok(Addresses { slice: first, addresses })
    }

    /// Returns where the addresses are, for a call that writes to the matrices.
    ///
    /// # Errors
    /// `slice` is not the one that the addresses were made for.
    pub(crate) fn of<T>(&mut self, stream: &CudaStream, slice: &mut CudaSlice<T>) -> Result<*mut c_void> {
        if slice.device_ptr_mut(stream).0 != self.slice {
            return Err(CellError::Failed("a batch has moved since its addresses were taken".into()));
        }
        Ok(self.addresses.device_ptr_mut(stream).0 as *mut c_void)
    }
}

impl Cublas {
    /// Enqueues the solution of `count` systems L Lᴴ X = B in place of B. All matrices are column-major: each L, in the lower triangle of
    /// n x n elements, and each B of n rows and `columns` columns. `of` has where the addresses of all L and all B are.
    ///
    /// # Safety
    /// There are `count` addresses of `T` in device memory at each, of matrices of these sizes.
    ///
    /// # Errors
    /// A size exceeds 32 bits.
    pub(crate) unsafe fn solve_factored<T: DeviceValue>(
        &self,
        n: usize,
        columns: usize,
        count: usize,
        of: [*mut c_void; 2],
    ) -> Result<()> {
        let (n, columns, count) = (checked_side(n)?, checked_side(columns)?, checked_side(count)?);
        let (left, lower) = (cublasSideMode_t::CUBLAS_SIDE_LEFT, cublasFillMode_t::CUBLAS_FILL_MODE_LOWER);
        let diagonal = cublasDiagType_t::CUBLAS_DIAG_NON_UNIT;
        let [one, _] = Arithmetic::of(T::DTYPE).factors();
        let ([l, b], handle, one) = (of, self.handle, (&raw const one).cast::<c_void>());
        for operation in [cublasOperation_t::CUBLAS_OP_N, cublasOperation_t::CUBLAS_OP_C] {
            /// Calls the routine of one element type.
            macro_rules! solve {
                ($routine:path) => {
                    $routine(
                        handle,
                        left,
                        lower,
                        operation,
                        diagonal,
                        n,
                        columns,
                        one.cast(),
                        l.cast(),
                        n,
                        b.cast(),
                        n,
                        count,
                    )
                };
            }
            // SAFETY: the handle is live; the addresses are of matrices of these sizes and this type, as the caller vouches; the factor
            // is read before the call returns, as the pointer mode is the host's.
            let status = unsafe {
                match T::DTYPE {
                    DType::F64 => solve!(sys::cublasDtrsmBatched),
                    DType::C64 => solve!(sys::cublasCtrsmBatched),
                    DType::C128 => solve!(sys::cublasZtrsmBatched),
                    _ => solve!(sys::cublasStrsmBatched),
                }
            };
            check("cublasTrsmBatched", status)?;
        }
        Ok(())
    }
}
