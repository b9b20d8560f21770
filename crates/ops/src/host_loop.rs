//! The sine of every element again, to be computed element by element from the host, or at once.

use gpubench_model::case::Case;
use gpubench_model::error::CellError;

use super::sin::Sin;
use super::{About, Checked, Given, Op, Work};

/// `y = sin(a)`, in all as [`Sin`]; what differs is who runs the loop.
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
