//! Takes samples of a job on the device: cache state, blocking kernel, events and clocks. Decides which readings are needed, and in
//! which order.

mod history;
mod spin;
mod timer_overhead;
mod timing_rig;

use gpubench_backend::{ClockCheck, History, Job, Prepared, Sample, SamplingMode, TimerOverhead};
use gpubench_report::case::Cache;
use serde_json::{Value, json};

use super::ffi::driver::Elapsed;
use crate::{Cuda, KernelSource, Result, kernel_source};
use history::{batch_size, next_mode};
use spin::CycleSpin;
pub(super) use spin::KERNELS;
pub use spin::{SPIN, SPIN_AND_WAIT, SPIN_ELSEWHERE, SPIN_OP};
use timer_overhead::{EventOverhead, median_or_nan};
use timing_rig::{DeviceReading, HostTimes, TimingRig};

/// The kernels for sampling, compiled when the backend starts.
pub(super) static SOURCE: KernelSource = kernel_source!("measure/timing");

/// Duration of each spin of a clock check in seconds, and its number of samples.
const CHECKS: [(f64, u32); 4] = [(5e-6, 20), (20e-6, 20), (100e-6, 20), (1e-3, 5)];

/// Blocked executions from which the size of a hot batch is chosen, once per job.
const ESTIMATES: usize = 3;
/// Executions with hot caches of which the host's clock reads the last: after the wait for a blocked batch, the
/// processor is slower at the first calls than at those of a loop.
const HOST_EXECUTIONS: usize = 4;

/// Times jobs. It stores a job's history with the job.
pub struct Timer {
    rig: TimingRig,
    event_overhead: EventOverhead,
    timer_overhead: TimerOverhead,
    blocking: bool,
    timeouts: u64,
}

impl Timer {
    /// Makes the rig and measures its timer overhead, except the clock checks.
    pub(crate) fn new(cuda: &Cuda, elapsed: Elapsed) -> Result<Timer> {
        let mut rig = TimingRig::new(cuda, elapsed)?;
        let mut blocking = rig.can_block()?;
        let mut measured = timer_overhead::measure(&mut rig, blocking);
        if blocking && measured.is_err() {
            // Some profilers serialise some kernels and not others.
            blocking = false;
            measured = timer_overhead::measure(&mut rig, blocking);
        }
        let (timer_overhead, event_overhead) = measured?;
        Ok(Timer { rig, event_overhead, timer_overhead, blocking, timeouts: u64::from(!blocking) })
    }

    /// Samples jobs of known duration with cold caches, exactly like other jobs, and adds the results to the timer
    /// overhead.
    pub(crate) fn check_clocks(&mut self, cuda: &Cuda) -> Result<()> {
        let checks = CHECKS.iter().map(|spin| self.check(cuda, *spin)).collect::<Result<_, _>>()?;
        self.timer_overhead.checks = checks;
        Ok(())
    }

    fn check(&mut self, cuda: &Cuda, (spun_s, samples): (f64, u32)) -> Result<ClockCheck> {
        let cycles = (spun_s * self.event_overhead.cycles_per_s) as i64;
        let mut spin = Prepared::new(CycleSpin::new(cuda, cycles)?);
        // The first sample of a job is taken differently from the following ones.
        self.time(&mut *spin, Cache::Cold)?;
        let (mut events, mut device) = (vec![], vec![]);
        for _ in 0..samples {
            let sample = self.time(&mut *spin, Cache::Cold)?;
            events.push(sample.events_s.unwrap_or(f64::NAN));
            device.push(sample.seconds());
        }
        Ok(ClockCheck { spun_s, events_s: median_or_nan(&events), device_s: median_or_nan(&device) })
    }

    /// Returns the timer overhead measured when the backend started.
    pub(crate) fn timer_overhead(&self) -> &TimerOverhead {
        &self.timer_overhead
    }

    /// Describes how samples are taken, for a report.
    pub(crate) fn describe(&self) -> Value {
        json!({
            "blocking_kernel": self.blocking,
            "blocking_kernel_timeouts": self.timeouts,
            "event_constant_s": self.event_overhead.pair_s,
            "between_executions_s": self.event_overhead.between_s,
        })
    }

    /// Returns the event time of work that is no job, without a blocking kernel. Use it for work so long that neither
    /// the gap before its first launch nor the timer overhead matters.
    pub(crate) fn span_s(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        self.rig.cuda.synchronize()?;
        Ok(self.rig.time_both_clocks(work)?.1.events_s)
    }

    /// Runs `queue`, which enqueues work of `job`, behind a blocking kernel and waits for it. Returns `false` without
    /// running it if the work itself waits for the device, and `false` after running it if the kernel timed out.
    pub(crate) fn run_blocked(
        &mut self,
        job: &mut Prepared,
        queue: &mut dyn FnMut(&mut dyn Job) -> Result<()>,
    ) -> Result<bool> {
        let Prepared { traits, job, .. } = job;
        if !self.blocking || traits.synchronises || traits.is_host_work {
            return Ok(false);
        }
        self.rig.run_blocked(|_| queue(job))
    }

