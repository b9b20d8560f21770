//! Kernels that map arrays to one, element by element, as safe functions that check the length of every array.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};

use super::launch::{Argument, LaunchShape, enqueue_shaped, fits, read, write};
use super::replay::{Launch, Replay};
use super::tuning::grid;
use crate::{CellError, Cuda, KernelSource, Result};

/// Bytes of shared memory that the system takes in each block, for compute capability 8.0 and later.
const SYSTEM_SHARED: u32 = 1 << 10;

/// Bytes of shared memory to a multiple of which the request of a block is rounded up.
const SHARED_UNIT: u32 = 128;

/// A kernel of signature `([const A* x, [const A* y,]] B* out, u64 n)` that maps `INPUTS` arrays to one.
pub struct Map<A, B, const INPUTS: usize> {
    function: CudaFunction,
    shape: LaunchShape,
    len: usize,
    elements: PhantomData<(A, B)>,
}

impl<A, B, const INPUTS: usize> Map<A, B, INPUTS> {
    /// Loads `entry`, which must have the signature above and a grid-stride loop over all `len` elements.
    pub fn load(cuda: &Cuda, source: &'static KernelSource, entry: &str, len: usize) -> Result<Self> {
        let function = cuda.function(source, entry)?;
        let items = len.div_ceil(16 / size_of::<A>().min(16));
        let shape = LaunchShape::of_blocks((grid(cuda, items), 1));
        Ok(Map { function, shape, len, elements: PhantomData })
    }

    /// Loads `entry`, which must have the signature above, blocks of `threads` threads and `tile` elements per block.
    pub fn tiled(
        cuda: &Cuda,
        source: &'static KernelSource,
        entry: &str,
        len: usize,
        (threads, tile): (u32, usize),
    ) -> Result<Self> {
        let function = cuda.function(source, entry)?;
        let blocks =
            i32::try_from(len.div_ceil(tile).max(1)).map_err(|error| CellError::call(entry, error))?;
        let shape = LaunchShape::new(blocks.unsigned_abs(), threads, 0);
        Ok(Map { function, shape, len, elements: PhantomData })
    }

    /// Lets at most `blocks` blocks run on a multiprocessor at the same time, by shared memory that they do not use. That
    /// memory is taken from the first-level cache, so none is requested if threads limit the blocks to as few.
    pub fn limited_to(mut self, cuda: &Cuda, blocks: u32) -> Self {
        if blocks.saturating_mul(self.shape.threads) < cuda.threads_per_multiprocessor() {
            let share = cuda.shared_memory_per_multiprocessor() / blocks.max(1);
            // Part of a block's share is the system's. More than every kernel may request would need a call of the driver.
            let request = share.saturating_sub(SYSTEM_SHARED).min(48 << 10);
            self.shape.shared = request / SHARED_UNIT * SHARED_UNIT;
        }
        self
    }

    /// Enqueues the kernel.
    pub fn run(
        &self,
        stream: &CudaStream,
        inputs: [&CudaSlice<A>; INPUTS],
        output: &mut CudaSlice<B>,
    ) -> Result<()> {
        let arguments = self.arguments(stream, inputs, output)?;
        // SAFETY: the entry has this signature by the contract of `load`; `arguments` checked the lengths.
        unsafe { enqueue_shaped(stream, &self.function, self.shape, arguments) }
    }

    /// Enqueues the kernel, by a replay if it ran on these arrays before.
    pub fn run_again(
        &self,
        cuda: &Cuda,
        replay: &mut Replay,
        inputs: [&CudaSlice<A>; INPUTS],
        output: &mut CudaSlice<B>,
    ) -> Result<()> {
        let arguments = self.arguments(&cuda.stream, inputs, output)?;
        // SAFETY: as for `run`.
        unsafe { replay.run(cuda, [Launch::new(&self.function, self.shape, arguments)]) }
    }

    /// Returns up to two inputs, the output and the count; an array, so that a launch allocates nothing.
    fn arguments(
        &self,
        stream: &CudaStream,
        inputs: [&CudaSlice<A>; INPUTS],
        output: &mut CudaSlice<B>,
    ) -> Result<[Argument; 4]> {
        for input in inputs {
            fits("an input", input, self.len)?;
        }
        fits("the output", output, self.len)?;
        const { assert!(INPUTS <= 2) };
        let mut arguments = [Argument::from(0u64); 4];
        let values = inputs.map(|input| read(stream, input)).into_iter();
        let values = values.chain([write(stream, output), (self.len as u64).into()]);
        arguments.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
        Ok(arguments)
    }
}
