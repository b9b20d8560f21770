//! Sparse operands on the device, checked before any kernel or library uses their indices.

use cudarc::driver::{CudaSlice, CudaStream};
use gpubench_backend::contents::Memory;
use gpubench_report::data::{Csr, Real};

use super::ffi::device;
use super::ffi::launch::{Argument, read};
use crate::{CellError, Cuda, DeviceElement, Result};

/// A sparse matrix on the device. Its offsets and columns have been checked, so kernels and libraries may index by
/// them.
pub struct DeviceCsr<T> {
    rows: usize,
    cols: usize,
    nnz: usize,
    indptr: CudaSlice<i32>,
    indices: CudaSlice<i32>,
    values: CudaSlice<T>,
}

impl<T: DeviceElement> DeviceCsr<T> {
    /// Checks `csr` and copies it to the device.
    pub fn upload(cuda: &Cuda, csr: &Csr) -> Result<Self> {
        check_structure(csr)?;
        let values = T::slice(&csr.values)?;
        Ok(DeviceCsr {
            rows: csr.rows,
            cols: csr.cols,
            nnz: csr.nnz(),
            indptr: cuda.upload(&csr.indptr)?,
            indices: cuda.upload(&csr.indices)?,
            values: cuda.upload(values)?,
        })
    }
}

impl<T> DeviceCsr<T> {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns the number of stored entries. With none, the slices of columns and values still have one element.
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// Returns the row offsets, `rows + 1` of them, and the columns and the values of the stored entries.
    pub fn arrays(&self) -> (&CudaSlice<i32>, &CudaSlice<i32>, &CudaSlice<T>) {
        (&self.indptr, &self.indices, &self.values)
    }

    /// Passes the addresses of offsets, columns and values to a kernel.
    pub fn addresses(&self, stream: &CudaStream) -> [Argument; 3] {
        [read(stream, &self.indptr), read(stream, &self.indices), read(stream, &self.values)]
    }

    /// Returns the memory of offsets, columns and values, for checks.
    pub fn memory(&mut self) -> [Memory<'_>; 3] {
        [device(&mut self.indptr), device(&mut self.indices), device(&mut self.values)]
    }
}

/// Returns the bytes that a sparse matrix takes on the device.
pub fn device_bytes<T: Real>(csr: &Csr) -> u128 {
    4 * (csr.rows as u128 + 1) + csr.nnz() as u128 * (4 + size_of::<T>() as u128)
}

/// Checks that offsets start at 0, never decrease and end at the number of entries, and that every column exists.
fn check_structure(csr: &Csr) -> Result<()> {
    let offsets = csr.indptr.len() == csr.rows + 1
        && csr.indptr.first() == Some(&0)
        && csr.indptr.windows(2).all(|pair| pair[0] <= pair[1])
        && csr.indptr.last().and_then(|last| usize::try_from(*last).ok()) == Some(csr.nnz());
    let columns = csr.indices.iter().all(|column| usize::try_from(*column).is_ok_and(|c| c < csr.cols));
    if offsets && columns && csr.values.len() == csr.nnz() {
        return Ok(());
    }
    let (rows, cols, nnz) = (csr.rows, csr.cols, csr.nnz());
    Err(CellError::Failed(format!(
        "the sparse operand is not a valid CSR matrix of {rows} x {cols} with {nnz} entries; please report this bug"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::data::{Values, generator};

    fn sample() -> Csr {
        let values = Values::F32(vec![1.0, 2.0, 3.0]);
        Csr { rows: 2, cols: 3, indptr: vec![0, 1, 3], indices: vec![2, 0, 1], values }
    }

    #[test]
    fn generated_and_empty_matrices_pass() {
        check_structure(&generator::sparse::<f64>(1, 0, 40, 30, 0.1)).unwrap();
        check_structure(&generator::sparse::<f64>(1, 0, 1, 1, 1e-9)).unwrap();
        check_structure(&sample()).unwrap();
    }

    #[test]
    fn every_broken_structure_is_refused() {
        let broken: [fn(&mut Csr); 6] = [
            |csr| csr.indices[0] = 3,
            |csr| csr.indices[0] = -1,
            |csr| csr.indptr[1] = 4,
            |csr| csr.indptr[0] = 1,
            |csr| csr.indptr.push(3),
            |csr| csr.values = Values::F32(vec![1.0]),
        ];
        for (case, spoil) in broken.iter().enumerate() {
            let mut csr = sample();
            spoil(&mut csr);
            assert!(check_structure(&csr).is_err(), "case {case}");
        }
    }

    #[test]
    fn bytes_count_offsets_columns_and_values() {
        assert_eq!(device_bytes::<f32>(&sample()), 12 + 24);
        assert_eq!(device_bytes::<f64>(&sample()), 12 + 36);
    }
}