    /// Takes one sample. The first sample of a job is one execution on both clocks and includes its first call.
    /// Samples of host work use only the host's clock.
    pub fn time(&mut self, job: &mut Prepared, cache: Cache) -> Result<Sample> {
        let Prepared { traits, history, job } = job;
        if traits.is_host_work {
            return self.time_on_host(job, cache);
        }
        if traits.synchronises || !self.blocking {
            return Ok(self.time_both_clocks(job, cache)?.0);
        }
        if history.mode == SamplingMode::New {
            let (sample, events_s) = self.time_both_clocks(job, cache)?;
            history.mode = next_mode(history.mode, events_s);
            return Ok(sample);
        }
        while matches!(history.mode, SamplingMode::Slow(_)) {
            let (sample, events_s) = self.time_both_clocks(job, cache)?;
            history.mode = next_mode(history.mode, events_s);
            if history.mode == SamplingMode::BothClocks {
                return Ok(sample);
            }
        }
        if history.mode == SamplingMode::Blocked {
            match self.time_separately((job, traits.resets), cache, history)? {
                Some(sample) => return Ok(sample),
                None => self.stop_blocking(history)?,
            }
        }
        Ok(self.time_both_clocks(job, cache)?.0)
    }

    /// Times one execution by the host's clock alone.
    fn time_on_host(&mut self, job: &mut dyn Job, cache: Cache) -> Result<Sample> {
        job.reset()?;
        self.rig.prepare_caches(cache)?;
        Ok(Sample::of_host(self.rig.time_until_idle(&mut || job.execute())?))
    }

    /// Times one execution by both clocks, without a blocking kernel. Also returns the raw event time.
    fn time_both_clocks(&mut self, job: &mut dyn Job, cache: Cache) -> Result<(Sample, f64)> {
        job.reset()?;
        self.rig.prepare_caches(cache)?;
        let (host, reading) = self.rig.time_both_clocks(&mut || job.execute())?;
        Ok((self.sample(host, &reading, 1, false), reading.events_s))
    }

    /// Times one execution by the host's clock, then a blocked batch by the device's. Returns `None` if the kernel
    /// timed out.
    fn time_separately(
        &mut self,
        (job, resets): (&mut dyn Job, bool),
        cache: Cache,
        history: &mut History,
    ) -> Result<Option<Sample>> {
        let follows = cache == Cache::Hot && !resets;
        let repeats = match history.repeats {
            _ if !follows => 1,
            Some(repeats) => repeats,
            None => {
                let Some(settled) = self.choose_batch_size(job)? else { return Ok(None) };
                *history.repeats.insert(settled)
            }
        };
        job.reset()?;
        self.rig.prepare_caches(cache)?;
        for _ in 1..if follows { HOST_EXECUTIONS } else { 1 } {
            self.rig.time_host(&mut || job.execute())?;
        }
        let host = self.rig.time_host(&mut || job.execute())?;
        job.reset()?;
        self.rig.prepare_caches(cache)?;
        let reading = self.rig.time_blocked(u32::from(follows), repeats, &mut || job.execute())?;
        Ok(reading.map(|reading| self.sample(host, &reading, repeats, true)))
    }

    /// Chooses the number of executions in a hot batch. Returns `None` if a blocking kernel timed out.
    fn choose_batch_size(&mut self, job: &mut dyn Job) -> Result<Option<u32>> {
        let mut estimates = [0.0; ESTIMATES];
        for estimate in &mut estimates {
            self.rig.prepare_caches(Cache::Hot)?;
            let Some(reading) = self.rig.time_blocked(1, 1, &mut || job.execute())? else {
                return Ok(None);
            };
            *estimate = self.event_overhead.corrected(reading.events_s, 1).1;
        }
        estimates.sort_by(f64::total_cmp);
        Ok(Some(batch_size(estimates[ESTIMATES / 2])))
    }

    /// Stops blocking this job, and all jobs if even an empty blocking kernel times out.
    fn stop_blocking(&mut self, history: &mut History) -> Result<()> {
        self.timeouts += 1;
        history.mode = SamplingMode::BothClocks;
        self.blocking = self.rig.can_block()?;
        Ok(())
    }

    fn sample(&self, host: HostTimes, reading: &DeviceReading, repeats: u32, blocked: bool) -> Sample {
        let (events_s, device_s) = self.event_overhead.corrected(reading.events_s, repeats);
        Sample {
            device_s: Some(device_s),
            events_s: Some(events_s),
            blocked: Some(blocked),
            ended_by_word: Some(host.by_word),
            sm_mhz: reading.sm_mhz,
            throttled: self.rig.is_throttled(reading),
            enqueue_s: Some(host.enqueue_s),
            ..Sample::of_host(host.done_s)
        }
    }
}
