//! sin(a), elementwise, by one kernel.

use cudarc::driver::CudaSlice;

use super::context::{Cuda, Element};
use super::elementwise::SOURCE;
use super::ffi::launch::Map;
use super::{Kernel, input, variant};
use crate::backend::Job;
use crate::case::{Case, DType};
use crate::data::Operand;
use crate::error::CellError;

pub(crate) static KERNELS: &[Kernel] = &[Kernel {
    variant: variant("sin", "fused", "one kernel: one read and one write an element"),
    prepare: |cuda, case, inputs| match case.dtype {
        DType::F32 => sine::<f32>(cuda, case, inputs),
        DType::F64 => sine::<f64>(cuda, case, inputs),
    },
}];

struct Sine<T> {
    cuda: Cuda,
    n: usize,
    kernel: Map<T, T, 1>,
    a: CudaSlice<T>,
    y: CudaSlice<T>,
}

fn sine<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<dyn Job>, CellError> {
    cuda.reserve(2 * u128::from(case.n) * u128::from(case.n) * u128::from(case.dtype.bytes()))?;
    let a = input::<T>(inputs, 0)?;
    Ok(Box::new(Sine {
        cuda: cuda.clone(),
        n: case.side(),
        kernel: Map::load(cuda, &SOURCE, &format!("sine_{}", T::DTYPE), a.len())?,
        y: cuda.alloc(a.len())?,
        a: cuda.upload(a)?,
    }))
}

impl<T: Element> Job for Sine<T> {
    fn execute(&mut self) -> Result<(), CellError> {
        self.kernel.run(&self.cuda.stream, [&self.a], &mut self.y)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.n, self.n, self.cuda.download(&self.y)?)])
    }
}
