//! The op spgemm by cuSPARSE: C = A B for sparse A and B.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::data::{Csr, Operand};

use crate::ffi::cusparse::{Computed, CsrArrays, Repeated, Sparse, SparseProduct};
use crate::ffi::device;
use crate::sparse::{DeviceCsr, device_bytes};
use crate::{
    CellError, Cuda, DeviceElement, Kernel, Library, Result, Setup, by_dtype, shaped, shaped_opt_in,
};

pub(super) static KERNELS: &[Kernel] = &[
    Kernel::by_library(
        shaped(
            "spgemm",
            "cusparse",
            "cuSPARSE SpGEMM, the fastest of its algorithms; buffers and result allocated in each call",
        ),
        &[Library::Cusparse],
        by_dtype!(library),
    ),
    Kernel::by_library(
        shaped_opt_in("spgemm", "cusparse-reuse", "cuSPARSE SpGEMMreuse: the structure of C is known"),
        &[Library::Cusparse],
        by_dtype!(repeated),
    ),
];

/// Returns both factors on the host, after checking that they can be multiplied.
pub fn factors<'a>(setup: Setup<'a>) -> Result<(&'a Csr, &'a Csr)> {
    let (a, b) = (setup.sparse(0)?, setup.sparse(1)?);
    if a.cols == b.rows {
        return Ok((a, b));
    }
    let (cols, rows) = (a.cols, b.rows);
    let problem = format!("A has {cols} columns and B {rows} rows; the inner dimensions must agree");
    Err(CellError::Failed(problem))
}

/// Checks that both factors fit into device memory, and uploads them.
pub fn upload<T: DeviceElement>(setup: Setup<'_>) -> Result<[DeviceCsr<T>; 2]> {
    let (a, b) = factors(setup)?;
    setup.cuda.reserve(device_bytes::<T>(a) + device_bytes::<T>(b))?;
    Ok([DeviceCsr::upload(setup.cuda, a)?, DeviceCsr::upload(setup.cuda, b)?])
}

fn product<T: DeviceElement>(setup: Setup<'_>) -> Result<(SparseProduct<T>, [usize; 2])> {
    setup.cuda.require(Library::Cusparse)?;
    let [a, b] = upload(setup)?;
    let shape = [a.rows(), b.cols()];
    setup.cuda.count_plan();
    Ok((SparseProduct::new(Sparse::new(&setup.cuda.stream)?, a, b)?, shape))
}

fn library<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let (mut product, shape) = product::<T>(setup)?;
    product.choose(setup.cuda)?;
    // The host reads the number of entries between the stages of a product.
    let traits = JobTraits { resets: true, synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(traits, Called { computed: None, product, cuda: setup.cuda.clone(), shape }))
}

fn repeated<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let (product, shape) = product::<T>(setup)?;
    let repeated = Repeated::new(setup.cuda, product)?;
    Ok(Prepared::new(Reused { repeated, cuda: setup.cuda.clone(), shape }))
}

fn contents<'a, T>(product: &'a mut SparseProduct<T>, entries: Option<&'a mut CsrArrays<T>>) -> Contents<'a>
where
    T: DeviceElement,
{
    let answer = entries.map(|entries| {
        [device(&mut entries.indptr), device(&mut entries.indices), device(&mut entries.values)]
    });
    let [[a0, a1, a2], [b0, b1, b2]] = product.operands();
    let operands = Contents::new([a2, b2], []).with_fixed([a0, a1, b0, b1]);
    Contents { answer: answer.into_iter().flatten().collect(), ..operands }
}

/// Downloads a product of this many rows and columns: offsets, columns and values.
pub fn download<T: DeviceElement>(
    cuda: &Cuda,
    [rows, cols]: [usize; 2],
    (offsets, columns, values): (&CudaSlice<i32>, &CudaSlice<i32>, &CudaSlice<T>),
) -> Result<Vec<Operand>> {
    let indptr = cuda.download(offsets)?;
    let (mut indices, mut values) = (cuda.download(columns)?, cuda.download(values)?);
    // Arrays on the device have at least one element.
    let nnz = indptr.last().map_or(0, |entries| entries.unsigned_abs() as usize);
    indices.truncate(nnz);
    values.truncate(nnz);
    Ok(vec![Operand::Csr(Csr { rows, cols, indptr, indices, values: T::into_values(values) })])
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

impl<T: DeviceElement> Job for Called<T> {
    fn reset(&mut self) -> Result<()> {
        if self.computed.is_some() {
            self.cuda.synchronize()?;
        }
        self.computed = None;
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        contents(&mut self.product, self.computed.as_mut().map(|computed| &mut computed.entries))
    }

    fn execute(&mut self) -> Result<()> {
        self.computed = Some(self.product.multiply(&self.cuda)?);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        let computed = self.computed.as_ref();
        let computed = computed.ok_or_else(|| CellError::call("spgemm", "asked before it was executed"))?;
        download(&self.cuda, self.shape, computed.entries.parts())
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

impl<T: DeviceElement> Job for Reused<T> {
    fn contents(&mut self) -> Contents<'_> {
        let Repeated { product, entries, .. } = &mut self.repeated;
        // The structure is not written again.
        let values = device(&mut entries.values);
        Contents { answer: vec![values], ..contents(product, None) }
    }

    fn execute(&mut self) -> Result<()> {
        self.repeated.compute()
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        download(&self.cuda, self.shape, self.repeated.entries.parts())
    }
}
