//! Thin singular value decomposition; knows how three factors are judged.

use rayon::prelude::*;

use super::judge::{self, relative, worst};
use super::volume::{dense_bytes, element, side};
use super::{Checked, Op, Rounding, Work, uniform_square};
use crate::case::Case;
use crate::data::{Operand, Real};
use crate::error::CellError;

/// `A = U diag(S) Vᵀ`.
pub struct Svd;

/// Random vectors a check uses: with four in each of two directions, a wrong entry hides from all of them
/// with probability below 1e-5.
const PROBES: usize = 4;

impl Op for Svd {
    fn name(&self) -> &'static str {
        "svd"
    }

    fn summary(&self) -> &'static str {
        "thin singular value decomposition A = U diag(S) Vᵀ"
    }

    fn default_sizes(&self) -> &'static [u64] {
        &[100, 500, 512, 1024, 2048]
    }

    /// `22 n^3`: the count of Golub and Van Loan for all three thin factors by Golub-Reinsch, whatever the
    /// algorithm really does.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: 22.0 * n * n * n, bytes: (3.0 * n * n + n) * element(case.dtype) }
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 3, 1)
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![uniform_square(case, 0)]
    }

    /// S must be descending and not negative. Then the largest component over random vectors y of
    /// `UᵀU y - y`, `U Uᵀ y - y`, the same for V, and of `Uᵀ A y - S Vᵀ y` relative to
    /// `S_j + |A|_F / sqrt(n)`: with both factors orthogonal the last vanishes only when A is the product.
    ///
    /// Seen in the frame of the factors, a wrong small singular value does not drown in the large ones.
    /// The bound, `20 n` unit roundoffs, leaves room for Jacobi methods, a hundred times less exact at
    /// `n = 2048` than LAPACK's.
    fn check(
        &self,
        case: &Case,
        inputs: &[Operand],
        answer: &[Operand],
        rounding: Rounding,
    ) -> Result<Checked, CellError> {
        for_dtype!(case.dtype, check(case, inputs, answer, rounding))
    }
}

fn check<T: Real>(
    case: &Case,
    inputs: &[Operand],
    answer: &[Operand],
    rounding: Rounding,
) -> Result<Checked, CellError> {
    let n = case.side();
    let a = judge::dense::<T>(inputs, 0, "A", (n, n))?;
    let u = judge::dense::<T>(answer, 0, "U", (n, n))?;
    let s = judge::dense::<T>(answer, 1, "S", (n, 1))?;
    let vt = judge::dense::<T>(answer, 2, "Vt", (n, n))?;
    let bound = 20.0 * n as f64 * rounding.sum;
    let s: Vec<f64> = s.iter().map(|value| value.to_f64()).collect();
    let descending = s.iter().all(|value| *value >= 0.0) && s.windows(2).all(|pair| pair[0] >= pair[1]);
    if !descending {
        return Ok(Checked::new(f64::INFINITY, bound));
    }
    let probes = judge::weights::<PROBES>(case.seed, n);
    let orthogonality = orthogonality_error(u, &probes).max(orthogonality_error(vt, &probes));
    Ok(Checked::new(orthogonality.max(residual(a, u, &s, vt, &probes)), bound))
}

/// The largest difference of two sets of vectors in a component.
fn difference(left: &[[f64; PROBES]], right: &[[f64; PROBES]]) -> f64 {
    worst(left.par_iter().zip(right).flat_map_iter(|(l, r)| (0..PROBES).map(move |k| l[k] - r[k])))
}

/// The largest component of `QᵀQ y - y` and of `Q Qᵀ y - y`.
fn orthogonality_error<T: Real>(q: &[T], probes: &[[f64; PROBES]]) -> f64 {
    let columns = judge::columns_times(q, &judge::rows_times(q, probes));
    let rows = judge::rows_times(q, &judge::columns_times(q, probes));
    difference(&columns, probes).max(difference(&rows, probes))
}

/// The largest component of `Uᵀ A y - S Vᵀ y` relative to `S_j + |A|_F / sqrt(n)`.
fn residual<T: Real>(a: &[T], u: &[T], s: &[f64], vt: &[T], probes: &[[f64; PROBES]]) -> f64 {
    let left = judge::columns_times(u, &judge::rows_times(a, probes));
    let right = judge::rows_times(vt, probes);
    let typical = (judge::sum(a, |x| x * x) / s.len() as f64).sqrt();
    let components = left.par_iter().zip(&right).zip(s);
    worst(components.flat_map_iter(|((left, right), s)| {
        (0..PROBES).map(move |k| relative(left[k] - s * right[k], s + typical))
    }))
}
