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
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("reduction");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: opt_in("reduction", "one-pass", "one kernel that reads the matrix once"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: by_dtype!(prepare, Statistics::one_pass),
    },
    Kernel {
        variant: opt_in("reduction", "three-pass", "naive: sum, mean and deviation each read the matrix"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: by_dtype!(prepare, Statistics::three_pass),
    },
];

/// Uploads the elements and loads the kernels of a variant.
type Load<T> = fn(&Cuda, &'static KernelSource, &[T]) -> Result<Statistics<T>, CellError>;

fn prepare<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    load: Load<T>,
) -> Result<Box<Prepared>, CellError> {
    const SCRATCH: u128 = 1 << 20;
    cuda.reserve(matrix_bytes(case, 1) + SCRATCH)?;
    Ok(Prepared::new(load(cuda, &SOURCE, input::<T>(inputs, 0)?)?))
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
