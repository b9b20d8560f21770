//! Launches of `kernels/fft_hermitian.cu` and `kernels/fft_bluestein.cu` as safe functions, which own the half spectrum
//! between the two passes.

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::super::ops::fft::plan::{FftPlan, Pass};
use super::launch::{Shape, Start, allow_shared, divide_equally, fits, read, write};
use super::replay::{Launch, Replay};

/// A kernel and the shape of its launches.
struct PassKernel {
    function: CudaFunction,
    shape: Shape,
}

impl PassKernel {
    fn load(
        cuda: &Cuda,
        source: &'static KernelSource,
        entry: &str,
        pass: Pass,
        start: Start,
    ) -> Result<PassKernel, CellError> {
        let function = cuda.function(source, entry)?;
        let fitting = |value: usize| u32::try_from(value).map_err(|error| CellError::call(entry, error));
        let (blocks, threads, shared) =
            (fitting(pass.blocks)?, fitting(pass.threads)?, fitting(pass.shared)?);
        allow_shared(&function, shared)?;
        Ok(PassKernel { function, shape: Shape { grid: (blocks, 1), threads, shared, start } })
    }
}

/// Both passes for `n x n` elements.
pub(crate) struct TwoPasses<T> {
    n: usize,
    rows: PassKernel,
    /// Waits for the rows before it reads what they write.
    columns: PassKernel,
    replay: Replay,
    /// The plan's tables: pairs of real and imaginary part.
    tables: CudaSlice<T>,
    /// Pairs of real and imaginary part.
    half: CudaSlice<T>,
}

impl<T: Element> TwoPasses<T> {
    /// Loads the plan's kernels, compiled or from the cache, and makes its tables. The plan's type must be `T`.
    pub(crate) fn load(cuda: &Cuda, plan: &FftPlan) -> Result<Self, CellError> {
        if plan.dtype != T::DTYPE {
            return Err(CellError::Failed(format!(
                "a plan for {} cannot transform {}",
                plan.dtype,
                T::DTYPE
            )));
        }
        let reals: Vec<T> =
            plan.tables().iter().flat_map(|w| [T::from_f64(w.re), T::from_f64(w.im)]).collect();
        let sources @ [rows, columns] = plan.sources();
        cuda.compile_ahead(&sources)?;
        let rows = PassKernel::load(cuda, rows, "fft_rows", plan.rows(), Start::InOrder)?;
        let (pass, start) = (plan.column_pass(), Start::earliest(cuda));
        let columns = PassKernel::load(cuda, columns, "fft_columns", pass, start)?;
        if plan.divides_equally(cuda.capacity()) {
            divide_equally(cuda, [&rows, &columns].map(|pass| (&pass.function, pass.shape)))?;
        }
        Ok(TwoPasses {
            n: plan.n,
            rows,
            columns,
            replay: Replay::default(),
            tables: cuda.upload(&reals)?,
            half: cuda.alloc(2 * plan.half_elements())?,
        })
    }

    /// Enqueues the transform of `input` (`n * n` reals) into `spectrum` (`2 * n * n` reals: pairs of real and
    /// imaginary part).
    pub(crate) fn run(
        &mut self,
        cuda: &Cuda,
        input: &CudaSlice<T>,
        spectrum: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        fits("the input", input, self.n * self.n)?;
        fits("the spectrum", spectrum, 2 * self.n * self.n)?;
        let stream = &cuda.stream;
        let (tables, half) = (read(stream, &self.tables), write(stream, &mut self.half));
        let rows = [read(stream, input), tables, half];
        let columns = [half, tables, write(stream, spectrum)];
        let passes = [(&self.rows, rows), (&self.columns, columns)];
        let launches = passes.map(|(pass, arguments)| Launch::new(&pass.function, pass.shape, arguments));
        // SAFETY: the entries take (const T*, const pair*, pair*) and (const pair*, const pair*, pair*); the plan that
        // they were compiled for sized the tables and the half spectrum, and the other lengths were checked. The second
        // waits for the first before it reads what that one writes.
        unsafe { self.replay.run(cuda, launches) }
    }
}
