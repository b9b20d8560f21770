//! Launches of `kernels/reduction.cu` as safe functions: they own the scratch memory the kernels write.

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_model::error::CellError;

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::contents::device;
use super::launch::{self, Shape, enqueue, enqueue_shaped, read, write};

/// Sum, mean and standard deviation by one kernel that reads the elements once.
pub(crate) struct Moments<T> {
    cuda: Cuda,
    function: CudaFunction,
    x: CudaSlice<T>,
    partials: CudaSlice<f64>,
    ticket: CudaSlice<u32>,
    out: CudaSlice<f64>,
    grid: u32,
}

impl<T: Element> Moments<T> {
    /// Threads of a block.
    const THREADS: u32 = 512;
    /// Packs of 16 bytes that a thread has under way at once.
    const UNROLL: usize = 4;
    /// Blocks a multiprocessor: enough loads to keep the memory busy, and few partial sums for the last block to add.
    const BLOCKS_A_MULTIPROCESSOR: u32 = 2;

    /// Uploads `x` (at least one element) and allocates the scratch.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, x: &[T]) -> Result<Self, CellError> {
        let tile = Self::THREADS as usize * Self::UNROLL * 16 / size_of::<T>();
        let most = cuda.multiprocessors().saturating_mul(Self::BLOCKS_A_MULTIPROCESSOR);
        let grid = u32::try_from(x.len().div_ceil(tile)).unwrap_or(u32::MAX).clamp(1, most);
        Ok(Moments {
            cuda: cuda.clone(),
            function: cuda.function(source, &format!("moments_{}", T::DTYPE))?,
            x: cuda.upload(x)?,
            partials: cuda.alloc(2 * grid as usize)?,
            ticket: cuda.alloc(1)?,
            out: cuda.alloc(3)?,
            grid,
        })
    }

    pub(crate) fn run(&mut self) -> Result<(), CellError> {
        let stream = &self.cuda.stream;
        let arguments = [
            read(stream, &self.x),
            (self.x.len() as u64).into(),
            write(stream, &mut self.partials),
            write(stream, &mut self.ticket),
            write(stream, &mut self.out),
        ];
        let shape = Shape { grid: (self.grid, 1), threads: Self::THREADS, shared: 0, cooperative: false };
        // SAFETY: the entry takes (const T*, u64, double2*, u32*, double*); `partials` holds two a block, `out` three,
        // and the ticket is zero: it was allocated so, and every launch leaves it so.
        unsafe { enqueue_shaped(stream, &self.function, shape, arguments) }
    }

    /// The operand and the statistics, for checks.
    pub(crate) fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.x)], [device(&mut self.out)])
    }

    /// The statistics of the last run: sum, mean, standard deviation.
    pub(crate) fn statistics(&self) -> Result<Vec<f64>, CellError> {
        self.cuda.download(&self.out)
    }
}

/// The same statistics by two kernels each, one statistic after the other.
pub(crate) struct Passes<T> {
    cuda: Cuda,
    sums: CudaFunction,
    squares: CudaFunction,
    finish: CudaFunction,
    x: CudaSlice<T>,
    partials: CudaSlice<f64>,
    out: CudaSlice<f64>,
    grid: u32,
}

impl<T: Element> Passes<T> {
    /// Blocks a multiprocessor: as many as it holds at once, so that no block waits for another.
    const BLOCKS_A_MULTIPROCESSOR: u32 = 8;

    /// Uploads `x` (at least one element) and allocates the scratch.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, x: &[T]) -> Result<Self, CellError> {
        let most = cuda.multiprocessors().saturating_mul(Self::BLOCKS_A_MULTIPROCESSOR);
        let grid = launch::grid(cuda, x.len()).min(most);
        Ok(Passes {
            cuda: cuda.clone(),
            sums: cuda.function(source, &format!("partial_sum_{}", T::DTYPE))?,
            squares: cuda.function(source, &format!("partial_squares_{}", T::DTYPE))?,
            finish: cuda.function(source, "finish")?,
            x: cuda.upload(x)?,
            partials: cuda.alloc(grid as usize)?,
            out: cuda.alloc(3)?,
            grid,
        })
    }

    pub(crate) fn run(&mut self) -> Result<(), CellError> {
        for statistic in 0..3 {
            self.pass(statistic)?;
        }
        Ok(())
    }

    /// Enqueues one pass: 0 for the sum, 1 for the mean, 2 for the standard deviation, which reads the mean.
    fn pass(&mut self, statistic: u32) -> Result<(), CellError> {
        let stream = &self.cuda.stream;
        let n = (self.x.len() as u64).into();
        let (partials, out) = (write(stream, &mut self.partials), write(stream, &mut self.out));
        let partial = if statistic < 2 { &self.sums } else { &self.squares };
        let arguments = [read(stream, &self.x), n, partials, out];
        // SAFETY: both entries take (const T*, u64, double*, const double*); `partials` holds one a block.
        unsafe { enqueue(stream, partial, (self.grid, 1), arguments)? };
        let arguments = [partials, self.grid.into(), n, statistic.into(), out];
        // SAFETY: the entry takes (const double*, u32, u64, u32, double*); `out` holds three and `statistic` is below.
        unsafe { enqueue(stream, &self.finish, (1, 1), arguments) }
    }

    /// The operand and the statistics, for checks.
    pub(crate) fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.x)], [device(&mut self.out)])
    }

    /// The statistics of the last run: sum, mean, standard deviation.
    pub(crate) fn statistics(&self) -> Result<Vec<f64>, CellError> {
        self.cuda.download(&self.out)
    }
}
