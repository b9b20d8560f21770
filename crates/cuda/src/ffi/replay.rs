//! Work that a job enqueues again and again, as one launch of a CUDA graph: own kernels, or also calls of libraries.
//!
//! API: <https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__GRAPH.html>.

use cudarc::driver::sys::{CUdeviceptr, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaFunction, CudaGraph, CudaStream};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, driver};
use super::launch::{Argument, Shape, Start, enqueue_shaped};

/// Most arguments of a kernel that can be replayed.
const MAX_ARGUMENTS: usize = 16;

/// A kernel, the shape of its launch and its arguments.
pub(crate) struct Launch<'a> {
    function: &'a CudaFunction,
    shape: Shape,
    /// Those of the kernel first; the driver reads no others.
    arguments: [Argument; MAX_ARGUMENTS],
}

impl<'a> Launch<'a> {
    pub(crate) fn new<const N: usize>(
        function: &'a CudaFunction,
        shape: Shape,
        given: [Argument; N],
    ) -> Launch<'a> {
        const { assert!(N <= MAX_ARGUMENTS) };
        let mut arguments = [Argument::from(0u64); MAX_ARGUMENTS];
        arguments[..N].copy_from_slice(&given);
        Launch { function, shape, arguments }
    }
}

/// The kernels of one execution of a job, which enqueues nothing after them. After the first execution they are launched
/// as a graph, which takes the host less time than launching each. The graph ends with the kernel of
/// [`Completion`](super::completion::Completion).
#[derive(Default)]
pub(crate) struct Replay {
    /// Whether the kernels have been launched. The first launch loads their code, which is not allowed during a capture.
    loaded: bool,
    known: Vec<Known>,
}

/// Launches that are repeated, and their graph; `None` if the driver cannot make it.
struct Known {
    /// With their functions, which stay loaded so that no other function gets the same handle.
    launches: Vec<(CudaFunction, Shape, [Argument; MAX_ARGUMENTS])>,
    graph: Option<Recorded>,
}

struct Recorded {
    graph: CudaGraph,
    /// Whether the graph ends with the kernel that the host waits for, which some drivers cannot record.
    signals: bool,
}

impl Replay {
    /// Sets of arguments that are kept: a job may alternate between two workspaces.
    const MAX_KNOWN: usize = 2;

    /// Enqueues the launches.
    ///
    /// # Safety
    ///
    /// As for [`enqueue_shaped`], for each of them. A graph is only launched if its arguments are those that the caller
    /// vouches for now.
    pub(crate) unsafe fn run<const N: usize>(
        &mut self,
        cuda: &Cuda,
        launches: [Launch<'_>; N],
    ) -> Result<(), CellError> {
        // SAFETY: the caller vouches for the launches.
        let one_by_one = || unsafe { enqueue_each(&cuda.stream, &launches) };
        let loaded = std::mem::replace(&mut self.loaded, true);
        if !loaded || !cuda.replays() {
            return one_by_one();
        }
        let index = match self.known.iter().position(|known| known.are(&launches)) {
            Some(index) => index,
            None if self.known.len() < Self::MAX_KNOWN => {
                self.known.push(Known::new(cuda, &launches, one_by_one));
                self.known.len() - 1
            }
            None => return one_by_one(),
        };
        let Some(Recorded { graph, signals }) = &self.known[index].graph else { return one_by_one() };
        graph.launch().map_err(driver("cuGraphLaunch"))?;
        if let Some(completion) = cuda.completion().filter(|_| *signals) {
            completion.count_graph();
        }
        Ok(())
    }
}

impl Known {
    /// Records what `enqueue` enqueues, which must be the launches.
    fn new(cuda: &Cuda, launches: &[Launch<'_>], enqueue: impl Fn() -> Result<(), CellError>) -> Known {
        let owned = launches.iter().map(|launch| (launch.function.clone(), launch.shape, launch.arguments));
        // Graphs have early starts since CUDA 12.3.
        let mut starts = [Start::earliest(cuda), Start::InOrder].into_iter();
        let signalling = cuda.completion().and_then(|completion| {
            let with =
                |start| capture(cuda, || enqueue().and_then(|()| completion.enqueue(&cuda.stream, start)));
            Some(Recorded { graph: starts.find_map(|start| with(start).ok())?, signals: true })
        });
        let silent = || Some(Recorded { graph: capture(cuda, &enqueue).ok()?, signals: false });
        Known { launches: owned.collect(), graph: signalling.or_else(silent) }
    }

    /// Returns whether they are the same launches.
    fn are(&self, launches: &[Launch<'_>]) -> bool {
        let same = |((function, shape, arguments), launch): (&(CudaFunction, Shape, _), &Launch<'_>)| {
            function.cu_function() == launch.function.cu_function()
                && *shape == launch.shape
                && *arguments == launch.arguments
        };
        self.launches.len() == launches.len() && self.launches.iter().zip(launches).all(same)
    }
}

/// A part of a job's execution that is enqueued again and again, which may call libraries. After the first time it is launched
/// as a graph. Unlike those of [`Replay`], its graphs do not end with a kernel for the host, so anything may follow them.
#[derive(Default)]
pub(crate) struct Recording {
    /// Whether the part has been enqueued. The first time loads code, which is not allowed during a capture.
    loaded: bool,
    /// Graphs by the memory that they use; `None` if the driver cannot make one.
    known: Vec<(Vec<CUdeviceptr>, Option<CudaGraph>)>,
}

impl Recording {
    /// Sets of memory that are kept: a job may swap arrays in each execution.
    const MAX_KNOWN: usize = 2;

    /// Enqueues the part. `enqueue` must enqueue the same work whenever `memory` is the same, the addresses of the arrays that
    /// the job may swap between two calls. The job holds all memory of the work as long as the recording.
    pub(crate) fn run(
        &mut self,
        cuda: &Cuda,
        memory: &[CUdeviceptr],
        mut enqueue: impl FnMut() -> Result<(), CellError>,
    ) -> Result<(), CellError> {
        if !std::mem::replace(&mut self.loaded, true) {
            return enqueue();
        }
        let index = match self.known.iter().position(|(known, _)| known == memory) {
            Some(index) => index,
            None if self.known.len() < Self::MAX_KNOWN => {
                self.known.push((memory.to_vec(), capture(cuda, &mut enqueue).ok()));
                self.known.len() - 1
            }
            None => return enqueue(),
        };
        match &self.known[index].1 {
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
unsafe fn enqueue_each(stream: &CudaStream, launches: &[Launch<'_>]) -> Result<(), CellError> {
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
pub(crate) fn capture(
    cuda: &Cuda,
    enqueue: impl FnOnce() -> Result<(), CellError>,
) -> Result<CudaGraph, CellError> {
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
