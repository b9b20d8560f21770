//! The op reduction: sum, mean and population standard deviation, in one pass or one statistic after the other.

use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::entry::by_dtype;
use super::{Kernel, input, matrix_bytes, opt_in};
use crate::context::{Cuda, Element};
use crate::ffi::reduce::Statistics;
use crate::kernels::{ByType, KernelSource, kernel_source, kernel_source_by_type};

static ONE_PASS: ByType = kernel_source_by_type!("reduction", "ONE_PASS_");
static THREE_PASS: KernelSource = kernel_source!("reduction", "THREE_PASS");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: opt_in("reduction", "one-pass", "one kernel that reads the matrix once"),
        sources: &[&ONE_PASS.f32, &ONE_PASS.f64],
        libraries: &[],
        prepare: by_dtype!(one_pass),
    },
    Kernel {
        variant: opt_in("reduction", "three-pass", "naive: sum, mean and deviation each read the matrix"),
        sources: &[&THREE_PASS],
        libraries: &[],
        prepare: by_dtype!(three_pass),
    },
];

fn one_pass<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    reserve(cuda, case)?;
    Ok(Prepared::new(Statistics::one_pass(cuda, ONE_PASS.of(T::DTYPE), input::<T>(inputs, 0)?)?))
}

fn three_pass<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    reserve(cuda, case)?;
    Ok(Prepared::new(Statistics::three_pass(cuda, &THREE_PASS, input::<T>(inputs, 0)?)?))
}

/// Checks that the matrix and the scratch memory of either variant fit.
fn reserve(cuda: &Cuda, case: &Case) -> Result<(), CellError> {
    const SCRATCH: u128 = 1 << 20;
    cuda.reserve(matrix_bytes(case, 1) + SCRATCH)
}

impl<T: Element> Job for Statistics<T> {
    fn contents(&mut self) -> Contents<'_> {
        Statistics::contents(self)
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.run()
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(3, 1, self.values()?)])
    }
}
