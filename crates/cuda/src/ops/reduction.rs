//! Sum, mean and population standard deviation: in one pass, and one statistic after the other.

use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::{Case, DType};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::{Kernel, extra, input};
use crate::context::{Cuda, Element};
use crate::ffi::reduce::{Moments, Passes};
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("reduction");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: extra("reduction", "one-pass", "one kernel that reads the matrix once"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: |cuda, case, inputs| match case.dtype {
            DType::F32 => one_pass::<f32>(cuda, case, inputs),
            DType::F64 => one_pass::<f64>(cuda, case, inputs),
        },
    },
    Kernel {
        variant: extra("reduction", "three-pass", "naive: sum, mean and deviation each read the matrix"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: |cuda, case, inputs| match case.dtype {
            DType::F32 => three_pass::<f32>(cuda, case, inputs),
            DType::F64 => three_pass::<f64>(cuda, case, inputs),
        },
    },
];

fn reserve(cuda: &Cuda, case: &Case) -> Result<(), CellError> {
    const SCRATCH: u128 = 1 << 20;
    cuda.reserve(u128::from(case.n) * u128::from(case.n) * u128::from(case.dtype.bytes()) + SCRATCH)
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
