//! The op elementwise, a * b + sin(a) + cos(b): one fused kernel, and the chain of kernels of an eager array library.

use gpubench_backend::Prepared;
use gpubench_model::case::{Case, DType};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::dense::Dense;
use super::entry::by_dtype;
use super::{Kernel, input, matrix_bytes, opt_in};
use crate::context::{Cuda, Element};
use crate::ffi::launch::Map;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("elementwise");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: opt_in("elementwise", "fused", "one kernel: two reads and one write per element"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: by_dtype!(fused),
    },
    Kernel {
        variant: opt_in("elementwise", "unfused", "five kernels with temporaries, as in an eager library"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: by_dtype!(unfused),
    },
];

/// Loads a kernel of `kernels/elementwise.cu` for arrays of `len` elements. Its blocks have 128 threads; each thread
/// takes one pack of 16 bytes of float32 elements, or two of float64.
pub(super) fn load<T: Element, const INPUTS: usize>(
    cuda: &Cuda,
    name: &str,
    len: usize,
) -> Result<Map<T, T, INPUTS>, CellError> {
    const THREADS: u32 = 128;
    const ELEMENTS_PER_THREAD: usize = 4;
    let tile = THREADS as usize * ELEMENTS_PER_THREAD;
    Map::tiled(cuda, &SOURCE, &format!("{name}_{}", T::DTYPE), len, (THREADS, tile))
}

/// Loads the fused kernel. Few elements take the form with one element per thread.
fn load_fused<T: Element>(cuda: &Cuda, len: usize) -> Result<Map<T, T, 2>, CellError> {
    const THREADS: u32 = 256;
    let few = cuda.multiprocessors() as usize * few_per_multiprocessor(T::DTYPE);
    if len > few {
        return load(cuda, "fused", len);
    }
    Map::tiled(cuda, &SOURCE, &format!("fused_each_{}", T::DTYPE), len, (THREADS, THREADS as usize))
}

/// Returns the number of elements per multiprocessor up to which one element per thread was measured to be faster on an
/// H200. A multiprocessor has 2048 threads.
fn few_per_multiprocessor(dtype: DType) -> usize {
    match dtype {
        DType::F32 => 2048,
        DType::F64 => 4 * 2048,
    }
}

fn fused<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrix_bytes(case, 3))?;
    let kernel = load_fused(cuda, input::<T>(inputs, 0)?.len())?;
    let job = Dense::<T, 2, _>::new(cuda, case, inputs, move |cuda, [a, b], y| {
        kernel.run(&cuda.stream, [a, b], y)
    })?;
    Ok(Prepared::new(job))
}

fn unfused<T: Element>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrix_bytes(case, 5))?;
    let len = input::<T>(inputs, 0)?.len();
    let multiply = load(cuda, "multiply", len)?;
    let add = load(cuda, "add", len)?;
    let sine = load(cuda, "sine", len)?;
    let cosine = load(cuda, "cosine", len)?;
    let (mut term, mut sum) = (cuda.alloc(len)?, cuda.alloc(len)?);
    let job = Dense::<T, 2, _>::new(cuda, case, inputs, move |Cuda { stream, .. }, [a, b], y| {
        // y holds the product first, and the answer at the end.
        multiply.run(stream, [a, b], y)?;
        sine.run(stream, [a], &mut term)?;
        add.run(stream, [y, &term], &mut sum)?;
        cosine.run(stream, [b], &mut term)?;
        add.run(stream, [&sum, &term], y)
    })?;
    Ok(Prepared::new(job))
}
