//! Takes the raw readings of a sample: host clock, events and timestamps. `Timer` combines and corrects them.
//!
//! A kernel blocks the stream until all work of a sample is queued, so that no launch gap lies between its events. nvbench calls
//! this the blocking kernel. This one cannot deadlock: it ends by itself after [`TIMEOUT_NS`], and the host then discards the
//! sample.

use std::rc::Rc;
use std::time::{Duration, Instant};

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE as CLOCK_RATE;
use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaSlice};
use gpubench_report::case::Cache;

use super::super::ffi::completion::Completion;
use super::super::ffi::driver::{self as ffi, Elapsed};
use super::super::ffi::timing::{Mailbox, TimingKernels};
use super::SOURCE;
use crate::{Cuda, Result, driver};

pub(crate) type EnqueueFn<'a> = dyn FnMut() -> Result<()> + 'a;

/// Host-clock readings of some work, in seconds since just before it was enqueued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostTimes {
    /// Until the call that enqueues the work returned.
    pub(crate) enqueue_s: f64,
    /// Until the work was done.
    pub(crate) done_s: f64,
    /// Whether `done_s` ended when the host read the word that the device writes, not when a synchronisation returned.
    pub(crate) by_word: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceReading {
    /// Seconds between the events around the work.
    pub events_s: f64,
    /// Clock of the multiprocessors in MHz, if both timestamps were written.
    pub sm_mhz: Option<f64>,
}

/// The events, timestamps, blocking kernel and cache flush that all samples share.
pub(crate) struct TimingRig {
    pub cuda: Cuda,
    /// The kernels of a sample.
    pub kernels: TimingKernels,
    mailbox: Mailbox,
    completion: Rc<Completion>,
    /// The number of the last blocking kernel.
    ticket: u64,
    /// A buffer whose reading replaces everything in the L2 cache.
    ///
    /// It is read and never written (nvbench and Triton clear theirs): written lines would be dirty, and the cache would
    /// write them back during the timed work. Dirty lines that the reads evict are written back before the reads end.
    zeros: CudaSlice<u8>,
    start: CudaEvent,
    end: CudaEvent,
    elapsed: Elapsed,
    rated_mhz: Option<f64>,
}

