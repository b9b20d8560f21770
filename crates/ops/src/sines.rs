//! The ops that apply the sine to every element: once, in a loop on the host, and many times in a loop of copies.

use gpubench_report::case::Case;
use gpubench_report::data::Real;
use gpubench_report::error::CellError;
use rayon::prelude::*;

use super::judge::{dense, relative, worst};
use super::volume::{bytes_of, element, side};
use super::{About, Checked, Given, Limit, Op, Work};

/// The sine of every element, applied `times` times.
pub(crate) struct Sines {
    about: About,
    times: usize,
}

/// `y = sin(a)`.
pub(crate) static SIN: Sines = Sines {
    about: About::new("sin", "y = sin(a), element by element", &[100, 500, 1000, 5000, 10000]),
    times: 1,
};

/// `y = sin(a)`, as [`SIN`]; only the place of the loop differs.
pub(crate) static HOST_LOOP: Sines = Sines {
    about: About::new("host-loop", "y = sin(a), one launch per element or one for all", &[10, 32, 100]),
    times: 1,
};

/// Number of times that the sine is applied in a loop of copies.
pub const SINES: usize = 100;

/// `x = sin(x)`, [`SINES`] times.
pub(crate) static TRANSFER_LOOP: Sines = Sines {
    about: About {
        limit: Limit::Bus,
        ..About::new(
            "transfer-loop",
            "x = sin(x), 100 times, from host memory back to host memory",
            &[100, 1000, 3000],
        )
    },
    times: SINES,
};

impl Op for Sines {
    fn about(&self) -> About {
        self.about
    }

    /// Counts one operation per element and sine; the operand goes in, the answer comes out.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: self.times as f64 * n * n, bytes: 2.0 * n * n * element(case.dtype) }
    }

    fn footprint(&self, case: &Case) -> u128 {
        bytes_of(case, &[&["n", "n"], &["n", "n"]])
    }

    /// Returns the largest relative error of an element. The bound is 8 unit roundoffs per sine, 4.8e-5 in float32 for all of a loop.
    /// There, one sine too many or too few moves most elements by half a per cent.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, sines(given, self.times))
    }
}

/// Permitted error per sine in unit roundoffs: four units in the last place.
const ONE_SINE: f64 = 8.0;

/// Returns the largest relative error of an element of `y`, where `y` is the sine applied `times` times to `a`.
///
/// The bound is 8 unit roundoffs per sine. The errors of many sines at most add up: a relative error of `x` becomes
/// one of `sin x` that is `x / tan x` times as large, which is at most 1 between 0 and 1 (the condition number:
/// Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 1.6).
fn sines<T: Real>(given: &Given, times: usize) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let shape = (case.side(), case.side());
    let a = dense::<T>(inputs, 0, "a", shape)?;
    let y = dense::<T>(answer, 0, "y", shape)?;
    let error = worst(y.par_iter().zip(a).map(|(y, a)| {
        let expected = (0..times).fold(a.to_f64(), |x, _| x.sin());
        relative(y.to_f64() - expected, expected)
    }));
    Ok(Checked::new(error, ONE_SINE * times as f64 * rounding.input))
}
