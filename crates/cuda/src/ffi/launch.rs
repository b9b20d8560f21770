//! Launches of the kernels in `kernels/*.cu` as safe functions that check the length of every slice.

use std::ffi::c_void;

use cudarc::driver::sys::CUfunction_attribute::{
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
};
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, result, sys};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, driver};
use super::status::Status;

/// Threads per block of kernels without a shape of their own.
pub(crate) const BLOCK: u32 = 256;

/// When the blocks of a launch start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// After the previous kernel in the stream has ended, each block as soon as there is room for it.
    InOrder,
    /// As `InOrder`, but all blocks are resident at the same time, so that they can wait for each other (a cooperative
    /// launch).
    Together,
    /// Perhaps before the previous kernel in the stream has ended, for which the kernel itself waits (a programmatic
    /// dependent launch).
    Early,
}

impl Start {
    /// The first compute capability with [`Start::Early`].
    const FIRST_WITH_EARLY: i32 = 90;

    /// Returns the earliest start that the device supports for a kernel that waits for the one before it.
    pub(crate) fn earliest(cuda: &Cuda) -> Start {
        let early = cuda.capability().is_some_and(|chip| chip >= Start::FIRST_WITH_EARLY);
        if early { Start::Early } else { Start::InOrder }
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Blocks along x and y.
    pub(crate) grid: (u32, u32),
    /// Threads per block.
    pub threads: u32,
    /// Bytes of dynamic shared memory per block.
    pub shared: u32,
    /// When the blocks start.
    pub(crate) start: Start,
}

impl Shape {
    /// A grid of blocks of [`BLOCK`] threads without dynamic shared memory.
    pub(crate) fn of_blocks(grid: (u32, u32)) -> Shape {
        Shape { grid, threads: BLOCK, shared: 0, start: Start::InOrder }
    }

    /// Blocks of one thread.
    pub(crate) fn of_single_threads(blocks: u32) -> Shape {
        Shape { threads: 1, ..Shape::of_blocks((blocks, 1)) }
    }
}

/// Allows launches of `function` with up to `bytes` of dynamic shared memory; more than 48 KiB needs this call. The
/// limit belongs to the function, which jobs of all sizes share, so it is never lowered.
///
/// # Errors
/// The device has less shared memory per block.
pub(crate) fn allow_shared(function: &CudaFunction, bytes: u32) -> Result<(), CellError> {
    let bytes = i32::try_from(bytes).map_err(|error| CellError::call("cuFuncSetAttribute", error))?;
    let allowed = function
        .get_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        .map_err(driver("cuFuncGetAttribute"))?;
    if bytes <= allowed {
        return Ok(());
    }
    function
        .set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
        .map_err(driver("cuFuncSetAttribute"))
}

/// Returns the most blocks of that shape that the whole device can run at the same time, which is the largest
/// cooperative grid. Returns 0 if the device does not support cooperative launches.
///
/// # Errors
/// The driver rejects the shape.
pub(crate) fn resident_blocks(
    cuda: &Cuda,
    function: &CudaFunction,
    threads: u32,
    shared: u32,
) -> Result<u32, CellError> {
    if !cuda.launches_cooperatively() {
        return Ok(0);
    }
    Ok(blocks_per_multiprocessor(function, threads, shared)?.saturating_mul(cuda.multiprocessors()))
}

/// Returns the most blocks of that shape that a multiprocessor can run at the same time.
fn blocks_per_multiprocessor(function: &CudaFunction, threads: u32, shared: u32) -> Result<u32, CellError> {
    function
        .occupancy_max_active_blocks_per_multiprocessor(threads, shared as usize, None)
        .map_err(driver("cuOccupancyMaxActiveBlocksPerMultiprocessor"))
}

/// Divides the memory of a multiprocessor into L1 cache and shared memory in the same way for two kernels that follow
/// each other. The driver's own choice for each may differ, and the second kernel then waits for the change.
///
/// Requests as much shared memory as the kernel that needs more. If each has at most one block per multiprocessor and the
/// second may start early, it requests the sum: then blocks of both run at the same time.
///
/// # Errors
/// The driver rejects a shape.
pub(crate) fn divide_equally(cuda: &Cuda, kernels: [(&CudaFunction, Shape); 2]) -> Result<(), CellError> {
    /// What the driver takes per block besides its dynamic shared memory.
    const RESERVED: u32 = 1024;
    let (available, multiprocessors) = (cuda.shared_memory_per_multiprocessor(), cuda.multiprocessors());
    let needs = |(function, shape): (&CudaFunction, Shape)| -> Result<u32, CellError> {
        let resident = blocks_per_multiprocessor(function, shape.threads, shape.shared)?;
        Ok(shape.grid.0.div_ceil(multiprocessors).min(resident) * (shape.shared + RESERVED))
    };
    let [first, second] = kernels;
    let needed = [needs(first)?, needs(second)?];
    let at_the_same_time =
        second.1.start == Start::Early && kernels.iter().all(|(_, shape)| shape.grid.0 <= multiprocessors);
    let needed = if at_the_same_time { needed[0] + needed[1] } else { needed[0].max(needed[1]) };
    for (function, _) in kernels {
        function
            .set_attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent(needed, available))
            .map_err(driver("cuFuncSetAttribute"))?;
    }
    Ok(())
}

