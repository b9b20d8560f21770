//! The op reduction: sum, mean and population standard deviation, in one pass or one statistic after the other, by launches of
//! `kernels/reduction/reduction.cu`.

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::{Kernel, by_dtype, input, matrix_bytes, opt_in};
use crate::context::{Cuda, DeviceElement};
use crate::ffi::contents::device;
use crate::ffi::launch::{LaunchShape, Start, enqueue, read, write};
use crate::ffi::replay::{Launch, Replay};
use crate::ffi::tuning;
use crate::kernels::{ByType, KernelSource, kernel_source, kernel_source_by_type};

static ONE_PASS: ByType = kernel_source_by_type!("reduction/reduction", "ONE_PASS_");
static THREE_PASS: KernelSource = kernel_source!("reduction/reduction", "THREE_PASS");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        opt_in("reduction", "one-pass", "one kernel that reads the matrix once"),
        &[&ONE_PASS.f32, &ONE_PASS.f64],
        by_dtype!(one_pass),
    ),
    Kernel::own(
        opt_in("reduction", "three-pass", "naive: sum, mean and deviation each read the matrix"),
        &[&THREE_PASS],
        by_dtype!(three_pass),
    ),
];

fn one_pass<T: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    reserve(cuda, case)?;
    Ok(Prepared::new(Statistics::one_pass(cuda, input::<T>(inputs, 0)?)?))
}

fn three_pass<T: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    reserve(cuda, case)?;
    Ok(Prepared::new(Statistics::three_pass(cuda, input::<T>(inputs, 0)?)?))
}

/// Checks that the matrix and the scratch memory of any variant fit.
pub(super) fn reserve(cuda: &Cuda, case: &Case) -> Result<(), CellError> {
    const SCRATCH: u128 = 1 << 20;
    cuda.reserve(matrix_bytes(case, 1) + SCRATCH)
}

/// Sum, mean and standard deviation of elements on the device.
pub(crate) struct Statistics<T> {
    cuda: Cuda,
    kernels: Kernels,
    x: CudaSlice<T>,
    out: CudaSlice<f64>,
    grid: u32,
}

enum Kernels {
    /// One kernel that reads the elements once.
    OnePass { moments: CudaFunction, threads: u32, words: CudaSlice<u64>, replay: Replay },
    /// Two kernels per statistic, one statistic after the other.
    ThreePass { sums: CudaFunction, squares: CudaFunction, finish: CudaFunction, partials: CudaSlice<f64> },
    /// The kernels of `kernels/reduction/plain.cu`: two for sum and mean, then the same two for the deviation.
    Plain { partial: CudaFunction, finish: CudaFunction, partials: CudaSlice<f64> },
}

impl<T: DeviceElement> Statistics<T> {
    /// Forms of the one-pass kernel: threads per block, packs of 16 bytes that a thread loads at the same time, and the
    /// most blocks per multiprocessor; 0 is one block on the device. The first that has the whole array at once is taken,
    /// otherwise the last, with few enough partial sums for one block to add. The first of the list is `moments_of_few`.
    const FORMS: [(u32, usize, u32); 8] = [
        (32, 2, 0),
        (32, 4, 0),
        (128, 4, 0),
        (256, 4, 0),
        (256, 8, 0),
        (128, 2, 1),
        (256, 4, 2),
        (512, 4, 2),
    ];
    /// Blocks of the other kernels: as many as a multiprocessor can run at the same time, so that no block waits for another.
    const MANY_BLOCKS: u32 = 8;

    /// Uploads `x` (at least one element) and allocates the scratch memory for the one-pass kernel.
    fn one_pass(cuda: &Cuda, x: &[T]) -> Result<Self, CellError> {
        let packs = x.len().div_ceil(16 / size_of::<T>());
        let max_blocks = |each: u32| cuda.multiprocessors().saturating_mul(each).max(1);
        let holds = |&&(threads, deep, each): &&(u32, usize, u32)| {
            packs <= threads as usize * deep * max_blocks(each) as usize
        };
        let &(threads, deep, each) =
            Self::FORMS.iter().find(holds).unwrap_or(&Self::FORMS[Self::FORMS.len() - 1]);
        let blocks = packs.div_ceil(threads as usize * deep).max(1);
        let grid = u32::try_from(blocks).unwrap_or(u32::MAX).min(max_blocks(each));
        let moments =
            cuda.function(ONE_PASS.of(T::DTYPE), &format!("moments_{}_{threads}_{deep}", T::DTYPE))?;
        let words = cuda.alloc(4 * grid as usize)?;
        let kernels = Kernels::OnePass { moments, threads, words, replay: Replay::default() };
        Statistics::load(cuda, kernels, x, grid)
    }

