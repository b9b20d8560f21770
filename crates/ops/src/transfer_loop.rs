//! A loop of sines over a matrix that starts and ends on the host, judged element by element.

use gpubench_model::case::Case;
use gpubench_model::error::CellError;

use super::judge::sines;
use super::volume::{dense_bytes, element, side};
use super::{About, Checked, Given, Limit, Op, Work};

/// Number of times that the sine is applied.
pub const SINES: usize = 100;

/// `x = sin(x)`, [`SINES`] times.
pub(crate) struct TransferLoop;

impl Op for TransferLoop {
    fn about(&self) -> About {
        About {
            limit: Limit::Bus,
            copies_itself: true,
            ..About::new(
                "transfer-loop",
                "x = sin(x), 100 times, from host memory back to host memory",
                &[100, 1000, 3000],
            )
        }
    }

    /// Counts one operation per element and sine; the operand goes in, the answer comes out.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: SINES as f64 * n * n, bytes: 2.0 * n * n * element(case.dtype) }
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 2, 0)
    }

    /// Returns the largest relative error of an element. The bound is 8 unit roundoffs per sine, 4.8e-5 in float32.
    /// One sine too many or too few moves most elements by half a per cent.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, sines(given, SINES))
    }
}