impl TimingRig {
    /// Makes the parts and launches every kernel once: the driver loads a kernel's code at its first launch, which
    /// behind a blocking kernel would wait for that kernel.
    pub(crate) fn new(cuda: &Cuda, elapsed: Elapsed) -> Result<TimingRig> {
        let event =
            || cuda.ctx.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).map_err(driver("cuEventCreate"));
        let rated_khz = ffi::attribute(cuda.device(), CLOCK_RATE).ok().filter(|khz| *khz > 0);
        // Not counted as an allocation, because it belongs to no job.
        let zeros = cuda.stream.alloc_zeros(CACHES * cuda.l2_bytes().unwrap_or(UNKNOWN_L2_BYTES));
        let mut made = TimingRig {
            cuda: cuda.clone(),
            kernels: TimingKernels::load(cuda, &SOURCE)?,
            mailbox: Mailbox::new(&cuda.ctx)?,
            completion: Rc::new(Completion::new(&cuda.stream, cuda.function(&SOURCE, "signal")?)?),
            ticket: 0,
            zeros: zeros.map_err(driver("cuMemAllocAsync"))?,
            start: event()?,
            end: event()?,
            elapsed,
            rated_mhz: rated_khz.map(|khz| f64::from(khz) / 1e3),
        };
        // Released already.
        made.kernels.block(&cuda.stream, &made.mailbox, made.ticket, TIMEOUT_NS)?;
        cuda.end_graphs_with(&made.completion);
        made.prepare_caches(Cache::Cold)?;
        made.time_both_clocks(&mut || made.kernels.empty(&cuda.stream))?;
        Ok(made)
    }

    pub(crate) fn is_throttled(&self, reading: &DeviceReading) -> bool {
        is_throttled(reading.sm_mhz, self.rated_mhz)
    }

    /// Brings the caches into that state and waits for the device, so that the flush does not run into the sample.
    pub(crate) fn prepare_caches(&mut self, cache: Cache) -> Result<()> {
        if cache == Cache::Cold {
            self.kernels.flush_l2(&self.cuda, &mut self.zeros)?;
        }
        self.cuda.synchronize()
    }

    /// Times one execution by the host's clock, until the host knows that the work is done. The device must be idle.
    pub(crate) fn time_host(&self, work: &mut EnqueueFn<'_>) -> Result<HostTimes> {
        self.completion.clear();
        let begun = Instant::now();
        work()?;
        let enqueue_s = begun.elapsed().as_secs_f64();
        let by_word = self.completion.wait(&self.cuda.stream)?;
        let done_s = begun.elapsed().as_secs_f64();
        self.cuda.synchronize()?;
        Ok(HostTimes { enqueue_s, done_s, by_word })
    }

    /// Times one execution by the host's clock, until the driver reports an idle stream. Returns seconds. The device must be
    /// idle.
    pub(crate) fn time_until_idle(&self, work: &mut EnqueueFn<'_>) -> Result<f64> {
        let begun = Instant::now();
        work()?;
        self.cuda.synchronize()?;
        Ok(begun.elapsed().as_secs_f64())
    }

    /// Times one execution by both clocks, without a blocking kernel. The device must be idle.
    pub(crate) fn time_both_clocks(&self, work: &mut EnqueueFn<'_>) -> Result<(HostTimes, DeviceReading)> {
        let stream = &self.cuda.stream;
        self.mailbox.clear_timestamps();
        self.kernels.timestamp(stream, &self.mailbox, 0)?;
        self.start.record(stream).map_err(driver("cuEventRecord"))?;
        let begun = Instant::now();
        // A graph would end with a kernel that is not part of the work.
        self.cuda.without_replays(work)?;
        let enqueue_s = begun.elapsed().as_secs_f64();
        self.end.record(stream).map_err(driver("cuEventRecord"))?;
        self.cuda.synchronize()?;
        let host = HostTimes { enqueue_s, done_s: begun.elapsed().as_secs_f64(), by_word: false };
        self.kernels.timestamp(stream, &self.mailbox, 1)?;
        self.cuda.synchronize()?;
        Ok((host, self.reading()?))
    }

    /// Times `repeats` consecutive executions after `lead_in` others by the device's clock, all behind a blocking
    /// kernel. Returns `None` when that kernel timed out. The device must be idle.
    pub(crate) fn time_blocked(
        &mut self,
        lead_in: u32,
        repeats: u32,
        work: &mut EnqueueFn<'_>,
    ) -> Result<Option<DeviceReading>> {
        let cuda = self.cuda.clone();
        let stream = &cuda.stream;
        self.mailbox.clear_timestamps();
        // Before the blocking kernel, so that the clock is counted over a longer time.
        self.kernels.timestamp(stream, &self.mailbox, 0)?;
        let queue = |rig: &TimingRig| {
            (0..lead_in).try_for_each(|_| work())?;
            rig.start.record(stream).map_err(driver("cuEventRecord"))?;
            (0..repeats).try_for_each(|_| work())?;
            rig.end.record(stream).map_err(driver("cuEventRecord"))?;
            rig.kernels.timestamp(stream, &rig.mailbox, 1)
        };
        // The timer overhead was measured with kernels that were launched one by one.
        let blocked = cuda.without_replays(|| self.run_blocked(queue))?;
        if blocked { self.reading().map(Some) } else { Ok(None) }
    }

    /// Runs `queue`, which enqueues work, behind a blocking kernel, releases the kernel and waits until all is done.
    /// Returns `false` if the kernel timed out because `queue`, or each launch in it, waited for the device.
    pub(crate) fn run_blocked(&mut self, queue: impl FnOnce(&TimingRig) -> Result<()>) -> Result<bool> {
        self.ticket += 1;
        let begun = Instant::now();
        self.kernels.block(&self.cuda.stream, &self.mailbox, self.ticket, TIMEOUT_NS)?;
        // No early return from here to the release, because the device waits for it.
        let queued = queue(self);
        while begun.elapsed() < MIN_BLOCKED {
            std::hint::spin_loop();
        }
        self.mailbox.release(self.ticket);
        let done = self.cuda.synchronize();
        queued?;
        done?;
        Ok(!self.mailbox.timed_out(self.ticket))
    }

    /// Returns whether an empty blocking kernel can be released. It cannot where every launch waits for the device,
    /// as under some profilers and with CUDA_LAUNCH_BLOCKING.
    pub(crate) fn can_block(&mut self) -> Result<bool> {
        Ok(self.time_blocked(0, 0, &mut || Ok(()))?.is_some())
    }

    /// Reads the events and timestamps, which must be complete.
    fn reading(&self) -> Result<DeviceReading> {
        let milliseconds =
            self.elapsed.milliseconds(&self.start, &self.end).map_err(driver("cuEventElapsedTime"))?;
        let sm_mhz = mhz(self.mailbox.timestamp(0), self.mailbox.timestamp(1));
        Ok(DeviceReading { events_s: f64::from(milliseconds) / 1e3, sm_mhz })
    }
}

