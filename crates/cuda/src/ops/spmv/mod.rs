//! The op spmv: y = A x for a sparse A, by cuSPARSE and by own kernels.

mod own;
mod parts;

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::{Csr, Operand};
use gpubench_report::error::CellError;

use super::{Kernel, by_dtype, input, opt_in, variant};
use crate::context::{Cuda, DeviceElement, Library, driver};
use crate::ffi::contents::device;
use crate::ffi::cusparse::{MatrixVector, Sparse, SparseReal};
use crate::sparse::{self, DeviceCsr, device_bytes};
use own::{RowsPer, SOURCE, prepare as own};

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::by_library(
        variant("spmv", "cusparse", "cuSPARSE SpMV (CSR_ALG2), matrix analysed in advance"),
        &[Library::Cusparse],
        by_dtype!(library),
    ),
    Kernel::own(
        opt_in("spmv", "vector", "own kernel: threads per row chosen by the mean row length"),
        &[&SOURCE],
        by_dtype!(own, RowsPer::Group),
    ),
    Kernel::own(
        opt_in("spmv", "adaptive", "own kernel: equal numbers of entries per block, for uneven rows"),
        &[&SOURCE],
        by_dtype!(own, RowsPer::Block),
    ),
    Kernel::own(
        opt_in("spmv", "row-per-thread", "own kernel: one thread per row"),
        &[&SOURCE],
        by_dtype!(own, RowsPer::Thread),
    ),
];

/// Returns the operands on the host, after checking that they fit on the device.
fn operands<'a, T: DeviceElement>(
    cuda: &Cuda,
    inputs: &'a [Operand],
) -> Result<(&'a Csr, &'a [T]), CellError> {
    let (a, x) = (sparse::input(inputs, 0)?, input::<T>(inputs, 1)?);
    cuda.reserve(device_bytes::<T>(a) + (a.rows + x.len()) as u128 * size_of::<T>() as u128)?;
    Ok((a, x))
}

fn library<T: DeviceElement + SparseReal>(
    cuda: &Cuda,
    _: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    cuda.require(Library::Cusparse)?;
    let (a, x) = operands::<T>(cuda, inputs)?;
    let y = cuda.alloc::<T>(a.rows)?;
    if a.nnz() == 0 {
        return Ok(Prepared::new(Zero { cuda: cuda.clone(), y }));
    }
    let (matrix, x) = (DeviceCsr::upload(cuda, a)?, cuda.upload(x)?);
    cuda.count_plan();
    let mut product = MatrixVector::new(Sparse::new(&cuda.stream)?, matrix, x, y)?;
    let bytes = product.work_bytes()?;
    cuda.reserve(bytes as u128)?;
    product.prepare(cuda.alloc(bytes)?)?;
    Ok(Prepared::new(LibraryProduct { cuda: cuda.clone(), product }))
}

struct LibraryProduct<T> {
    cuda: Cuda,
    product: MatrixVector<T>,
}

impl<T: DeviceElement + SparseReal> Job for LibraryProduct<T> {
    fn contents(&mut self) -> Contents<'_> {
        let [x, y] = self.product.vectors_mut().map(device);
        let mut contents = Contents::new([], [y]);
        contents.operands.push((1, x));
        contents
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.product.execute()
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        column(&self.cuda, self.product.y())
    }
}

/// The product with a matrix without entries, which libraries need not accept: y is set to zero.
struct Zero<T> {
    cuda: Cuda,
    y: CudaSlice<T>,
}

impl<T: DeviceElement> Job for Zero<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([], [device(&mut self.y)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.cuda.stream.memset_zeros(&mut self.y).map_err(driver("cuMemsetD8Async"))
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        column(&self.cuda, &self.y)
    }
}

fn column<T: DeviceElement>(cuda: &Cuda, y: &CudaSlice<T>) -> Result<Vec<Operand>, CellError> {
    Ok(vec![Operand::dense(y.len(), 1, cuda.download(y)?)])
}
