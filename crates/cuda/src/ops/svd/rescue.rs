//! Decompositions of any float64 matrix, for those whose Gram matrix has lost too much: gesvdp, then gesvd.

use cudarc::driver::CudaSlice;
use gpubench_model::error::CellError;

use crate::context::Cuda;
use crate::ffi::cusolver::{Solver, Vectors, Workspace};

/// Both routines with their workspaces.
pub(super) struct Rescue {
    solver: Solver,
    polar: Workspace,
    qr: Workspace,
    n: usize,
}

impl Rescue {
    /// Makes it for matrices of side `n`, such as `a`.
    pub(crate) fn new(
        cuda: &Cuda,
        n: usize,
        a: &CudaSlice<f64>,
        out: &Vectors<f64>,
    ) -> Result<Rescue, CellError> {
        let solver = Solver::new(&cuda.stream)?;
        let polar = Workspace::alloc(cuda, solver.gesvdp_workspace(n, a, out)?)?;
        let qr = Workspace::alloc(cuda, solver.gesvd_workspace(n, a, out)?)?;
        Ok(Rescue { solver, polar, qr, n })
    }

    /// The handle, for other routines on the same stream.
    pub(crate) fn solver(&self) -> &Solver {
        &self.solver
    }

    /// The polar decomposition and an eigensolver, destroying `a`: both sets of vectors in columns.
    pub(crate) fn polar(
        &mut self,
        a: &mut CudaSlice<f64>,
        out: &mut Vectors<f64>,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        self.solver.gesvdp(self.n, a, out, &mut self.polar, info)
    }

    /// Bidiagonalisation and QR iteration, destroying `a`: U in columns, V in rows.
    pub(crate) fn qr(
        &mut self,
        a: &mut CudaSlice<f64>,
        out: &mut Vectors<f64>,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        self.solver.gesvd(self.n, a, out, &mut self.qr, info)
    }
}
