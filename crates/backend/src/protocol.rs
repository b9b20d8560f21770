//! Defines the messages between the parent and a worker: one JSON object per line. docs/worker-protocol.md describes them.

use std::path::PathBuf;

use gpubench_ops::own::OwnOp;
use gpubench_ops::{Checked, Decisive};
use gpubench_report::case::{Case, Cell};
use gpubench_report::measure::batch::{Batch, BatchResult};
use gpubench_report::report::{Clock, Phases};
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::{Finding, Options, Peaks, TimerOverhead, Variant};

/// Version of the protocol.
pub const PROTOCOL_VERSION: u32 = 5;

/// A message from the parent to the worker.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Request {
    /// Describe the backend and its variants, without loading a library. Answered by `Described` or `Failed`; needs no
    /// `Hello`.
    Describe,
    /// Start the backend. Answered by `Ready`, `Unavailable` or `Failed`.
    Hello {
        /// `PROTOCOL_VERSION` of the parent.
        protocol: u32,
        /// Options of the backend.
        options: Options,
    },
    /// Generate operands, prepare the cell, execute once, check, and keep it as job number `job`. Answered by
    /// `Prepared`, `Incorrect`, `Skipped` or `Failed`; by an external worker with `Answered` in place of the first two.
    Prepare {
        /// Number of the job in later requests.
        job: u64,
        /// The cell.
        cell: Cell,
        /// Number of threads chosen when it was prepared before.
        threads: Option<usize>,
        /// Variant picked when it was prepared before.
        picked: Option<String>,
        /// File for the answer of an external worker, which the parent judges.
        answer: Option<PathBuf>,
    },
    /// Sample a prepared job. Answered by `Measured` or `Failed`.
    Measure {
        /// Number of the job.
        job: u64,
        /// Warm-up and number of samples.
        batch: Batch,
    },
    /// Check that the last timed execution of a job left the operands unchanged and a right answer. Answered by
    /// `Verified`, `Refuted` or `Failed`; by an external worker with `Answered` in place of the first two.
    Verify {
        /// Number of the job.
        job: u64,
        /// True to erase the answer, execute once more, and check that all of it is written again.
        #[serde(default)]
        execute: bool,
        /// For an external worker: alter this element, execute once, and restore it.
        alter: Option<Decisive>,
        /// File for the answer of an external worker.
        answer: Option<PathBuf>,
    },
    /// Release a job and free its memory. Answered by `Released`, also when no such job is held.
    Release {
        /// Number of the job.
        job: u64,
    },
    /// Another worker is about to have its turn: drop the operands kept for later cells. Jobs stay prepared. Answered by
    /// `Rested` or `Failed`; the process is then stopped until its next request.
    Rest,
    /// Measure the peaks of the backend, which holds no job. Answered by `Peaks` or `Failed`.
    Peaks,
    /// Look for everything the backend could use. Answered by `Findings` or `Failed`; needs no `Hello`.
    Doctor {
        /// Options of the backend.
        options: Options,
    },
    /// To the process of operations of the user's own: load files and describe their operations at `sizes`, or their own sizes
    /// if there are none. Answered by `DescribedOps`, `Unavailable` or `Failed`.
    DescribeOps {
        /// Absolute paths of the files.
        files: Vec<PathBuf>,
        /// Sizes N.
        sizes: Vec<u64>,
    },
    /// To the process of operations of the user's own: judge an answer. Answered by `Judged` or `Failed`.
    Judge {
        /// The case.
        case: Case,
        /// File with the answer.
        answer: PathBuf,
    },
    /// Exit. Not answered.
    Exit,
}

