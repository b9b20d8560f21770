//! The sine of every element again, with one launch per element from the host or one for all.

use gpubench_model::case::Case;
use gpubench_model::error::CellError;

use super::sin::Sin;
use super::{About, Checked, Given, Op, Work};

/// `y = sin(a)`, as [`Sin`]; only the place of the loop differs.
pub(crate) struct HostLoop;

impl Op for HostLoop {
    fn about(&self) -> About {
        About::new("host-loop", "y = sin(a), one launch per element or one for all", &[10, 32, 100])
    }

    fn work(&self, case: &Case) -> Work {
        Sin.work(case)
    }

    fn footprint(&self, case: &Case) -> u128 {
        Sin.footprint(case)
    }

    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        Sin.judge(given)
    }
}
