//! Defines one row of a report.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::Execute;
use crate::case::{Cache, Case, Cell};
use crate::measure::stopping::Reason;
use crate::{
    Accuracy, Checked, Compile, DevicePhases, Origin, PinnedCopies, Side, Transfer, Work, fewer_threads,
};

/// Outcome of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The answer was right, and it was timed.
    Measured,
    /// The answer was wrong; it has no time.
    Incorrect,
    /// Something is missing, or memory is too small.
    Skipped,
    /// A call failed, or the worker crashed or ran out of time.
    Failed,
}

names!(Outcome { Measured: "measured", Incorrect: "incorrect", Skipped: "skipped", Failed: "failed" });

/// Host seconds of the phases around the timed one, and what a device did in them.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Generating the operands.
    pub inputs_s: f64,
    /// Allocating, planning, compiling and uploading.
    pub prepare_s: f64,
    /// Allocating and planning alone, where the rest is known.
    pub plan_s: Option<f64>,
    /// Compilation of gpubench's own kernels, if the variant uses any.
    pub compile: Option<Compile>,
    /// Upload of the operands to the device.
    pub upload: Option<Transfer>,
    /// The first execution, including its one-time costs.
    pub first_s: f64,
    /// The first execution by the device's clock.
    pub first_device_s: Option<f64>,
    /// Trying numbers of threads, where the variant has a choice.
    #[serde(default)]
    pub threads_s: f64,
    /// Copying the answer to the host and converting it for the check.
    pub download_s: f64,
    /// The copy from the device alone.
    pub download: Option<Transfer>,
    /// Copies of operands and answer with pinned memory, where `upload` and `download` use pageable memory and both were timed.
    pub pinned: Option<PinnedCopies>,
    /// Peak device memory of the variant's own allocations, in bytes.
    pub peak_device_bytes: Option<u64>,
    /// Judging the answer.
    pub check_s: f64,
    /// Verifying timed answers, over all rounds.
    #[serde(default)]
    pub verify_s: f64,
}

impl Phases {
    /// Adds the device's phases while the job was prepared, and from then until its answer was read.
    pub fn with_device(&mut self, preparing: DevicePhases, after: DevicePhases) {
        if preparing.upload.is_some() {
            self.plan_s = Some((self.prepare_s - preparing.compile_and_copy_s).max(0.0));
        }
        (self.compile, self.upload, self.download) = (preparing.compile, preparing.upload, after.download);
        let pinned = preparing.pinned_upload.zip(after.pinned_download);
        self.pinned = pinned.map(|(upload, download)| PinnedCopies { upload, download });
        self.peak_device_bytes = preparing.peak_device_bytes.max(after.peak_device_bytes);
    }
}

/// One cell and its outcome.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `op`, `n`, `dtype`, `density` (sparse ops) and `seed`.
    #[serde(flatten)]
    pub case: Case,
    /// Name of the backend.
    pub backend: String,
    /// Name of the variant.
    pub variant: String,
    /// The variant that did the work, if the requested one picks among others.
    pub picked: Option<String>,
    /// CPU threads that it could use: the fastest number up to that of the run, if it has a choice, otherwise the run's
    /// number. A serial variant uses one.
    pub threads: Option<usize>,
    /// State of the caches before each execution.
    #[serde(default)]
    pub cache: Cache,
    /// Side of the comparison.
    pub side: Side,
    /// Arithmetic of the variant.
    pub accuracy: Accuracy,
    /// Origin of the variant, or of the one that it picked. Reports up to layout 2 have none; see [`Row::origin`].
    pub origin: Option<Origin>,
    /// Outcome of the cell.
    pub outcome: Outcome,
    /// The reason that the cell has no time.
    pub reason: Option<String>,
    /// The step that would fix it.
    pub fix: Option<String>,
    /// The error found and its bound, where the answer was checked.
    pub error: Option<Checked>,
    /// Reason that no execution with an altered operand was checked, where the answer depends on operands.
    pub unaltered: Option<String>,
    /// Work of one execution.
    pub work: Work,
    /// Fingerprint of the operands, in hexadecimal; equal in all rows of a case.
    pub inputs: Option<String>,
    /// Phases around the timed one, where they happened.
    pub phases: Option<Phases>,
    /// The timed phase, when measured.
    pub execute: Option<Execute>,
    /// True if the run added this cell to the plan, at a size near a crossover.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub added_by_refinement: bool,
    /// True if a few executions showed that it is far behind the best of its side, or another copy of its library was
    /// chosen: its time is short, or it has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub screened: bool,
}

impl Row {
    /// Creates the row of a cell that has not run yet: failed, without a reason and without work.
    pub fn blank(cell: Cell, side: Side, accuracy: Accuracy) -> Row {
        Row {
            case: cell.case,
            backend: cell.backend,
            variant: cell.variant,
            cache: cell.cache,
            side,
            accuracy,
            origin: None,
            outcome: Outcome::Failed,
            unaltered: None,
            work: Work::default(),
            picked: None,
            threads: None,
            reason: None,
            fix: None,
            error: None,
            inputs: None,
            phases: None,
            execute: None,
            added_by_refinement: false,
            screened: false,
        }
    }

    /// Returns the cell of this row.
    pub fn cell(&self) -> Cell {
        Cell {
            case: self.case.clone(),
            backend: self.backend.clone(),
            variant: self.variant.clone(),
            cache: self.cache,
        }
    }

    /// Returns whether it may represent its side in the headline: full precision, the run's number of threads, and the whole op.
    pub fn is_headline(&self) -> bool {
        self.is_whole() && fewer_threads(&self.variant).is_none()
    }

    /// Returns whether it executes the whole op in full precision, on any number of threads.
    pub fn is_whole(&self) -> bool {
        let reuses = crate::variant::reuses(&self.backend, &self.case.op, &self.variant);
        self.accuracy.is_headline() && !reuses
    }

    /// Returns the origin of the variant that did the work.
    pub fn origin(&self) -> Origin {
        self.origin.unwrap_or_else(|| Origin::of(&self.backend, &self.case.op, self.doer()))
    }

    /// Returns the variant that did the work: the named one, or the one that it picked.
    pub fn doer(&self) -> &str {
        self.picked.as_ref().unwrap_or(&self.variant)
    }

    /// Returns the variant for display: `cublas`, or `auto (cublas)` if it was picked.
    pub fn variant_text(&self) -> String {
        match &self.picked {
            Some(picked) => format!("{} ({picked})", self.variant),
            None => self.variant.clone(),
        }
    }

    /// Returns whether the run ended before the cell had all its samples.
    pub fn was_cut_short(&self) -> bool {
        self.execute.as_ref().is_some_and(|execute| execute.stopped == Some(Reason::CutShort))
    }

    /// Returns whether its worker was lost for good before the cell had all its samples.
    pub fn has_ended_early(&self) -> bool {
        self.execute.as_ref().is_some_and(|execute| execute.stopped == Some(Reason::EndedEarly))
    }

    /// Returns whether it has no time because another copy of its library was chosen.
    pub fn is_passed_over(&self) -> bool {
        self.screened && self.execute.is_none()
    }

    /// Returns the median, when measured.
    pub fn median_s(&self) -> Option<f64> {
        self.execute.as_ref().map(|execute| execute.median_s)
    }
}
