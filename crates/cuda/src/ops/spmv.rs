//! The op spmv by cuSPARSE: y = A x for a sparse A.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_report::data::{Csr, Operand};

use super::dense::{Resident, column};
use crate::ffi::cusparse::MatrixVector;
use crate::ffi::device;
use crate::sparse::{DeviceCsr, device_bytes};
use crate::{Cuda, DeviceElement, Kernel, Library, Result, Setup, by_dtype, driver, shaped};

pub(super) static KERNELS: &[Kernel] = &[Kernel::by_library(
    shaped("spmv", "cusparse", "cuSPARSE SpMV (CSR_ALG2), matrix analysed in advance"),
    &[Library::Cusparse],
    by_dtype!(library),
)];

/// Returns the operands on the host, after checking that they fit on the device.
pub fn operands<'a, T: DeviceElement>(setup: Setup<'a>) -> Result<(&'a Csr, &'a [T])> {
    let (a, x) = (setup.sparse(0)?, setup.input::<T>(1)?);
    setup.cuda.reserve(device_bytes::<T>(a) + (a.rows + x.len()) as u128 * size_of::<T>() as u128)?;
    Ok((a, x))
}

fn library<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let cuda = setup.cuda;
    cuda.require(Library::Cusparse)?;
    let (a, x) = operands::<T>(setup)?;
    if a.nnz() == 0 {
        // Libraries need not accept a matrix without entries.
        let zero = Resident::<T, T, 0>::new(setup, a.rows)?;
        return Ok(
            zero.job(column, |cuda, [], y| cuda.stream.memset_zeros(y).map_err(driver("cuMemsetD8Async")))
        );
    }
    let y = cuda.alloc::<T>(a.rows)?;
    let (matrix, x) = (DeviceCsr::upload(cuda, a)?, cuda.upload(x)?);
    cuda.count_plan();
    let product = MatrixVector::new(cuda, matrix, x, y)?;
    Ok(Prepared::new(LibraryProduct { cuda: cuda.clone(), product }))
}

struct LibraryProduct<T> {
    cuda: Cuda,
    product: MatrixVector<T>,
}

impl<T: DeviceElement> Job for LibraryProduct<T> {
    fn contents(&mut self) -> Contents<'_> {
        vector_contents(self.product.vectors_mut())
    }

    fn execute(&mut self) -> Result<()> {
        self.product.execute()
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        column(&self.cuda, 0, self.product.y())
    }
}

/// Describes the vectors x and y of a product for checks. The matrix is no dense operand, and is left out.
pub fn vector_contents<T>([x, y]: [&mut CudaSlice<T>; 2]) -> Contents<'_> {
    let mut contents = Contents::new([], [device(y)]);
    contents.operands.push((1, device(x)));
    contents
}
