//! The CPU backend: BLAS, LAPACK and FFTW libraries found at run time, ndarray, faer, rustfft, sprs, and our own
//! kernels.
//!
//! `ops` holds the variants of every op and the list of all variants, which only this file reads. Variants call the
//! libraries in `libs` and run on `threads`: the pool, and the ways to divide work over it. `simd` compiles code for the
//! widest vectors, and `operands` holds what jobs have taken. `timing` takes the samples: clocks, cold caches, idle
//! threads, bound threads. `peaks` measures peak bandwidth and FLOP rate, partly with variants. Modules import in this
//! order: peaks, ops, libs, threads, operands, simd; `timing` imports none of them.

use std::mem::forget;
use std::path::Path;
use std::sync::Arc;

use gpubench_backend::host::{numa, processors, vector_registers, wait_idle};
use gpubench_backend::{
    Backend, Conditions, Finding, Options, Peaks, Prepared, Registration, Sample, TimerOverhead, contents,
};
use gpubench_report::case::{Cache, Case, DType};
use gpubench_report::data::Operand;
use gpubench_report::error::{CellError, Unavailable};

mod operands;
mod ops;
mod peaks;
mod simd;
#[cfg(test)]
mod tests;
mod threads;
mod timing;

/// Libraries found at run time: BLAS and LAPACK from several vendors, the FFTs and vector functions of MKL, FFTW, and
/// Intel's OpenMP.
mod libs {
    pub(crate) mod blas;
    pub(crate) mod dfti;
    pub(crate) mod fftw;
    pub(crate) mod openmp;
    pub(crate) mod vml;
}

use libs::blas::{self, BlasLibrary};
use libs::fftw;
use ops::variants::AvailableVariant;
pub use simd::widest as widest_vectors;
use timing::flush_by_reading::CacheReader;
use timing::pin::Pins;
use timing::{flush, thread_speed};

/// The result of making a job or of a call in one.
type CellResult<T> = Result<T, CellError>;

/// The registration.
pub const REGISTRATION: Registration = Registration {
    name: "cpu",
    summary: "CPU libraries and kernels, all cores",
    simulated: false,
    variants: |options| Ok(ops::list(&libraries(options)).into_iter().map(|listed| listed.variant).collect()),
    start,
    findings,
};

/// Checks that a file is a BLAS library, without loading it.
///
/// # Errors
/// A one-line description of the problem.
pub fn check_library(path: &Path) -> anyhow::Result<()> {
    let checked = blas::vendor_of(path).map(|_| ());
    checked.map_err(|problem| {
        anyhow::anyhow!(
            "'{}' {problem}: name the file of a library, such as libopenblas.so.0",
            path.display()
        )
    })
}

fn libraries(options: &Options) -> Vec<Arc<BlasLibrary>> {
    blas::all(&options.blas).into_iter().map(Arc::new).collect()
}

/// Returns the variants that need a library, as `op/variant`.
fn served_by(library: &BlasLibrary, kernels: &[AvailableVariant]) -> Vec<String> {
    kernels.iter().filter(|listed| listed.needs(library.word())).map(AvailableVariant::title).collect()
}

/// Describes a library for `doctor` and reports: its path and version, or its problem, and the variants that need it.
fn finding(name: String, serves: Vec<String>, found: Result<(&Path, &str), &Unavailable>) -> Finding {
    let path = found.ok().map(|(path, _)| path.display().to_string());
    let version = found.ok().map(|(_, version)| version.to_owned());
    let problem = found.err().map(|missing| missing.reason.clone());
    let fix = found.err().and_then(|missing| missing.fix.clone());
    Finding { name, path, version, serves, problem, fix }
}

/// Loads only the library that `options` name, and reports it.
fn findings(options: &Options) -> Vec<Finding> {
    let Some(word) = options.library.as_deref() else { return vec![] };
    if word == fftw::WORD {
        return fftw::findings();
    }
    let libraries = libraries(options);
    let kernels = ops::list(&libraries);
    let named = libraries.iter().filter(|library| library.word() == word);
    named.map(|library| library.finding(served_by(library, &kernels))).collect()
}

struct CpuBackend {
    /// Number of threads that a job may use.
    threads: usize,
    /// The BLAS libraries, the preferred one of each vendor first.
    libraries: Vec<Arc<BlasLibrary>>,
    kernels: Vec<AvailableVariant>,
    /// The library whose variants this worker runs, in addition to those that need none.
    library: Option<String>,
    /// The element types of the run, for which peaks are measured.
    dtypes: Vec<DType>,
    /// Evicts the data of jobs whose buffers cannot be flushed; allocated at first use.
    cache_reader: Option<CacheReader>,
    /// The CPUs that threads are bound to, with `--pin`.
    pins: Option<Pins>,
    /// The NUMA nodes over which memory is interleaved, when the threads span several.
    interleaved: Vec<usize>,
    /// The reason that the system refused to interleave memory.
    interleaving_refused: Option<String>,
    /// Number of times that answers have been marked.
    marked: usize,
}

