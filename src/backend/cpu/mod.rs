//! The CPU: ndarray, BLAS and LAPACK found at run time, faer, rustfft, sprs, and kernels of our own.

use std::mem::forget;

use super::{Backend, Ceilings, Conditions, Finding, Floors, Job, Options, Registration, Sample, Variant};
use crate::case::{Cache, Case};
use crate::data::Operand;
use crate::error::{CellError, Unavailable};
use crate::processors;

mod blas;
mod ceilings;
mod clock;
mod displace;
mod elementwise;
mod entry;
mod fft;
mod fft_real;
mod flush;
mod gustavson;
mod host_loop;
mod matmul;
mod memory;
mod moments;
mod overhead;
mod per_thread;
mod quiet;
mod reduction;
mod rouse;
mod row_blocks;
mod simd;
mod simd_trig;
mod sin;
mod solve;
mod spgemm;
mod spmv;
mod svd;
mod thread_counts;
mod transfer;
mod transfer_loop;

use blas::Vendor;
use displace::Displacer;

/// The registration.
pub const REGISTRATION: Registration = Registration {
    name: "cpu",
    summary: "CPU libraries and kernels, all cores",
    simulated: false,
    variants: |_| Ok(kernels().map(|kernel| kernel.variant.clone()).collect()),
    start,
    findings: |_| Vendor::ALL.map(|vendor| vendor.finding(vendor.provider(), served_by(vendor))).into(),
};

/// Makes a job of one case.
type Prepare = fn(&Cpu, &Case, &[Operand]) -> Result<Box<dyn Job>, CellError>;

/// A variant and how its jobs are made.
pub struct Kernel {
    /// The variant.
    pub variant: Variant,
    /// Makes a job.
    pub prepare: Prepare,
}

/// Every op's kernels, the fair default first.
static TABLES: &[&[Kernel]] = &[
    matmul::KERNELS,
    elementwise::KERNELS,
    sin::KERNELS,
    reduction::KERNELS,
    fft::KERNELS,
    solve::KERNELS,
    spgemm::KERNELS,
    spmv::KERNELS,
    svd::KERNELS,
    transfer::KERNELS,
    overhead::KERNELS,
    transfer_loop::KERNELS,
    host_loop::KERNELS,
];

fn kernels() -> impl Iterator<Item = &'static Kernel> {
    TABLES.iter().copied().flatten()
}

/// The variants that need a vendor's library, as `op/variant`.
fn served_by(vendor: Vendor) -> Vec<String> {
    let served = kernels().map(|kernel| &kernel.variant).filter(|v| v.name.starts_with(vendor.word()));
    served.map(|variant| format!("{}/{}", variant.op, variant.name)).collect()
}

/// The started backend.
pub struct Cpu {
    /// Threads of every pool.
    pub threads: usize,
    /// What empties the caches of jobs that cannot be flushed; made when it is first needed.
    displacer: Option<Displacer>,
}

impl Cpu {
    fn with_threads(threads: usize) -> Self {
        Cpu { threads, displacer: None }
    }

    /// faer's way of running on all threads.
    fn faer(&self) -> faer::Par {
        if self.threads > 1 { faer::Par::rayon(self.threads) } else { faer::Par::Seq }
    }

    /// The vendor's library, set to this backend's threads and receiving LAPACK's calls, which the calling
    /// thread is going to make.
    fn blas(&self, vendor: Vendor) -> Result<&'static blas::Provider, Unavailable> {
        blas::require_stack()?;
        let provider = vendor.provider()?;
        provider.set_threads(self.threads);
        provider.activate();
        Ok(provider)
    }
}

fn start(options: &Options) -> Result<Box<dyn Backend>, Unavailable> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let cpu = Cpu::with_threads(options.threads.unwrap_or(available).max(1));
    // The thread that times works too, as in OpenMP and OpenBLAS: it would else be one thread more than processors,
    // and asleep at the end of each execution. The pool is its own, so that no other thread waits for it to work.
    // It is never ended, as the thread could not leave it; a pool that it is in already stays, and the description
    // then shows that one's number of threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cpu.threads).use_current_thread();
    if let Ok(pool) = pool.build() {
        forget(pool);
    }
    faer::set_global_parallelism(cpu.faer());
    Ok(Box::new(cpu))
}

impl Backend for Cpu {
    fn describe(&self) -> serde_json::Value {
        serde_json::json!({
            "threads": self.threads,
            "rayon_threads": rayon::current_num_threads(),
            "simd": simd(),
        })
    }

    fn libraries(&self) -> Vec<Finding> {
        let loaded = Vendor::ALL.into_iter().filter_map(|vendor| Some((vendor, vendor.loaded()?)));
        loaded
            .map(|(vendor, provider)| {
                let mut finding = vendor.finding(Ok(provider), served_by(vendor));
                finding.version = Some(format!("{}, {} threads", provider.version(), provider.threads()));
                finding
            })
            .collect()
    }

    fn settle(&mut self) {
        quiet::wait();
    }

    fn ceilings_depend_on(&self) -> Option<serde_json::Value> {
        Some(ceilings::depend_on(self))
    }

    fn ceilings(&mut self) -> Result<Option<Ceilings>, CellError> {
        Ok(Some(ceilings::measure(self)))
    }

    fn prepare(&mut self, variant: &str, case: &Case, inputs: &[Operand]) -> Result<Box<dyn Job>, CellError> {
        let kernel = kernels().find(|kernel| kernel.variant.op == case.op && kernel.variant.name == variant);
        let kernel =
            kernel.ok_or_else(|| CellError::Failed(format!("no cpu variant {variant} of {}", case.op)))?;
        (kernel.prepare)(self, case, inputs)
    }

    fn time(&mut self, job: &mut dyn Job, cache: Cache) -> Result<Sample, CellError> {
        match cache {
            Cache::Hot => clock::back_to_back(job),
            Cache::Cold => {
                // What a reset touches must not stay in the caches either.
                job.reset()?;
                if !flush::flush(job) {
                    self.displacer.get_or_insert_with(Displacer::new).displace();
                }
                // Last, as threads that find no work soon sleep again.
                job.rouse()?;
                clock::once(job)
            }
        }
    }

    fn floors(&self) -> Option<Floors> {
        Some(clock::floors())
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
