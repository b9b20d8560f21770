//! The CPU: ndarray, BLAS, LAPACK and FFTW found at run time, faer, rustfft, sprs, and kernels of our own.

use std::mem::forget;
use std::path::Path;
use std::sync::Arc;

use gpubench_backend::contents;
use gpubench_backend::{
    Backend, Ceilings, Conditions, Finding, Floors, Options, Prepared, Registration, Sample, Variant,
};
use gpubench_host::processors;
use gpubench_model::case::{Cache, Case};
use gpubench_model::data::Operand;
use gpubench_model::error::{CellError, Unavailable};

mod blas;
mod ceilings;
mod clock;
mod crew;
mod destroyed;
mod displace;
mod elementwise;
mod entry;
mod evenness;
mod fft;
mod fft_mkl;
mod fft_real;
mod fft_spectrum;
mod fft_tile;
mod fftw;
mod flush;
mod gustavson;
mod host_loop;
mod library_kernel;
mod list;
mod machine;
mod matmul;
mod memory;
mod moments;
mod nodes;
mod overhead;
mod per_thread;
mod pin;
mod quiet;
mod reduction;
mod rouse;
mod row_blocks;
mod shared_library;
mod simd;
mod simd_trig;
mod sin;
mod solve;
mod spgemm;
mod spmv;
mod spread;
mod stream;
mod svd;
mod thread_choices;
mod transfer;
mod transfer_loop;

use blas::Library;
use displace::Displacer;
use list::Listed;
use pin::Pins;

/// The registration.
pub const REGISTRATION: Registration = Registration {
    name: "cpu",
    summary: "CPU libraries and kernels, all cores",
    simulated: false,
    variants: |options| {
        Ok(list::list(&libraries(options)).into_iter().map(|listed| listed.variant).collect())
    },
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

/// Makes a job of one case.
type Prepare = fn(&Cpu, &Case, &[Operand]) -> Result<Box<Prepared>, CellError>;

/// A variant and how its jobs are made.
pub struct Kernel {
    /// The variant.
    pub variant: Variant,
    /// Makes a job.
    pub prepare: Prepare,
}

/// The BLAS libraries of this machine.
fn libraries(options: &Options) -> Vec<Arc<Library>> {
    blas::all(&options.blas).into_iter().map(Arc::new).collect()
}

/// The variants that need a library, as `op/variant`.
fn served_by(library: &Library, kernels: &[Listed]) -> Vec<String> {
    kernels.iter().filter(|listed| listed.needs(library.word())).map(Listed::title).collect()
}

/// Loads the library that `options` name and no other.
fn findings(options: &Options) -> Vec<Finding> {
    let Some(word) = options.library.as_deref() else { return vec![] };
    if word == fftw::WORD {
        return fftw::findings();
    }
    let libraries = libraries(options);
    let kernels = list::list(&libraries);
    let named = libraries.iter().filter(|library| library.word() == word);
    named.map(|library| library.finding(served_by(library, &kernels))).collect()
}

/// The started backend.
pub struct Cpu {
    /// Threads of every pool.
    pub threads: usize,
    /// The BLAS libraries, the preferred one of each vendor first.
    libraries: Vec<Arc<Library>>,
    /// All variants.
    kernels: Vec<Listed>,
    /// The library whose variants it runs next to those that need none.
    library: Option<String>,
    /// What empties the caches of jobs that cannot be flushed; made when it is first needed.
    displacer: Option<Displacer>,
    /// The processors that threads are bound to, where they are.
    pins: Option<Pins>,
    /// The NUMA nodes that memory comes from in turn, where threads spread over several.
    interleaved: Vec<usize>,
    /// How often answers have been marked.
    marked: usize,
}

impl Cpu {
    fn new(options: &Options, threads: usize) -> Self {
        let libraries = libraries(options);
        Cpu {
            threads,
            kernels: list::list(&libraries),
            libraries,
            library: options.library.clone(),
            displacer: None,
            pins: None,
            interleaved: vec![],
            marked: 0,
        }
    }

    #[cfg(test)]
    fn with_threads(threads: usize) -> Self {
        Cpu::new(&Options::default(), threads)
    }

    /// Refuses a variant whose library this worker was not started for, since another library may be loaded.
    fn allows(&self, listed: &Listed) -> Result<(), CellError> {
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

    /// faer's way of running on all threads.
    fn faer(&self) -> faer::Par {
        thread_choices::faer(self.threads)
    }
}

fn start(options: &Options) -> Result<Box<dyn Backend>, Unavailable> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let mut cpu = Cpu::new(options, options.threads.unwrap_or(available).max(1));
    // Before there is any memory or thread of a library: they take it over.
    let spanned = processors::nodes_spanned(cpu.threads);
    if !spanned.is_empty() && nodes::interleave(&spanned).is_ok() {
        cpu.interleaved = spanned;
    }
    // The thread that times works too, as in OpenMP and OpenBLAS: it would else be one thread more than processors,
    // and asleep at the end of each execution. The pool is its own, so that no other thread waits for it to work.
    // It is never ended, as the thread could not leave it; a pool that it is in already stays, and the description
    // then shows that one's number of threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cpu.threads).use_current_thread();
    if let Ok(pool) = pool.build() {
        forget(pool);
    }
    cpu.pins = options.pin.then(Pins::of_pool).transpose()?;
    faer::set_global_parallelism(cpu.faer());
    Ok(Box::new(cpu))
}

impl Backend for Cpu {
    fn describe(&self) -> serde_json::Value {
        serde_json::json!({
            "threads": self.threads,
            "rayon_threads": rayon::current_num_threads(),
            "simd": simd(),
            "pinned": self.pins.as_ref().map(Pins::processors),
            "memory_interleaved_over_nodes": self.interleaved,
        })
    }

    fn threads(&self) -> Option<usize> {
        Some(self.threads)
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
        quiet::wait();
        if let Some(pins) = &self.pins {
            pins.bind_libraries();
        }
    }

    fn ceilings_depend_on(&self) -> Option<serde_json::Value> {
        Some(ceilings::depend_on(self))
    }

    fn ceilings(&mut self) -> Result<Option<Ceilings>, CellError> {
        Ok(ceilings::measure(self).plausible())
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
        listed.prepare(self, case, inputs)
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
                    self.displacer.get_or_insert_with(Displacer::new).displace();
                }
                // Last, as threads that find no work soon sleep again.
                job.rouse()?;
                clock::once(&mut job.job)
            }
        }
    }

    fn marks_answers(&self, cache: Cache) -> bool {
        // Marks would be in the caches that hot executions find.
        cache == Cache::Cold
    }

    fn floors(&self) -> Option<Floors> {
        // The worker without a library describes the machine, and is always there.
        let arithmetic = self.library.is_none().then(evenness::measure);
        Some(Floors { arithmetic, ..clock::floors() })
    }

    fn conditions(&mut self) -> Conditions {
        Conditions { load_average: processors::load_average(), ..Conditions::default() }
    }
}

/// The widest vector instructions that the processor has, as far as the libraries use them.
fn simd() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            "avx512"
        } else if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            "avx2+fma"
        } else {
            "sse2"
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        if cfg!(target_arch = "aarch64") { "neon" } else { "scalar" }
    }
}

#[cfg(test)]
mod cold_tests;
#[cfg(test)]
mod dense_tests;
#[cfg(test)]
mod judged_tests;
