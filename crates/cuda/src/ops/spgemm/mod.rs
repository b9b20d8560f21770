//! The op spgemm: C = A B for sparse A and B, by cuSPARSE and by own kernels.

mod gustavson;
mod plan;

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::{Csr, Operand};
use gpubench_report::error::CellError;

use super::{Kernel, by_dtype, opt_in, variant};
use crate::context::{Cuda, DeviceElement, Library};
use crate::ffi::contents::device;
use crate::ffi::cusparse::{Computed, CsrArrays, Repeated, Sparse, SparseProduct, SparseReal};
use crate::sparse::{self, DeviceCsr, device_bytes};
use gustavson::prepare as own;

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::by_library(
        variant(
            "spgemm",
            "cusparse",
            "cuSPARSE SpGEMM, the fastest of its algorithms; buffers and result allocated in each call",
        ),
        &[Library::Cusparse],
        by_dtype!(library),
    ),
    Kernel::by_library(
        opt_in("spgemm", "cusparse-reuse", "cuSPARSE SpGEMMreuse: the structure of C is known"),
        &[Library::Cusparse],
        by_dtype!(repeated),
    ),
    Kernel::own(
        opt_in("spgemm", "gustavson", "own kernel: one warp per row, sorted, sums in a fixed order"),
        gustavson::SOURCES,
        by_dtype!(own, false),
    ),
    Kernel::own(
        opt_in("spgemm", "gustavson-reuse", "the same with a result that exists: its size is known"),
        gustavson::SOURCES,
        by_dtype!(own, true),
    ),
];

/// Returns both factors, after checking that they can be multiplied.
fn factors(inputs: &[Operand]) -> Result<(&Csr, &Csr), CellError> {
    let (a, b) = (sparse::input(inputs, 0)?, sparse::input(inputs, 1)?);
    if a.cols == b.rows {
        return Ok((a, b));
    }
    let (cols, rows) = (a.cols, b.rows);
    let problem = format!("A has {cols} columns and B {rows} rows; the inner dimensions must agree");
    Err(CellError::Failed(problem))
}

fn product<T: DeviceElement + SparseReal>(
    cuda: &Cuda,
    inputs: &[Operand],
) -> Result<(SparseProduct<T>, [usize; 2]), CellError> {
    cuda.require(Library::Cusparse)?;
    let (a, b) = factors(inputs)?;
    cuda.reserve(device_bytes::<T>(a) + device_bytes::<T>(b))?;
    let (device_a, device_b) = (DeviceCsr::<T>::upload(cuda, a)?, DeviceCsr::<T>::upload(cuda, b)?);
    cuda.count_plan();
    let product = SparseProduct::new(Sparse::new(&cuda.stream)?, device_a, device_b)?;
    Ok((product, [a.rows, b.cols]))
}

fn library<T: DeviceElement + SparseReal>(
    cuda: &Cuda,
    _: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let (mut product, shape) = product::<T>(cuda, inputs)?;
    product.choose(cuda)?;
    // The host reads the number of entries between the stages of a product.
    let traits = JobTraits { resets: true, synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(traits, Called { computed: None, product, cuda: cuda.clone(), shape }))
}

fn repeated<T: DeviceElement + SparseReal>(
    cuda: &Cuda,
    _: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let (product, shape) = product::<T>(cuda, inputs)?;
    let repeated = Repeated::new(cuda, product)?;
    Ok(Prepared::new(Reused { repeated, cuda: cuda.clone(), shape }))
}

fn contents<'a, T>(product: &'a mut SparseProduct<T>, entries: Option<&'a mut CsrArrays<T>>) -> Contents<'a>
where
    T: DeviceElement + SparseReal,
{
    let answer = entries.map(|entries| {
        [device(&mut entries.indptr), device(&mut entries.indices), device(&mut entries.values)]
    });
    let [[a0, a1, a2], [b0, b1, b2]] = product.operands();
    let operands = Contents::new([a2, b2], []).with_fixed([a0, a1, b0, b1]);
    Contents { answer: answer.into_iter().flatten().collect(), ..operands }
}

/// Downloads a product of this many rows and columns.
fn download<T: DeviceElement>(
    cuda: &Cuda,
    [rows, cols]: [usize; 2],
    offsets: &CudaSlice<i32>,
    columns: &CudaSlice<i32>,
    values: &CudaSlice<T>,
) -> Result<Vec<Operand>, CellError> {
    let indptr = cuda.download(offsets)?;
    let (mut indices, mut values) = (cuda.download(columns)?, cuda.download(values)?);
    // Arrays on the device have at least one element.
    let nnz = indptr.last().map_or(0, |entries| entries.unsigned_abs() as usize);
    indices.truncate(nnz);
    values.truncate(nnz);
    Ok(vec![Operand::Csr(Csr { rows, cols, indptr, indices, values: T::into_values(values) })])
}

fn download_entries<T: DeviceElement>(
    cuda: &Cuda,
    shape: [usize; 2],
    CsrArrays { indptr, indices, values }: &CsrArrays<T>,
) -> Result<Vec<Operand>, CellError> {
    download(cuda, shape, indptr, indices, values)
}

/// The product by cuSPARSE, by a caller who knows nothing of its structure.
struct Called<T> {
    /// The last product. Its work on the stream may still need it.
    computed: Option<Computed<T>>,
    product: SparseProduct<T>,
    cuda: Cuda,
    /// Rows and columns of C.
    shape: [usize; 2],
}

impl<T: DeviceElement + SparseReal> Job for Called<T> {
    fn reset(&mut self) -> Result<(), CellError> {
        if self.computed.is_some() {
            self.cuda.synchronize()?;
        }
        self.computed = None;
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        contents(&mut self.product, self.computed.as_mut().map(|computed| &mut computed.entries))
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.computed = Some(self.product.multiply(&self.cuda)?);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let computed = self.computed.as_ref();
        let computed = computed.ok_or_else(|| CellError::call("spgemm", "asked before it was executed"))?;
        download_entries(&self.cuda, self.shape, &computed.entries)
    }
}

/// The product by cuSPARSE whose structure is known.
struct Reused<T> {
    // Before the context that its work uses.
    repeated: Repeated<T>,
    cuda: Cuda,
    /// Rows and columns of C.
    shape: [usize; 2],
}

impl<T: DeviceElement + SparseReal> Job for Reused<T> {
    fn contents(&mut self) -> Contents<'_> {
        let Repeated { product, entries, .. } = &mut self.repeated;
        // The structure is not written again.
        let values = device(&mut entries.values);
        Contents { answer: vec![values], ..contents(product, None) }
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.repeated.compute()
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        download_entries(&self.cuda, self.shape, &self.repeated.entries)
    }
}
