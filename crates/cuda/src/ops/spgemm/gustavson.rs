//! The op spgemm by own kernels: one launch, or two if rows are cut into tiles of columns.

use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::{Csr, Operand};
use gpubench_model::error::{CellError, Unavailable};

use super::plan::{SpgemmPlan, products, unordered_row};
use super::{DENSE, Empty, RANKED, STARTS, factors};
use crate::context::{Cuda, Element};
use crate::ffi::spgemm::RowProduct;
use crate::sparse::{DeviceCsr, device_bytes};

/// Makes a job that multiplies two sparse inputs by rows.
///
/// The entries of C are counted once at preparation, to allocate it. Every execution computes structure and values
/// again and never waits. Columns of a row of A may be unsorted and repeated; those of B must be strictly ascending.
pub(super) fn prepare<T: Element>(
    cuda: &Cuda,
    _: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let (a, b) = factors(inputs)?;
    cuda.reserve(device_bytes::<T>(a) + device_bytes::<T>(b))?;
    let (device_a, device_b) = (DeviceCsr::<T>::upload(cuda, a)?, DeviceCsr::<T>::upload(cuda, b)?);
    if let Some(row) = unordered_row(b) {
        let reason = format!("the columns of row {row} of B are not strictly ascending");
        return Err(Unavailable::new(reason, "sort the operands, or use --variants cusparse").into());
    }
    if products(a, b) == 0 {
        return Ok(Prepared::new(Empty { rows: a.rows, cols: b.cols, dtype: T::DTYPE }));
    }
    cuda.count_plan();
    let plan = SpgemmPlan::new(a, b, size_of::<T>(), cuda.shared_memory_per_block())?;
    let sources = [DENSE.of(T::DTYPE), RANKED.of(T::DTYPE), &STARTS];
    let mut product = RowProduct::load(cuda, sources, plan, device_a, device_b)?;
    product.make_room()?;
    Ok(Prepared::new(product))
}

impl<T: Element> Job for RowProduct<T> {
    fn contents(&mut self) -> Contents<'_> {
        RowProduct::contents(self)
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.run()
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let (indptr, indices, values) = self.parts()?;
        let values = T::into_values(values);
        let (rows, cols) = self.shape();
        Ok(vec![Operand::Csr(Csr { rows, cols, indptr, indices, values })])
    }
}
