//! The fft variants `hermitian` and `bluestein`: launches of `kernels/fft/hermitian.cu` and `kernels/fft/bluestein.cu`. The second
//! of two kernels writes every output and its mirrored conjugate.

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::plan::{ChoosePlan, Pass};
use super::spectrum;
use crate::context::{Cuda, DeviceElement};
use crate::ffi::contents::device;
use crate::ffi::launch::{LaunchShape, Start, allow_shared, fits, read, write};
use crate::ffi::replay::{Launch, Replay};
use crate::ffi::tuning::{divide_equally, earliest_start};
use crate::kernels::KernelSource;
use crate::ops::input;

/// A kernel and the shape of its launches.
struct PassKernel {
    function: CudaFunction,
    shape: LaunchShape,
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
        Ok(PassKernel { function, shape: LaunchShape { grid: (blocks, 1), threads, shared, start } })
    }
}

struct TwoPassFft<T> {
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
    input: CudaSlice<T>,
    /// `n * n` pairs of real and imaginary part.
    spectrum: CudaSlice<T>,
}

/// Makes the job by the plan of `choose`: compiles the kernels for this size, and uploads the tables and the input.
pub(super) fn prepare<T: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    choose: ChoosePlan,
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    let plan = choose(n, T::DTYPE, cuda.capacity())?;
    let reals = 3 * n as u128 * n as u128 + 2 * plan.half_elements() as u128;
    cuda.reserve(reals * size_of::<T>() as u128)?;
    let tables: Vec<T> = plan.tables().iter().flat_map(|w| [T::from_f64(w.re), T::from_f64(w.im)]).collect();
    let sources @ [rows, columns] = plan.sources();
    cuda.compile_ahead(&sources)?;
    let rows = PassKernel::load(cuda, rows, "fft_rows", plan.rows(), Start::InOrder)?;
    let columns = PassKernel::load(cuda, columns, "fft_columns", plan.column_pass(), earliest_start(cuda))?;
    if plan.divides_equally(cuda.capacity()) {
        divide_equally(cuda, [&rows, &columns].map(|pass| (&pass.function, pass.shape)))?;
    }
    let (tables, half) = (cuda.upload(&tables)?, cuda.alloc(2 * plan.half_elements())?);
    cuda.count_plan();
    Ok(Prepared::new(TwoPassFft {
        cuda: cuda.clone(),
        n,
        rows,
        columns,
        replay: Replay::default(),
        tables,
        half,
        input: cuda.upload(input::<T>(inputs, 0)?)?,
        spectrum: cuda.alloc(2 * n * n)?,
    }))
}

impl<T: DeviceElement> Job for TwoPassFft<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.input)], [device(&mut self.spectrum)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        fits("the input", &self.input, self.n * self.n)?;
        fits("the spectrum", &self.spectrum, 2 * self.n * self.n)?;
        let stream = &self.cuda.stream;
        let (tables, half) = (read(stream, &self.tables), write(stream, &mut self.half));
        let rows = [read(stream, &self.input), tables, half];
        let columns = [half, tables, write(stream, &mut self.spectrum)];
        let passes = [(&self.rows, rows), (&self.columns, columns)];
        let launches = passes.map(|(pass, arguments)| Launch::new(&pass.function, pass.shape, arguments));
        // SAFETY: the entries take (const T*, const pair*, pair*) and (const pair*, const pair*, pair*); the plan that
        // they were compiled for, of this element type, sized the tables and the half spectrum, and the other lengths were
        // checked. The second waits for the first before it reads what that one writes.
        unsafe { self.replay.run(&self.cuda, launches) }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        spectrum(&self.cuda, self.n, &self.spectrum)
    }
}
