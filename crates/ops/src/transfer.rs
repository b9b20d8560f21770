//! The ops that only take time: the copy of a matrix, which must arrive unchanged, and operations that do no work.

use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;
use rayon::prelude::*;

use super::judge;
use super::volume::{bytes_of, element, side};
use super::{About, Checked, Given, Limit, Op, Work};

/// `y = a`, in another memory.
pub(crate) struct TransferOp;

impl Op for TransferOp {
    /// Sizes from 1 KiB to 256 MiB in float32.
    fn about(&self) -> About {
        About {
            limit: Limit::Bus,
            compares_sides: false,
            ..About::new(
                "transfer",
                "copy of a matrix: host to device, device to host",
                &[16, 64, 256, 1024, 4096, 8192],
            )
        }
    }

    /// No arithmetic; each element crosses once.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: 0.0, bytes: n * n * element(case.dtype) }
    }

    fn footprint(&self, case: &Case) -> u128 {
        bytes_of(case, &[&["n", "n"], &["n", "n"]])
    }

    /// Returns the number of elements whose bits changed; none may.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, check(given))
    }
}

fn check<T: Real>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, .. } = *given;
    let shape = (case.side(), case.side());
    let a = judge::dense::<T>(inputs, 0, "a", shape)?;
    let y = judge::dense::<T>(answer, 0, "y", shape)?;
    let different = |(y, a): (&T, &T)| match y.to_f64().to_bits() == a.to_f64().to_bits() {
        true => 0.0,
        false if y.to_f64().is_finite() => 1.0,
        // NaN and infinity make the count infinite, as with errors.
        false => f64::INFINITY,
    };
    Ok(Checked::new(y.par_iter().zip(a).map(different).sum(), 0.0))
}

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
