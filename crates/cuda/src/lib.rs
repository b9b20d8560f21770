//! The CUDA backend: driver, compiler and timer, and the variants that call cuBLAS, cuFFT, cuSOLVER and cuSPARSE or are plain
//! kernels. All libraries are loaded at run time. A program joins these variants with those of other crates to a [`Catalogue`].

mod attributes;
mod builder;
mod cache;
pub mod catalogue;
mod context;
mod device;
mod doctor;
mod failure;
#[cfg(feature = "testing")]
mod faults;
pub mod ffi;
mod installations;
pub mod kernels;
mod library;
mod loader;
mod nvml;
mod nvrtc;
pub mod ops;
mod peaks;
pub mod sparse;
mod startup;
mod timing;
mod transfer;
mod transfer_stats;
mod verify;

use std::time::Instant;

use gpubench_backend::contents::Fingerprints;
use gpubench_backend::{
    Backend, Conditions, DevicePhases, Finding, Options, Peaks, Prepared, Sample, SetupCounts, TimerOverhead,
    TransferMemory,
};
use gpubench_report::case::{Cache, Case};
use gpubench_report::data::Operand;
pub use gpubench_report::error::Unavailable;

use catalogue::{AUTO, Catalogue, Choices};
pub use context::{Cuda, DeviceElement, DeviceValue};
pub use doctor::DEVICE;
pub use failure::{CellError, Result, driver};
pub use kernels::{ByType, KernelSource};
pub use library::Library;
use loader::{Driver, Loader};
use nvml::{Monitor, ProcessSnapshot};
pub use ops::{Kernel, Setup, opt_in, shaped, shaped_opt_in, variant};
pub use timing::{SPIN, SPIN_AND_WAIT, SPIN_ELSEWHERE, SPIN_OP, Timer};
use verify::Verifier;

/// Compiles a source for compute capability `chip`, such as 90. Returns the compiler's messages, which list registers
/// and spills. Needs no device.
///
/// # Errors
/// There is no compiler, or the source has an error.
pub fn compile(source: &KernelSource, chip: i32) -> Result<String> {
    Loader::new(u32::MAX).require(Library::Nvrtc)?;
    let compiler = nvrtc::Compiler::new(chip).map_err(CellError::Failed)?;
    Ok(compiler.compile(source.name, source.text).map_err(CellError::Failed)?.log)
}

struct Started {
    cuda: Cuda,
    timer: Timer,
    verifier: Verifier,
    catalogue: &'static Catalogue,
    choices: Box<dyn Choices>,
    monitor: Monitor,
    ordinal: u32,
    elapsed: ffi::driver::Elapsed,
    /// Host seconds that it took to open the context.
    context_s: f64,
}

impl Catalogue {
    /// Starts the backend with these variants.
    ///
    /// # Errors
    /// There is no driver, no device of that number, or a device that cannot be used.
    pub fn start(&'static self, options: &Options) -> Result<Box<dyn Backend>, Unavailable> {
        let driver = loader::driver()?;
        let ordinal = startup::choose_device(options.device)?;
        let started = self.open(&driver, ordinal, options).map_err(|error| match error {
            CellError::Unavailable(missing) => missing,
            error => {
                let fix =
                    "check that `nvidia-smi` works and that no other program uses the device, then try again";
                Unavailable::new(format!("the CUDA device cannot be used: {error}"), fix)
            }
        })?;
        Ok(Box::new(started))
    }

    fn open(&'static self, driver: &Driver, ordinal: u32, options: &Options) -> Result<Started> {
        let (loader, elapsed) = loader_and_clock(driver)?;
        let arrival = ProcessSnapshot::before(ordinal, driver.path.as_deref());
        let start = Instant::now();
        let cuda = Cuda::open(ordinal as usize, loader, elapsed, options.transfer)?;
        let context_s = start.elapsed().as_secs_f64();
        let monitor = arrival.after();
        let choices = self.auto.start(&cuda);
        self.compile_at_start(&cuda, &*choices, options);
        let mut timer = Timer::new(&cuda, elapsed).map_err(unmeasurable)?;
        timer.check_clocks(&cuda).map_err(unmeasurable)?;
        let verifier = Verifier::new(&cuda)?;
        let catalogue = self;
        Ok(Started { cuda, timer, verifier, catalogue, choices, monitor, ordinal, elapsed, context_s })
    }

