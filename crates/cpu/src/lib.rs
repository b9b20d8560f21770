//! The CPU: ndarray, BLAS, LAPACK and FFTW found at run time, faer, rustfft, sprs, and kernels of our own.
//!
//! `ops` has the variants of every op and the list of all, which only this file asks for. Variants call `libs`, the
//! libraries found at run time, and work on `threads`, the pool and how work is shared out on it, with `simd`, vectors
//! and what is written with them; `context` is what they see of the backend. `timing` takes the samples: clocks, cold
//! caches, idle threads, bound threads. `peaks` measures the most that the machine does, some of it with variants. Rooms
//! import in that order: peaks, ops, libs, threads, simd; timing imports none of them.

use std::mem::forget;
use std::path::Path;
use std::sync::Arc;

use gpubench_backend::contents;
use gpubench_backend::{
    Backend, Conditions, Finding, Options, Peaks, Prepared, Registration, Sample, TimerOverhead,
};
use gpubench_host::{numa, processors, wait_idle};
use gpubench_model::case::{Cache, Case};
use gpubench_model::data::Operand;
use gpubench_model::error::{CellError, Unavailable};

mod context;
mod libs;
mod memory;
mod ops;
mod peaks;
mod simd;
#[cfg(test)]
mod tests;
mod threads;
mod timing;

use context::Cpu;
use libs::blas::{self, Library};
use libs::fftw;
use ops::available::AvailableVariant;
use threads::thread_choices;
use timing::flush_by_reading::CacheFlush;
use timing::pin::Pins;
use timing::{clock, flush, thread_speed};

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
/// What is wrong with it, in one line.
pub fn check_library(path: &Path) -> anyhow::Result<()> {
    let checked = blas::vendor_of(path).map(|_| ());
    checked.map_err(|problem| {
        anyhow::anyhow!(
            "'{}' {problem}: name the file of a library, such as libopenblas.so.0",
            path.display()
        )
    })
}

/// The BLAS libraries of this machine.
fn libraries(options: &Options) -> Vec<Arc<Library>> {
    blas::all(&options.blas).into_iter().map(Arc::new).collect()
}

/// The variants that need a library, as `op/variant`.
fn served_by(library: &Library, kernels: &[AvailableVariant]) -> Vec<String> {
    kernels.iter().filter(|listed| listed.needs(library.word())).map(AvailableVariant::title).collect()
}

/// Loads the library that `options` name and no other.
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

struct Started {
    cpu: Cpu,
    /// The BLAS libraries, the preferred one of each vendor first.
    libraries: Vec<Arc<Library>>,
    kernels: Vec<AvailableVariant>,
    /// The library whose variants it runs next to those that need none.
    library: Option<String>,
    /// What empties the caches of jobs that cannot be flushed; made when it is first needed.
    cache_flush: Option<CacheFlush>,
    /// The processors that threads are bound to, where they are.
    pins: Option<Pins>,
    /// The NUMA nodes that memory comes from in turn, where threads spread over several.
    interleaved: Vec<usize>,
    /// How often answers have been marked.
    marked: usize,
}

impl Started {
    fn new(options: &Options, threads: usize) -> Self {
        let libraries = libraries(options);
        Started {
            cpu: Cpu { threads },
            kernels: ops::list(&libraries),
            libraries,
            library: options.library.clone(),
            cache_flush: None,
            pins: None,
            interleaved: vec![],
            marked: 0,
        }
    }

    /// Refuses a variant whose library this worker was not started for, since another library may be loaded.
    fn allows(&self, listed: &AvailableVariant) -> Result<(), CellError> {
        match listed.variant.library.as_deref() {
            Some(needed) if self.library.as_deref() != Some(needed) => {
                let title = listed.title();
                let reason =
                    format!("{title} needs a worker whose `options` have `\"library\": \"{needed}\"`");
                Err(CellError::Failed(reason))
            }
            _ => Ok(()),
        }
    }
}

