//! The CPU: ndarray, BLAS and LAPACK found at run time, faer, rustfft, sprs, and kernels of our own.

mod elementwise;
mod entry;
mod fft;
mod fft_real;
mod gustavson;
mod moments;
mod per_thread;
mod reduction;
mod row_blocks;
mod simd;
mod simd_trig;
mod sin;
mod spgemm;
mod spmv;

use super::{Backend, Job, Options, Registration, Sample, Variant};
use crate::case::Case;
use crate::data::Operand;
use crate::error::{CellError, Unavailable};

/// The registration.
pub const REGISTRATION: Registration = Registration {
    name: "cpu",
    summary: "CPU libraries and kernels, all cores",
    variants: |_| Ok(kernels().map(|kernel| kernel.variant.clone()).collect()),
    start,
    findings: |_| vec![],
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
static TABLES: &[&[Kernel]] =
    &[elementwise::KERNELS, sin::KERNELS, reduction::KERNELS, fft::KERNELS, spgemm::KERNELS, spmv::KERNELS];

fn kernels() -> impl Iterator<Item = &'static Kernel> {
    TABLES.iter().copied().flatten()
}

/// The started backend.
pub struct Cpu {
    /// Threads of every pool.
    pub threads: usize,
}

fn start(options: &Options) -> Result<Box<dyn Backend>, Unavailable> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Box::new(Cpu { threads: options.threads.unwrap_or(available) }))
}

impl Backend for Cpu {
    fn describe(&self) -> serde_json::Value {
        serde_json::json!({ "threads": self.threads })
    }

    fn libraries(&self) -> Vec<super::Finding> {
        vec![]
    }

    fn prepare(&mut self, variant: &str, case: &Case, inputs: &[Operand]) -> Result<Box<dyn Job>, CellError> {
        let kernel = kernels().find(|kernel| kernel.variant.op == case.op && kernel.variant.name == variant);
        let kernel =
            kernel.ok_or_else(|| CellError::Failed(format!("no cpu variant {variant} of {}", case.op)))?;
        (kernel.prepare)(self, case, inputs)
    }

    fn time(&mut self, job: &mut dyn Job) -> Result<Sample, CellError> {
        job.reset()?;
        let start = std::time::Instant::now();
        job.execute()?;
        Ok(Sample { host_s: start.elapsed().as_secs_f64(), device_s: None })
    }
}
