//! The CUDA backend: cuBLAS, cuFFT, cuSOLVER, cuSPARSE and gpubench's own kernels. All libraries are loaded at run
//! time.

mod attributes;
mod auto;
mod builder;
mod cache;
mod context;
mod device;
mod doctor;
mod failure;
#[cfg(feature = "testing")]
mod faults;
mod ffi;
mod installations;
mod kernels;
mod library;
mod loader;
mod nvml;
mod nvrtc;
mod ops;
mod peaks;
mod registry;
mod sparse;
mod startup;
mod timing;
mod transfer;
mod transfer_stats;
mod verify;

use std::time::Instant;

use gpubench_backend::contents::Fingerprints;
use gpubench_backend::{
    Backend, Conditions, DevicePhases, Finding, Options, Peaks, Prepared, Registration, Sample, SetupCounts,
    TimerOverhead,
};
use gpubench_report::case::{Cache, Case};
use gpubench_report::data::Operand;
use gpubench_report::error::{CellError, Unavailable};

use auto::{AUTO, Trials};
pub use auto::{RuleText, rule_texts};
use context::{Cuda, Library};
pub use doctor::DEVICE;
pub use kernels::{HEADERS, KernelSource};
use loader::{Driver, Loader};
use nvml::{Monitor, ProcessSnapshot};
use ops::Kernel;
use registry::kernels;
use timing::Timer;
pub use timing::{SPIN, SPIN_AND_WAIT, SPIN_ELSEWHERE, SPIN_OP};

use verify::Verifier;

/// The entry of the CUDA backend in the list of backends.
pub const REGISTRATION: Registration = Registration {
    name: "cuda",
    summary: "NVIDIA GPU: CUDA libraries and kernels",
    simulated: false,
    variants: |_| Ok(variants().map(|kernel| kernel.variant.clone()).collect()),
    start,
    findings: doctor::findings,
};

/// Returns every variant of every op.
fn variants() -> impl Iterator<Item = &'static Kernel> {
    let variants = kernels();
    #[cfg(feature = "testing")]
    let variants = variants.chain(faults::kernels());
    variants
}

/// Returns every source file once.
pub fn kernel_sources() -> Vec<&'static KernelSource> {
    let mut sources = registry::sources();
    sources.extend([&timing::SOURCE, &peaks::SOURCE, &verify::SOURCE]);
    #[cfg(feature = "testing")]
    sources.push(&faults::SOURCE);
    sources.sort_by_key(|source| source.name);
    sources
}

/// Returns examples of the sources that are generated for one size and element type.
pub fn generated_sources() -> Vec<&'static KernelSource> {
    let per_size = registry::sources().into_iter().filter_map(|source| source.per_size.as_ref());
    per_size.flat_map(|per_size| (per_size.examples)()).collect()
}

/// Compiles a source for compute capability `chip`, such as 90. Returns the compiler's messages, which list registers
/// and spills. Needs no device.
pub fn compile(source: &KernelSource, chip: i32) -> Result<String, CellError> {
    Loader::new(u32::MAX).require(Library::Nvrtc)?;
    let compiler = nvrtc::Compiler::new(chip).map_err(CellError::Failed)?;
    Ok(compiler.compile(source.name, source.text).map_err(CellError::Failed)?.log)
}

/// The running backend.
struct Started {
    cuda: Cuda,
    timer: Timer,
    verifier: Verifier,
    trials: Trials,
    monitor: Monitor,
    ordinal: u32,
    elapsed: ffi::driver::Elapsed,
    /// Host seconds that it took to open the context.
    context_s: f64,
}

fn start(options: &Options) -> Result<Box<dyn Backend>, Unavailable> {
    let driver = loader::driver()?;
    let ordinal = startup::choose_device(options.device)?;
    let started = open(&driver, ordinal, options).map_err(|error| match error {
        CellError::Unavailable(missing) => missing,
        error => {
            let fix =
                "check that `nvidia-smi` works and that no other program uses the device, then try again";
            Unavailable::new(format!("the CUDA device cannot be used: {error}"), fix)
        }
    })?;
    Ok(Box::new(started))
}

fn open(driver: &Driver, ordinal: u32, options: &Options) -> Result<Started, CellError> {
    let version = ffi::driver::version().map_err(failure::driver("cuDriverGetVersion"))?;
    let elapsed = ffi::driver::Elapsed::find(&driver.library).ok_or_else(|| {
        CellError::Failed("the NVIDIA driver has no cuEventElapsedTime; update the driver".into())
    })?;
    let major = u32::try_from(version / 1000).unwrap_or(0);
    let arrival = ProcessSnapshot::before(ordinal, driver.path.as_deref());
    let start = Instant::now();
    let cuda = Cuda::open(ordinal as usize, Loader::new(major), elapsed, options.transfer)?;
    let context_s = start.elapsed().as_secs_f64();
    let monitor = arrival.after();
    let trials = Trials::new(&cuda);
    compile_at_start(&cuda, &trials, options);
    let mut timer = Timer::new(&cuda, elapsed).map_err(unmeasurable)?;
    timer.check_clocks(&cuda).map_err(unmeasurable)?;
    let verifier = Verifier::new(&cuda)?;
    Ok(Started { cuda, timer, verifier, trials, monitor, ordinal, elapsed, context_s })
}

