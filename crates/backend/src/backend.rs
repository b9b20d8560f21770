//! Defines the interface of a backend: it prepares a job for one case, and times it.

use gpubench_report::case::{Cache, Case};
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::contents::{self, Fingerprints};
use crate::{Conditions, DevicePhases, Finding, Peaks, Prepared, Sample, SetupCounts, TimerOverhead};

/// A started backend in a worker. It may hold many jobs and times one at a time.
pub trait Backend {
    /// Returns its description for the report: device and library names, versions, paths, threads; a JSON object.
    fn describe(&self) -> serde_json::Value;

    /// Returns the overhead of its timers, measured when it started.
    fn timer_overhead(&self) -> Option<TimerOverhead> {
        None
    }

    /// Returns the state that its peaks depend on besides the host: device, driver, threads, libraries. Later runs with an
    /// equal state reuse the peaks; `None` has each run measure them.
    fn peaks_depend_on(&self) -> Option<serde_json::Value> {
        None
    }

    /// Measures its peaks, in a few seconds at most, while it holds no job; returns `None` when it has none. Rates that
    /// cannot be measured are left out.
    ///
    /// # Errors
    /// Only [`CellError::DeviceLost`] asks for a new worker.
    fn peaks(&mut self) -> Result<Option<Peaks>, CellError> {
        Ok(None)
    }

    /// Returns the number of CPU threads that a job may use; `None` for backends to which this does not apply.
    fn threads(&self) -> Option<usize> {
        None
    }

    /// Returns the libraries it has loaded so far, with paths and versions.
    fn libraries(&self) -> Vec<Finding>;

    /// Refuses a case that cannot fit its memory, with the figures, before its operands are generated.
    fn admit(&self, _case: &Case) -> Result<(), CellError> {
        Ok(())
    }

    /// Waits until earlier work has stopped, such as threads that spin while they wait for more of it.
    fn settle(&mut self) {}

    /// Returns seconds since a fixed moment, by the clock for the limits of warm-up and sampling.
    fn now_s(&self) -> f64 {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
    }

    /// Leaves the device idle for `seconds`, so that it can cool down.
    fn pause(&mut self, seconds: f64) {
        std::thread::sleep(std::time::Duration::from_secs_f64(seconds));
    }

    /// Prepares `variant` for `case`: allocates, plans, compiles, uploads. None of these may happen later.
    ///
    /// The job copies the operands, or takes all of them ([`Operand::take`]) and lends them to judges ([`Job::lend`]).
    /// Checks that everything fits in memory before it allocates.
    ///
    /// [`Job::lend`]: crate::Job::lend
    fn prepare(
        &mut self,
        variant: &str,
        case: &Case,
        inputs: &mut [Operand],
    ) -> Result<Box<Prepared>, CellError>;

    /// Returns compilations, copies and memory since the last call, if the backend has a device.
    fn phases(&mut self) -> DevicePhases {
        DevicePhases::default()
    }

    /// Resets `job`, brings the caches into that state, and executes it between two readings of each clock. Returns when
    /// its work is done. With hot caches, a sample may be the mean of several executions back to back.
    fn time(&mut self, job: &mut Prepared, cache: Cache) -> Result<Sample, CellError>;

    /// Returns whether [`Backend::time`] marks the answer before each execution ([`contents::mark`]), so that an
    /// incomplete answer shows.
    fn marks_answers(&self, _cache: Cache) -> bool {
        false
    }

    /// Returns the fingerprints of the contents of `job`.
    fn fingerprints(&mut self, job: &mut Prepared) -> Result<Fingerprints, CellError> {
        contents::fingerprints(&job.contents())
    }

    /// Resets `job`, spoils its answer and executes it once, without timing it. Returns the fingerprints of the answer
    /// just before and just after the execution; `None` where the job shows no answer.
    ///
    /// A device must spoil, execute and read in the order of the job's stream, without waiting in between. Work on other
    /// streams then comes too early or too late, and is found.
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

    /// Writes `new` at byte `offset` of the elements of operand number `operand` of `job`, and returns the old bytes;
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

    /// Returns the machine's current conditions that may disturb a measurement.
    fn conditions(&mut self) -> Conditions {
        Conditions::default()
    }
}
