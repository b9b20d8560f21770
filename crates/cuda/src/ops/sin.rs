//! The op sin: sin(a) for every element, by one kernel.

use gpubench_backend::Prepared;
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::dense::Dense;
use super::elementwise;
use super::entry::by_dtype;
use super::{Kernel, input, matrix_bytes, variant};
use crate::context::{Cuda, Element};
use crate::ffi::replay::Replay;

pub(crate) static KERNELS: &[Kernel] = &[Kernel {
    variant: variant("sin", "fused", "one kernel: one read and one write per element"),
    sources: &elementwise::STEP_PARTS,
    libraries: &[],
    prepare: by_dtype!(sine),
}];

/// Makes the job that computes all sines by one kernel.
pub(super) fn sine<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrix_bytes(case, 2))?;
    let kernel = elementwise::load_step(cuda, "sine", input::<T>(inputs, 0)?.len())?;
    let mut replay = Replay::default();
    let job = Dense::<T, 1, _>::new(cuda, case, inputs, move |cuda, [a], y| {
        kernel.run_again(cuda, &mut replay, [a], y)
    })?;
    Ok(Prepared::new(job))
}
