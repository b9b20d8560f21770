//! a * b + sin(a) + cos(b): one fused kernel, and the chain of kernels of an eager array library.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::entry::by_dtype;
use super::{Kernel, extra, input, matrices};
use crate::context::{Cuda, Element};
use crate::ffi::contents::device;
use crate::ffi::launch::Map;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("elementwise");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: extra("elementwise", "fused", "one kernel: two reads and one write an element"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: by_dtype!(fused),
    },
    Kernel {
        variant: extra("elementwise", "unfused", "five kernels with temporaries, as eager libraries run it"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: by_dtype!(unfused),
    },
];

/// A kernel of `kernels/elementwise.cu` for arrays of `len` elements. It has blocks of 128 threads, each of which takes
/// one pack of 16 bytes of float32 elements and two of float64.
pub(super) fn load<T: Element, const INPUTS: usize>(
    cuda: &Cuda,
    name: &str,
    len: usize,
) -> Result<Map<T, T, INPUTS>, CellError> {
    const THREADS: u32 = 128;
    const ELEMENTS_A_THREAD: usize = 4;
    let tile = THREADS as usize * ELEMENTS_A_THREAD;
    Map::tiled(cuda, &SOURCE, &format!("{name}_{}", T::DTYPE), len, (THREADS, tile))
}

struct Fused<T> {
    cuda: Cuda,
    n: usize,
    kernel: Map<T, T, 2>,
    a: CudaSlice<T>,
    b: CudaSlice<T>,
    y: CudaSlice<T>,
}

fn fused<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrices(case, 3))?;
    let (a, b) = (input::<T>(inputs, 0)?, input::<T>(inputs, 1)?);
    Ok(Prepared::new(Fused {
        cuda: cuda.clone(),
        n: case.side(),
        kernel: load(cuda, "fused", a.len())?,
        y: cuda.alloc(a.len())?,
        a: cuda.upload(a)?,
        b: cuda.upload(b)?,
    }))
}

impl<T: Element> Job for Fused<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a), device(&mut self.b)], [device(&mut self.y)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.kernel.run(&self.cuda.stream, [&self.a, &self.b], &mut self.y)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.n, self.n, self.cuda.download(&self.y)?)])
    }
}

struct Unfused<T> {
    cuda: Cuda,
    n: usize,
    multiply: Map<T, T, 2>,
    add: Map<T, T, 2>,
    sine: Map<T, T, 1>,
    cosine: Map<T, T, 1>,
    a: CudaSlice<T>,
    b: CudaSlice<T>,
    /// Holds the product, and the answer in the end.
    y: CudaSlice<T>,
    term: CudaSlice<T>,
    sum: CudaSlice<T>,
}

fn unfused<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrices(case, 5))?;
    let (a, b) = (input::<T>(inputs, 0)?, input::<T>(inputs, 1)?);
    Ok(Prepared::new(Unfused {
        cuda: cuda.clone(),
        n: case.side(),
        multiply: load(cuda, "multiply", a.len())?,
        add: load(cuda, "add", a.len())?,
        sine: load(cuda, "sine", a.len())?,
        cosine: load(cuda, "cosine", a.len())?,
        y: cuda.alloc(a.len())?,
        term: cuda.alloc(a.len())?,
        sum: cuda.alloc(a.len())?,
        a: cuda.upload(a)?,
        b: cuda.upload(b)?,
    }))
}

impl<T: Element> Job for Unfused<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a), device(&mut self.b)], [device(&mut self.y)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let stream = &self.cuda.stream;
        self.multiply.run(stream, [&self.a, &self.b], &mut self.y)?;
        self.sine.run(stream, [&self.a], &mut self.term)?;
        self.add.run(stream, [&self.y, &self.term], &mut self.sum)?;
        self.cosine.run(stream, [&self.b], &mut self.term)?;
        self.add.run(stream, [&self.sum, &self.term], &mut self.y)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.n, self.n, self.cuda.download(&self.y)?)])
    }
}