/// A message from the worker to the parent.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Reply {
    /// The backend's name and variants.
    Described(Described),
    /// The backend has started.
    Ready {
        /// Description for the report.
        description: serde_json::Value,
        /// Overhead of its timers.
        timer_overhead: Option<TimerOverhead>,
        /// State that its peaks depend on besides the host; without it, each run measures them.
        peaks_depend_on: Option<serde_json::Value>,
    },
    /// The backend cannot start.
    Unavailable {
        /// The reason.
        reason: String,
        /// The step that would fix it.
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
        /// The variant that does the work, where the requested one picks among others.
        picked: Option<String>,
        /// Number of CPU threads that it may use: the number chosen for it, or all.
        threads: Option<usize>,
        /// Libraries loaded so far.
        libraries: Vec<Finding>,
    },
    /// An answer of an external worker is in the file that the request named.
    Answered(Box<Answered>),
    /// The cell's answer is wrong.
    Incorrect {
        /// The error found and its bound.
        error: Checked,
        /// Fingerprint of the operands, hexadecimal.
        inputs: String,
        /// Phases so far.
        phases: Phases,
        /// The reason, in one line.
        reason: String,
    },
    /// The cell cannot run here.
    Skipped {
        /// The reason.
        reason: String,
        /// The step that would fix it.
        fix: Option<String>,
        /// True if memory is short and releasing the workers' jobs may help.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        crowded: bool,
    },
    /// A call failed.
    Failed {
        /// Name of the call, and its message.
        reason: String,
        /// True if the worker must be replaced.
        device_lost: bool,
    },
    /// The timed answer is the one that was judged.
    Verified,
    /// The timed answer is not the one that was judged, so the times are invalid.
    Refuted {
        /// The reason, in one line.
        reason: String,
        /// Error of the answer and its bound, if the answer is wrong.
        error: Option<Checked>,
    },
    /// The job is released.
    Released,
    /// No thread spins, and only jobs keep operands.
    Rested,
    /// The samples.
    Measured {
        /// Clock of the cell's headline times.
        clock: Clock,
        /// The batch's result.
        result: BatchResult,
    },
    /// The peaks.
    Peaks {
        /// The peaks; `None` when the backend has none.
        peaks: Option<Peaks>,
    },
    /// Operations of the user's own.
    DescribedOps {
        /// The operations with their variants.
        ops: Vec<OwnOp>,
    },
    /// The verdict on an answer of an operation of the user's own.
    Judged {
        /// The error, `f64::MAX` with a `fault`.
        value: f64,
        /// The largest error of a right answer.
        bound: f64,
        /// Reason that no number describes, to follow "the answer is wrong: it ".
        fault: Option<String>,
        /// Fingerprint of the inputs of the case, hexadecimal.
        inputs: String,
        /// An element of an input on which the right answer depends, if one was found.
        decisive: Option<Decisive>,
    },
    /// The findings.
    Findings {
        /// One entry per library or device.
        findings: Vec<Finding>,
    },
}

/// What a backend says about itself before it is started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Described {
    /// Name for people: `NumPy`.
    pub name: String,
    /// Description in one line.
    pub summary: String,
    /// Variants of all its ops.
    pub variants: Vec<Variant>,
}

/// An answer that its worker does not judge.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answered {
    /// Fingerprint of the operands as the worker holds them now, hexadecimal.
    pub inputs: String,
    /// Phases so far, in reply to `Prepare`.
    pub phases: Option<Phases>,
    /// The arrays in the file, in its order.
    pub arrays: Vec<Array>,
    /// The variant that does the work, where the requested one picks among others.
    pub picked: Option<String>,
    /// Number of CPU threads that the job may use.
    pub threads: Option<usize>,
    /// Libraries loaded so far.
    #[serde(default)]
    pub libraries: Vec<Finding>,
}

/// An array in the file of an answer: little-endian elements, row after row, without padding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Array {
    /// Type of the elements.
    pub dtype: ElementType,
    /// Length of each dimension; one or two.
    pub shape: Vec<u64>,
}

/// Type of the elements of an [`Array`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElementType {
    /// Real, binary32.
    F32,
    /// Real, binary64.
    F64,
    /// Real, bfloat16.
    Bf16,
    /// Real, binary16.
    F16,
    /// Complex, of two binary32.
    C64,
    /// Complex, of two binary64.
    C128,
    /// Signed integers of 32 bits.
    I32,
}

impl ElementType {
    /// Returns the bytes of an element.
    pub fn bytes(self) -> u64 {
        match self {
            ElementType::Bf16 | ElementType::F16 => 2,
            ElementType::F32 | ElementType::I32 => 4,
            ElementType::F64 | ElementType::C64 => 8,
            ElementType::C128 => 16,
        }
    }
}