fn start(options: &Options) -> Result<Box<dyn Backend>, Unavailable> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let mut started = Started::new(options, options.threads.unwrap_or(available).max(1));
    // Before there is any memory or thread of a library: they take it over.
    let spanned = processors::nodes_spanned(started.cpu.threads);
    if !spanned.is_empty() && numa::interleave(&spanned).is_ok() {
        started.interleaved = spanned;
    }
    // The thread that times works too, as in OpenMP and OpenBLAS: it would else be one thread more than processors,
    // and asleep at the end of each execution. The pool is its own, so that no other thread waits for it to work.
    // It is never ended, as the thread could not leave it; a pool that it is in already stays, and the description
    // then shows that one's number of threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(started.cpu.threads).use_current_thread();
    if let Ok(pool) = pool.build() {
        forget(pool);
    }
    started.pins = options.pin.then(Pins::of_pool).transpose()?;
    faer::set_global_parallelism(thread_choices::faer(started.cpu.threads));
    Ok(Box::new(started))
}

impl Backend for Started {
    fn describe(&self) -> serde_json::Value {
        serde_json::json!({
            "threads": self.cpu.threads,
            "rayon_threads": rayon::current_num_threads(),
            "simd": simd::widest(),
            "pinned": self.pins.as_ref().map(Pins::processors),
            "memory_interleaved_over_nodes": self.interleaved,
        })
    }

    fn threads(&self) -> Option<usize> {
        Some(self.cpu.threads)
    }

    fn libraries(&self) -> Vec<Finding> {
        let loaded = self.libraries.iter().filter_map(|library| Some((library, library.loaded()?)));
        let of_blas = loaded.map(|(library, provider)| {
            let mut finding = library.finding(served_by(library, &self.kernels));
            finding.version = Some(format!("{}, {} threads", provider.version(), provider.threads()));
            finding
        });
        of_blas.chain(fftw::loaded()).collect()
    }

    fn settle(&mut self) {
        wait_idle::wait();
        if let Some(pins) = &self.pins {
            pins.bind_libraries();
        }
    }

    fn peaks_depend_on(&self) -> Option<serde_json::Value> {
        Some(peaks::depend_on(&self.cpu, &self.libraries, &self.interleaved))
    }

    fn peaks(&mut self) -> Result<Option<Peaks>, CellError> {
        Ok(peaks::measure(&self.cpu, &self.kernels, self.library.as_deref()).plausible())
    }

    fn prepare(
        &mut self,
        variant: &str,
        case: &Case,
        inputs: &[Operand],
    ) -> Result<Box<Prepared>, CellError> {
        let listed =
            self.kernels.iter().find(|listed| listed.variant.op == case.op && listed.variant.name == variant);
        let listed =
            listed.ok_or_else(|| CellError::Failed(format!("no cpu variant {variant} of {}", case.op)))?;
        self.allows(listed)?;
        listed.prepare(&self.cpu, case, inputs)
    }

    fn time(&mut self, job: &mut Prepared, cache: Cache) -> Result<Sample, CellError> {
        match cache {
            Cache::Hot => clock::back_to_back(&mut job.job, job.traits.resets),
            Cache::Cold => {
                // What a reset touches must not stay in the caches either.
                job.reset()?;
                self.marked = self.marked.wrapping_add(1);
                contents::mark(&mut job.contents(), self.marked)?;
                if !flush::flush(&job.job) {
                    self.cache_flush.get_or_insert_with(CacheFlush::new).flush();
                }
                // Last, as threads that find no work soon sleep again.
                job.wake_threads()?;
                clock::once(&mut job.job)
            }
        }
    }

    fn marks_answers(&self, cache: Cache) -> bool {
        // Marks would be in the caches that hot executions find.
        cache == Cache::Cold
    }

    fn timer_overhead(&self) -> Option<TimerOverhead> {
        // The worker without a library describes the machine, and is always there.
        let thread_speeds = self.library.is_none().then(thread_speed::measure);
        Some(TimerOverhead { thread_speeds, ..clock::timer_overhead() })
    }

    fn conditions(&mut self) -> Conditions {
        Conditions { load_average: processors::load_average(), ..Conditions::default() }
    }
}
