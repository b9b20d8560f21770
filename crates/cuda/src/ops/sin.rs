//! sin(a), elementwise, by one kernel.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::elementwise;
use super::entry::by_dtype;
use super::{Kernel, input, matrices, variant};
use crate::context::{Cuda, Element};
use crate::ffi::contents::device;
use crate::ffi::launch::Map;

pub(crate) static KERNELS: &[Kernel] = &[Kernel {
    variant: variant("sin", "fused", "one kernel: one read and one write an element"),
    sources: &[&elementwise::SOURCE],
    libraries: &[],
    prepare: by_dtype!(sine),
}];

struct Sine<T> {
    cuda: Cuda,
    n: usize,
    kernel: Map<T, T, 1>,
    a: CudaSlice<T>,
    y: CudaSlice<T>,
}

/// The job that takes all sines by one kernel.
pub(super) fn sine<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrices(case, 2))?;
    let a = input::<T>(inputs, 0)?;
    Ok(Prepared::new(Sine {
        cuda: cuda.clone(),
        n: case.side(),
        kernel: elementwise::load(cuda, "sine", a.len())?,
        y: cuda.alloc(a.len())?,
        a: cuda.upload(a)?,
    }))
}

impl<T: Element> Job for Sine<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a)], [device(&mut self.y)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.kernel.run(&self.cuda.stream, [&self.a], &mut self.y)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.n, self.n, self.cuda.download(&self.y)?)])
    }
}
