//! Sum, mean and population standard deviation: in one pass, and one statistic after the other.

use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::entry::by_dtype;
use super::{Kernel, extra, input, matrices};
use crate::context::{Cuda, Element};
use crate::ffi::reduce::{Moments, Passes};
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("reduction");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: extra("reduction", "one-pass", "one kernel that reads the matrix once"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: by_dtype!(one_pass),
    },
    Kernel {
        variant: extra("reduction", "three-pass", "naive: sum, mean and deviation each read the matrix"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: by_dtype!(three_pass),
    },
];

fn reserve(cuda: &Cuda, case: &Case) -> Result<(), CellError> {
    const SCRATCH: u128 = 1 << 20;
    cuda.reserve(matrices(case, 1) + SCRATCH)
}

fn one_pass<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    reserve(cuda, case)?;
    Ok(Prepared::new(Moments::load(cuda, &SOURCE, input::<T>(inputs, 0)?)?))
}

fn three_pass<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    reserve(cuda, case)?;
    Ok(Prepared::new(Passes::load(cuda, &SOURCE, input::<T>(inputs, 0)?)?))
}

impl<T: Element> Job for Moments<T> {
    fn contents(&mut self) -> Contents<'_> {
        Moments::contents(self)
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.run()
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(3, 1, self.statistics()?)])
    }
}

impl<T: Element> Job for Passes<T> {
    fn contents(&mut self) -> Contents<'_> {
        Passes::contents(self)
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.run()
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(3, 1, self.statistics()?)])
    }
}