    /// Uploads `x` and allocates the scratch memory for two kernels per statistic, one statistic after the other.
    fn three_pass(cuda: &Cuda, x: &[T]) -> Result<Self, CellError> {
        let max_blocks = cuda.multiprocessors().saturating_mul(Self::MANY_BLOCKS);
        let grid = tuning::grid(cuda, x.len()).min(max_blocks);
        let kernels = Kernels::ThreePass {
            sums: cuda.function(&THREE_PASS, &format!("partial_sum_{}", T::DTYPE))?,
            squares: cuda.function(&THREE_PASS, &format!("partial_squares_{}", T::DTYPE))?,
            finish: cuda.function(&THREE_PASS, "finish")?,
            partials: cuda.alloc(grid as usize)?,
        };
        Statistics::load(cuda, kernels, x, grid)
    }

    /// Uploads `x` and allocates the scratch memory for the plain kernels, of which a thread takes a few elements.
    pub(crate) fn plain(cuda: &Cuda, source: &'static KernelSource, x: &[T]) -> Result<Self, CellError> {
        let grid = tuning::grid(cuda, x.len()).min(cuda.multiprocessors().saturating_mul(Self::MANY_BLOCKS));
        let kernels = Kernels::Plain {
            partial: cuda.function(source, &format!("partial_{}", T::DTYPE))?,
            finish: cuda.function(source, "finish")?,
            partials: cuda.alloc(grid as usize)?,
        };
        Statistics::load(cuda, kernels, x, grid)
    }

    fn load(cuda: &Cuda, kernels: Kernels, x: &[T], grid: u32) -> Result<Self, CellError> {
        Ok(Statistics { cuda: cuda.clone(), kernels, x: cuda.upload(x)?, out: cuda.alloc(3)?, grid })
    }
}

impl<T: DeviceElement> Job for Statistics<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.x)], [device(&mut self.out)])
    }

    /// Enqueues all passes.
    fn execute(&mut self) -> Result<(), CellError> {
        let stream = &self.cuda.stream;
        let (x, n) = (read(stream, &self.x), (self.x.len() as u64).into());
        let out = write(stream, &mut self.out);
        match &mut self.kernels {
            Kernels::OnePass { moments, threads, words, replay } => {
                let inverse = (1.0 / self.x.len() as f64).into();
                let arguments = [x, n, inverse, write(stream, words), out];
                let shape =
                    LaunchShape { grid: (self.grid, 1), threads: *threads, shared: 0, start: Start::InOrder };
                // SAFETY: the entry takes (const T*, u64, double, u64*, double*); `words` holds four per block, which are zero
                // now and after every launch, and `out` three doubles.
                unsafe { replay.run(&self.cuda, [Launch::new(moments, shape, arguments)]) }
            }
            Kernels::Plain { partial, finish, partials } => {
                [0u32, 1].into_iter().try_for_each(|of_squares| {
                    let partials = write(stream, partials);
                    let arguments = [x, n, of_squares.into(), out, partials];
                    // SAFETY: the entry takes (const T*, u64, u32, const double*, double*); `partials` holds one per block.
                    unsafe { enqueue(stream, partial, (self.grid, 1), arguments)? };
                    let arguments = [partials, self.grid.into(), n, of_squares.into(), out];
                    // SAFETY: the entry takes (const double*, u32, u64, u32, double*); `out` holds three.
                    unsafe { enqueue(stream, finish, (1, 1), arguments) }
                })
            }
            // 0 is the sum, 1 the mean, 2 the standard deviation, which reads the mean.
            Kernels::ThreePass { sums, squares, finish, partials } => (0..3u32).try_for_each(|statistic| {
                let partial = if statistic < 2 { &*sums } else { &*squares };
                let partials = write(stream, partials);
                // SAFETY: both entries take (const T*, u64, double*, const double*); `partials` holds one per block.
                unsafe { enqueue(stream, partial, (self.grid, 1), [x, n, partials, out])? };
                let arguments = [partials, self.grid.into(), n, statistic.into(), out];
                // SAFETY: the entry takes (const double*, u32, u64, u32, double*); `out` holds three and `statistic` is
                // below.
                unsafe { enqueue(stream, finish, (1, 1), arguments) }
            }),
        }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(3, 1, self.cuda.download(&self.out)?)])
    }
}
