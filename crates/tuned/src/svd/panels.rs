//! The reduction of the first columns of a symmetric matrix, panel by panel: launches of `kernels/svd/tridiagonal_panel.cu`.

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_cuda::ffi::launch::{LaunchShape, Start, enqueue, enqueue_shaped, fits, read, write};
use gpubench_cuda::ffi::tuning::{grid, resident_blocks};
use gpubench_cuda::{CellError, Cuda, KernelSource, Result, kernel_source};

use super::on_chip::{Reduced, SIDES, zero};

pub(super) static SOURCE: KernelSource =
    KernelSource { sizes: SIDES[5] as u64 + 1..=u64::MAX, ..kernel_source!("svd/tridiagonal_panel") };

/// Columns per launch, and rows and columns of a tile.
pub(super) const PANEL: usize = 64;
/// Threads per block.
const THREADS: u32 = 512;
/// Parts of each product of a reflector with an earlier one: `SEGMENTS` in the kernel.
const SEGMENTS: usize = 16;

/// The reduction of the first columns of matrices of one size.
pub(super) struct PanelReduction {
    pad: CudaFunction,
    reduce: CudaFunction,
    /// Blocks of both kernels.
    grids: (u32, u32),
    n: usize,
    /// The matrix with zeros to the right and below, column-major: a multiple of [`PANEL`] rows and columns.
    pub(super) side: usize,
    pub(super) padded: CudaSlice<f64>,
    /// V, W and V again, of [`PANEL`] columns each.
    pub(super) panel: CudaSlice<f64>,
    work: CudaSlice<f64>,
    arrivals: CudaSlice<u32>,
}

impl PanelReduction {
    /// Returns the float64 elements of device memory that an instance for size `n` needs, up to what grows with the
    /// number of multiprocessors.
    pub(super) fn elements(n: u128) -> u128 {
        let side = n.next_multiple_of(PANEL as u128);
        side * (side + 3 * PANEL as u128 + 2 * side / PANEL as u128 + 2)
    }

    /// Loads the kernels for matrices of size `n`, of which `columns`, a multiple of [`PANEL`], are reduced. Returns
    /// `None` if the device cannot run one block per multiprocessor at the same time.
    pub(super) fn load(cuda: &Cuda, n: usize, columns: usize) -> Result<Option<PanelReduction>> {
        let reduce = cuda.function(&SOURCE, "reduce_panel")?;
        let side = n.next_multiple_of(PANEL);
        // Each block has at least one tile, in the last panel too, and each thread at most one block's sum to add.
        let rows = (side - columns) / PANEL + 1;
        let tiles = u32::try_from(rows * (rows + 1) / 2).unwrap_or(u32::MAX);
        let blocks =
            resident_blocks(cuda, &reduce, THREADS, 0)?.min(cuda.multiprocessors()).min(tiles).min(THREADS);
        if blocks == 0 {
            return Ok(None);
        }
        let work = side * (2 * side / PANEL + 2) + 2 * PANEL * SEGMENTS + 2 * blocks as usize;
        Ok(Some(PanelReduction {
            pad: cuda.function(&SOURCE, "pad")?,
            reduce,
            grids: (grid(cuda, side * side), blocks),
            n,
            side,
            padded: cuda.alloc(side * side)?,
            panel: cuda.alloc(3 * PANEL * side)?,
            work: cuda.alloc(work)?,
            arrivals: cuda.alloc(1)?,
        }))
    }

    /// Enqueues the copy of the `n x n` matrix to `padded`.
    pub(super) fn pad(&mut self, stream: &CudaStream, matrix: &CudaSlice<f64>) -> Result<()> {
        fits("the matrix", matrix, self.n * self.n)?;
        zero(&mut self.arrivals)?;
        let arguments = [
            read(stream, matrix),
            size(self.n)?.into(),
            size(self.side)?.into(),
            write(stream, &mut self.padded),
        ];
        // SAFETY: the entry takes (const double*, int, int, double*); it reads n x n and writes side x side elements.
        unsafe { enqueue(stream, &self.pad, (self.grids.0, 1), arguments) }
    }

    /// Enqueues the reduction of [`PANEL`] columns from `start` on. The caller then subtracts the products of `panel`.
    ///
    /// Panels must follow each other from 0 on after [`pad`](Self::pad), because the kernel counts its barriers.
    pub(super) fn run(&mut self, stream: &CudaStream, start: usize, out: &mut Reduced) -> Result<()> {
        let n = self.n;
        if !start.is_multiple_of(PANEL) || start + PANEL >= n {
            return Err(CellError::Failed(format!("a matrix of {n} columns has no panel at {start}")));
        }
        out.fits(n)?;
        let shape = LaunchShape { start: Start::Together, ..LaunchShape::new(self.grids.1, THREADS, 0) };
        let arguments = [
            read(stream, &self.padded),
            size(self.side)?.into(),
            size(n)?.into(),
            size(start)?.into(),
            write(stream, &mut out.diagonal),
            write(stream, &mut out.subdiagonal),
            write(stream, &mut out.taus),
            write(stream, &mut out.reflectors),
            write(stream, &mut self.panel),
            write(stream, &mut self.work),
            write(stream, &mut self.arrivals),
        ];
        // SAFETY: the entry takes (const double*, int, int, int, six double*, u32*) with the lengths checked here and
        // allocated in `load`; the grid fits the device, so that the blocks may wait for each other.
        unsafe { enqueue_shaped(stream, &self.reduce, shape, arguments) }
    }
}

fn size(value: usize) -> Result<i32> {
    i32::try_from(value).map_err(|error| CellError::call("reduce_panel", error))
}