/// Nanoseconds after which a blocking kernel times out: far longer than queuing a sample takes, and short for a
/// person.
const TIMEOUT_NS: u64 = 250_000_000;

/// Minimum time that a kernel blocks. The SM clock is counted from before it, and device timers tick every 32 ns on
/// some chips and every microsecond on others: 0.1 % and 4 % of this.
const MIN_BLOCKED: Duration = Duration::from_micros(50);

/// Bytes to read, in sizes of the L2 cache. One fills it; the second is needed because the replacement is not
/// strictly by age and, on chips with two partitions, a line can be in both.
const CACHES: usize = 2;

/// Assumed bytes of the L2 cache if the driver does not report them: more than any chip up to compute capability 12.0
/// has.
const UNKNOWN_L2_BYTES: usize = 128 << 20;

/// A sample counts as throttled below this share of the rated clock.
///
/// The default of nvbench (`throttle_threshold`, 75 % of `cudaDevAttrClockRate`).
const THROTTLED: f64 = 0.75;

/// Nanoseconds and cycles of one timestamp; zeros if no block ran on multiprocessor 0.
type Timestamp = (u64, u64);

/// Returns cycles per microsecond between two timestamps, or `None` when one is missing or they are out of order.
fn mhz(first: Timestamp, second: Timestamp) -> Option<f64> {
    if first.0 == 0 || second.0 == 0 {
        return None;
    }
    let ns = second.0.checked_sub(first.0).filter(|ns| *ns > 0)?;
    let cycles = second.1.checked_sub(first.1).filter(|cycles| *cycles > 0)?;
    // Whole MHz: the timer counts in steps that are a larger share of any sample short enough to be taken often.
    Some((1e3 * cycles as f64 / ns as f64).round())
}

/// Returns whether the clock was throttled. Returns `false` when either clock is unknown.
fn is_throttled(sm_mhz: Option<f64>, rated_mhz: Option<f64>) -> bool {
    sm_mhz.zip(rated_mhz).is_some_and(|(now, rated)| now < THROTTLED * rated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_cycles_over_time_and_absent_where_a_stamp_is() {
        assert_eq!(mhz((1_000, 5_000), (51_000, 104_000)), Some(1980.0));
        assert_eq!(mhz((0, 0), (51_000, 104_000)), None);
        assert_eq!(mhz((1_000, 5_000), (0, 0)), None);
        assert_eq!(mhz((1_000, 5_000), (1_000, 6_000)), None);
        assert_eq!(mhz((1_000, 5_000), (2_000, 4_000)), None);
    }

    #[test]
    fn only_a_known_clock_well_below_the_rated_one_is_throttled() {
        assert!(is_throttled(Some(1400.0), Some(1980.0)));
        assert!(!is_throttled(Some(1500.0), Some(1980.0)));
        assert!(!is_throttled(None, Some(1980.0)) && !is_throttled(Some(100.0), None));
    }
}
