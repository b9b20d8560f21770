//! One sample of a job, step by step: which readings are taken of it, in which order.

use gpubench_backend::{ClockCheck, Course, History, Job, Prepared, Sample, TimerOverhead};
use gpubench_model::case::Cache;
use gpubench_model::error::CellError;
use serde_json::{Value, json};

use super::super::context::Cuda;
use super::super::ffi::driver::Elapsed;
use super::constants::Constants;
use super::history::{after, repeats};
use super::instrument::{HostTimes, Instrument, Reading};
use super::timer_overhead;

/// Held executions from which the length of a hot batch is settled, once a job.
const ESTIMATES: usize = 3;

/// Times jobs. What it learns of a job, it leaves with the job.
pub(crate) struct Timer {
    instrument: Instrument,
    constants: Constants,
    timer_overhead: TimerOverhead,
    holding: bool,
    holds_timed_out: u64,
}

impl Timer {
    /// Makes the instrument and measures its floors but for the checks.
    pub(crate) fn new(cuda: &Cuda, elapsed: Elapsed) -> Result<Timer, CellError> {
        let mut instrument = Instrument::new(cuda, elapsed)?;
        let mut holding = instrument.can_hold()?;
        let mut measured = timer_overhead::measure(&mut instrument, holding);
        if holding && measured.is_err() {
            // A profiler may serialise some kernels and not others.
            holding = false;
            measured = timer_overhead::measure(&mut instrument, holding);
        }
        let (timer_overhead, constants) = measured?;
        Ok(Timer { instrument, constants, timer_overhead, holding, holds_timed_out: u64::from(!holding) })
    }

    /// Adds to the floors how jobs of known duration were timed.
    pub(crate) fn record(&mut self, checks: Vec<ClockCheck>) {
        self.timer_overhead.checks = checks;
    }

    /// The timer_overhead, as measured when the backend started.
    pub(crate) fn timer_overhead(&self) -> &TimerOverhead {
        &self.timer_overhead
    }

    /// How samples are taken, for a report.
    pub(crate) fn describe(&self) -> Value {
        json!({
            "holding": self.holding,
            "holds_timed_out": self.holds_timed_out,
            "event_constant_cold_s": self.constants.cold_s,
            "event_constant_hot_s": self.constants.hot_s,
            "between_executions_s": self.constants.between_s,
        })
    }

    /// Seconds that the events read around work that is no job, from an idle device on and not held back: for work so
    /// long that neither the gap before its first launch nor the events' own time matters.
    pub(crate) fn span_s(&self, work: &mut dyn FnMut() -> Result<(), CellError>) -> Result<f64, CellError> {
        self.instrument.cuda.synchronize()?;
        Ok(self.instrument.together(work)?.1.events_s)
    }

    /// Has `queue` enqueue work of `job` behind a hold, and waits until all is done. Whether it could: not for work that
    /// waits for the device inside, in which case nothing was done, and not where the hold gave up.
    pub(crate) fn behind_hold(
        &mut self,
        job: &mut Prepared,
        queue: &mut dyn FnMut(&mut dyn Job) -> Result<(), CellError>,
    ) -> Result<bool, CellError> {
        let Prepared { traits, job, .. } = job;
        if !self.holding || traits.synchronises || traits.is_host_work {
            return Ok(false);
        }
        self.instrument.behind_hold(&mut || queue(job))
    }

    /// One sample. The first of a job is one execution on both clocks, its first call included; of host work every
    /// sample is one execution on the host's.
    pub(crate) fn time(&mut self, job: &mut Prepared, cache: Cache) -> Result<Sample, CellError> {
        let Prepared { traits, history, job } = job;
        if traits.is_host_work {
            return self.by_host(job, cache);
        }
        if traits.synchronises || !self.holding {
            return Ok(self.together(job, cache)?.0);
        }
        if history.course == Course::New {
            let (sample, events_s) = self.together(job, cache)?;
            history.course = after(history.course, events_s);
            return Ok(sample);
        }
        while matches!(history.course, Course::Slow(_)) {
            let (sample, events_s) = self.together(job, cache)?;
            history.course = after(history.course, events_s);
            if history.course == Course::Together {
                return Ok(sample);
            }
        }
        if history.course == Course::Held {
            match self.apart((job, traits.resets), cache, history)? {
                Some(sample) => return Ok(sample),
                None => self.hold_gave_up(history)?,
            }
        }
        Ok(self.together(job, cache)?.0)
    }

    /// One execution by the host's clock alone, until its work is done.
    fn by_host(&mut self, job: &mut dyn Job, cache: Cache) -> Result<Sample, CellError> {
        job.reset()?;
        self.instrument.caches(cache)?;
        Ok(Sample::of_host(self.instrument.host(&mut || job.execute())?.done_s))
    }

    /// One execution for both clocks, not held back, and what its events read.
    fn together(&mut self, job: &mut dyn Job, cache: Cache) -> Result<(Sample, f64), CellError> {
        job.reset()?;
        self.instrument.caches(cache)?;
        let (host, reading) = self.instrument.together(&mut || job.execute())?;
        Ok((self.made(host, &reading, 1, cache, false), reading.events_s))
    }

    /// One execution for the host's clock, then others, held back, for the device's; `None` when the hold gave up.
    fn apart(
        &mut self,
        (job, resets): (&mut dyn Job, bool),
        cache: Cache,
        history: &mut History,
    ) -> Result<Option<Sample>, CellError> {
        let follows = cache == Cache::Hot && !resets;
        let repeats = match history.repeats {
            _ if !follows => 1,
            Some(repeats) => repeats,
            None => {
                let Some(settled) = self.settle_repeats(job)? else { return Ok(None) };
                *history.repeats.insert(settled)
            }
        };
        job.reset()?;
        self.instrument.caches(cache)?;
        let host = self.instrument.host(&mut || job.execute())?;
        job.reset()?;
        self.instrument.caches(cache)?;
        let reading = self.instrument.blocked(u32::from(follows), repeats, &mut || job.execute())?;
        Ok(reading.map(|reading| self.made(host, &reading, repeats, cache, true)))
    }

    /// Executions of a hot batch; `None` when a hold gave up.
    fn settle_repeats(&mut self, job: &mut dyn Job) -> Result<Option<u32>, CellError> {
        let mut estimates = [0.0; ESTIMATES];
        for estimate in &mut estimates {
            self.instrument.caches(Cache::Hot)?;
            let Some(reading) = self.instrument.blocked(1, 1, &mut || job.execute())? else {
                return Ok(None);
            };
            *estimate = self.constants.corrected(reading.events_s, 1, Cache::Hot).1;
        }
        estimates.sort_by(f64::total_cmp);
        Ok(Some(repeats(estimates[ESTIMATES / 2])))
    }

    /// From now on the job is not held back; and no job is, if even nothing can be.
    fn hold_gave_up(&mut self, history: &mut History) -> Result<(), CellError> {
        self.holds_timed_out += 1;
        history.course = Course::Together;
        self.holding = self.instrument.can_hold()?;
        Ok(())
    }

    fn made(&self, host: HostTimes, reading: &Reading, repeats: u32, cache: Cache, blocked: bool) -> Sample {
        let (events_s, device_s) = self.constants.corrected(reading.events_s, repeats, cache);
        Sample {
            device_s: Some(device_s),
            events_s: Some(events_s),
            blocked: Some(blocked),
            sm_mhz: reading.sm_mhz,
            throttled: self.instrument.is_throttled(reading),
            enqueue_s: Some(host.enqueue_s),
            ..Sample::of_host(host.done_s)
        }
    }
}