    /// Compiles, at the same time, the kernels of the timer, of the checks and of the cells that the run will probably have, so
    /// that no cell waits for the compiler. A failure is reported when the kernel is needed.
    fn compile_at_start(&self, cuda: &Cuda, choices: &dyn Choices, options: &Options) {
        let mut sources = vec![&timing::SOURCE, &verify::SOURCE];
        sources.extend(self.compiled_ahead(options, choices.by_trial()));
        sources.extend(choices.sources_of_sizes(cuda, &options.sizes, &options.dtypes));
        let _ = cuda.compile_ahead(&sources);
    }
}

/// Returns the loader of libraries for a driver, and its call for the time between two events.
fn loader_and_clock(driver: &Driver) -> Result<(Loader, ffi::driver::Elapsed)> {
    let version = ffi::driver::version().map_err(failure::driver("cuDriverGetVersion"))?;
    let elapsed = ffi::driver::Elapsed::find(&driver.library).ok_or_else(|| {
        CellError::Failed("the NVIDIA driver has no cuEventElapsedTime; update the driver".into())
    })?;
    Ok((Loader::new(u32::try_from(version / 1000).unwrap_or(0)), elapsed))
}

/// Opens a context on the device of that number, for programs that call kernels or libraries without measuring them.
///
/// # Errors
/// There is no driver, no device of that number, or a device that cannot be used.
pub fn open(device: u32) -> Result<Cuda> {
    let driver = loader::driver()?;
    let device = startup::choose_device(device)?;
    let (loader, elapsed) = loader_and_clock(&driver)?;
    Cuda::open(device as usize, loader, elapsed, TransferMemory::Pageable)
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
    fn diagnosed<T>(&self, outcome: Result<T>) -> Result<T> {
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
        description["auto"] = if self.choices.by_trial() { "trials" } else { "rules" }.into();
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

    fn peaks(&mut self) -> Result<Option<Peaks>> {
        let measured = peaks::measure(&self.cuda, &self.timer, self.elapsed);
        let given_back = self.cuda.release_unused_memory();
        let measured = self.diagnosed(measured)?;
        given_back.map(|()| Some(measured))
    }

    fn libraries(&self) -> Vec<Finding> {
        self.cuda.libraries()
    }

    fn admit(&self, case: &Case) -> Result<()> {
        match gpubench_ops::find(&case.op) {
            Some(op) => self.cuda.reserve(op.footprint(case)),
            None => Ok(()),
        }
    }

    fn prepare(&mut self, variant: &str, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>> {
        let kernel = self
            .catalogue
            .runnable()
            .chain(timing::KERNELS)
            .find(|kernel| kernel.variant.op == case.op && kernel.variant.name == variant);
        let kernel =
            kernel.ok_or_else(|| CellError::Failed(format!("no cuda variant {variant} of {}", case.op)))?;
        let chosen = match variant {
            AUTO => self.choices.choose(&self.cuda, &mut self.timer, case, inputs),
            _ => Ok(None),
        };
        let chosen = self.diagnosed(chosen)?;
        self.cuda.watch_memory()?;
        let setup = Setup { cuda: &self.cuda, case, inputs };
        self.diagnosed(match chosen {
            Some(_) => self.choices.prepare(setup, chosen),
            None => (kernel.prepare)(setup),
        })
    }

    fn phases(&mut self) -> DevicePhases {
        self.cuda.phases()
    }

    fn conditions(&mut self) -> Conditions {
        self.monitor.conditions()
    }

    fn time(&mut self, job: &mut Prepared, cache: Cache) -> Result<Sample> {
        let sample = self.timer.time(job, cache);
        self.diagnosed(sample)
    }

    fn fingerprints(&mut self, job: &mut Prepared) -> Result<Fingerprints> {
        let found = self.verifier.fingerprints(&mut job.job);
        self.diagnosed(found)
    }

    fn execute_spoiled(&mut self, job: &mut Prepared) -> Result<[Option<u64>; 2]> {
        let found = self.verifier.execute_spoiled(&mut self.timer, job);
        self.diagnosed(found)
    }

    fn replace(&mut self, job: &mut Prepared, place: (usize, usize), new: &[u8]) -> Result<Option<Vec<u8>>> {
        let old = self.verifier.replace(&mut job.job, place, new);
        self.diagnosed(old)
    }

    fn setup_counts(&self) -> SetupCounts {
        self.cuda.counts()
    }
}
