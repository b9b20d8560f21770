//! Products of the slices of `ozaki-int8`.

use cudarc::driver::CudaSlice;
use gpubench_model::error::CellError;

use super::super::super::context::Cuda;
use super::plan::{Arrays, CublasLt, Plan, Shape};

/// Slices per operand.
pub(crate) const SLICES: usize = 3;

/// Sums of products of slices by place: the indices of the two slices add up to 0, 1 or 2.
///
/// The slices of a row are stored next to each other in rows of three times `pitch` bytes. The rows of A have them in
/// order; the rows of B, which are its columns, in reverse. The products of one sum are then one product over `place
/// + 1` slices.
pub(crate) struct SliceProducts {
    // Plans before the library, because fields are dropped in this order.
    plans: [Plan; SLICES],
    library: CublasLt,
    pitch: usize,
}

impl SliceProducts {
    /// Loads cuBLASLt and plans products of `pitch` by `pitch` slices; `pitch` is a multiple of 16.
    pub(crate) fn new(cuda: &Cuda, pitch: usize) -> Result<SliceProducts, CellError> {
        let library = CublasLt::load(cuda)?;
        let plan = |place: usize| {
            let depth = (place + 1) * pitch;
            Plan::new(&library, Shape { side: pitch, depth, row: SLICES * pitch, batch: 1 })
        };
        let plans = [plan(0)?, plan(1)?, plan(2)?];
        Ok(SliceProducts { plans, library, pitch })
    }

    /// Enqueues the sums of products of each place into the matrix of `sums` with that number.
    pub(crate) fn enqueue(
        &self,
        a: &CudaSlice<i8>,
        b: &CudaSlice<i8>,
        sums: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let mut plans = self.plans.iter().enumerate();
        plans.try_for_each(|(place, plan)| {
            plan.enqueue(&self.library, &mut arrays(self.pitch, place, a, b, sums))
        })
    }

    /// Times the algorithms of each product on these slices, and keeps the fastest.
    pub(crate) fn choose(
        &mut self,
        a: &CudaSlice<i8>,
        b: &CudaSlice<i8>,
        sums: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let mut plans = self.plans.iter_mut().enumerate();
        plans.try_for_each(|(place, plan)| {
            plan.choose(&self.library, &mut arrays(self.pitch, place, a, b, sums))
        })
    }
}

fn arrays<'a>(
    pitch: usize,
    place: usize,
    a: &'a CudaSlice<i8>,
    b: &'a CudaSlice<i8>,
    sums: &'a mut CudaSlice<i32>,
) -> Arrays<'a> {
    Arrays { a: (a, 0), b: (b, (SLICES - 1 - place) * pitch), sums: (sums, place * pitch * pitch) }
}
