//! The op host-loop, y = sin(a): a loop on the host with one launch per element, and one kernel for all elements.

use gpubench_backend::{JobTraits, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::dense::Dense;
use super::elementwise;
use super::entry::by_dtype;
use super::sin::sine;
use super::{Kernel, matrix_bytes, variant};
use crate::context::{Cuda, Element};
use crate::ffi::single::SineAt;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("sine_at");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: variant("host-loop", "fused", "one kernel for all elements"),
        sources: &elementwise::STEP_PARTS,
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
    cuda.reserve(matrix_bytes(case, 2))?;
    let kernel = SineAt::load(cuda, &SOURCE)?;
    let job =
        Dense::<T, 1, _>::new(cuda, case, inputs, move |cuda, [a], y| kernel.run_each(&cuda.stream, a, y))?;
    // After about a thousand queued launches the driver makes the host wait, so a blocking kernel would time out. It
    // would also hide the cost of the host's loop, which this op measures.
    Ok(Prepared::with(JobTraits { synchronises: true, ..JobTraits::default() }, job))
}