fn start(options: &Options) -> Result<Box<dyn Backend>, Unavailable> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let libraries = libraries(options);
    let mut started = CpuBackend {
        threads: options.threads.unwrap_or(available).max(1),
        kernels: ops::list(&libraries),
        libraries,
        library: options.library.clone(),
        dtypes: if options.dtypes.is_empty() { DType::REAL.to_vec() } else { options.dtypes.clone() },
        cache_reader: None,
        pins: None,
        interleaved: vec![],
        interleaving_refused: None,
        marked: 0,
    };
    // Before any memory or library thread exists: they inherit the policy.
    let spanned = processors::nodes_spanned(started.threads);
    if !spanned.is_empty() {
        match numa::interleave(&spanned) {
            Ok(()) => started.interleaved = spanned,
            Err(error) => started.interleaving_refused = Some(error.to_string()),
        }
    }
    // The timing thread works too, as in OpenMP and OpenBLAS. Otherwise there would be one thread more than CPUs, and
    // the timing thread would sleep at the end of each execution. The worker has its own pool, so that no other thread
    // waits for it to work. The pool is never dropped, because the timing thread cannot leave it. If the thread is
    // already in a pool, that pool stays, and the description shows its number of threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(started.threads).use_current_thread();
    if let Ok(pool) = pool.build() {
        forget(pool);
    }
    started.pins = options.pin.then(Pins::of_pool).transpose()?;
    faer::set_global_parallelism(threads::faer_par(started.threads));
    Ok(Box::new(started))
}

impl Backend for CpuBackend {
    fn describe(&self) -> serde_json::Value {
        serde_json::json!({
            "threads": self.threads,
            "rayon_threads": rayon::current_num_threads(),
            "simd": simd::widest(),
            "pinned": self.pins.as_ref().map(Pins::cpus),
            "memory_interleaved_over_nodes": self.interleaved,
            "memory_interleaving_refused": self.interleaving_refused,
        })
    }

    fn threads(&self) -> Option<usize> {
        Some(self.threads)
    }

    fn libraries(&self) -> Vec<Finding> {
        let loaded = self.libraries.iter().filter_map(|library| Some((library, library.loaded()?)));
        let of_blas = loaded.map(|(library, provider)| {
            let mut finding = library.finding(served_by(library, &self.kernels));
            let (version, threads) = (provider.version(), provider.threads());
            let noun = if threads == 1 { "thread" } else { "threads" };
            finding.version = Some(format!("{version}, {threads} {noun}"));
            finding
        });
        of_blas.chain(fftw::loaded()).collect()
    }

    fn settle(&mut self) {
        wait_idle::wait();
        // Upper halves that another variant left in use would slow this one, as they would not in a program of its own.
        vector_registers::clear_on_all_threads();
        if let Some(pins) = &self.pins {
            pins.bind_libraries();
        }
    }

    fn peaks_depend_on(&self) -> Option<serde_json::Value> {
        Some(peaks::depend_on(self.threads, &self.libraries, &self.interleaved, &self.dtypes))
    }

    fn peaks(&mut self) -> CellResult<Option<Peaks>> {
        Ok(peaks::measure(self.threads, &self.kernels, self.library.as_deref(), &self.dtypes).plausible())
    }

    fn prepare(&mut self, variant: &str, case: &Case, inputs: &mut [Operand]) -> CellResult<Box<Prepared>> {
        let listed =
            self.kernels.iter().find(|listed| listed.variant.op == case.op && listed.variant.name == variant);
        let listed =
            listed.ok_or_else(|| CellError::Failed(format!("no cpu variant {variant} of {}", case.op)))?;
        // Another library may be loaded.
        if let Some(needed) =
            listed.variant.library.as_deref().filter(|it| self.library.as_deref() != Some(it))
        {
            let title = listed.title();
            let reason = format!("{title} needs a worker whose `options` have `\"library\": \"{needed}\"`");
            return Err(CellError::Failed(reason));
        }
        vector_registers::clear_on_all_threads();
        listed.prepare(self.threads, case, inputs)
    }

    fn time(&mut self, job: &mut Prepared, cache: Cache) -> CellResult<Sample> {
        match cache {
            Cache::Hot => timing::back_to_back(&mut job.job, job.traits.resets),
            Cache::Cold => {
                // The reset touches memory, which must not stay in the caches either.
                job.reset()?;
                self.marked = self.marked.wrapping_add(1);
                contents::mark(&mut job.contents(), self.marked)?;
                if !flush::flush(&job.job) {
                    let ready = self.cache_reader.take().map_or_else(CacheReader::new, Ok)?;
                    self.cache_reader.insert(ready).flush();
                }
                // Last, because threads that find no work soon sleep again.
                job.wake_threads()?;
                timing::timed(&mut job.job, 1)
            }
        }
    }

    fn marks_answers(&self, cache: Cache) -> bool {
        // Marks would be in the caches that hot executions find.
        cache == Cache::Cold
    }

    fn timer_overhead(&self) -> Option<TimerOverhead> {
        // The worker without a library describes the machine; there always is one.
        let thread_speeds = self.library.is_none().then(thread_speed::measure);
        Some(TimerOverhead { thread_speeds, ..timing::timer_overhead() })
    }

    fn conditions(&mut self) -> Conditions {
        Conditions { load_average: processors::load_average(), ..Conditions::default() }
    }
}
