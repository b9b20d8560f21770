//! The end of a graph, which the host learns from its own memory: the last kernel of the graph writes a word there, and the
//! host reads it in a loop. That takes less time than `cuStreamSynchronize`.
//!
//! Only graphs end with such a kernel. After calls of a library it would be one more launch, and a write of the word by
//! `cuStreamWriteValue32` was measured to take no less time than `cuStreamSynchronize`.

use std::cell::Cell;

use cudarc::driver::sys::{self, CUresult};
use cudarc::driver::{CudaFunction, CudaStream};

use super::launch::{LaunchShape, Start, enqueue_shaped};
use super::mapped::MappedWords;
use crate::failure::{Result, driver};

/// Reads of the word after which the driver is asked whether the stream is idle, which ends the loop if the work fails.
/// They take a few milliseconds.
const READS_PER_QUERY: u32 = 1 << 16;

/// A word that the device writes when the work before it in the stream is done.
pub(crate) struct Completion {
    word: MappedWords<1>,
    kernel: CudaFunction,
    /// Graphs with the kernel at their end that were launched since the word was cleared.
    graphs: Cell<u32>,
}

impl Completion {
    /// Takes the kernel `signal` of `kernels/measure/timing.cu`. Enqueues it once, because the first launch loads its code, which is
    /// not allowed while a graph is recorded.
    pub(crate) fn new(stream: &CudaStream, kernel: CudaFunction) -> Result<Completion> {
        let word = MappedWords::new(stream.context())?;
        let made = Completion { word, kernel, graphs: Cell::new(0) };
        made.enqueue(stream, Start::InOrder)?;
        Ok(made)
    }

    /// Enqueues the kernel that writes the word, which may start early: the last node of a graph.
    pub(super) fn enqueue(&self, stream: &CudaStream, start: Start) -> Result<()> {
        let shape = LaunchShape { start, ..LaunchShape::of_single_threads(1) };
        // SAFETY: the entry takes (u64*), writes that word, and waits for the kernel before it first. A graph that records
        // this is launched by jobs only, which hold a `Cuda`, which holds the word and the kernel.
        unsafe { enqueue_shaped(stream, &self.kernel, shape, [self.word.address().into()]) }
    }

    /// Counts a graph with the kernel at its end that was launched. Nothing may follow it in the same execution of a job.
    pub(super) fn count_graph(&self) {
        self.graphs.set(self.graphs.get() + 1);
    }

    /// Clears the word. The stream must be idle.
    pub(crate) fn clear(&self) {
        self.word.write(0, 0);
        self.graphs.set(0);
    }

    /// Waits until the work that was enqueued since [`Completion::clear`] is done: by the word if that is one graph, otherwise
    /// by the driver. If the work fails, so does the next call of the driver. Returns whether the word ended the wait.
    pub(crate) fn wait(&self, stream: &CudaStream) -> Result<bool> {
        // The first of several graphs writes the word before the others are done.
        if self.graphs.get() != 1 {
            stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
            return Ok(false);
        }
        let mut reads = 0u32;
        while self.word.read(0) == 0 {
            std::hint::spin_loop();
            reads = reads.wrapping_add(1);
            if reads.is_multiple_of(READS_PER_QUERY) && !is_busy(stream) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns whether the stream has work to do and has not failed.
fn is_busy(stream: &CudaStream) -> bool {
    // SAFETY: the stream is alive.
    unsafe { sys::cuStreamQuery(stream.cu_stream()) == CUresult::CUDA_ERROR_NOT_READY }
}
