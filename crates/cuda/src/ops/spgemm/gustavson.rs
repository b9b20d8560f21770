//! The op spgemm by own kernels.

use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_model::data::{Csr, Operand};
use gpubench_model::error::{CellError, Unavailable};

use super::plan::{SpgemmPlan, unordered_row};
use super::{DENSE, RANKED, STARTS, factors};
use crate::context::{Cuda, Element};
use crate::ffi::spgemm::RowProduct;
use crate::sparse::{DeviceCsr, device_bytes};

/// Makes a job that multiplies two sparse inputs by rows. Columns of a row of A may be unsorted and repeated; those of B must be
/// strictly ascending.
///
/// With `reuses`, the entries of C are counted and allocated here: an execution computes structure and values again in one launch, or
/// two if rows are cut into tiles of columns, and never waits. Otherwise each execution counts and allocates them.
pub(super) fn prepare<T: Element>(
    cuda: &Cuda,
    inputs: &[Operand],
    reuses: bool,
) -> Result<Box<Prepared>, CellError> {
    let (a, b) = factors(inputs)?;
    cuda.reserve(device_bytes::<T>(a) + device_bytes::<T>(b))?;
    let (device_a, device_b) = (DeviceCsr::<T>::upload(cuda, a)?, DeviceCsr::<T>::upload(cuda, b)?);
    if let Some(row) = unordered_row(b) {
        let reason = format!("the columns of row {row} of B are not strictly ascending");
        return Err(Unavailable::new(reason, "sort the operands, or use --variants cusparse").into());
    }
    cuda.count_plan();
    let plan = SpgemmPlan::new(a, b, size_of::<T>(), cuda.shared_memory_per_block())?;
    let sources = [DENSE.of(T::DTYPE), RANKED.of(T::DTYPE), &STARTS];
    let mut product = RowProduct::load(cuda, sources, plan, device_a, device_b, reuses)?;
    // Without reuse too: a product that does not fit is refused before anything is timed.
    product.make_room()?;
    if reuses {
        return Ok(Prepared::new(OwnProduct { product, reuses }));
    }
    let traits = JobTraits { resets: true, synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(traits, OwnProduct { product, reuses }))
}

struct OwnProduct<T> {
    product: RowProduct<T>,
    reuses: bool,
}

impl<T: Element> Job for OwnProduct<T> {
    fn reset(&mut self) -> Result<(), CellError> {
        if !self.reuses {
            self.product.free();
        }
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        self.product.contents()
    }

    fn execute(&mut self) -> Result<(), CellError> {
        if self.reuses { self.product.run() } else { self.product.call() }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let (indptr, indices, values) = self.product.parts()?;
        let values = T::into_values(values);
        let (rows, cols) = self.product.shape();
        Ok(vec![Operand::Csr(Csr { rows, cols, indptr, indices, values })])
    }
}
