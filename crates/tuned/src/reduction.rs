//! The op reduction: sum, mean and population standard deviation of all elements, rows or columns, in one pass or one statistic
//! after the other, by launches of `kernels/reduction/reduction.cu`.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::Prepared;
use gpubench_cuda::ffi::launch::{Argument, BLOCK, LaunchShape, enqueue, fits, read, write};
use gpubench_cuda::ffi::replay::{Launch, Replay};
use gpubench_cuda::ffi::tuning::grid;
use gpubench_cuda::kernels::{ByType, KernelSource, kernel_source, kernel_source_by_type};
use gpubench_cuda::ops::dense::matrix;
use gpubench_cuda::ops::reduction::{BLOCKS_PER_MULTIPROCESSOR, resident};
use gpubench_cuda::{CellError, Cuda, DeviceElement, Kernel, Result, Setup, by_dtype, shaped_opt_in};
use gpubench_report::error::Unavailable;

static ONE_PASS: ByType = kernel_source_by_type!("reduction/reduction", "ONE_PASS_");
static ALONG_AXIS: ByType = kernel_source_by_type!("reduction/reduction", "AXIS_");
static THREE_PASS: KernelSource = kernel_source!("reduction/reduction", "THREE_PASS");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        shaped_opt_in("reduction", "one-pass", "one kernel that reads the matrix once"),
        &[&ONE_PASS.f32, &ONE_PASS.f64, &ALONG_AXIS.f32, &ALONG_AXIS.f64],
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

/// The rows or columns of a matrix whose statistics are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// One result per column, as NumPy's axis 0.
    Columns,
    /// One result per row, as NumPy's axis 1.
    Rows,
}

/// The kernel for a matrix and the shape of its launch.
#[derive(Debug, PartialEq, Eq)]
struct Form {
    /// What the entry's name has before the type.
    kernel: &'static str,
    /// What the entry's name has after the type.
    suffix: String,
    grid: (u32, u32),
    /// Threads that have neighbouring columns; 0 for rows.
    across: u32,
}

impl Form {
    /// Threads per block.
    const BLOCK: usize = 256;
    /// The most columns of rows that threads keep in registers.
    const SHORT: usize = 512;
    /// Blocks per multiprocessor, when several share a result.
    const BLOCKS: usize = 8;

    /// Returns the form for a matrix of elements of `bytes`. Fails if it has more than 2^31 blocks.
    fn of([rows, cols]: [usize; 2], axis: Axis, bytes: usize, multiprocessors: usize) -> Result<Form> {
        let pack = 16 / bytes;
        let width = if cols.is_multiple_of(pack) { pack } else { 1 };
        let packs = cols / width;
        // Blocks along y that share a result: enough to fill the device, each with work for all its threads.
        let shared =
            |blocks: usize, most: usize| (multiprocessors * Form::BLOCKS / blocks).clamp(1, most.max(1));
        let (kernel, suffix, x, y, across) = match axis {
            Axis::Rows if cols <= Form::SHORT => {
                let lanes = packs.next_power_of_two().min(32);
                let rows_per_block = Form::BLOCK / lanes * if lanes == 32 { 1 } else { 4 };
                ("short_rows", format!("{lanes}_{width}"), rows.div_ceil(rows_per_block), 1, 0)
            }
            Axis::Rows => {
                let tile = Form::BLOCK * if width == 1 { 8 } else { 4 };
                ("long_rows", width.to_string(), rows, shared(rows, packs.div_ceil(tile)), 0)
            }
            Axis::Columns => {
                let across = packs.next_power_of_two().min(32);
                let (blocks, tile) = (packs.div_ceil(across), Form::BLOCK / across * 8);
                ("columns", width.to_string(), blocks, shared(blocks, rows.div_ceil(tile)), across as u32)
            }
        };
        let x = i32::try_from(x)
            .map_err(|_| CellError::Failed(format!("{x} blocks are more than a launch can have")))?;
        Ok(Form { kernel, suffix, grid: (x as u32, y as u32), across })
    }
}

