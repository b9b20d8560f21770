//! The ops elementwise, a * b + sin(a) + cos(b), and sin: one fused kernel each, and the chain of kernels of an eager array
//! library.

use cudarc::driver::CudaSlice;
use gpubench_backend::Prepared;
use gpubench_cuda::ffi::map::Map;
use gpubench_cuda::ffi::replay::Replay;
use gpubench_cuda::ops::dense::{Resident, matrix};
use gpubench_cuda::ops::elementwise::{PACKS, STEP_PARTS, load_step, sine};
use gpubench_cuda::ops::{Kernel, Setup, by_dtype, shaped_opt_in, variant};
use gpubench_cuda::{ByType, Cuda, DeviceElement, Result, kernel_source_by_type};
use gpubench_report::case::DType;

static FUSED: ByType = kernel_source_by_type!("elementwise/elementwise", "FUSED_");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        shaped_opt_in("elementwise", "fused", "one kernel: two reads and one write per element"),
        &[&FUSED.f32, &FUSED.f64],
        by_dtype!(fused),
    ),
    Kernel::own(
        shaped_opt_in("elementwise", "unfused", "five kernels with temporaries, as in an eager library"),
        &STEP_PARTS,
        by_dtype!(unfused),
    ),
    Kernel::own(
        variant("sin", "fused", "one kernel: one read and one write per element"),
        &STEP_PARTS,
        by_dtype!(sine),
    ),
];

/// `y = a * b + sin(a) + cos(b)`, element by element, in one kernel.
pub struct FusedElementwise<T> {
    cuda: Cuda,
    map: Map<T, T, 2>,
    replay: Replay,
}

impl<T: DeviceElement> FusedElementwise<T> {
    /// Loads the kernel for arrays of `len` elements. Few elements take the form with one element per thread.
    ///
    /// # Errors
    /// The kernel cannot be compiled, or `len` is too large for one launch.
    pub fn new(cuda: &Cuda, len: usize) -> Result<Self> {
        const EACH: (u32, usize) = (256, 256);
        let few = cuda.multiprocessors() as usize * few_per_multiprocessor(T::DTYPE);
        let (name, shape) = if len <= few { ("fused_each", EACH) } else { ("fused", PACKS) };
        let map = Map::tiled(cuda, FUSED.of(T::DTYPE), &format!("{name}_{}", T::DTYPE), len, shape)?;
        let streams = 3 * len * size_of::<T>() > 2 * cuda.l2_bytes().unwrap_or(usize::MAX / 2);
        let is_limited = streams && T::DTYPE == DType::F32;
        let map = if is_limited { map.limited_to(cuda, blocks_that_keep_memory_busy(cuda)) } else { map };
        Ok(FusedElementwise { cuda: cuda.clone(), map, replay: Replay::default() })
    }

    /// Enqueues the computation of `y`.
    ///
    /// # Errors
    /// An array has fewer elements than [`FusedElementwise::new`] was given, or the device fails.
    pub fn run(&mut self, operands: [&CudaSlice<T>; 2], y: &mut CudaSlice<T>) -> Result<()> {
        self.map.run_again(&self.cuda, &mut self.replay, operands, y)
    }
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
        DType::F64 => 5120,
        _ => 3584,
    }
}

fn fused<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    setup.reserve_matrices(3)?;
    let mut kernel = FusedElementwise::new(setup.cuda, setup.input::<T>(0)?.len())?;
    Ok(Resident::<T, T, 2>::like_first(setup)?.job(matrix::<T>, move |_, [a, b], y| kernel.run([a, b], y)))
}

fn unfused<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    setup.reserve_matrices(5)?;
    let (cuda, len) = (setup.cuda, setup.input::<T>(0)?.len());
    let multiply = load_step(cuda, "multiply", len)?;
    let add = load_step(cuda, "add", len)?;
    let sine = load_step(cuda, "sine", len)?;
    let cosine = load_step(cuda, "cosine", len)?;
    let (mut term, mut sum) = (cuda.alloc(len)?, cuda.alloc(len)?);
    Ok(Resident::<T, T, 2>::like_first(setup)?.job(matrix::<T>, move |Cuda { stream, .. }, [a, b], y| {
        // y holds the product first, and the answer at the end.
        multiply.run(stream, [a, b], y)?;
        sine.run(stream, [a], &mut term)?;
        add.run(stream, [y, &term], &mut sum)?;
        cosine.run(stream, [b], &mut term)?;
        add.run(stream, [&sum, &term], y)
    }))
}
