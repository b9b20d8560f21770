//! Products by kernels of our own in one launch: tiles through shared memory, and the float64 tensor cores, to which
//! float32 operands are widened on the way (`docs/kernels/dmma.md`).

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::super::input;
use super::{bytes, elements, side, square};
use crate::context::{Cuda, Element};
use crate::ffi::contents::device;
use crate::ffi::square_product::SquareProduct;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static TILED: KernelSource = kernel_source!("matmul");
pub(crate) static DMMA: KernelSource = kernel_source!("dmma");

/// Loads the kernel for matrices of a side.
type Load<T> = fn(&Cuda, &'static KernelSource, u32) -> Result<SquareProduct<T>, CellError>;

struct Product<T> {
    cuda: Cuda,
    kernel: SquareProduct<T>,
    n: usize,
    a: CudaSlice<T>,
    b: CudaSlice<T>,
    c: CudaSlice<T>,
}

impl<T: Element> Job for Product<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a), device(&mut self.b)], [device(&mut self.c)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.kernel.run(&self.cuda.stream, &self.a, &self.b, &mut self.c)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        square(&self.cuda, self.n, &self.c)
    }
}

/// Makes the job of the tiled kernel.
pub(super) fn tiled<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    prepare::<T>(cuda, case, inputs, (&TILED, SquareProduct::tiled))
}

/// Makes the job of the kernel for float64 tensor cores.
pub(super) fn on_tensor_cores<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    prepare::<T>(cuda, case, inputs, (&DMMA, SquareProduct::on_tensor_cores))
}

fn prepare<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    (source, load): (&'static KernelSource, Load<T>),
) -> Result<Box<Prepared>, CellError> {
    let n = side(case)?.unsigned_abs();
    cuda.reserve(3 * bytes(case, size_of::<T>()))?;
    let kernel = load(cuda, source, n)?;
    let (a, b) = (cuda.upload::<T>(input(inputs, 0)?)?, cuda.upload::<T>(input(inputs, 1)?)?);
    let c = cuda.alloc::<T>(elements(case))?;
    Ok(Prepared::new(Product { cuda: cuda.clone(), kernel, n: n as usize, a, b, c }))
}