/// Sum, mean and population standard deviation of each row or column of a row-major matrix, which is read once.
pub struct AxisStatistics<T> {
    cuda: Cuda,
    moments: CudaFunction,
    finish: CudaFunction,
    form: Form,
    /// Two sums per result and block along y, if there are several such blocks.
    partials: CudaSlice<f64>,
    replay: Replay,
    matrix: [usize; 2],
    axis: Axis,
    elements: PhantomData<T>,
}

impl<T: DeviceElement> AxisStatistics<T> {
    /// Loads the kernels for matrices of rows x cols, each at least one, and allocates their scratch memory.
    ///
    /// # Errors
    /// The matrix is empty or has more than 2^31 rows that need a block each, the kernels cannot be compiled, or the device has
    /// too little memory.
    pub fn new(cuda: &Cuda, matrix: [usize; 2], axis: Axis) -> Result<Self> {
        if matrix.contains(&0) {
            return Err(CellError::Failed("an empty array has no mean".into()));
        }
        let form = Form::of(matrix, axis, size_of::<T>(), cuda.multiprocessors() as usize)?;
        let Form { kernel, suffix, grid, .. } = &form;
        let source = ALONG_AXIS.of(T::DTYPE);
        let sums = if grid.1 > 1 { 2 * grid.1 as usize * results(matrix, axis) } else { 2 };
        Ok(AxisStatistics {
            cuda: cuda.clone(),
            moments: cuda.function(source, &format!("{kernel}_{}_{suffix}", T::DTYPE))?,
            finish: cuda.function(source, &format!("finish_axis_{}", T::DTYPE))?,
            partials: cuda.alloc(sums)?,
            form,
            replay: Replay::default(),
            matrix,
            axis,
            elements: PhantomData,
        })
    }

    /// Enqueues the statistics of the matrix `x`. The rows of `out` are the sums, the means and the standard deviations.
    ///
    /// # Errors
    /// `x` has fewer elements than the matrix, `out` is too short, or the device fails.
    pub fn run(&mut self, x: &CudaSlice<T>, out: &mut CudaSlice<f64>) -> Result<()> {
        let ([rows, cols], count) = (self.matrix, results(self.matrix, self.axis));
        fits("x", x, rows * cols)?;
        fits("the statistics", out, 3 * count)?;
        let stream = &self.cuda.stream;
        let number = |number: usize| Argument::from(number as u64);
        let (reduced, apart, stride) = match self.axis {
            Axis::Columns => (rows, 1, cols),
            Axis::Rows => (cols, cols, 1),
        };
        let inverse = (1.0 / reduced as f64).into();
        let (x, partials, out) = (read(stream, x), write(stream, &mut self.partials), write(stream, out));
        let (shape, grid) = (LaunchShape::of_blocks(self.form.grid), self.form.grid);
        if self.form.kernel == "short_rows" {
            let arguments = [x, number(rows), number(cols), inverse, out];
            // SAFETY: the entry takes (const T*, u64, u64, double, double*); `out` has three doubles per row.
            return unsafe { self.replay.run(&self.cuda, [Launch::new(&self.moments, shape, arguments)]) };
        }
        let arguments = [x, number(rows), number(cols), inverse, partials, out, self.form.across.into()];
        let moments = Launch::new(&self.moments, shape, arguments);
        if grid.1 == 1 {
            // SAFETY: the entries take (const T*, u64, u64, double, double2*, double*), and that of columns a u32; `out` has
            // three doubles per result, and with one block along y no partial sums are written.
            return unsafe { self.replay.run(&self.cuda, [moments]) };
        }
        let arguments = [
            x,
            number(count),
            number(reduced),
            inverse,
            partials,
            out,
            number(apart),
            number(stride),
            grid.1.into(),
        ];
        let blocks = u32::try_from(count.div_ceil(BLOCK as usize)).unwrap_or(u32::MAX);
        let finish = Launch::new(&self.finish, LaunchShape::of_blocks((blocks, 1)), arguments);
        // SAFETY: as above; `partials` has two doubles per result and block along y. The second entry takes (const T*, u64, u64,
        // double, double2*, double*, u64, u64, u32), and its results are `count` times `apart`, elements `stride` from each
        // other, within the matrix.
        unsafe { self.replay.run(&self.cuda, [moments, finish]) }
    }
}

