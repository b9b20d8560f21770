//! Holding the stream: nothing of a sample runs before all of it is queued, so no launch gap lies between its events.
//!
//! nvbench calls this the blocking kernel. Here it cannot deadlock: it lets go by itself after [`LIMIT_NS`], and the
//! host then knows that the sample is void.

use std::time::{Duration, Instant};

use gpubench_model::error::CellError;

use super::super::context::Cuda;
use super::super::ffi::timing::{Board, TimingKernels};

/// Nanoseconds after which a hold gives up: far more than it takes to queue a sample, and short for a person.
const LIMIT_NS: u64 = 250_000_000;

/// A hold lasts this long though all may be queued earlier. The clock is counted from before it, and timers on the
/// device tick every 32 ns on some chips and every microsecond on others: 0.1 % and 4 % of this.
const LEAST: Duration = Duration::from_micros(50);

/// Numbers the holds of one stream.
#[derive(Default)]
pub(crate) struct Hold {
    ticket: u64,
}

impl Hold {
    /// Has `queue` enqueue work behind a hold, lets it go, and waits until all is done. Whether the hold lasted
    /// until then; if not, it gave up because `queue`, or each launch in it, waited for the device.
    pub(crate) fn around(
        &mut self,
        cuda: &Cuda,
        kernels: &TimingKernels,
        board: &Board,
        queue: impl FnOnce() -> Result<(), CellError>,
    ) -> Result<bool, CellError> {
        self.ticket += 1;
        let begun = Instant::now();
        kernels.hold(&cuda.stream, board, self.ticket, LIMIT_NS)?;
        // No early return from here on: the device waits for the release.
        let queued = queue();
        while begun.elapsed() < LEAST {
            std::hint::spin_loop();
        }
        board.release(self.ticket);
        let done = cuda.synchronize();
        queued?;
        done?;
        Ok(!board.gave_up(self.ticket))
    }

    /// Enqueues a hold that has been released already, so that its code is loaded before it is needed.
    pub(crate) fn load(&self, cuda: &Cuda, kernels: &TimingKernels, board: &Board) -> Result<(), CellError> {
        kernels.hold(&cuda.stream, board, self.ticket, LIMIT_NS)
    }
}
