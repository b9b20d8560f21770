//! Products of the residues of `ozaki2-int8`.

use cudarc::driver::CudaSlice;
use gpubench_model::error::CellError;

use super::super::super::context::Cuda;
use super::plan::{Arrays, CublasLt, Plan, Shape};

/// Products of matrices of residues, one for each modulus. Rows of A, and columns of B, are stored as rows of `pitch`
/// bytes, the matrices one after the other.
pub(crate) struct ResidueProducts {
    // The plan before the library, because fields are dropped in this order.
    plan: Plan,
    library: CublasLt,
}

impl ResidueProducts {
    /// Loads cuBLASLt and plans `moduli` products of `pitch` by `pitch` matrices; `pitch` is a multiple of 16.
    pub(crate) fn new(cuda: &Cuda, pitch: usize, moduli: i32) -> Result<ResidueProducts, CellError> {
        let library = CublasLt::load(cuda)?;
        let shape = Shape { side: pitch, depth: pitch, row: pitch, batch: moduli };
        Ok(ResidueProducts { plan: Plan::new(&library, shape)?, library })
    }

    /// Enqueues all products.
    pub(crate) fn enqueue(
        &self,
        a: &CudaSlice<i8>,
        b: &CudaSlice<i8>,
        sums: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        self.plan.enqueue(&self.library, &mut Arrays { a: (a, 0), b: (b, 0), sums: (sums, 0) })
    }

    /// Times the algorithms on these residues, and keeps the fastest.
    pub(crate) fn choose(
        &mut self,
        a: &CudaSlice<i8>,
        b: &CudaSlice<i8>,
        sums: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        self.plan.choose(&self.library, &mut Arrays { a: (a, 0), b: (b, 0), sums: (sums, 0) })
    }
}
