//! The messages between the parent and a worker: one JSON object a line, requests in, replies out.

use gpubench_model::case::Cell;
use gpubench_model::measure::batch::{Batch, BatchResult};
use gpubench_model::report::{Clock, Phases};
use gpubench_ops::Checked;
use serde::{Deserialize, Serialize};

use crate::{Finding, Options, Peaks, TimerOverhead};

/// Version of the protocol.
pub const PROTOCOL_VERSION: u32 = 4;

/// From the parent to the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Request {
    /// Start the backend. Answered by `Ready`, `Unavailable` or `Failed`.
    Hello {
        /// `PROTOCOL_VERSION` of the parent.
        protocol: u32,
        /// How to start it.
        options: Options,
    },
    /// Make operands, prepare the cell, execute once, check, and hold it as job number `job`. Answered by
    /// `Prepared`, `Incorrect`, `Skipped` or `Failed`.
    Prepare {
        /// The number by which later requests name it.
        job: u64,
        /// The cell.
        cell: Cell,
        /// The threads that were chosen for it when it was prepared before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threads: Option<usize>,
    },
    /// Sample a job that is held. Answered by `Measured` or `Failed`.
    Measure {
        /// Its number.
        job: u64,
        /// How to warm up, and how many samples to take.
        batch: Batch,
    },
    /// Check that the last timed execution of a job left the operands as they were and a right answer. Answered by
    /// `Verified`, `Refuted` or `Failed`.
    Verify {
        /// Its number.
        job: u64,
        /// True to execute once more, after erasing the answer, and to check that all of it is made again.
        #[serde(default)]
        execute: bool,
    },
    /// Let a job go and free its memory. Answered by `Released`, also when no such job is held.
    Release {
        /// Its number.
        job: u64,
    },
    /// Another worker is about to use the processors: drop the operands kept for later cells, and wait until no thread
    /// spins. Jobs stay prepared. Answered by `Rested` or `Failed`.
    Rest,
    /// Measure the peaks of the backend, which holds no job. Answered by `Peaks` or `Failed`.
    Peaks,
    /// Look for everything the backend could use. Answered by `Findings` or `Failed`; needs no `Hello`.
    Doctor {
        /// How it would be started.
        options: Options,
    },
    /// End. Not answered.
    Exit,
}

/// From the worker to the parent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Reply {
    /// The backend has started.
    Ready {
        /// What it says of itself.
        description: serde_json::Value,
        /// The floors of its clocks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timer_overhead: Option<TimerOverhead>,
        /// What its peaks depend on besides the host; without it they are measured in each run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peaks_depend_on: Option<serde_json::Value>,
    },
    /// The backend cannot start.
    Unavailable {
        /// Why.
        reason: String,
        /// The step that would fix it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fix: Option<String>,
    },
    /// A phase of the cell has begun: `inputs`, `prepare`, `first`, `threads`, `check`, `samples`, `verify`.
    /// Not a final answer.
    Phase {
        /// The phase.
        phase: String,
    },
    /// The cell is prepared and its answer is right.
    Prepared {
        /// The error found and its bound.
        error: Checked,
        /// Fingerprint of the operands, hexadecimal.
        inputs: String,
        /// Phases so far.
        phases: Phases,
        /// The variant that does the work, where the one asked for picks among others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        picked: Option<String>,
        /// The CPU threads that it may use: the number chosen for it, or all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threads: Option<usize>,
        /// Libraries loaded so far.
        libraries: Vec<Finding>,
    },
    /// The cell's answer is wrong.
    Incorrect {
        /// The error found and its bound.
        error: Checked,
        /// Fingerprint of the operands, hexadecimal.
        inputs: String,
        /// Phases so far.
        phases: Phases,
        /// What is wrong, in one line.
        reason: String,
    },
    /// The cell cannot be done here.
    Skipped {
        /// Why.
        reason: String,
        /// The step that would fix it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fix: Option<String>,
        /// True if memory is short, so that it may fit once the jobs that workers hold have been let go.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        crowded: bool,
    },
    /// A call failed.
    Failed {
        /// Which, and what it said.
        reason: String,
        /// True if the worker must be replaced.
        device_lost: bool,
    },
    /// What was timed is what was judged.
    Verified,
    /// It is not: the times of the job cannot be believed.
    Refuted {
        /// What is wrong, in one line.
        reason: String,
        /// The error of the answer and its bound, where that is what is wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Checked>,
    },
    /// The job is let go.
    Released,
    /// No thread spins, and no operands are kept besides those of jobs.
    Rested,
    /// The samples.
    Measured {
        /// The clock that stands for the cell.
        clock: Clock,
        /// What was taken.
        result: BatchResult,
    },
    /// The peaks.
    Peaks {
        /// What was measured; `None` when the backend has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peaks: Option<Peaks>,
    },
    /// What was found.
    Findings {
        /// One entry a thing looked for.
        findings: Vec<Finding>,
    },
}