/// Returns how many percent of `whole` are at least `part`, and 100 where there is not enough.
fn percent(part: u32, whole: u32) -> i32 {
    if part >= whole { 100 } else { (100 * part).div_ceil(whole).cast_signed() }
}

/// Enqueues a kernel in any shape.
///
/// # Safety
///
/// As for [`enqueue`]. A grid that starts together may have at most [`resident_blocks`]; the driver rejects larger ones.
/// A kernel that starts early must wait (`griddepcontrol.wait`) before it reads or writes what the previous kernel does.
pub(crate) unsafe fn enqueue_shaped<const N: usize>(
    stream: &CudaStream,
    function: &CudaFunction,
    shape: Shape,
    mut arguments: [Argument; N],
) -> Result<(), CellError> {
    let parameters = &mut pointers(&mut arguments);
    let Shape { grid: (x, y), threads, shared, start } = shape;
    let (function, stream) = (function.cu_function(), stream.cu_stream());
    let (grid, block) = ((x, y, 1), (threads, 1, 1));
    match start {
        Start::InOrder => {
            // SAFETY: the caller vouches for the arguments; function and stream are alive and of one context.
            unsafe { result::launch_kernel(function, grid, block, shared, stream, parameters) }
                .map_err(driver("cuLaunchKernel"))
        }
        Start::Together => {
            // SAFETY: as above.
            unsafe { result::launch_cooperative_kernel(function, grid, block, shared, stream, parameters) }
                .map_err(driver("cuLaunchCooperativeKernel"))
        }
        Start::Early => {
            let mut attribute = sys::CUlaunchAttribute {
                id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                pad: [0; 4],
                value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
            };
            let config = sys::CUlaunchConfig {
                gridDimX: x,
                gridDimY: y,
                gridDimZ: 1,
                blockDimX: threads,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: shared,
                hStream: stream,
                attrs: &raw mut attribute,
                numAttrs: 1,
            };
            let (parameters, extra) = (parameters.as_mut_ptr(), std::ptr::null_mut());
            // SAFETY: as above; the configuration and its attribute are alive.
            let status = unsafe { sys::cuLaunchKernelEx(&raw const config, function, parameters, extra) };
            let status = Status::from(status);
            if status.is_success() { Ok(()) } else { Err(driver("cuLaunchKernelEx")(status)) }
        }
    }
}

