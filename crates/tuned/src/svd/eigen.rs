//! Eigenvectors of symmetric float64 matrices by own kernels, if the device has enough on-chip memory: the reduction to tridiagonal
//! form, on chip or in panels until the rest fits there, launches of `kernels/svd/tridiagonal_eigen.cu`, and products.

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_cuda::ffi::cublas::{Cublas, Matrix, Product};
use gpubench_cuda::ffi::launch::{LaunchShape, allow_shared, enqueue_shaped, fits, read, write};
use gpubench_cuda::{CellError, Cuda, DeviceElement, KernelSource, Result, kernel_source};

use super::launch::{PANEL, SvdKernels};
use super::on_chip::{LARGE_SIDES, OnChipReduction, Reduced};
use super::panels::{self, PanelReduction};

pub(super) static SOURCE: KernelSource = kernel_source!("svd/tridiagonal_eigen");

/// Householder reduction to tridiagonal form, bisection, twisted factorisations, and the reflectors applied to the
/// vectors in panels, as products I - Y T Yᵀ.
///
/// Vectors of eigenvalues that agree in nearly all digits are not orthogonal; the caller checks for that.
pub(super) struct Tridiagonal {
    reductions: Reductions,
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
    pub(super) fn elements(n: u128) -> u128 {
        let panel = PANEL as u128;
        let of_panels = if n > LARGE_SIDES[0] as u128 { PanelReduction::elements(n) } else { 0 };
        5 * n * n + 4 * panel * (n + panel) + 8 * n + of_panels
    }

