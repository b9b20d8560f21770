//! Launches of `kernels/reduction.cu` as safe functions. They own the scratch memory that the kernels write.

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_model::error::CellError;

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::contents::device;
use super::launch::{self, Shape, enqueue, enqueue_shaped, read, write};

/// Sum, mean and standard deviation of elements on the device.
pub(crate) struct Statistics<T> {
    cuda: Cuda,
    kernels: Kernels,
    x: CudaSlice<T>,
    partials: CudaSlice<f64>,
    out: CudaSlice<f64>,
    grid: u32,
}

enum Kernels {
    /// One kernel that reads the elements once.
    OnePass { moments: CudaFunction, threads: u32, ticket: CudaSlice<u32> },
    /// Two kernels per statistic, one statistic after the other.
    ThreePass { sums: CudaFunction, squares: CudaFunction, finish: CudaFunction },
}

impl<T: Element> Statistics<T> {
    /// Threads per block of the one-pass kernels, and packs of 16 bytes that a thread loads at the same time. Of the small
    /// forms, the first whose block has the whole array at once is taken.
    const SMALL_FORMS: [(u32, usize); 5] = [(32, 4), (128, 4), (512, 4), (512, 8), (512, 16)];
    /// The form with several blocks.
    const LARGE_FORM: (u32, usize) = (512, 4);
    /// Blocks of it per multiprocessor: enough loads to keep the memory busy, and few partial sums for the last block
    /// to add.
    const FEW_BLOCKS: u32 = 2;
    /// Blocks of the other kernels: as many as a multiprocessor can run at the same time, so that no block waits for another.
    const MANY_BLOCKS: u32 = 8;

    /// Uploads `x` (at least one element) and allocates the scratch memory for the one-pass kernel.
    pub(crate) fn one_pass(cuda: &Cuda, source: &'static KernelSource, x: &[T]) -> Result<Self, CellError> {
        let tile = |(threads, packs): (u32, usize)| threads as usize * packs * 16 / size_of::<T>();
        let holds = |form: &(u32, usize)| x.len() <= tile(*form);
        let form = Self::SMALL_FORMS.into_iter().find(holds).unwrap_or(Self::LARGE_FORM);
        let (threads, packs) = form;
        let max_blocks = cuda.multiprocessors().saturating_mul(Self::FEW_BLOCKS);
        let grid = u32::try_from(x.len().div_ceil(tile(form))).unwrap_or(u32::MAX).clamp(1, max_blocks);
        let moments = cuda.function(source, &format!("moments_{}_{threads}_{packs}", T::DTYPE))?;
        let kernels = Kernels::OnePass { moments, threads, ticket: cuda.alloc(1)? };
        Statistics::load(cuda, kernels, x, grid, 2 * grid as usize)
    }

    /// The same for two kernels per statistic, one statistic after the other.
    pub(crate) fn three_pass(cuda: &Cuda, source: &'static KernelSource, x: &[T]) -> Result<Self, CellError> {
        let max_blocks = cuda.multiprocessors().saturating_mul(Self::MANY_BLOCKS);
        let grid = launch::grid(cuda, x.len()).min(max_blocks);
        let kernels = Kernels::ThreePass {
            sums: cuda.function(source, &format!("partial_sum_{}", T::DTYPE))?,
            squares: cuda.function(source, &format!("partial_squares_{}", T::DTYPE))?,
            finish: cuda.function(source, "finish")?,
        };
        Statistics::load(cuda, kernels, x, grid, grid as usize)
    }

    fn load(cuda: &Cuda, kernels: Kernels, x: &[T], grid: u32, partials: usize) -> Result<Self, CellError> {
        let (x, partials) = (cuda.upload(x)?, cuda.alloc(partials)?);
        Ok(Statistics { cuda: cuda.clone(), kernels, x, partials, out: cuda.alloc(3)?, grid })
    }

    /// Enqueues all passes.
    pub(crate) fn run(&mut self) -> Result<(), CellError> {
        let stream = &self.cuda.stream;
        let (x, n) = (read(stream, &self.x), (self.x.len() as u64).into());
        let (partials, out) = (write(stream, &mut self.partials), write(stream, &mut self.out));
        match &mut self.kernels {
            Kernels::OnePass { moments, threads, ticket } => {
                let arguments = [x, n, partials, write(stream, ticket), out];
                let shape = Shape { grid: (self.grid, 1), threads: *threads, shared: 0, cooperative: false };
                // SAFETY: the entry takes (const T*, u64, double2*, u32*, double*); `partials` holds two a block, `out`
                // three, and the ticket is zero: it was allocated so, and every launch leaves it so.
                unsafe { enqueue_shaped(stream, moments, shape, arguments) }
            }
            // 0 is the sum, 1 the mean, 2 the standard deviation, which reads the mean.
            Kernels::ThreePass { sums, squares, finish } => (0..3u32).try_for_each(|statistic| {
                let partial = if statistic < 2 { &*sums } else { &*squares };
                // SAFETY: both entries take (const T*, u64, double*, const double*); `partials` holds one a block.
                unsafe { enqueue(stream, partial, (self.grid, 1), [x, n, partials, out])? };
                let arguments = [partials, self.grid.into(), n, statistic.into(), out];
                // SAFETY: the entry takes (const double*, u32, u64, u32, double*); `out` holds three and `statistic` is
                // below.
                unsafe { enqueue(stream, finish, (1, 1), arguments) }
            }),
        }
    }

    /// Returns the operand and the statistics, for checks.
    pub(crate) fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.x)], [device(&mut self.out)])
    }

    /// Returns the statistics of the last run: sum, mean, standard deviation.
    pub(crate) fn values(&self) -> Result<Vec<f64>, CellError> {
        self.cuda.download(&self.out)
    }
}
