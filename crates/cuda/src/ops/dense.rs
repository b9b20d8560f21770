//! Jobs on resident dense square matrices of one size whose work is only kernel launches and library calls.

use cudarc::driver::CudaSlice;
use gpubench_backend::Job;
use gpubench_backend::contents::Contents;
use gpubench_report::case::Case;
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::input;
use crate::context::{Cuda, DeviceElement};
use crate::ffi::contents::device;

/// Operands and answer, with the function that enqueues the work.
pub(super) struct DenseJob<T, const INPUTS: usize, F> {
    // First, so that a library's handle is dropped before the memory that its work uses.
    enqueue: F,
    cuda: Cuda,
    n: usize,
    operands: [CudaSlice<T>; INPUTS],
    answer: CudaSlice<T>,
}

impl<T: DeviceElement, const INPUTS: usize, F> DenseJob<T, INPUTS, F>
where
    F: FnMut(&Cuda, &[CudaSlice<T>; INPUTS], &mut CudaSlice<T>) -> Result<(), CellError>,
{
    /// Uploads the operands and allocates an answer as long as the first of them.
    pub(super) fn new(cuda: &Cuda, case: &Case, inputs: &[Operand], enqueue: F) -> Result<Self, CellError> {
        let answer = cuda.alloc(input::<T>(inputs, 0)?.len())?;
        let operands = (0..INPUTS).map(|index| cuda.upload(input(inputs, index)?));
        let operands = operands.collect::<Result<Vec<_>, _>>()?.try_into();
        let operands = operands.map_err(|_| CellError::Failed("an operand is missing".into()))?;
        Ok(DenseJob { enqueue, cuda: cuda.clone(), n: case.side(), operands, answer })
    }
}

impl<T: DeviceElement, const INPUTS: usize, F> Job for DenseJob<T, INPUTS, F>
where
    F: FnMut(&Cuda, &[CudaSlice<T>; INPUTS], &mut CudaSlice<T>) -> Result<(), CellError>,
{
    fn contents(&mut self) -> Contents<'_> {
        Contents::new(self.operands.each_mut().map(device), [device(&mut self.answer)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        (self.enqueue)(&self.cuda, &self.operands, &mut self.answer)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        download_square(&self.cuda, self.n, &self.answer)
    }
}

/// Downloads a square answer.
pub(super) fn download_square<T: DeviceElement>(
    cuda: &Cuda,
    n: usize,
    answer: &CudaSlice<T>,
) -> Result<Vec<Operand>, CellError> {
    Ok(vec![Operand::dense(n, n, cuda.download(answer)?)])
}