    /// Makes an instance for size `n`, or returns `None` if the device has too little on-chip memory for one.
    pub(super) fn new(cuda: &Cuda, n: usize) -> Result<Option<Tridiagonal>> {
        let Some(reductions) = reductions(cuda, n)? else { return Ok(None) };
        let Some(eigen) = TridiagonalEigen::load(cuda, n)? else { return Ok(None) };
        let panels = n.div_ceil(PANEL);
        let reduced = Reduced {
            diagonal: cuda.alloc(n)?,
            subdiagonal: cuda.alloc(n)?,
            taus: cuda.alloc(n)?,
            // The last panel's columns beyond the matrix must stay zero.
            reflectors: cuda.alloc(n * panels * PANEL)?,
        };
        Ok(Some(Tridiagonal {
            reductions,
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
    pub(super) fn run<T: DeviceElement>(
        &mut self,
        cuda: &Cuda,
        blas: &Cublas,
        kernels: &SvdKernels<T>,
        matrix: &CudaSlice<f64>,
        vectors: &mut CudaSlice<f64>,
    ) -> Result<()> {
        let stream = &cuda.stream;
        self.reduce(stream, blas, matrix)?;
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

    /// Enqueues the reduction of the matrix.
    fn reduce(&mut self, stream: &CudaStream, blas: &Cublas, matrix: &CudaSlice<f64>) -> Result<()> {
        let ((on_chip, panels), out) = (&mut self.reductions, &mut self.reduced);
        let Some((columns, panels)) = panels else {
            return on_chip.run(stream, (matrix, self.n, 0), out);
        };
        panels.pad(stream, matrix)?;
        let side = panels.side;
        for start in (0..*columns).step_by(panels::PANEL) {
            panels.run(stream, start, out)?;
            // V Wᵀ + W Vᵀ as one product of twice the depth.
            let below = start + panels::PANEL;
            let left = Matrix::new(side).from(below);
            let right = left.from(panels::PANEL * side + below).t();
            let update = Product::new([side - below, side - below, 2 * panels::PANEL]).subtracted();
            let rest = Matrix::new(side).from(below * side + below);
            blas.product(update, (&panels.panel, left), (&panels.panel, right), (&mut panels.padded, rest))?;
        }
        on_chip.run(stream, (&panels.padded, side, *columns), out)
    }
}

/// The kernels that reduce the last columns on chip, and those that reduce the columns before, with their number; `None` if
/// the whole matrix fits on chip.
type Reductions = (OnChipReduction, Option<(usize, PanelReduction)>);

/// Makes the reductions for size `n`. Returns `None` if the device cannot hold a large matrix on chip.
fn reductions(cuda: &Cuda, n: usize) -> Result<Option<Reductions>> {
    if let Some(on_chip) = OnChipReduction::load(cuda, n)? {
        return Ok(Some((on_chip, None)));
    }
    for side in LARGE_SIDES.into_iter().filter(|side| *side < n) {
        let columns = (n - side).next_multiple_of(panels::PANEL);
        let Some(on_chip) = OnChipReduction::load(cuda, n - columns)? else { continue };
        let Some(panels) = PanelReduction::load(cuda, n, columns)? else { continue };
        return Ok(Some((on_chip, Some((columns, panels)))));
    }
    Ok(None)
}

/// Threads per block, and eigenvalues or eigenvectors per block.
const BISECTION: (u32, usize) = (128, 4);
const FACTORISATION: (u32, usize) = (256, 32);
/// Rows between two scalings in both kernels, which round the size up to a multiple of this.
const STRIDE: usize = 16;

struct TridiagonalEigen {
    bisect: CudaFunction,
    vectors: CudaFunction,
    n: usize,
    shared: u32,
    scratch: CudaSlice<f64>,
}

impl TridiagonalEigen {
    /// Loads the kernels for matrices of size `n`. Returns `None` if a matrix does not fit into a block.
    fn load(cuda: &Cuda, n: usize) -> Result<Option<Self>> {
        // The kernels' static shared memory, rounded up.
        const OWN_SHARED: u32 = 40 << 10;
        let entries = n.div_ceil(STRIDE) * STRIDE;
        let Ok(shared) = u32::try_from(entries * 2 * size_of::<f64>()) else { return Ok(None) };
        if shared.saturating_add(OWN_SHARED) > cuda.shared_memory_per_block() {
            return Ok(None);
        }
        let (bisect, vectors) =
            (cuda.function(&SOURCE, "bisect")?, cuda.function(&SOURCE, "twisted_vectors")?);
        // All that there is, because the limit is shared by jobs of every size.
        let max_shared = cuda.shared_memory_per_block() - OWN_SHARED;
        allow_shared(&bisect, max_shared)?;
        allow_shared(&vectors, max_shared)?;
        Ok(Some(TridiagonalEigen { bisect, vectors, n, shared, scratch: cuda.alloc(3 * n * n)? }))
    }

    /// Enqueues both kernels: `values` in descending order, and their vectors in the columns of `vectors`. The
    /// vectors of close values are not quite orthogonal.
    fn run(
        &mut self,
        stream: &CudaStream,
        reduced: &Reduced,
        values: &mut CudaSlice<f64>,
        vectors: &mut CudaSlice<f64>,
    ) -> Result<()> {
        let n = self.n;
        let side = i32::try_from(n).map_err(|error| CellError::call("bisect", error))?.into();
        fits("the diagonal", &reduced.diagonal, n)?;
        fits("the subdiagonal", &reduced.subdiagonal, n - 1)?;
        fits("the eigenvalues", values, n)?;
        fits("the eigenvectors", vectors, n * n)?;
        fits("the scratch", &self.scratch, 3 * n * n)?;
        let (diagonal, subdiagonal) = (read(stream, &reduced.diagonal), read(stream, &reduced.subdiagonal));
        let (values, vectors) = (write(stream, values), write(stream, vectors));
        let shape = |(threads, each): (u32, usize)| {
            LaunchShape::new(u32::try_from(n.div_ceil(each)).unwrap_or(u32::MAX), threads, self.shared)
        };
        let arguments = [diagonal, subdiagonal, side, values];
        // SAFETY: the entry takes (const double*, const double*, int, double*); it reads and writes what was checked above.
        unsafe { enqueue_shaped(stream, &self.bisect, shape(BISECTION), arguments) }?;
        let arguments = [diagonal, subdiagonal, values, side, vectors, write(stream, &mut self.scratch)];
        // SAFETY: the entry takes (const double*, const double*, const double*, int, double*, double*), likewise.
        unsafe { enqueue_shaped(stream, &self.vectors, shape(FACTORISATION), arguments) }
    }
}
