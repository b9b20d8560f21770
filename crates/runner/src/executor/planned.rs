//! Defines a cell of the plan and the worker that runs it.

use gpubench_backend::WorkerId;
use gpubench_backend::{Variant, fewer_threads};
use gpubench_model::case::Cell;
use gpubench_model::measure::sampling::Sampling;
use gpubench_model::measure::stopping::Rule;

/// One cell of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCell {
    /// The cell.
    pub cell: Cell,
    /// Variant of the cell.
    pub variant: Variant,
    /// Settings of its sampling.
    pub sampling: Sampling,
    /// True if a few executions may decide that it is too far behind to be sampled to precision.
    pub may_be_screened: bool,
}

impl PlannedCell {
    /// Returns the target relative half width.
    pub(crate) fn precision(&self) -> f64 {
        self.sampling.precision(self.variant.side)
    }

    /// Returns its stopping rule.
    pub(crate) fn rule(&self) -> Rule {
        self.sampling.rule(self.variant.side)
    }

    /// Returns the worker that runs it.
    pub fn worker(&self) -> WorkerId {
        WorkerId {
            backend: self.cell.backend.clone(),
            threads: fewer_threads(&self.cell.variant),
            library: self.variant.library.as_deref().map(str::to_owned),
        }
    }
}
