//! The op reduction: sum, mean and population standard deviation, in one pass or one statistic after the other, by launches of
//! `kernels/reduction/reduction.cu`.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::Prepared;
use gpubench_cuda::ffi::launch::{LaunchShape, enqueue, fits, read, write};
use gpubench_cuda::ffi::replay::{Launch, Replay};
use gpubench_cuda::ffi::tuning::grid;
use gpubench_cuda::kernels::{ByType, KernelSource, kernel_source, kernel_source_by_type};
use gpubench_cuda::ops::dense::{Resident, column};
use gpubench_cuda::ops::reduction::{BLOCKS_PER_MULTIPROCESSOR, reserve};
use gpubench_cuda::{CellError, Cuda, DeviceElement, Kernel, Result, Setup, by_dtype, shaped_opt_in};

static ONE_PASS: ByType = kernel_source_by_type!("reduction/reduction", "ONE_PASS_");
static THREE_PASS: KernelSource = kernel_source!("reduction/reduction", "THREE_PASS");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        shaped_opt_in("reduction", "one-pass", "one kernel that reads the matrix once"),
        &[&ONE_PASS.f32, &ONE_PASS.f64],
        by_dtype!(one_pass),
    ),
    Kernel::own(
        shaped_opt_in("reduction", "three-pass", "naive: sum, mean and deviation each read the matrix"),
        &[&THREE_PASS],
        by_dtype!(three_pass),
    ),
];

/// Forms of the one-pass kernel: threads per block, packs of 16 bytes that a thread loads at the same time, and the
/// most blocks per multiprocessor; 0 is one block on the device. The first that has the whole array at once is taken,
/// otherwise the last, with few enough partial sums for one block to add. The first of the list is `moments_of_few`.
const FORMS: [(u32, usize, u32); 8] =
    [(32, 2, 0), (32, 4, 0), (128, 4, 0), (256, 4, 0), (256, 8, 0), (128, 2, 1), (256, 4, 2), (512, 4, 2)];

/// Sum, mean and population standard deviation of an array, in one launch that reads it once.
pub struct Statistics<T> {
    cuda: Cuda,
    moments: CudaFunction,
    shape: LaunchShape,
    /// Four words per block, zero now and after every launch.
    words: CudaSlice<u64>,
    replay: Replay,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: DeviceElement> Statistics<T> {
    /// Loads the kernel for arrays of `len` elements, at least one, and allocates its scratch memory.
    ///
    /// # Errors
    /// `len` is 0, the kernel cannot be compiled, or the device has too little memory.
    pub fn new(cuda: &Cuda, len: usize) -> Result<Self> {
        if len == 0 {
            return Err(CellError::Failed("an empty array has no mean".into()));
        }
        let packs = len.div_ceil(16 / size_of::<T>());
        let max_blocks = |each: u32| cuda.multiprocessors().saturating_mul(each).max(1);
        let holds = |&&(threads, deep, each): &&(u32, usize, u32)| {
            packs <= threads as usize * deep * max_blocks(each) as usize
        };
        let &(threads, deep, each) = FORMS.iter().find(holds).unwrap_or(&FORMS[FORMS.len() - 1]);
        let blocks = packs.div_ceil(threads as usize * deep).max(1);
        let grid = u32::try_from(blocks).unwrap_or(u32::MAX).min(max_blocks(each));
        let entry = format!("moments_{}_{threads}_{deep}", T::DTYPE);
        Ok(Statistics {
            cuda: cuda.clone(),
            moments: cuda.function(ONE_PASS.of(T::DTYPE), &entry)?,
            shape: LaunchShape::new(grid, threads, 0),
            words: cuda.alloc(4 * grid as usize)?,
            replay: Replay::default(),
            len,
            elements: PhantomData,
        })
    }

    /// Enqueues the computation of sum, mean and standard deviation of `x` to the three elements of `out`.
    ///
    /// # Errors
    /// `x` has fewer elements than [`Statistics::new`] was given, `out` is too short, or the device fails.
    pub fn run(&mut self, x: &CudaSlice<T>, out: &mut CudaSlice<f64>) -> Result<()> {
        fits("x", x, self.len)?;
        fits("the statistics", out, 3)?;
        let stream = &self.cuda.stream;
        let (n, inverse) = ((self.len as u64).into(), (1.0 / self.len as f64).into());
        let arguments = [read(stream, x), n, inverse, write(stream, &mut self.words), write(stream, out)];
        // SAFETY: the entry takes (const T*, u64, double, u64*, double*); `words` holds four per block, which are zero
        // now and after every launch, and `out` three doubles.
        unsafe { self.replay.run(&self.cuda, [Launch::new(&self.moments, self.shape, arguments)]) }
    }
}

fn one_pass<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    reserve(setup)?;
    let mut statistics = Statistics::new(setup.cuda, setup.input::<T>(0)?.len())?;
    Ok(Resident::<T, f64, 1>::new(setup, 3)?.job(column, move |_, [x], out| statistics.run(x, out)))
}

/// Makes a job of two kernels per statistic, one statistic after the other.
fn three_pass<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    reserve(setup)?;
    let cuda = setup.cuda;
    let max_blocks = cuda.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR);
    let blocks = grid(cuda, setup.input::<T>(0)?.len()).min(max_blocks);
    let sums = cuda.function(&THREE_PASS, &format!("partial_sum_{}", T::DTYPE))?;
    let squares = cuda.function(&THREE_PASS, &format!("partial_squares_{}", T::DTYPE))?;
    let finish = cuda.function(&THREE_PASS, "finish")?;
    let mut partials = cuda.alloc::<f64>(blocks as usize)?;
    Ok(Resident::<T, f64, 1>::new(setup, 3)?.job(column, move |Cuda { stream, .. }, [x], out| {
        let (out, n) = (write(stream, out), (x.len() as u64).into());
        // 0 is the sum, 1 the mean, 2 the standard deviation, which reads the mean.
        (0..3u32).try_for_each(|statistic| {
            let partial = if statistic < 2 { &sums } else { &squares };
            let partials = write(stream, &mut partials);
            // SAFETY: both entries take (const T*, u64, double*, const double*); `partials` holds one per block.
            unsafe { enqueue(stream, partial, (blocks, 1), [read(stream, x), n, partials, out])? };
            let arguments = [partials, blocks.into(), n, statistic.into(), out];
            // SAFETY: the entry takes (const double*, u32, u64, u32, double*); `out` holds three and `statistic` is
            // below.
            unsafe { enqueue(stream, &finish, (1, 1), arguments) }
        })
    }))
}
