//! y = sin(a) in a loop that the host runs, one launch an element; beside it the one kernel that takes all.

use gpubench_backend::{JobTraits, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::dense::Dense;
use super::elementwise;
use super::entry::by_dtype;
use super::sin::sine;
use super::{Kernel, matrices, variant};
use crate::context::{Cuda, Element};
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

fn each<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrices(case, 2))?;
    let kernel = SineAt::load(cuda, &SOURCE)?;
    let job =
        Dense::<T, 1, _>::new(cuda, case, inputs, move |cuda, [a], y| kernel.run_each(&cuda.stream, a, y))?;
    // From about a thousand launches on the driver makes the host wait; and held back, launches would cost the device
    // nothing, although the host's loop is what is asked about.
    Ok(Prepared::with(JobTraits { synchronises: true, ..JobTraits::default() }, job))
}