/// Compiles, at the same time, the kernels of the timer, of the checks and of the cells that the run will probably have, so
/// that no cell waits for the compiler. A failure is reported when the kernel is needed.
fn compile_at_start(cuda: &Cuda, trials: &Trials, options: &Options) {
    let mut sources = vec![&timing::SOURCE, &verify::SOURCE];
    sources.extend(registry::compiled_ahead(options, trials.of_all_cases()));
    sources.extend(auto::compiled_for_sizes(cuda, trials, &options.sizes, &options.dtypes));
    let _ = cuda.compile_ahead(&sources);
}

/// Reports a device whose timer overhead cannot be measured as unavailable.
fn unmeasurable(error: CellError) -> CellError {
    match error {
        CellError::Unavailable(missing) => missing.into(),
        error => {
            let fix =
                "close profilers and other programs on the device (`nvidia-smi` lists them), then try again";
            Unavailable::new(format!("the CUDA device's clocks cannot be calibrated: {error}"), fix).into()
        }
    }
}

impl Started {
    /// A failed library call does not say whether the call or the context is broken, so this asks the context.
    fn diagnosed<T>(&self, outcome: Result<T, CellError>) -> Result<T, CellError> {
        outcome.map_err(|error| match (error, self.cuda.synchronize()) {
            (
                error @ (CellError::Failed(_) | CellError::OutOfMemory { .. }),
                Err(CellError::DeviceLost(why)),
            ) => CellError::DeviceLost(format!("{error}; {why}")),
            (error, _) => error,
        })
    }
}

impl Backend for Started {
    fn describe(&self) -> serde_json::Value {
        let mut description = device::describe(self.cuda.device(), self.ordinal);
        description["context_s"] = self.context_s.into();
        description["nvml"] = self.monitor.version().into();
        for (name, value) in self.monitor.settings() {
            description[name] = value;
        }
        description["timing"] = self.timer.describe();
        description["auto"] = if self.trials.of_all_cases() { "trials" } else { "rules" }.into();
        description
    }

    fn timer_overhead(&self) -> Option<TimerOverhead> {
        Some(self.timer.timer_overhead().clone())
    }

    fn peaks_depend_on(&self) -> Option<serde_json::Value> {
        let mut state = device::describe(self.cuda.device(), self.ordinal);
        // CUDA_VISIBLE_DEVICES renumbers devices, but the PCI address does not change.
        state["device"] = serde_json::Value::Null;
        for (name, value) in self.monitor.settings() {
            state[name] = value;
        }
        state["cublas"] = self.cuda.candidates(Library::Cublas).into();
        Some(state)
    }

    fn peaks(&mut self) -> Result<Option<Peaks>, CellError> {
        let measured = peaks::measure(&self.cuda, &self.timer, self.elapsed);
        let given_back = self.cuda.release_unused_memory();
        let measured = self.diagnosed(measured)?;
        given_back.map(|()| Some(measured))
    }

    fn libraries(&self) -> Vec<Finding> {
        self.cuda.libraries()
    }

    fn admit(&self, case: &Case) -> Result<(), CellError> {
        match gpubench_ops::find(&case.op) {
            Some(op) => self.cuda.reserve(op.footprint(case)),
            None => Ok(()),
        }
    }

    fn prepare(
        &mut self,
        variant: &str,
        case: &Case,
        inputs: &mut [Operand],
    ) -> Result<Box<Prepared>, CellError> {
        let kernel = variants()
            .chain(timing::KERNELS)
            .find(|kernel| kernel.variant.op == case.op && kernel.variant.name == variant);
        let kernel =
            kernel.ok_or_else(|| CellError::Failed(format!("no cuda variant {variant} of {}", case.op)))?;
        let chosen = match variant {
            AUTO => self.trials.choose(&self.cuda, &mut self.timer, case, inputs),
            _ => Ok(None),
        };
        let chosen = self.diagnosed(chosen)?;
        self.cuda.watch_memory()?;
        self.diagnosed(match chosen {
            Some(_) => auto::prepare_first(&self.cuda, case, inputs, chosen),
            None => (kernel.prepare)(&self.cuda, case, inputs),
        })
    }

    fn phases(&mut self) -> DevicePhases {
        self.cuda.phases()
    }

    fn conditions(&mut self) -> Conditions {
        self.monitor.conditions()
    }

    fn time(&mut self, job: &mut Prepared, cache: Cache) -> Result<Sample, CellError> {
        let sample = self.timer.time(job, cache);
        self.diagnosed(sample)
    }

    fn fingerprints(&mut self, job: &mut Prepared) -> Result<Fingerprints, CellError> {
        let found = self.verifier.fingerprints(&mut job.job);
        self.diagnosed(found)
    }

    fn execute_spoiled(&mut self, job: &mut Prepared) -> Result<[Option<u64>; 2], CellError> {
        let found = self.verifier.execute_spoiled(&mut self.timer, job);
        self.diagnosed(found)
    }

    fn replace(
        &mut self,
        job: &mut Prepared,
        place: (usize, usize),
        new: &[u8],
    ) -> Result<Option<Vec<u8>>, CellError> {
        let old = self.verifier.replace(&mut job.job, place, new);
        self.diagnosed(old)
    }

    fn setup_counts(&self) -> SetupCounts {
        self.cuda.counts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starting_without_a_driver_says_what_to_do() {
        if loader::driver().is_ok() {
            return;
        }
        let Err(missing) = start(&Options::default()) else { panic!("started without a driver") };
        assert!(missing.reason.contains("libcuda.so.1"), "{}", missing.reason);
        assert!(missing.fix.is_some_and(|fix| fix.contains("--backends cpu")));
    }
}
