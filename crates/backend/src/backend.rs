//! What a backend does: prepares a job for one case, and times it.

use gpubench_model::case::{Cache, Case};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::contents::{self, Fingerprints};
use crate::{Conditions, DevicePhases, Finding, Peaks, Prepared, Sample, SetupCounts, TimerOverhead};

/// A started backend. Lives in a worker; it may hold many jobs and times one at a time.
pub trait Backend {
    /// What a report says of it: device and library names, versions, paths, threads; a JSON object.
    fn describe(&self) -> serde_json::Value;

    /// Returns the least that its clocks can tell apart from nothing, measured when it started.
    fn timer_overhead(&self) -> Option<TimerOverhead> {
        None
    }

    /// What its peaks depend on besides the host: device, driver, threads, libraries. What is measured under one
    /// value holds for every later run with the same; `None` when they are to be measured in each run.
    fn peaks_depend_on(&self) -> Option<serde_json::Value> {
        None
    }

    /// Measures its peaks, in a few seconds at most, while it holds no job; `None` when it has none. What cannot
    /// be measured is left out.
    ///
    /// # Errors
    /// Only [`CellError::DeviceLost`] asks for a new worker.
    fn peaks(&mut self) -> Result<Option<Peaks>, CellError> {
        Ok(None)
    }

    /// CPU threads that a job may use; `None` for backends of which that says nothing.
    fn threads(&self) -> Option<usize> {
        None
    }

    /// Returns the libraries it has loaded so far, with paths and versions.
    fn libraries(&self) -> Vec<Finding>;

    /// Refuses, with the figures, a case that cannot fit its memory, before operands are made for it.
    fn admit(&self, _case: &Case) -> Result<(), CellError> {
        Ok(())
    }

    /// Waits until what earlier work left running has come to rest, such as threads that spin for more of it.
    fn settle(&mut self) {}

    /// Returns seconds since some fixed moment, by the clock that limits of warm-up and sampling are meant in.
    fn now_s(&self) -> f64 {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
    }

    /// Leaves the device alone for that many seconds, so that it can cool down.
    fn pause(&mut self, seconds: f64) {
        std::thread::sleep(std::time::Duration::from_secs_f64(seconds));
    }

    /// Prepares `variant` for `case`: allocates, plans, compiles, uploads. Nothing of that may happen later.
    ///
    /// Checks that everything fits in memory before it allocates.
    fn prepare(&mut self, variant: &str, case: &Case, inputs: &[Operand])
    -> Result<Box<Prepared>, CellError>;

    /// Compiling, copies and memory since the last call, where the backend has a device.
    fn phases(&mut self) -> DevicePhases {
        DevicePhases::default()
    }

    /// Resets `job`, brings the caches into that state, and executes it between two readings of each clock;
    /// returns when its work is done. Hot, it may take the mean of several executions back to back.
    fn time(&mut self, job: &mut Prepared, cache: Cache) -> Result<Sample, CellError>;

    /// Returns whether [`Backend::time`] marks the answer before each execution ([`contents::mark`]), so that one that does not
    /// write all of it leaves another answer.
    fn marks_answers(&self, _cache: Cache) -> bool {
        false
    }

    /// Fingerprints of what `job` holds now.
    fn fingerprints(&mut self, job: &mut Prepared) -> Result<Fingerprints, CellError> {
        contents::fingerprints(&job.contents())
    }

    /// Resets `job`, spoils its answer and executes it once, without timing it. Returns the fingerprints of the answer
    /// just before and just after the execution, `None` where the job shows no answer.
    ///
    /// A device must spoil, execute and read in the order of the job's stream, with nothing waited for in between: work
    /// that runs elsewhere then comes too early or too late.
    fn execute_spoiled(&mut self, job: &mut Prepared) -> Result<[Option<u64>; 2], CellError> {
        job.reset()?;
        contents::spoil(&mut job.contents())?;
        let before = self.fingerprints(job)?.answer;
        job.execute()?;
        Ok([before, self.fingerprints(job)?.answer])
    }

    /// Spoils the answer of `job` and resets it. Returns the answer's fingerprint, `None` where the job shows none.
    fn reset_spoiled(&mut self, job: &mut Prepared) -> Result<Option<u64>, CellError> {
        contents::spoil(&mut job.contents())?;
        job.reset()?;
        Ok(self.fingerprints(job)?.answer)
    }

    /// Puts `new` at byte `offset` of the elements of operand number `operand` of `job`, and returns what was there;
    /// `None` where the job does not show that operand.
    fn replace(
        &mut self,
        job: &mut Prepared,
        (operand, offset): (usize, usize),
        new: &[u8],
    ) -> Result<Option<Vec<u8>>, CellError> {
        contents::replace(&mut job.contents(), (operand, offset), new)
    }

    /// Returns the allocations, plans and compilations so far; zero for backends that count none.
    fn setup_counts(&self) -> SetupCounts {
        SetupCounts::default()
    }

    /// What can be seen of the machine now that may disturb a measurement.
    fn conditions(&mut self) -> Conditions {
        Conditions::default()
    }
}
