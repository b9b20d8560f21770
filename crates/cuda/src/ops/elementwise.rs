//! The ops elementwise, a * b + sin(a) + cos(b), and sin, by kernels that any CUDA programmer writes; and kernels of one step each, such
//! as a sine, which other ops use too.

use gpubench_backend::Prepared;
use gpubench_report::case::DType;

use super::dense::{Resident, matrix};
use super::{by_real, shaped_of_types};
use crate::ffi::map::Map;
use crate::ffi::replay::Replay;
use crate::kernels::{ByType, KernelSource, kernel_source, kernel_source_by_type};
use crate::{Cuda, DeviceElement, DeviceValue, Kernel, Result, Setup, by_dtype, variant};

static PLAIN: KernelSource = kernel_source!("elementwise/plain");
static STEPS: ByType = kernel_source_by_type!("elementwise/elementwise", "STEPS_");

/// The parts of the kernels that compute one step each: a product, a sum, a sine or a cosine.
pub static STEP_PARTS: [&KernelSource; 2] = [&STEPS.f32, &STEPS.f64];

pub(super) static KERNELS: &[Kernel] = &[
    Kernel::own(
        shaped_of_types(
            "elementwise",
            "plain",
            "one element per thread, CUDA's sine and cosine",
            DType::REAL_AND_HALF,
        ),
        &[&PLAIN],
        by_real!(plain_elementwise),
    ),
    Kernel::own(
        variant("sin", "plain", "one element per thread, CUDA's sine"),
        &[&PLAIN],
        by_dtype!(plain_sine),
    ),
];

fn plain_elementwise<T: DeviceValue>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    plain::<T, 2>(setup, "elementwise")
}

fn plain_sine<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    plain::<T, 1>(setup, "sine")
}

fn plain<T: DeviceValue, const INPUTS: usize>(setup: Setup<'_>, name: &str) -> Result<Box<Prepared>> {
    /// Threads per block; each has one element.
    const THREADS: u32 = 256;
    setup.reserve_matrices(INPUTS as u128 + 1)?;
    let (len, shape) = (setup.input::<T>(0)?.len(), (THREADS, THREADS as usize));
    let entry = format!("{name}_{}", T::DTYPE);
    let kernel = Map::<T::Stored, T::Stored, INPUTS>::tiled(setup.cuda, &PLAIN, &entry, len, shape)?;
    let arrays = Resident::<T, T, INPUTS>::like_first(setup)?;
    Ok(arrays.job(matrix::<T>, move |cuda, inputs, y| kernel.run(&cuda.stream, inputs.each_ref(), y)))
}

/// Threads and elements of a block whose threads take one pack of 16 bytes of float32 elements each, or two of float64.
pub const PACKS: (u32, usize) = (128, 128 * 4);

/// Loads the kernel of one step for arrays of `len` elements: `multiply` or `add`, of two arrays, or `sine` or `cosine`, of one.
pub fn load_step<T: DeviceElement, const INPUTS: usize>(
    cuda: &Cuda,
    name: &str,
    len: usize,
) -> Result<Map<T, T, INPUTS>> {
    Map::tiled(cuda, STEPS.of(T::DTYPE), &format!("{name}_{}", T::DTYPE), len, PACKS)
}

/// Makes the job that computes all sines by one kernel.
pub fn sine<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    setup.reserve_matrices(2)?;
    let kernel = load_step(setup.cuda, "sine", setup.input::<T>(0)?.len())?;
    let mut replay = Replay::default();
    let arrays = Resident::<T, T, 1>::like_first(setup)?;
    Ok(arrays.job(matrix::<T>, move |cuda, [a], y| kernel.run_again(cuda, &mut replay, [a], y)))
}
