//! The ops elementwise, a * b + sin(a) + cos(b), and sin: one fused kernel each, and the chain of kernels of an eager array
//! library.

use gpubench_backend::Prepared;
use gpubench_report::case::{Case, DType};
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::dense::DenseJob;
use super::{Kernel, by_dtype, input, matrix_bytes, opt_in, variant};
use crate::context::{Cuda, DeviceElement};
use crate::ffi::map::Map;
use crate::ffi::replay::Replay;
use crate::kernels::{ByType, KernelSource, kernel_source_by_type};

static FUSED: ByType = kernel_source_by_type!("elementwise/elementwise", "FUSED_");
static STEPS: ByType = kernel_source_by_type!("elementwise/elementwise", "STEPS_");

/// The parts of the kernels that compute one step each: a product, a sum, a sine or a cosine.
pub(super) static STEP_PARTS: [&KernelSource; 2] = [&STEPS.f32, &STEPS.f64];

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        opt_in("elementwise", "fused", "one kernel: two reads and one write per element"),
        &[&FUSED.f32, &FUSED.f64],
        by_dtype!(fused),
    ),
    Kernel::own(
        opt_in("elementwise", "unfused", "five kernels with temporaries, as in an eager library"),
        &STEP_PARTS,
        by_dtype!(unfused),
    ),
    Kernel::own(
        variant("sin", "fused", "one kernel: one read and one write per element"),
        &STEP_PARTS,
        by_dtype!(sine),
    ),
];

/// Threads and elements of a block whose threads take one pack of 16 bytes of float32 elements each, or two of float64.
const PACKS: (u32, usize) = (128, 128 * 4);

/// Loads the kernel of one step for arrays of `len` elements.
pub(super) fn load_step<T: DeviceElement, const INPUTS: usize>(
    cuda: &Cuda,
    name: &str,
    len: usize,
) -> Result<Map<T, T, INPUTS>, CellError> {
    Map::tiled(cuda, STEPS.of(T::DTYPE), &format!("{name}_{}", T::DTYPE), len, PACKS)
}

/// Loads the fused kernel. Few elements take the form with one element per thread.
fn load_fused<T: DeviceElement>(cuda: &Cuda, len: usize) -> Result<Map<T, T, 2>, CellError> {
    const EACH: (u32, usize) = (256, 256);
    let few = cuda.multiprocessors() as usize * few_per_multiprocessor(T::DTYPE);
    let (name, shape) = if len <= few { ("fused_each", EACH) } else { ("fused", PACKS) };
    let map = Map::tiled(cuda, FUSED.of(T::DTYPE), &format!("{name}_{}", T::DTYPE), len, shape)?;
    let streams = 3 * len * size_of::<T>() > 2 * cuda.l2_bytes().unwrap_or(usize::MAX / 2);
    let is_limited = streams && T::DTYPE == DType::F32;
    Ok(if is_limited { map.limited_to(cuda, blocks_that_keep_memory_busy(cuda)) } else { map })
}

/// Returns the number of blocks of the fused kernel in float32 that a multiprocessor needs at the same time to read at the
/// full rate of the memory. More accesses in flight slow the memory down: with 16 blocks instead of 11 an H100 took 1.3 %
/// longer, and an H200, whose memory is faster, took 4 % less.
fn blocks_that_keep_memory_busy(cuda: &Cuda) -> u32 {
    // With this time per access, the result is 11 on an H100 and 16 on an H200.
    const LATENCY_S: f64 = 1.73e-6;
    let bytes_of_block = (2 * PACKS.1 * size_of::<f32>()) as f64;
    let bytes_per_s = cuda.memory_bytes_per_s().unwrap_or(f64::INFINITY) / f64::from(cuda.multiprocessors());
    (bytes_per_s * LATENCY_S / bytes_of_block).ceil() as u32
}

/// Returns the number of elements per multiprocessor up to which one element per thread was measured to be faster on an
/// H200.
fn few_per_multiprocessor(dtype: DType) -> usize {
    match dtype {
        DType::F32 => 3584,
        DType::F64 => 5120,
    }
}

fn fused<T: DeviceElement>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrix_bytes(case, 3))?;
    let kernel = load_fused(cuda, input::<T>(inputs, 0)?.len())?;
    let mut replay = Replay::default();
    let job = DenseJob::<T, 2, _>::new(cuda, case, inputs, move |cuda, [a, b], y| {
        kernel.run_again(cuda, &mut replay, [a, b], y)
    })?;
    Ok(Prepared::new(job))
}

fn unfused<T: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrix_bytes(case, 5))?;
    let len = input::<T>(inputs, 0)?.len();
    let multiply = load_step(cuda, "multiply", len)?;
    let add = load_step(cuda, "add", len)?;
    let sine = load_step(cuda, "sine", len)?;
    let cosine = load_step(cuda, "cosine", len)?;
    let (mut term, mut sum) = (cuda.alloc(len)?, cuda.alloc(len)?);
    let job = DenseJob::<T, 2, _>::new(cuda, case, inputs, move |Cuda { stream, .. }, [a, b], y| {
        // y holds the product first, and the answer at the end.
        multiply.run(stream, [a, b], y)?;
        sine.run(stream, [a], &mut term)?;
        add.run(stream, [y, &term], &mut sum)?;
        cosine.run(stream, [b], &mut term)?;
        add.run(stream, [&sum, &term], y)
    })?;
    Ok(Prepared::new(job))
}

/// Makes the job that computes all sines by one kernel.
pub(super) fn sine<T: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrix_bytes(case, 2))?;
    let kernel = load_step(cuda, "sine", input::<T>(inputs, 0)?.len())?;
    let mut replay = Replay::default();
    let job = DenseJob::<T, 1, _>::new(cuda, case, inputs, move |cuda, [a], y| {
        kernel.run_again(cuda, &mut replay, [a], y)
    })?;
    Ok(Prepared::new(job))
}
