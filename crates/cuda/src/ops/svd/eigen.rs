//! Eigenvectors of symmetric float64 matrices by own kernels, if the device has enough on-chip memory.

use cudarc::driver::CudaSlice;
use gpubench_model::error::CellError;

use crate::context::{Cuda, Element};
use crate::ffi::cublas::{Cublas, Matrix, Product};
use crate::ffi::svd::{PANEL, SvdKernels};
use crate::ffi::tridiagonal::{Reduced, TridiagonalEigen};
use crate::kernels::{KernelSource, kernel_source};

use super::reduction::Reduction;

pub(super) static EIGENVECTORS: KernelSource = kernel_source!("tridiagonal_eigen");

/// Householder reduction to tridiagonal form, bisection, twisted factorisations, and the reflectors applied to the
/// vectors in panels, as products I - Y T Yᵀ.
///
/// Vectors of eigenvalues that agree in nearly all digits are not orthogonal; the caller checks for that.
pub(super) struct Tridiagonal {
    reduction: Reduction,
    eigen: TridiagonalEigen,
    reduced: Reduced,
    values: CudaSlice<f64>,
    n: usize,
    panels: usize,
    /// The triangular factors T of the panels, Y T of all of them, and Yᵀ V of one.
    factors: CudaSlice<f64>,
    scaled: CudaSlice<f64>,
    projected: CudaSlice<f64>,
}

impl Tridiagonal {
    /// Returns the float64 elements of device memory of an instance for size `n`.
    pub(crate) fn elements(n: u128) -> u128 {
        let panel = PANEL as u128;
        5 * n * n + 4 * panel * (n + panel) + 8 * n + Reduction::elements(n)
    }

    /// Makes an instance for size `n`, or returns `None` if the device has too little on-chip memory for one.
    pub(crate) fn new(cuda: &Cuda, n: usize) -> Result<Option<Tridiagonal>, CellError> {
        let Some(reduction) = Reduction::new(cuda, n)? else { return Ok(None) };
        let Some(eigen) = TridiagonalEigen::load(cuda, &EIGENVECTORS, n)? else { return Ok(None) };
        let panels = n.div_ceil(PANEL);
        let reduced = Reduced {
            diagonal: cuda.alloc(n)?,
            subdiagonal: cuda.alloc(n)?,
            taus: cuda.alloc(n)?,
            // The last panel's columns beyond the matrix must stay zero.
            reflectors: cuda.alloc(n * panels * PANEL)?,
        };
        Ok(Some(Tridiagonal {
            reduction,
            eigen,
            reduced,
            values: cuda.alloc(n)?,
            n,
            panels,
            factors: cuda.alloc(panels * PANEL * PANEL)?,
            scaled: cuda.alloc(n * panels * PANEL)?,
            projected: cuda.alloc(PANEL * n)?,
        }))
    }

    /// Enqueues the eigenvectors of `matrix` into the columns of `vectors`, largest eigenvalue first.
    pub(crate) fn run<T: Element>(
        &mut self,
        cuda: &Cuda,
        blas: &Cublas,
        kernels: &SvdKernels<T>,
        matrix: &CudaSlice<f64>,
        vectors: &mut CudaSlice<f64>,
    ) -> Result<(), CellError> {
        let stream = &cuda.stream;
        self.reduction.run(cuda, blas, matrix, &mut self.reduced)?;
        self.eigen.run(stream, &self.reduced, &mut self.values, vectors)?;
        let (n, panels) = (self.n, self.panels);
        let y = Matrix::new(n).each(n * PANEL);
        let t = Matrix::new(PANEL).each(PANEL * PANEL);
        let reflectors = &self.reduced.reflectors;
        let products = Product::new([PANEL, PANEL, n]).times(panels);
        blas.product(products, (reflectors, y.t()), (reflectors, y), (&mut self.factors, t))?;
        kernels.panel_factors(stream, panels, &mut self.factors, &self.reduced.taus)?;
        let scaled = Product::new([n, PANEL, PANEL]).times(panels);
        blas.product(scaled, (reflectors, y), (&self.factors, t), (&mut self.scaled, y))?;
        for panel in (0..panels).rev() {
            // Above its first reflector, a panel is zero.
            let first = panel * PANEL;
            let (rows, own) = (n - first, Matrix::new(n).from(first * n + first));
            let (below, small) = (Matrix::new(n).from(first), Matrix::new(PANEL));
            let project = Product::new([PANEL, n, rows]);
            blas.product(project, (reflectors, own.t()), (vectors, below), (&mut self.projected, small))?;
            let subtract = Product::new([rows, n, PANEL]).subtracted();
            blas.product(subtract, (&self.scaled, own), (&self.projected, small), (vectors, below))?;
        }
        Ok(())
    }
}