/// Enqueues a kernel with arguments on the stack, which is the cheapest launch.
///
/// # Safety
///
/// `arguments` must begin with the arguments of the kernel's signature, in order and type; the driver reads no
/// others. Every device address must be valid for the kernel's accesses until the stream has passed the kernel.
pub(crate) unsafe fn enqueue<const N: usize>(
    stream: &CudaStream,
    function: &CudaFunction,
    grid: (u32, u32),
    arguments: [Argument; N],
) -> Result<(), CellError> {
    // SAFETY: the caller vouches for the arguments.
    unsafe { enqueue_shaped(stream, function, Shape::of_blocks(grid), arguments) }
}

/// Enqueues `blocks` blocks of one thread.
///
/// # Safety
///
/// As for [`enqueue`].
pub(crate) unsafe fn enqueue_single<const N: usize>(
    stream: &CudaStream,
    function: &CudaFunction,
    blocks: u32,
    arguments: [Argument; N],
) -> Result<(), CellError> {
    // SAFETY: the caller vouches for the arguments.
    unsafe { enqueue_shaped(stream, function, Shape::of_single_threads(blocks), arguments) }
}

/// An argument of a kernel. The driver reads only the first four bytes of a four-byte argument, which are the right
/// ones because every host that CUDA supports is little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Argument(u64);

impl From<u64> for Argument {
    fn from(value: u64) -> Self {
        Argument(value)
    }
}

impl From<u32> for Argument {
    fn from(value: u32) -> Self {
        Argument(value.into())
    }
}

impl From<i32> for Argument {
    fn from(value: i32) -> Self {
        value.cast_unsigned().into()
    }
}

impl From<f64> for Argument {
    fn from(value: f64) -> Self {
        Argument(value.to_bits())
    }
}

/// Passes the address of an array that a kernel reads.
pub(crate) fn read<T>(stream: &CudaStream, slice: &CudaSlice<T>) -> Argument {
    read_from(stream, slice, 0)
}

/// Passes the address of an array from its element `from` on, which a kernel reads.
pub(crate) fn read_from<T>(stream: &CudaStream, slice: &CudaSlice<T>, from: usize) -> Argument {
    Argument(slice.device_ptr(stream).0 + (from * size_of::<T>()) as u64)
}

/// Passes the address of an array that a kernel writes.
pub(crate) fn write<T>(stream: &CudaStream, slice: &mut CudaSlice<T>) -> Argument {
    write_from(stream, slice, 0)
}

/// Passes the address of an array from its element `from` on, which a kernel writes.
pub(crate) fn write_from<T>(stream: &CudaStream, slice: &mut CudaSlice<T>, from: usize) -> Argument {
    Argument(slice.device_ptr_mut(stream).0 + (from * size_of::<T>()) as u64)
}

/// Converts arguments to the driver's form.
fn pointers<const N: usize>(arguments: &mut [Argument; N]) -> [*mut c_void; N] {
    arguments.each_mut().map(|argument| (&raw mut argument.0).cast())
}

/// Fails if a slice is shorter than the kernel's accesses.
pub(crate) fn fits<T>(what: &str, slice: &CudaSlice<T>, needed: usize) -> Result<(), CellError> {
    if slice.len() >= needed {
        return Ok(());
    }
    Err(CellError::Failed(format!("{what} has {} elements; the kernel uses {needed}", slice.len())))
}

/// Returns the blocks for a grid-stride loop over `items`, one per thread and step: enough to fill the device.
pub(crate) fn grid(cuda: &Cuda, items: usize) -> u32 {
    const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
    let blocks = u32::try_from(items.div_ceil(BLOCK as usize)).unwrap_or(u32::MAX);
    blocks.clamp(1, cuda.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentage_is_enough_and_at_most_everything() {
        assert_eq!(
            [0, 1, 2334, 2335, 233_472, 300_000].map(|part| percent(part, 233_472)),
            [0, 1, 1, 2, 100, 100]
        );
        assert_eq!(percent(5, 0), 100);
    }
}
