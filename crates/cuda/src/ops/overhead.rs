//! The op overhead: launches of an empty kernel, graphs, events, contexts and compilations.
//!
//! All variants are timed by the host's clock, from the first call until the device is idle: the time that a program
//! waits.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaFunction, CudaModule, CudaStream};
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::Operand;

use crate::ffi::driver::SecondContext;
use crate::ffi::launch::{LaunchShape, enqueue_shaped};
use crate::ffi::replay::capture;
use crate::{Cuda, Kernel, KernelSource, Result, Setup, Unavailable, driver, kernel_source, variant};

static SOURCE: KernelSource = kernel_source!("overhead/empty");

/// Name of the kernel of `kernels/overhead/empty.cu`.
const EMPTY: &str = "empty";

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(variant("overhead", "launch", "N launches of an empty kernel"), &[&SOURCE], launch),
    Kernel::own(variant("overhead", "graph", "one launch of a graph of N empty kernels"), &[&SOURCE], graph),
    Kernel::bare(variant("overhead", "event-pair", "record two events, N times"), event_pair),
    Kernel::bare(variant("overhead", "context", "create and destroy a second context, N times"), context),
    Kernel::own(
        variant("overhead", "compile", "compile an empty kernel by NVRTC and load it, N times"),
        &[&SOURCE],
        compile,
    ),
    Kernel::own(
        variant("overhead", "compile-cached", "load the compiled kernel from the cache on disk, N times"),
        &[&SOURCE],
        compile_cached,
    ),
];

/// Most contexts or compilations per execution; more would take over a minute.
const MAX_REPETITIONS: u64 = 100;

/// Runs an action and counts how often it was done.
struct Counted<F> {
    done: u64,
    act: F,
}

impl<F: FnMut() -> Result<u64>> Job for Counted<F> {
    fn execute(&mut self) -> Result<()> {
        self.done = 0;
        self.done = (self.act)()?;
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        Ok(vec![Operand::dense(1, 1, vec![self.done as f64])])
    }
}

/// Makes a job that runs `act`, which returns how often it did the timed action.
fn counted(act: impl FnMut() -> Result<u64> + 'static) -> Box<Prepared> {
    Prepared::with(JobTraits { is_host_work: true, ..JobTraits::default() }, Counted { done: 0, act })
}

/// Makes a job that runs `once` as often as the case says.
fn repeated(case: &Case, mut once: impl FnMut() -> Result<()> + 'static) -> Result<Box<Prepared>> {
    let n = case.n;
    let act = move || {
        let mut done = 0;
        while done < n {
            once()?;
            done += 1;
        }
        Ok(done)
    };
    Ok(counted(act))
}

/// Rejects cases that would take minutes per execution.
fn check_few(case: &Case, what: &str) -> Result<()> {
    if case.n <= MAX_REPETITIONS {
        return Ok(());
    }
    let reason = format!("{} {what} take minutes, and the time grows in proportion", case.n);
    Err(Unavailable::new(reason, format!("choose a size of at most {MAX_REPETITIONS}, such as --sizes 1"))
        .into())
}

fn launch(Setup { cuda, case, .. }: Setup<'_>) -> Result<Box<Prepared>> {
    let (empty, stream) = (Bare::load(cuda, &SOURCE, EMPTY)?, Arc::clone(&cuda.stream));
    repeated(case, move || empty.run(&stream))
}

fn graph(Setup { cuda, case, .. }: Setup<'_>) -> Result<Box<Prepared>> {
    let empty = Bare::load(cuda, &SOURCE, EMPTY)?;
    // The first launch loads the code, which is not allowed during a capture.
    empty.run(&cuda.stream)?;
    cuda.synchronize()?;
    let graph = capture(cuda, || (0..case.n).try_for_each(|_| empty.run(&cuda.stream)))?;
    graph.upload().map_err(driver("cuGraphUpload"))?;
    cuda.synchronize()?;
    let nodes = case.n;
    Ok(counted(move || {
        graph.launch().map_err(driver("cuGraphLaunch"))?;
        // The graph needs the kernel, which is dropped after it.
        let _ = &empty;
        Ok(nodes)
    }))
}

pub(crate) struct Bare {
    function: CudaFunction,
}

impl Bare {
    /// Loads `entry`, which must take nothing, from `source`.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, entry: &str) -> Result<Self> {
        Ok(Bare { function: cuda.function(source, entry)? })
    }

    pub(crate) fn run(&self, stream: &CudaStream) -> Result<()> {
        // SAFETY: the entry takes nothing.
        unsafe { enqueue_shaped(stream, &self.function, LaunchShape::of_single_threads(1), []) }
    }
}

fn event_pair(Setup { cuda, case, .. }: Setup<'_>) -> Result<Box<Prepared>> {
    let event = || cuda.ctx.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).map_err(driver("cuEventCreate"));
    let (start, end, stream) = (event()?, event()?, Arc::clone(&cuda.stream));
    repeated(case, move || {
        start.record(&stream).map_err(driver("cuEventRecord"))?;
        end.record(&stream).map_err(driver("cuEventRecord"))
    })
}

fn context(Setup { cuda, case, .. }: Setup<'_>) -> Result<Box<Prepared>> {
    check_few(case, "contexts")?;
    let second = SecondContext::of(&cuda.ctx).ok_or_else(|| {
        Unavailable::new("the NVIDIA driver lacks cuCtxCreate_v2", "name the other variants with --variants")
    })?;
    repeated(case, move || second.create_and_destroy().map_err(driver("cuCtxCreate or cuCtxDestroy")))
}

fn compile(Setup { cuda, case, .. }: Setup<'_>) -> Result<Box<Prepared>> {
    check_few(case, "compilations")?;
    let builder = cuda.builder()?;
    // A serial number that no earlier run has compiled.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let mut serial = since as u64;
    repeated(case, move || {
        serial = serial.wrapping_add(1);
        ready(&builder.build_uncached(&SOURCE, serial)?)
    })
}

fn compile_cached(Setup { cuda, case, .. }: Setup<'_>) -> Result<Box<Prepared>> {
    check_few(case, "loads from the cache")?;
    let missing = || {
        let fix =
            "set HOME or XDG_CACHE_HOME to a writable folder, and unset GPUBENCH_KERNEL_CACHE if it is off";
        Unavailable::new("the kernel cache on this machine holds no compiled kernel", fix)
    };
    let builder = cuda.builder()?;
    builder.build(&SOURCE)?;
    builder.load_cached(&SOURCE).ok_or_else(missing)?;
    repeated(case, move || {
        let (module, _) = builder.load_cached(&SOURCE).ok_or_else(missing)?;
        ready(&module)
    })
}

/// Gets the module's kernel, so that it is ready to be launched.
fn ready(module: &Arc<CudaModule>) -> Result<()> {
    module.load_function(EMPTY).map(drop).map_err(driver("cuModuleGetFunction"))
}