/// Returns the number of rows or columns whose statistics are computed.
fn results([rows, cols]: [usize; 2], axis: Axis) -> usize {
    match axis {
        Axis::Columns => cols,
        Axis::Rows => rows,
    }
}

fn one_pass<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let (reductions, arrays) = resident::<T>(setup)?;
    let axis = match reductions.axis {
        Some(0) => Axis::Columns,
        Some(_) => Axis::Rows,
        None => {
            let mut statistics = Statistics::new(setup.cuda, setup.input::<T>(0)?.len())?;
            return Ok(arrays.job(matrix::<f64>, move |_, [x], out| statistics.run(x, out)));
        }
    };
    let mut statistics = AxisStatistics::new(setup.cuda, reductions.matrix, axis)?;
    Ok(arrays.job(matrix::<f64>, move |_, [x], out| statistics.run(x, out)))
}

/// Makes a job of two kernels per statistic, one statistic after the other.
fn three_pass<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let (reductions, arrays) = resident::<T>(setup)?;
    if reductions.axis.is_some() {
        return Err(Unavailable::without_fix("three-pass reduces all elements: it takes no axis").into());
    }
    let cuda = setup.cuda;
    let max_blocks = cuda.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR);
    let blocks = grid(cuda, setup.input::<T>(0)?.len()).min(max_blocks);
    let sums = cuda.function(&THREE_PASS, &format!("partial_sum_{}", T::DTYPE))?;
    let squares = cuda.function(&THREE_PASS, &format!("partial_squares_{}", T::DTYPE))?;
    let finish = cuda.function(&THREE_PASS, "finish")?;
    let mut partials = cuda.alloc::<f64>(blocks as usize)?;
    Ok(arrays.job(matrix::<f64>, move |Cuda { stream, .. }, [x], out| {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn form(matrix: [usize; 2], axis: Axis, bytes: usize) -> String {
        let form = Form::of(matrix, axis, bytes, 132).unwrap();
        format!("{} {} {:?} {}", form.kernel, form.suffix, form.grid, form.across)
    }

    #[test]
    fn a_kernel_and_its_grid_cover_every_row_and_column() {
        for (matrix, axis, bytes, expected) in [
            ([1, 1], Axis::Rows, 4, "short_rows 1_1 (1, 1) 0"),
            ([1_000_000, 32], Axis::Rows, 4, "short_rows 8_4 (7813, 1) 0"),
            ([1_000_000, 33], Axis::Rows, 8, "short_rows 32_1 (125000, 1) 0"),
            ([10, 512], Axis::Rows, 8, "short_rows 32_2 (2, 1) 0"),
            ([10, 513], Axis::Rows, 8, "long_rows 1 (10, 1) 0"),
            ([32, 1_000_000], Axis::Rows, 4, "long_rows 4 (32, 33) 0"),
            ([10_000, 10_000], Axis::Rows, 4, "long_rows 4 (10000, 1) 0"),
            ([1, 1], Axis::Columns, 4, "columns 1 (1, 1) 1"),
            ([1_000_000, 32], Axis::Columns, 4, "columns 4 (1, 1056) 8"),
            ([10_000, 10_000], Axis::Columns, 4, "columns 4 (79, 13) 32"),
            ([10_000, 9_999], Axis::Columns, 8, "columns 1 (313, 3) 32"),
            ([3, 1_000_000], Axis::Columns, 8, "columns 2 (15625, 1) 32"),
        ] {
            assert_eq!(form(matrix, axis, bytes), expected, "{matrix:?} {axis:?} {bytes}");
        }
        assert!(Form::of([1 << 33, 513], Axis::Rows, 4, 132).is_err());
    }
}
