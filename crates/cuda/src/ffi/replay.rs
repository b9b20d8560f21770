//! Work that a job enqueues repeatedly, as one launch of a CUDA graph: own kernels, or also calls of libraries.
//!
//! API: <https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__GRAPH.html>.

use cudarc::driver::sys::{CUdeviceptr, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaFunction, CudaGraph, CudaStream};

use super::launch::{Argument, LaunchShape, Start, enqueue_shaped};
use super::tuning::earliest_start;
use crate::{CellError, Cuda, Result, driver};

/// Most arguments of a kernel that can be replayed.
const MAX_ARGUMENTS: usize = 16;

/// A kernel, the shape of its launch and its arguments.
pub struct Launch<'a> {
    function: &'a CudaFunction,
    shape: LaunchShape,
    /// The arguments of the kernel, then unused ones, which the driver does not read.
    arguments: [Argument; MAX_ARGUMENTS],
}

impl<'a> Launch<'a> {
    /// Describes a launch of `function` with those arguments.
    pub fn new<const N: usize>(
        function: &'a CudaFunction,
        shape: LaunchShape,
        given: [Argument; N],
    ) -> Launch<'a> {
        const { assert!(N <= MAX_ARGUMENTS) };
        let mut arguments = [Argument::from(0u64); MAX_ARGUMENTS];
        arguments[..N].copy_from_slice(&given);
        Launch { function, shape, arguments }
    }
}

/// The graphs of work that is enqueued repeatedly, each with the key that identifies the work.
struct Graphs<K, G> {
    /// Whether the work has been enqueued. The first time loads code, which is not allowed during a capture.
    is_loaded: bool,
    /// `None` if no graph could be made.
    known: Vec<(K, Option<G>)>,
}

impl<K, G> Default for Graphs<K, G> {
    fn default() -> Graphs<K, G> {
        Graphs { is_loaded: false, known: Vec::new() }
    }
}

impl<K, G> Graphs<K, G> {
    /// The maximum number of graphs: a job may swap two arrays in each execution. Other work is enqueued without a graph.
    const MAX_KNOWN: usize = 2;

    /// Returns the graph whose key `is_same`, and makes it if there is none yet. Returns `None` if the work must be enqueued
    /// without a graph, as it must be for the first time.
    fn graph(&mut self, is_same: impl Fn(&K) -> bool, record: impl FnOnce() -> (K, Option<G>)) -> Option<&G> {
        if !std::mem::replace(&mut self.is_loaded, true) {
            return None;
        }
        let index = match self.known.iter().position(|(key, _)| is_same(key)) {
            Some(index) => index,
            None if self.known.len() < Self::MAX_KNOWN => {
                self.known.push(record());
                self.known.len() - 1
            }
            None => return None,
        };
        self.known[index].1.as_ref()
    }
}

/// The kernels of one execution of a job, which enqueues nothing after them. After the first execution they are launched
/// as a graph, which takes the host less time than launching each. The graph ends with the kernel of
/// `Completion`.
#[derive(Default)]
pub struct Replay {
    graphs: Graphs<Launches, Recorded>,
}

/// Launches with their functions, which stay loaded so that no other function gets the same handle.
struct Launches(Vec<(CudaFunction, LaunchShape, [Argument; MAX_ARGUMENTS])>);

struct Recorded {
    graph: CudaGraph,
    /// Whether the graph ends with the kernel that the host waits for, which some drivers cannot record.
    signals: bool,
}

