//! The op spgemm: C = A B for sparse A and B, by cuSPARSE and by own kernels.

mod gustavson;
pub(crate) mod plan;

use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_model::case::{Case, DType};
use gpubench_model::data::{Csr, Operand, Values};
use gpubench_model::error::CellError;

use super::entry::by_dtype;
use super::{Kernel, opt_in, variant};
use crate::context::{Cuda, Element, Library};
use crate::ffi::contents::device;
use crate::ffi::cusparse::{Product, ProductBuffers, Ready, Sparse, SparseReal};
use crate::kernels::{ByType, KernelSource, kernel_source, kernel_source_by_type};
use crate::sparse::{self, DeviceCsr, device_bytes};
use gustavson::prepare as own;

static DENSE: ByType = kernel_source_by_type!("spgemm", "DENSE_");
static RANKED: ByType = kernel_source_by_type!("spgemm", "RANKED_");
static STARTS: KernelSource = kernel_source!("spgemm", "STARTS");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: variant(
            "spgemm",
            "cusparse",
            "cuSPARSE SpGEMM, default algorithm, with buffers reused between calls",
        ),
        sources: &[],
        libraries: &[Library::Cusparse],
        prepare: by_dtype!(library),
    },
    Kernel {
        variant: opt_in("spgemm", "gustavson", "own kernel: one warp per row, sorted, sums in a fixed order"),
        sources: &[&DENSE.f32, &DENSE.f64, &RANKED.f32, &RANKED.f64, &STARTS],
        libraries: &[],
        prepare: by_dtype!(own),
    },
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

fn library<T: Element + SparseReal>(
    cuda: &Cuda,
    _: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    cuda.require(Library::Cusparse)?;
    let (a, b) = factors(inputs)?;
    let (rows, cols) = (a.rows, b.cols);
    cuda.reserve(device_bytes::<T>(a) + device_bytes::<T>(b))?;
    let (device_a, device_b) = (DeviceCsr::<T>::upload(cuda, a)?, DeviceCsr::<T>::upload(cuda, b)?);
    if plan::products(a, b) == 0 {
        return Ok(Prepared::new(Empty { rows, cols, dtype: T::DTYPE }));
    }
    cuda.count_plan();
    let product = Product::new(Sparse::new(&cuda.stream)?, device_a, device_b)?;
    let buffers = product.first(cuda)?;
    // The host reads the number of entries between the stages of a product.
    let traits = JobTraits { resets: true, synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(traits, Spgemm { ready: None, product, buffers, cuda: cuda.clone(), rows, cols }))
}

struct Spgemm<T> {
    /// Descriptors of the next or last product. Its work on the stream may still need them.
    ready: Option<Ready>,
    product: Product<T>,
    buffers: ProductBuffers<T>,
    cuda: Cuda,
    rows: usize,
    cols: usize,
}

impl<T: Element + SparseReal> Job for Spgemm<T> {
    fn reset(&mut self) -> Result<(), CellError> {
        if self.ready.is_some() {
            self.cuda.synchronize()?;
        }
        self.ready = Some(self.product.ready(&mut self.buffers)?);
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        let ProductBuffers { indptr, indices, values, .. } = &mut self.buffers;
        Contents::new([], [device(indptr), device(indices), device(values)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let ready = self.ready.as_ref();
        let ready = ready.ok_or_else(|| CellError::call("spgemm", "executed before it was reset"))?;
        self.product.again(ready, &mut self.buffers)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let indptr = self.cuda.download(&self.buffers.indptr)?;
        let indices = self.cuda.download(&self.buffers.indices)?;
        let values = T::into_values(self.cuda.download(&self.buffers.values)?);
        Ok(vec![Operand::Csr(Csr { rows: self.rows, cols: self.cols, indptr, indices, values })])
    }
}

/// A product without entries. cuSPARSE is not called, because nothing documents that it accepts such matrices.
struct Empty {
    rows: usize,
    cols: usize,
    dtype: DType,
}

impl Job for Empty {
    fn execute(&mut self) -> Result<(), CellError> {
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let values = match self.dtype {
            DType::F32 => Values::F32(vec![]),
            DType::F64 => Values::F64(vec![]),
        };
        let indptr = vec![0; self.rows + 1];
        Ok(vec![Operand::Csr(Csr { rows: self.rows, cols: self.cols, indptr, indices: vec![], values })])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_product_has_offsets_and_no_entries() {
        let answer = Empty { rows: 2, cols: 3, dtype: DType::F64 }.answer().unwrap();
        let csr = answer[0].as_csr().unwrap();
        assert_eq!((csr.indptr.as_slice(), csr.nnz(), csr.values.len()), (&[0, 0, 0][..], 0, 0));
    }
}
