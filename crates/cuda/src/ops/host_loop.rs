//! y = sin(a) in a loop that the host runs, one launch an element; beside it the one kernel that takes all.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::elementwise;
use super::entry::by_dtype;
use super::sin::sine;
use super::{Kernel, input, matrices, variant};
use crate::context::{Cuda, Element};
use crate::ffi::contents::device;
use crate::ffi::single::SineAt;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("sine_at");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: variant("host-loop", "fused", "one kernel for all elements"),
        sources: &[&elementwise::SOURCE],
        libraries: &[],
        prepare: by_dtype!(sine),
    },
    Kernel {
        variant: variant("host-loop", "launch-per-element", "N^2 launches of one thread"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: by_dtype!(each),
    },
];

struct Each<T> {
    cuda: Cuda,
    n: usize,
    kernel: SineAt<T>,
    a: CudaSlice<T>,
    y: CudaSlice<T>,
}

fn each<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrices(case, 2))?;
    let a = input::<T>(inputs, 0)?;
    // From about a thousand launches on the driver makes the host wait; and held back, launches would cost the device
    // nothing, although the host's loop is what is asked about.
    let traits = JobTraits { synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(
        traits,
        Each {
            cuda: cuda.clone(),
            n: case.side(),
            kernel: SineAt::load(cuda, &SOURCE)?,
            y: cuda.alloc(a.len())?,
            a: cuda.upload(a)?,
        },
    ))
}

impl<T: Element> Job for Each<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a)], [device(&mut self.y)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.kernel.run_each(&self.cuda.stream, &self.a, &mut self.y)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.n, self.n, self.cuda.download(&self.y)?)])
    }
}
