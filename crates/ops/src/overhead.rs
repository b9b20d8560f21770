//! Operations that take time without doing work: launches, contexts, compilations. The judge checks that all N were
//! done.

use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::judge;
use super::{About, Checked, Given, Limit, Op, Work};

/// `n` launches of an empty kernel, contexts, or compilations.
pub(crate) struct Overhead;

/// Bytes of the answer, a count.
const COUNT: u128 = 8;

impl Op for Overhead {
    fn about(&self) -> About {
        About {
            limit: Limit::Latency,
            compares_sides: false,
            ..About::new("overhead", "N launches, contexts or compilations that do no work", &[1])
        }
    }

    /// There is none; only latency is measured.
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

    /// Returns the difference between the number of operations done and `n`, which must be 0.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        let done = judge::dense::<f64>(given.answer, 0, "the count", (1, 1))?;
        Ok(Checked::new((done[0] - given.case.n as f64).abs(), 0.0))
    }
}
