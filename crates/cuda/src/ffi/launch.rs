//! Launches of the kernels in `kernels/*.cu` as safe functions that check the length of every slice.

use std::ffi::c_void;
use std::marker::PhantomData;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, result};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, driver};
use super::super::kernels::KernelSource;

/// Threads per block of kernels without a shape of their own.
pub(crate) const BLOCK: u32 = 256;

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Blocks along x and y.
    pub(crate) grid: (u32, u32),
    /// Threads per block.
    pub threads: u32,
    /// Bytes of dynamic shared memory per block.
    pub shared: u32,
    /// Whether all blocks must be resident at the same time, so that they can wait for each other.
    pub(crate) cooperative: bool,
}

/// Numbers launches from 1 to 2^30, repeatedly. Blocks that exchange words of memory write the number into them, and so
/// recognise words of earlier launches; memory that was never written has the number 0.
#[derive(Debug, Default)]
pub(crate) struct LaunchNumber(u32);

impl LaunchNumber {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0 % (1 << 30) + 1;
        self.0
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
    let each = function
        .occupancy_max_active_blocks_per_multiprocessor(threads, shared as usize, None)
        .map_err(driver("cuOccupancyMaxActiveBlocksPerMultiprocessor"))?;
    Ok(each.saturating_mul(cuda.multiprocessors()))
}

/// Enqueues a kernel in any shape.
///
/// # Safety
///
/// As for [`enqueue`]. A cooperative grid may have at most [`resident_blocks`]; the driver rejects larger ones.
pub(crate) unsafe fn enqueue_shaped<const N: usize>(
    stream: &CudaStream,
    function: &CudaFunction,
    shape: Shape,
    mut arguments: [Argument; N],
) -> Result<(), CellError> {
    let parameters = &mut pointers(&mut arguments);
    let Shape { grid: (x, y), threads, shared, cooperative } = shape;
    let (function, stream) = (function.cu_function(), stream.cu_stream());
    let (grid, block) = ((x, y, 1), (threads, 1, 1));
    if cooperative {
        // SAFETY: the caller vouches for the arguments; function and stream are alive and of one context.
        unsafe { result::launch_cooperative_kernel(function, grid, block, shared, stream, parameters) }
            .map_err(driver("cuLaunchCooperativeKernel"))
    } else {
        // SAFETY: as above.
        unsafe { result::launch_kernel(function, grid, block, shared, stream, parameters) }
            .map_err(driver("cuLaunchKernel"))
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
    let shape = Shape { grid, threads: BLOCK, shared: 0, cooperative: false };
    // SAFETY: the caller vouches for the arguments.
    unsafe { enqueue_shaped(stream, function, shape, arguments) }
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
    let shape = Shape { grid: (blocks, 1), threads: 1, shared: 0, cooperative: false };
    // SAFETY: the caller vouches for the arguments.
    unsafe { enqueue_shaped(stream, function, shape, arguments) }
}

/// An argument of a kernel. The driver reads only the first four bytes of a four-byte argument, which are the right
/// ones because every host that CUDA supports is little-endian.
#[derive(Clone, Copy)]
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
pub(crate) fn pointers<const N: usize>(arguments: &mut [Argument; N]) -> [*mut c_void; N] {
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

/// A kernel of signature `([const A* x, [const A* y,]] B* out, u64 n)` that maps `INPUTS` arrays to one.
pub(crate) struct Map<A, B, const INPUTS: usize> {
    function: CudaFunction,
    shape: Shape,
    len: usize,
    elements: PhantomData<(A, B)>,
}

impl<A, B, const INPUTS: usize> Map<A, B, INPUTS> {
    /// Loads `entry`, which must have the signature above and a grid-stride loop over all `len` elements.
    pub(crate) fn load(
        cuda: &Cuda,
        source: &'static KernelSource,
        entry: &str,
        len: usize,
    ) -> Result<Self, CellError> {
        let function = cuda.function(source, entry)?;
        let items = len.div_ceil(16 / size_of::<A>().min(16));
        let shape = Shape { grid: (grid(cuda, items), 1), threads: BLOCK, shared: 0, cooperative: false };
        Ok(Map { function, shape, len, elements: PhantomData })
    }

    /// Loads `entry`, which must have the signature above, blocks of `threads` threads and `tile` elements per block.
    pub(crate) fn tiled(
        cuda: &Cuda,
        source: &'static KernelSource,
        entry: &str,
        len: usize,
        (threads, tile): (u32, usize),
    ) -> Result<Self, CellError> {
        let function = cuda.function(source, entry)?;
        let blocks =
            i32::try_from(len.div_ceil(tile).max(1)).map_err(|error| CellError::call(entry, error))?;
        let shape = Shape { grid: (blocks.unsigned_abs(), 1), threads, shared: 0, cooperative: false };
        Ok(Map { function, shape, len, elements: PhantomData })
    }

    pub(crate) fn run(
        &self,
        stream: &CudaStream,
        inputs: [&CudaSlice<A>; INPUTS],
        output: &mut CudaSlice<B>,
    ) -> Result<(), CellError> {
        for input in inputs {
            fits("an input", input, self.len)?;
        }
        fits("the output", output, self.len)?;
        const { assert!(INPUTS <= 2) };
        // Two inputs, the output and the count; an array, so that a launch allocates nothing.
        let mut arguments = [Argument(0); 4];
        let values = inputs.map(|input| read(stream, input)).into_iter();
        let values = values.chain([write(stream, output), (self.len as u64).into()]);
        arguments.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
        // SAFETY: the entry has this signature by the contract of `load`; each array holds `len` elements.
        unsafe { enqueue_shaped(stream, &self.function, self.shape, arguments) }
    }
}
