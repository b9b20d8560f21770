//! The readings a sample is made of: host clock, events, stamps; knows no job and corrects nothing.

use std::time::Instant;

use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE as CLOCK_RATE;
use cudarc::driver::sys::CUevent_flags;
use gpubench_model::case::Cache;
use gpubench_model::error::CellError;

use super::super::context::{Cuda, driver};
use super::super::ffi::driver::{self as ffi, Elapsed};
use super::super::ffi::timing::{Board, TimingKernels};
use super::SOURCE;
use super::displace::Displacement;
use super::hold::Hold;
use super::stamp;

/// Enqueues the work once.
pub(crate) type Work<'a> = dyn FnMut() -> Result<(), CellError> + 'a;

/// What the host's clock reads of some work, in seconds from before it was enqueued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostTimes {
    /// Until the call that enqueues it returned.
    pub(crate) enqueue_s: f64,
    /// Until it was done.
    pub(crate) done_s: f64,
}

/// What the device saw of some work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Seconds between the events around it.
    pub events_s: f64,
    /// Clock of the multiprocessors, in MHz, where both stamps landed.
    pub sm_mhz: Option<f64>,
}

/// Two events, two stamps, a hold and a displacement, made once.
pub(crate) struct Instrument {
    pub cuda: Cuda,
    /// The kernels of a sample.
    pub kernels: TimingKernels,
    board: Board,
    hold: Hold,
    displacement: Displacement,
    start: CudaEvent,
    end: CudaEvent,
    elapsed: Elapsed,
    rated_mhz: Option<f64>,
}

impl Instrument {
    /// Makes everything, and launches every kernel once: the driver loads a kernel's code at its first launch, which
    /// behind a hold would wait for the hold.
    pub(crate) fn new(cuda: &Cuda, elapsed: Elapsed) -> Result<Instrument, CellError> {
        let event =
            || cuda.ctx.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).map_err(driver("cuEventCreate"));
        let rated_khz = ffi::attribute(cuda.device(), CLOCK_RATE).ok().filter(|khz| *khz > 0);
        let mut made = Instrument {
            cuda: cuda.clone(),
            kernels: TimingKernels::load(cuda, &SOURCE)?,
            board: Board::new(&cuda.ctx)?,
            hold: Hold::default(),
            displacement: Displacement::new(cuda)?,
            start: event()?,
            end: event()?,
            elapsed,
            rated_mhz: rated_khz.map(|khz| f64::from(khz) / 1e3),
        };
        made.hold.load(cuda, &made.kernels, &made.board)?;
        made.caches(Cache::Cold)?;
        made.together(&mut || made.kernels.empty(&cuda.stream))?;
        Ok(made)
    }

    /// Whether the device's clock was held down.
    pub(crate) fn is_throttled(&self, reading: &Reading) -> bool {
        stamp::is_throttled(reading.sm_mhz, self.rated_mhz)
    }

    /// Brings the caches into that state and waits for an idle device, so that nothing of it leaks into the sample.
    pub(crate) fn caches(&mut self, cache: Cache) -> Result<(), CellError> {
        if cache == Cache::Cold {
            self.displacement.run(&self.cuda, &self.kernels)?;
        }
        self.cuda.synchronize()
    }

    /// The host's readings of one execution. The device must be idle.
    pub(crate) fn host(&self, work: &mut Work<'_>) -> Result<HostTimes, CellError> {
        let begun = Instant::now();
        work()?;
        let enqueue_s = begun.elapsed().as_secs_f64();
        self.cuda.synchronize()?;
        Ok(HostTimes { enqueue_s, done_s: begun.elapsed().as_secs_f64() })
    }

    /// Both clocks' readings of one execution, not held back. The device must be idle.
    pub(crate) fn together(&self, work: &mut Work<'_>) -> Result<(HostTimes, Reading), CellError> {
        let stream = &self.cuda.stream;
        self.board.clear_stamps();
        self.kernels.stamp(stream, &self.board, 0)?;
        self.start.record(stream).map_err(driver("cuEventRecord"))?;
        let begun = Instant::now();
        work()?;
        let enqueue_s = begun.elapsed().as_secs_f64();
        self.end.record(stream).map_err(driver("cuEventRecord"))?;
        self.cuda.synchronize()?;
        let host = HostTimes { enqueue_s, done_s: begun.elapsed().as_secs_f64() };
        self.kernels.stamp(stream, &self.board, 1)?;
        self.cuda.synchronize()?;
        Ok((host, self.reading()?))
    }

    /// The device's reading of `repeats` executions back to back after `lead_in` others, all held back until they
    /// are queued; `None` when the hold gave up. The device must be idle.
    pub(crate) fn blocked(
        &mut self,
        lead_in: u32,
        repeats: u32,
        work: &mut Work<'_>,
    ) -> Result<Option<Reading>, CellError> {
        let Instrument { cuda, kernels, board, hold, start, end, .. } = self;
        let stream = &cuda.stream;
        board.clear_stamps();
        // Before the hold, which so lengthens the time over which the clock is counted.
        kernels.stamp(stream, board, 0)?;
        let held = hold.around(cuda, kernels, board, || {
            (0..lead_in).try_for_each(|_| work())?;
            start.record(stream).map_err(driver("cuEventRecord"))?;
            (0..repeats).try_for_each(|_| work())?;
            end.record(stream).map_err(driver("cuEventRecord"))?;
            kernels.stamp(stream, board, 1)
        })?;
        if held { self.reading().map(Some) } else { Ok(None) }
    }

    /// Has `queue` enqueue work behind a hold, and waits until all is done; `false` when the hold gave up.
    pub(crate) fn behind_hold(&mut self, queue: &mut Work<'_>) -> Result<bool, CellError> {
        let Instrument { cuda, kernels, board, hold, .. } = self;
        hold.around(cuda, kernels, board, queue)
    }

    /// Whether a hold with nothing behind it can be let go: not where launches wait for the device, as under some
    /// profilers and with CUDA_LAUNCH_BLOCKING.
    pub(crate) fn can_hold(&mut self) -> Result<bool, CellError> {
        Ok(self.blocked(0, 0, &mut || Ok(()))?.is_some())
    }

    /// What the events and stamps read, all of them done.
    fn reading(&self) -> Result<Reading, CellError> {
        let milliseconds =
            self.elapsed.milliseconds(&self.start, &self.end).map_err(driver("cuEventElapsedTime"))?;
        let sm_mhz = stamp::mhz(self.board.stamp(0), self.board.stamp(1));
        Ok(Reading { events_s: f64::from(milliseconds) / 1e3, sm_mhz })
    }
}
