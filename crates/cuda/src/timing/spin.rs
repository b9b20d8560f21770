//! A job of known duration: it spins on the device's own timer and reports how long it ran.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_report::data::Operand;

use super::super::ffi::timing::TimingKernels;
use super::SOURCE;
use crate::ffi::device;
use crate::{Cuda, Kernel, Result, Setup, driver, opt_in};

/// The op of jobs of known duration. It is in no list of ops. The size of a case is its duration in nanoseconds; it
/// takes no operands and its answer is the seconds that the last execution ran.
pub const SPIN_OP: &str = "spin";
/// The variant that spins.
pub const SPIN: &str = "spin";
/// The variant that spins, then waits for the device without declaring it.
pub const SPIN_AND_WAIT: &str = "spin-and-wait";

/// The variant that spins on its own stream, which no part of a sample waits for.
pub const SPIN_ELSEWHERE: &str = "spin-elsewhere";

/// The kernels of [`SPIN_OP`].
pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(opt_in(SPIN_OP, SPIN, "one thread spins on the device's timer"), &[&SOURCE], |setup| {
        Ok(Prepared::new(Spin::new(setup.cuda, setup.case.n)?))
    }),
    Kernel::own(
        opt_in(SPIN_OP, SPIN_AND_WAIT, "the same, and waits for the device unannounced"),
        &[&SOURCE],
        |setup| Ok(Prepared::new(SpinAndWait(Spin::new(setup.cuda, setup.case.n)?))),
    ),
    Kernel::own(
        opt_in(SPIN_OP, SPIN_ELSEWHERE, "the same on a stream of its own"),
        &[&SOURCE],
        |Setup { cuda, case, .. }| {
            let mut elsewhere = cuda.clone();
            elsewhere.stream = cuda.ctx.new_stream().map_err(driver("cuStreamCreate"))?;
            Ok(Prepared::new(Spin { cuda: elsewhere, ..Spin::new(cuda, case.n)? }))
        },
    ),
];

/// Executions whose duration is kept: as many as the largest batch.
const SLOTS: u32 = 32;

pub(crate) struct Spin {
    cuda: Cuda,
    kernels: TimingKernels,
    ns: u64,
    spun: CudaSlice<u64>,
    executions: u32,
}

impl Spin {
    pub(crate) fn new(cuda: &Cuda, ns: u64) -> Result<Spin> {
        let kernels = TimingKernels::load(cuda, &SOURCE)?;
        Ok(Spin { kernels, ns, spun: cuda.alloc(SLOTS as usize)?, executions: 0, cuda: cuda.clone() })
    }
}

impl Job for Spin {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([], [device(&mut self.spun)])
    }

    fn execute(&mut self) -> Result<()> {
        let slot = self.executions % SLOTS;
        self.kernels.spin(&self.cuda.stream, self.ns, &mut self.spun, slot)?;
        self.executions = self.executions.wrapping_add(1);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        let last = self.executions.wrapping_sub(1) % SLOTS;
        let spun_s = self.cuda.download(&self.spun)?[last as usize] as f64 / 1e9;
        Ok(vec![Operand::dense(1, 1, vec![spun_s])])
    }
}

/// A job that spins for a number of cycles and has no answer.
pub(crate) struct CycleSpin {
    cuda: Cuda,
    kernels: TimingKernels,
    cycles: i64,
}

impl CycleSpin {
    /// Makes a job that spins for a number of cycles of a multiprocessor.
    pub(crate) fn new(cuda: &Cuda, cycles: i64) -> Result<CycleSpin> {
        Ok(CycleSpin { kernels: TimingKernels::load(cuda, &SOURCE)?, cycles, cuda: cuda.clone() })
    }
}

impl Job for CycleSpin {
    fn execute(&mut self) -> Result<()> {
        self.kernels.spin_cycles(&self.cuda.stream, self.cycles)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        Ok(vec![])
    }
}

struct SpinAndWait(Spin);

impl Job for SpinAndWait {
    fn execute(&mut self) -> Result<()> {
        self.0.execute()?;
        self.0.cuda.stream.synchronize().map_err(driver("cuStreamSynchronize"))
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        self.0.answer()
    }
}
