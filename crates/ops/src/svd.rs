//! The thin singular value decomposition, judged by random projections of its three factors.

use gpubench_model::case::Case;
use gpubench_model::data::Real;
use gpubench_model::error::CellError;
use rayon::prelude::*;

use super::judge::{self, relative, worst};
use super::volume::{dense_bytes, element, side};
use super::{About, Checked, Given, Op, Work};

/// `A = U diag(S) Vᵀ`.
pub(crate) struct Svd;

/// Number of random vectors per check: with four in each of two directions, a wrong entry hides from all of them with
/// probability below 1e-5.
const PROBES: usize = 4;

impl Op for Svd {
    fn about(&self) -> About {
        About::new("svd", "thin singular value decomposition A = U diag(S) Vᵀ", &[100, 500, 512, 1024, 2048])
    }

    /// Counts `22 n^3`, as Golub and Van Loan do for all three thin factors by Golub-Reinsch, for any algorithm.
    fn work(&self, case: &Case) -> Work {
        let n = side(case);
        Work { flop: 22.0 * n * n * n, bytes: (3.0 * n * n + n) * element(case.dtype) }
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 3, 1)
    }

    /// S must be descending and not negative. Then, over random vectors y, the components of `UᵀU y - y`, of
    /// `U Uᵀ y - y`, of the same for V, and of `Uᵀ A y - S Vᵀ y` relative to `S_j + |A|_F / sqrt(n)`: with both factors
    /// orthogonal the last vanishes only when A is the product. Seen in the frame of the factors, a wrong small singular
    /// value does not drown in the large ones.
    ///
    /// - The median component of each, and the relative error of the norm of S, which is that of A: at most
    ///   `8 (8 + sqrt(n))` unit roundoffs. Right ones have up to `3 sqrt(n)`, as rounding errors of one sign and the other
    ///   add up; operands rounded to 11 bits have 1400 float32 roundoffs at every size.
    /// - The largest component: at most `20 n + 8 t`. It finds one wrong entry. The first term leaves room for libraries
    ///   that compute few of the vectors less well: OpenBLAS 0.3.34 by divide and conquer, with 60 times the error of its
    ///   median component. The second leaves room for the iteration of LAPACK's `xBDSQR`, which takes an off-diagonal
    ///   for zero below a tolerance `t = max(10, min(100, u^(-1/8)))` (the source of `dbdsqr`; Demmel and Kahan 1990): 10 in
    ///   float32, 98.7 in float64. Such a value stays in one or two components of `Uᵀ A y - S Vᵀ y`, at any size: up to `2.7 t`
    ///   in half a million random matrices of N = 2 to 100 by OpenBLAS, and `4.6 t` by cuSOLVER's gesvd on an H200. LAPACK's
    ///   own tests (Working Note 41) accept a ratio `|A - U S Vᵀ| / (n u |A|)` of 50 in the 1-norm, with `u` twice the unit
    ///   roundoff.
    ///
    /// Returns the error nearest to its bound, on the scale of the first.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, check(given))
    }
}

fn check<T: Real>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let n = case.side();
    let a = judge::dense::<T>(inputs, 0, "A", (n, n))?;
    let u = judge::dense::<T>(answer, 0, "U", (n, n))?;
    let s = judge::dense::<T>(answer, 1, "S", (n, 1))?;
    let vt = judge::dense::<T>(answer, 2, "Vt", (n, n))?;
    let size = n as f64;
    let typical = 8.0 * (8.0 + size.sqrt()) * rounding.sum;
    let largest = (20.0 * size + 8.0 * dropped(rounding.sum)) * rounding.sum;
    let s: Vec<f64> = s.iter().map(|value| value.to_f64()).collect();
    if s.iter().any(|value| *value < 0.0) {
        return Ok(Checked::invalid("has a negative singular value", typical));
    }
    if !s.is_sorted_by(|left, right| left >= right) {
        return Ok(Checked::invalid("has singular values that are not in descending order", typical));
    }
    let norm = judge::sum(a, |x| x * x).sqrt();
    let values = relative(judge::sum(&s, |x| x * x).sqrt() - norm, norm).abs();
    let probes = judge::weights::<PROBES>(case.seed, n);
    let mut checked = Checked::new(values, typical);
    let residual = residual(a, norm / size.sqrt(), u, &s, vt, &probes);
    for components in
        orthogonality(u, &probes).into_iter().chain(orthogonality(vt, &probes)).chain([residual])
    {
        let most = Checked::new(worst(components.par_iter().copied()), largest);
        checked = checked.worse(most.on_scale_of(typical));
        checked = checked.worse(Checked::new(judge::median_magnitude(components), typical));
    }
    Ok(checked)
}

/// Returns the largest off-diagonal that LAPACK's `xBDSQR` takes for zero, in unit roundoffs relative to the singular value
/// next to it: 10 in float32 and 98.7 in float64.
fn dropped(unit_roundoff: f64) -> f64 {
    unit_roundoff.powf(-0.125).clamp(10.0, 100.0)
}

/// Returns the components of the difference of two sets of vectors.
fn difference(left: &[[f64; PROBES]], right: &[[f64; PROBES]]) -> Vec<f64> {
    left.iter().zip(right).flat_map(|(l, r)| (0..PROBES).map(move |k| l[k] - r[k])).collect()
}

/// Returns the components of `QᵀQ y - y` and those of `Q Qᵀ y - y`.
fn orthogonality<T: Real>(q: &[T], probes: &[[f64; PROBES]]) -> [Vec<f64>; 2] {
    let columns = judge::columns_times(q, &judge::rows_times(q, probes));
    let rows = judge::rows_times(q, &judge::columns_times(q, probes));
    [difference(&columns, probes), difference(&rows, probes)]
}

/// Returns the components of `Uᵀ A y - S Vᵀ y` relative to `S_j + typical`.
fn residual<T: Real>(
    a: &[T],
    typical: f64,
    u: &[T],
    s: &[f64],
    vt: &[T],
    probes: &[[f64; PROBES]],
) -> Vec<f64> {
    let left = judge::columns_times(u, &judge::rows_times(a, probes));
    let right = judge::rows_times(vt, probes);
    let components = left.iter().zip(&right).zip(s);
    let component = |((left, right), s): ((&[f64; PROBES], &[f64; PROBES]), &f64)| {
        let (left, right, s) = (*left, *right, *s);
        (0..PROBES).map(move |k| relative(left[k] - s * right[k], s + typical))
    };
    components.flat_map(component).collect()
}
