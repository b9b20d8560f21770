//! Blocks the stream until all work of a sample is queued, so that no launch gap lies between its events.
//!
//! nvbench calls this the blocking kernel. This one cannot deadlock: it ends by itself after [`TIMEOUT_NS`], and the
//! host then discards the sample.

use std::time::{Duration, Instant};

use super::super::ffi::timing::{Mailbox, TimingKernels};
use crate::{Cuda, Result};

/// Nanoseconds after which a blocking kernel times out: far longer than queuing a sample takes, and short for a
/// person.
const TIMEOUT_NS: u64 = 250_000_000;

/// Minimum time that a kernel blocks. The SM clock is counted from before it, and device timers tick every 32 ns on
/// some chips and every microsecond on others: 0.1 % and 4 % of this.
const MIN_BLOCKED: Duration = Duration::from_micros(50);

#[derive(Default)]
pub(crate) struct BlockingKernel {
    ticket: u64,
}

impl BlockingKernel {
    /// Runs `queue`, which enqueues work, behind a blocking kernel, releases the kernel and waits until all is done.
    /// Returns `false` if the kernel timed out because `queue`, or each launch in it, waited for the device.
    pub(crate) fn block_while(
        &mut self,
        cuda: &Cuda,
        kernels: &TimingKernels,
        mailbox: &Mailbox,
        queue: impl FnOnce() -> Result<()>,
    ) -> Result<bool> {
        self.ticket += 1;
        let begun = Instant::now();
        kernels.block(&cuda.stream, mailbox, self.ticket, TIMEOUT_NS)?;
        // No early return from here to the release, because the device waits for it.
        let queued = queue();
        while begun.elapsed() < MIN_BLOCKED {
            std::hint::spin_loop();
        }
        mailbox.release(self.ticket);
        let done = cuda.synchronize();
        queued?;
        done?;
        Ok(!mailbox.timed_out(self.ticket))
    }

    /// Enqueues a kernel that is already released, to load its code before it is needed.
    pub(crate) fn load(&self, cuda: &Cuda, kernels: &TimingKernels, mailbox: &Mailbox) -> Result<()> {
        kernels.block(&cuda.stream, mailbox, self.ticket, TIMEOUT_NS)
    }
}
