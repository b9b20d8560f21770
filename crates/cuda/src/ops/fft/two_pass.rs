//! The fft variants `hermitian` and `bluestein`: two of gpubench's own kernels; the second writes every output and its
//! mirrored conjugate.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::plan::ChoosePlan;
use super::spectrum;
use crate::context::{Cuda, Element};
use crate::ffi::contents::device;
use crate::ffi::fft_two_pass::TwoPasses;
use crate::ops::input;

struct TwoPassFft<T> {
    cuda: Cuda,
    n: usize,
    passes: TwoPasses<T>,
    input: CudaSlice<T>,
    /// `n * n` pairs of real and imaginary part.
    spectrum: CudaSlice<T>,
}

/// Makes the job by the plan of `choose`: compiles the kernels for this size, and uploads the tables and the input.
pub(super) fn prepare<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    choose: ChoosePlan,
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    let plan = choose(n, T::DTYPE, cuda.capacity())?;
    let reals = 3 * n as u128 * n as u128 + 2 * plan.half_elements() as u128;
    cuda.reserve(reals * size_of::<T>() as u128)?;
    let passes = TwoPasses::load(cuda, &plan)?;
    cuda.count_plan();
    Ok(Prepared::new(TwoPassFft {
        cuda: cuda.clone(),
        n,
        passes,
        input: cuda.upload(input::<T>(inputs, 0)?)?,
        spectrum: cuda.alloc(2 * n * n)?,
    }))
}

impl<T: Element> Job for TwoPassFft<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.input)], [device(&mut self.spectrum)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.passes.run(&self.cuda, &self.input, &mut self.spectrum)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        spectrum(&self.cuda, self.n, &self.spectrum)
    }
}
