//! The fft variants `hermitian` and `bluestein`: launches of `kernels/fft/hermitian.cu` and `kernels/fft/bluestein.cu`. The second
//! of two kernels writes every output and its mirrored conjugate.

mod bluestein;
mod plan;
pub(crate) mod radices;
mod source;
mod tiles;

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::Prepared;
use gpubench_cuda::ffi::launch::{LaunchShape, Start, allow_shared, fits, read, write};
use gpubench_cuda::ffi::replay::{Launch, Replay};
use gpubench_cuda::ffi::tuning::{divide_equally, earliest_start};
use gpubench_cuda::ops::dense::{Resident, matrix};
use gpubench_cuda::{CellError, Cuda, DeviceElement, Kernel, KernelSource, Result, Setup, by_dtype, opt_in};
use rustfft::num_complex::Complex;

use plan::{FftMethod, FftPlan, Pass};

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        opt_in("fft", "hermitian", "two own kernels; the second writes both halves of the spectrum"),
        &[&source::HERMITIAN],
        by_dtype!(prepare, FftMethod::Direct),
    ),
    Kernel::own(
        opt_in(
            "fft",
            "bluestein",
            "two own kernels for any N up to 8192 (float64: 7200), whose transforms are convolutions with a chirp",
        ),
        &[&source::BLUESTEIN],
        by_dtype!(prepare, FftMethod::Convolution),
    ),
];

struct PassKernel {
    function: CudaFunction,
    shape: LaunchShape,
}

impl PassKernel {
    fn load(
        cuda: &Cuda,
        (source, entry): (&'static KernelSource, &str),
        pass: Pass,
        start: Start,
    ) -> Result<PassKernel> {
        let function = cuda.function(source, entry)?;
        let fitting = |value: usize| u32::try_from(value).map_err(|error| CellError::call(entry, error));
        let (blocks, threads, shared) =
            (fitting(pass.blocks)?, fitting(pass.threads)?, fitting(pass.shared)?);
        allow_shared(&function, shared)?;
        Ok(PassKernel { function, shape: LaunchShape { start, ..LaunchShape::new(blocks, threads, shared) } })
    }
}

/// The full complex spectrum of `n` by `n` row-major real matrices, in two launches.
pub struct TwoPassFft<T> {
    cuda: Cuda,
    n: usize,
    rows: PassKernel,
    /// Waits for the rows before it reads what they write.
    columns: PassKernel,
    replay: Replay,
    /// The plan's tables: pairs of real and imaginary part.
    tables: CudaSlice<T>,
    /// The half spectrum between the passes: pairs of real and imaginary part.
    half: CudaSlice<T>,
}

impl<T: DeviceElement> TwoPassFft<T> {
    /// Plans transforms by the factors of `n`, compiles the kernels for this size, and uploads their tables.
    ///
    /// # Errors
    /// `n` is above 8192 or has a prime factor above 43, the device has too little memory, or the kernels cannot be compiled.
    pub fn hermitian(cuda: &Cuda, n: usize) -> Result<Self> {
        TwoPassFft::load(cuda, &FftPlan::new(FftMethod::Direct, n, T::DTYPE, cuda.capacity())?)
    }

    /// Plans transforms of any size by convolutions with a chirp, compiles the kernels for this size, and uploads their tables.
    ///
    /// # Errors
    /// `n` is above 8192, the device has too little memory, or the kernels cannot be compiled.
    pub fn bluestein(cuda: &Cuda, n: usize) -> Result<Self> {
        TwoPassFft::load(cuda, &FftPlan::new(FftMethod::Convolution, n, T::DTYPE, cuda.capacity())?)
    }

    fn load(cuda: &Cuda, plan: &FftPlan) -> Result<Self> {
        let tables: Vec<T> =
            plan.tables().iter().flat_map(|w| [T::from_f64(w.re), T::from_f64(w.im)]).collect();
        let sources @ [rows, columns] = plan.sources();
        cuda.compile_ahead(&sources)?;
        let rows = PassKernel::load(cuda, (rows, "fft_rows"), plan.rows(), Start::InOrder)?;
        let start = earliest_start(cuda);
        let columns = PassKernel::load(cuda, (columns, "fft_columns"), plan.column_pass(), start)?;
        if plan.divides_equally(cuda.capacity()) {
            divide_equally(cuda, [&rows, &columns].map(|pass| (&pass.function, pass.shape)))?;
        }
        let (tables, half) = (cuda.upload(&tables)?, cuda.alloc(2 * plan.half_elements())?);
        cuda.count_plan();
        Ok(TwoPassFft {
            cuda: cuda.clone(),
            n: plan.n,
            rows,
            columns,
            replay: Replay::default(),
            tables,
            half,
        })
    }

    /// Enqueues the transform of `input`, of `n * n` reals, to `spectrum`, of `n * n` pairs of real and imaginary part.
    ///
    /// # Errors
    /// An array is shorter, or the device fails.
    pub fn run(&mut self, input: &CudaSlice<T>, spectrum: &mut CudaSlice<T>) -> Result<()> {
        fits("the input", input, self.n * self.n)?;
        fits("the spectrum", spectrum, 2 * self.n * self.n)?;
        let stream = &self.cuda.stream;
        let (tables, half) = (read(stream, &self.tables), write(stream, &mut self.half));
        let rows = [read(stream, input), tables, half];
        let columns = [half, tables, write(stream, spectrum)];
        let passes = [(&self.rows, rows), (&self.columns, columns)];
        let launches = passes.map(|(pass, arguments)| Launch::new(&pass.function, pass.shape, arguments));
        // SAFETY: the entries take (const T*, const pair*, pair*) and (const pair*, const pair*, pair*); the plan that
        // they were compiled for, of this element type, sized the tables and the half spectrum, and the other lengths were
        // checked. The second waits for the first before it reads what that one writes.
        unsafe { self.replay.run(&self.cuda, launches) }
    }
}

fn prepare<T: DeviceElement>(setup: Setup<'_>, method: FftMethod) -> Result<Box<Prepared>> {
    let (cuda, n) = (setup.cuda, setup.n());
    let plan = FftPlan::new(method, n, T::DTYPE, cuda.capacity())?;
    cuda.reserve(setup.matrix_bytes(3) + (2 * plan.half_elements() * size_of::<T>()) as u128)?;
    let mut fft = TwoPassFft::load(cuda, &plan)?;
    let arrays = Resident::<T, Complex<T>, 1>::new(setup, n * n)?;
    Ok(arrays.job(matrix::<Complex<T>>, move |_, [input], spectrum| fft.run(input, spectrum)))
}
