//! Launches of kernels: their shapes, arguments and workspaces.

use std::ffi::c_void;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, result, sys};

use super::status::Status;
use crate::{CellError, Result, driver};

/// Threads per block of kernels without a shape of their own.
pub const BLOCK: u32 = 256;

/// When the blocks of a launch start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// After the previous kernel in the stream has ended, each block as soon as there is room for it.
    InOrder,
    /// As `InOrder`, but all blocks are resident at the same time, so that they can wait for each other (a cooperative
    /// launch).
    Together,
    /// Perhaps before the previous kernel in the stream has ended, for which the kernel itself waits (a programmatic
    /// dependent launch).
    Early,
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks along x and y.
    pub grid: (u32, u32),
    /// Threads per block.
    pub threads: u32,
    /// Bytes of dynamic shared memory per block.
    pub shared: u32,
    /// When the blocks start.
    pub start: Start,
}

impl LaunchShape {
    /// A grid of blocks of [`BLOCK`] threads without dynamic shared memory.
    pub fn of_blocks(grid: (u32, u32)) -> LaunchShape {
        LaunchShape { grid, ..LaunchShape::new(1, BLOCK, 0) }
    }

    /// Blocks along x of that number of threads, with `shared` bytes of dynamic shared memory, which start in order.
    pub fn new(blocks: u32, threads: u32, shared: u32) -> LaunchShape {
        LaunchShape { grid: (blocks, 1), threads, shared, start: Start::InOrder }
    }

    /// Blocks of one thread.
    pub fn of_single_threads(blocks: u32) -> LaunchShape {
        LaunchShape::new(blocks, 1, 0)
    }
}

/// Allows launches of `function` with up to `bytes` of dynamic shared memory; more than 48 KiB needs this call. The
/// limit belongs to the function, which jobs of all sizes share, so it is never lowered.
///
/// # Errors
/// The device has less shared memory per block.
pub fn allow_shared(function: &CudaFunction, bytes: u32) -> Result<()> {
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

/// Enqueues a kernel in any shape.
///
/// # Safety
///
/// As for [`enqueue`]. A grid that starts together may have at most
/// [`resident_blocks`](super::tuning::resident_blocks); the driver rejects larger ones.
/// A kernel that starts early must wait (`griddepcontrol.wait`) before it reads or writes what the previous kernel does.
pub unsafe fn enqueue_shaped<const N: usize>(
    stream: &CudaStream,
    function: &CudaFunction,
    shape: LaunchShape,
    mut arguments: [Argument; N],
) -> Result<()> {
    let parameters = &mut pointers(&mut arguments);
    let LaunchShape { grid: (x, y), threads, shared, start } = shape;
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
pub unsafe fn enqueue<const N: usize>(
    stream: &CudaStream,
    function: &CudaFunction,
    grid: (u32, u32),
    arguments: [Argument; N],
) -> Result<()> {
    // SAFETY: the caller vouches for the arguments.
    unsafe { enqueue_shaped(stream, function, LaunchShape::of_blocks(grid), arguments) }
}

/// An argument of a kernel. The driver reads only the first four bytes of a four-byte argument, which are the right
/// ones because every host that CUDA supports is little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument(u64);

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
pub fn read<T>(stream: &CudaStream, slice: &CudaSlice<T>) -> Argument {
    read_from(stream, slice, 0)
}

/// Passes the address of an array from its element `from` on, which a kernel reads.
pub fn read_from<T>(stream: &CudaStream, slice: &CudaSlice<T>, from: usize) -> Argument {
    Argument(slice.device_ptr(stream).0 + (from * size_of::<T>()) as u64)
}

/// Passes the address of an array that a kernel writes.
pub fn write<T>(stream: &CudaStream, slice: &mut CudaSlice<T>) -> Argument {
    write_from(stream, slice, 0)
}

/// Passes the address of an array from its element `from` on, which a kernel writes.
pub fn write_from<T>(stream: &CudaStream, slice: &mut CudaSlice<T>, from: usize) -> Argument {
    Argument(slice.device_ptr_mut(stream).0 + (from * size_of::<T>()) as u64)
}

/// Converts arguments to the driver's form.
fn pointers<const N: usize>(arguments: &mut [Argument; N]) -> [*mut c_void; N] {
    arguments.each_mut().map(|argument| (&raw mut argument.0).cast())
}

/// Fails if a slice is shorter than the kernel's accesses.
pub fn fits<T>(what: &str, slice: &CudaSlice<T>, needed: usize) -> Result<()> {
    if slice.len() >= needed {
        return Ok(());
    }
    Err(CellError::Failed(format!("{what} has {} elements; the kernel uses {needed}", slice.len())))
}

/// Two workspaces: each launch uses one, which is all zero, and clears the other for the next launch.
pub struct Alternating<W> {
    both: [W; 2],
    next: usize,
}

impl<W> Alternating<W> {
    /// Takes two workspaces. The first launch uses the first.
    pub fn new(both: [W; 2]) -> Self {
        Alternating { both, next: 0 }
    }

    /// Returns the workspace that a launch uses and the one that it clears, and counts the launch.
    pub fn take(&mut self) -> [&mut W; 2] {
        let [zero, one] = &mut self.both;
        let taken = if self.next == 0 { [zero, one] } else { [one, zero] };
        self.next = 1 - self.next;
        taken
    }

    /// Returns the workspace that the last launch used.
    pub fn last(&self) -> &W {
        &self.both[1 - self.next]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_uses_what_the_one_before_cleared() {
        let mut pair = Alternating::new([0, 1]);
        assert_eq!(pair.take(), [&mut 0, &mut 1]);
        assert_eq!(*pair.last(), 0);
        assert_eq!(pair.take(), [&mut 1, &mut 0]);
        assert_eq!(*pair.last(), 1);
        assert_eq!(pair.take(), [&mut 0, &mut 1]);
    }
}
