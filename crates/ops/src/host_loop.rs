//! The sine of every element again, to be computed element by element from the host, or at once.

use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::sin::Sin;
use super::{Checked, Op, Rounding, Work};

/// `y = sin(a)`, in all as [`Sin`]; what differs is who runs the loop.
pub struct HostLoop;

impl Op for HostLoop {
    fn name(&self) -> &'static str {
        "host-loop"
    }

    fn summary(&self) -> &'static str {
        "y = sin(a), one launch an element or one for all"
    }

    fn default_sizes(&self) -> &'static [u64] {
        &[10, 32, 100]
    }

    fn work(&self, case: &Case) -> Work {
        Sin.work(case)
    }

    fn footprint(&self, case: &Case) -> u128 {
        Sin.footprint(case)
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        Sin.inputs(case)
    }

    fn check(
        &self,
        case: &Case,
        inputs: &[Operand],
        answer: &[Operand],
        rounding: Rounding,
    ) -> Result<Checked, CellError> {
        Sin.check(case, inputs, answer, rounding)
    }
}