impl Replay {
    /// Enqueues the launches.
    ///
    /// # Safety
    ///
    /// As for [`enqueue_shaped`], for each of them. A graph is only launched if its arguments are those that the caller
    /// vouches for now.
    pub unsafe fn run<const N: usize>(&mut self, cuda: &Cuda, launches: [Launch<'_>; N]) -> Result<()> {
        // SAFETY: the caller vouches for the launches.
        let one_by_one = || unsafe { enqueue_each(&cuda.stream, &launches) };
        if !cuda.replays() {
            return one_by_one();
        }
        let record = || (Launches::new(&launches), Recorded::new(cuda, one_by_one));
        let graph = self.graphs.graph(|known| known.are(&launches), record);
        let Some(Recorded { graph, signals }) = graph else { return one_by_one() };
        graph.launch().map_err(driver("cuGraphLaunch"))?;
        if let Some(completion) = cuda.completion().filter(|_| *signals) {
            completion.count_graph();
        }
        Ok(())
    }
}

impl Launches {
    fn new(launches: &[Launch<'_>]) -> Launches {
        let owned = |launch: &Launch<'_>| (launch.function.clone(), launch.shape, launch.arguments);
        Launches(launches.iter().map(owned).collect())
    }

    /// Returns whether they are the same launches.
    fn are(&self, launches: &[Launch<'_>]) -> bool {
        let same =
            |((function, shape, arguments), launch): (&(CudaFunction, LaunchShape, _), &Launch<'_>)| {
                function.cu_function() == launch.function.cu_function()
                    && *shape == launch.shape
                    && *arguments == launch.arguments
            };
        self.0.len() == launches.len() && self.0.iter().zip(launches).all(same)
    }
}

impl Recorded {
    /// Records what `enqueue` enqueues; `None` if no graph can be made of it.
    fn new(cuda: &Cuda, enqueue: impl Fn() -> Result<()>) -> Option<Recorded> {
        // Graphs have early starts since CUDA 12.3.
        let mut starts = [earliest_start(cuda), Start::InOrder].into_iter();
        let signalling = cuda.completion().and_then(|completion| {
            let with =
                |start| capture(cuda, || enqueue().and_then(|()| completion.enqueue(&cuda.stream, start)));
            Some(Recorded { graph: starts.find_map(|start| with(start).ok())?, signals: true })
        });
        let silent = || Some(Recorded { graph: capture(cuda, &enqueue).ok()?, signals: false });
        signalling.or_else(silent)
    }
}

/// A part of a job's execution that is enqueued repeatedly, and may call libraries. After the first time it is launched as a
/// graph. Unlike those of [`Replay`], its graphs do not end with a kernel for the host, so anything may follow them.
#[derive(Default)]
pub struct Recording {
    /// By the memory that they use.
    graphs: Graphs<Vec<CUdeviceptr>, CudaGraph>,
}

impl Recording {
    /// Enqueues the part. `memory` has the addresses of the arrays that the job may swap between calls.
    ///
    /// # Safety
    ///
    /// `enqueue` enqueues the same work whenever `memory` is the same. All memory that the work uses, whether `memory` names it or
    /// not, stays allocated as long as the recording: a graph launched later reads and writes the addresses of its first run.
    pub unsafe fn run(
        &mut self,
        cuda: &Cuda,
        memory: &[CUdeviceptr],
        mut enqueue: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        let record = || (memory.to_vec(), capture(cuda, &mut enqueue).ok());
        match self.graphs.graph(|known| known == memory, record) {
            Some(graph) => graph.launch().map_err(driver("cuGraphLaunch")),
            None => enqueue(),
        }
    }
}

/// Enqueues launches one by one.
///
/// # Safety
///
/// As for [`enqueue_shaped`], for each of them.
pub unsafe fn enqueue_each(stream: &CudaStream, launches: &[Launch<'_>]) -> Result<()> {
    for Launch { function, shape, arguments } in launches {
        // SAFETY: the caller vouches for the launch.
        unsafe { enqueue_shaped(stream, function, *shape, *arguments)? };
    }
    Ok(())
}

/// Makes a graph of what `enqueue` enqueues, without running it. The code of its kernels must be loaded.
///
/// # Errors
/// `enqueue` fails, or the driver cannot make the graph.
pub fn capture(cuda: &Cuda, enqueue: impl FnOnce() -> Result<()>) -> Result<CudaGraph> {
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    cuda.stream.begin_capture(mode).map_err(driver("cuStreamBeginCapture"))?;
    let captured = enqueue();
    // Even if a launch failed, the capture must end, because the stream does no work before that.
    let graph = cuda.stream.end_capture(CUgraphInstantiate_flags(0));
    captured?;
    cuda.count_plan();
    let graph = graph.map_err(driver("cuGraphInstantiate"))?;
    graph.ok_or_else(|| CellError::call("cuStreamEndCapture", "nothing was captured"))
}
