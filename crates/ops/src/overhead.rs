//! Things that cost time before any work is done, so many of them one after another; knows that all must be done.

use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::judge;
use super::{About, Checked, Given, Limit, Op, Work};

/// `n` of something that does nothing by itself: launches of an empty kernel, contexts, compilations.
pub(crate) struct Overhead;

/// Bytes of the count that is the answer.
const COUNT: u128 = 8;

impl Op for Overhead {
    fn about(&self) -> About {
        About {
            limit: Limit::Latency,
            compares_sides: false,
            ..About::new("overhead", "N launches, contexts or compilations that do no work", &[1])
        }
    }

    /// None: that is the point.
    fn work(&self, _case: &Case) -> Work {
        Work { flop: 0.0, bytes: 0.0 }
    }

    fn read_bytes(&self, _case: &Case) -> f64 {
        0.0
    }

    fn footprint(&self, _case: &Case) -> u128 {
        COUNT
    }

    fn inputs(&self, _case: &Case) -> Vec<Operand> {
        vec![]
    }

    /// By how much the number of things done misses `n`; not at all.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        let done = judge::dense::<f64>(given.answer, 0, "the count", (1, 1))?;
        Ok(Checked::new((done[0] - given.case.n as f64).abs(), 0.0))
    }
}
