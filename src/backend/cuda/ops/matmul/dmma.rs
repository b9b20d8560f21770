//! Our own product on the float64 tensor cores, one launch; float32 operands are widened on the way to them.
//! `docs/kernels/dmma.md` has the figures.

use cudarc::driver::CudaSlice;

use super::super::input;
use super::{bytes, elements, side, square};
use crate::backend::Job;
use crate::backend::cuda::context::{Cuda, Element};
use crate::backend::cuda::ffi::dmma::TensorProduct;
use crate::backend::cuda::kernels::{KernelSource, kernel_source};
use crate::case::Case;
use crate::data::Operand;
use crate::error::CellError;

pub(crate) static SOURCE: KernelSource = kernel_source!("dmma");

struct Product<T> {
    cuda: Cuda,
    kernel: TensorProduct<T>,
    n: usize,
    a: CudaSlice<T>,
    b: CudaSlice<T>,
    c: CudaSlice<T>,
}

impl<T: Element> Job for Product<T> {
    fn execute(&mut self) -> Result<(), CellError> {
        self.kernel.run(&self.cuda.stream, &self.a, &self.b, &mut self.c)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        square(&self.cuda, self.n, &self.c)
    }
}

pub(super) fn prepare<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<dyn Job>, CellError> {
    let n = side(case)?.unsigned_abs();
    cuda.reserve(3 * bytes(case, size_of::<T>()))?;
    let kernel = TensorProduct::load(cuda, &SOURCE, n)?;
    let (a, b) = (cuda.upload::<T>(input(inputs, 0)?)?, cuda.upload::<T>(input(inputs, 1)?)?);
    let c = cuda.alloc::<T>(elements(case))?;
    Ok(Box::new(Product { cuda: cuda.clone(), kernel, n: n as usize, a, b, c }))
}
