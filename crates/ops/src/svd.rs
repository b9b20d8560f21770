//! The thin singular value decomposition, judged by random projections of its three factors.

use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;
use gpubench_report::shape::BATCH;
use rayon::prelude::*;

use super::judge::{self, Block, relative, worst};
use super::volume::{element, product};
use super::{About, Checked, Decisive, Given, Op, Rounding, Work, uniform};

/// `A = U diag(S) Vᵀ` of a matrix of m x n: U has m x k, Vᵀ k x n elements, where k is the smaller of m and n.
pub(crate) struct Svd;

/// The dimensions of A.
const MATRIX: [&str; 3] = [BATCH, "m", "n"];

/// Returns the longer and the shorter side, and the number of matrices.
fn sides(case: &Case) -> [u64; 3] {
    let [m, n, batch] = ["m", "n", BATCH].map(|name| case.extent(name));
    [m.max(n), m.min(n), batch]
}

/// Number of random vectors per check: with four in each of two directions, a wrong entry hides from all of them with
/// probability below 1e-5.
const PROBES: usize = 4;

/// Largest ratio of a right answer: the threshold in `TESTING/svd.in` of LAPACK 3.
const LAPACK_THRESHOLD: f64 = 35.0;

impl Op for Svd {
    fn about(&self) -> About {
        About::new("svd", "thin singular value decomposition A = U diag(S) Vᵀ", &[100, 500, 512, 1024, 2048])
            .shaped(&["m", "n"], &[BATCH])
    }

    /// Counts `14 m n^2 + 8 n^3` for m >= n, `22 n^3` if square, as Golub and Van Loan do for all three thin factors by
    /// Golub-Reinsch, for any algorithm.
    fn work(&self, case: &Case) -> Work {
        let [long, short, batch] = sides(case).map(|side| side as f64);
        let bytes = batch * short * (2.0 * long + short + 1.0) * element(case.dtype);
        Work { flop: batch * (14.0 * long * short * short + 8.0 * short * short * short), bytes }
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        product(case, &MATRIX) * element(case.dtype)
    }

    fn footprint(&self, case: &Case) -> u128 {
        let [long, short, batch] = sides(case).map(u128::from);
        let of_one = long
            .saturating_mul(short)
            .saturating_mul(2)
            .saturating_add(short.saturating_mul(short))
            .saturating_add(short);
        of_one.saturating_mul(batch).saturating_mul(case.dtype.bytes().into())
    }

    /// Counts a copy, of A for LAPACK, which overwrites it, or of U for the judge of faer's answer; and the documented workspace of
    /// LAPACK, `4 k^2 + 7 k` elements for each thread with a matrix of its own, or that of faer for one matrix.
    fn scratch(&self, case: &Case) -> u128 {
        let [long, short, batch] = sides(case).map(u128::from);
        let [of_one, square] = [long, short].map(|side| side.saturating_mul(short));
        let threads = if batch > 1 { rayon::current_num_threads() as u128 } else { 1 };
        let of_lapack =
            square.saturating_mul(4).saturating_add(short.saturating_mul(7)).saturating_mul(threads);
        let of_faer = of_one.saturating_mul(2).saturating_add(square.saturating_mul(6));
        let elements = of_one.saturating_mul(batch).saturating_add(of_lapack.max(of_faer));
        elements.saturating_mul(case.dtype.bytes().into())
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        let [m, n, batch] = case.extents(["m", "n", BATCH]);
        vec![uniform(case, 0, [batch * m, n])]
    }

    /// The first element becomes `sqrt(max(m, n)) + 1`, whose change is as large as a row of A, or a column. The default would make the
    /// matrix so ill-conditioned that cuSOLVER's `gesvda` fails for some.
    fn decisive_element(&self, case: &Case, inputs: &[Operand]) -> Option<Decisive> {
        let value = (sides(case)[0] as f64).sqrt() + 1.0;
        (!inputs.first()?.values().is_empty()).then_some(Decisive { operand: 0, element: 0, value })
    }

    /// S must be descending and not negative. An answer is right by the tests of LAPACK's `xDRVBD` (Working Note 41): `|A - U S Vᵀ| /
    /// (n ulp |A|)`, `|UᵀU - I| / (n ulp)` and `|V Vᵀ - I| / (n ulp)` in the 1-norm are at most [`LAPACK_THRESHOLD`], with `ulp` twice
    /// the unit roundoff. The norms are estimated from products with vectors.
    ///
    /// These ratios hardly see a wrong entry of a large matrix: at N = 2048 they accept a float32 answer without one row of A. So over
    /// random vectors y the components of `Uᵀ A y - S Vᵀ y`, relative to `S_j + |A|_F / sqrt(n)`, are at most `40 n + 8 t` unit
    /// roundoffs. Seen in the frame of the factors, a wrong small singular value does not drown in the large ones. LAPACK's `xBDSQR`
    /// takes an off-diagonal for zero below a tolerance `t = max(10, min(100, u^(-1/8)))` (its source; Demmel and Kahan 1990): 10 in
    /// float32, 98.7 in float64. Such a value stays in one or two components at any size: up to `2.7 t` in half a million random
    /// matrices of N = 2 to 100 by OpenBLAS, and `4.6 t` by cuSOLVER's gesvd on an H200.
    ///
    /// A right answer is coarse if one of these exceeds what answers of full precision have:
    ///
    /// - The median of those components, of the components of `UᵀU y - y`, of `U Uᵀ y - y` and of the same for V, and the relative error of the
    ///   norm of S, which is that of A: `8 (8 + sqrt(n))` unit roundoffs. Full precision has up to `3 sqrt(n)`, as rounding errors of
    ///   one sign and the other add up; operands rounded to 11 bits have 1400 float32 roundoffs at every size.
    /// - The largest component of the same: `20 n + 8 t`. Divide and conquer of OpenBLAS 0.3.34 has up to 60 times the error of its median
    ///   component.
    ///
    /// Returns the largest ratio, or the component nearest to its bound on the scale of the ratios.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, check(given))
    }
}

fn check<T: Real>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let [m, n, batch] = case.extents(["m", "n", BATCH]);
    let k = m.min(n);
    let a = judge::dense::<T>(inputs, 0, "A", (batch * m, n))?;
    let u = judge::dense::<T>(answer, 0, "U", (batch * m, k))?;
    let s = judge::dense::<T>(answer, 1, "S", (batch * k, 1))?;
    let vt = judge::dense::<T>(answer, 2, "Vt", (batch * k, n))?;
    let of_batch =
        a.par_chunks(m * n).zip(u.par_chunks(m * k)).zip(s.par_chunks(k)).zip(vt.par_chunks(k * n));
    let checked = of_batch.map(|(((a, u), s), vt)| check_one([m, n], a, (u, s, vt), case.seed, rounding));
    let worst = checked.reduce_with(Checked::worse);
    worst.ok_or_else(|| CellError::Failed("the batch has no matrix".into()))
}

fn check_one<T: Real>(
    [m, n]: [usize; 2],
    a: &[T],
    (u, s, vt): (&[T], &[T], &[T]),
    seed: u64,
    rounding: Rounding,
) -> Checked {
    let size = m.max(n) as f64;
    let tolerance = 8.0 * dropped(rounding.sum) * rounding.sum;
    let s: Vec<f64> = s.iter().map(|value| value.to_f64()).collect();
    if s.iter().any(|value| *value < 0.0) {
        return Checked::invalid("has a negative singular value", LAPACK_THRESHOLD);
    }
    if !s.is_sorted_by(|left, right| left >= right) {
        return Checked::invalid("has singular values that are not in descending order", LAPACK_THRESHOLD);
    }
    let [residual, of_u, of_v] = lapack_ratios(n, a, u, &s, vt, seed);
    let ratios = [residual / size, of_u / m as f64, of_v / n as f64].map(|norm| norm / (2.0 * rounding.sum));
    let ratio = Checked::new(worst(ratios.into_par_iter()), LAPACK_THRESHOLD);

    let norm = judge::sum(a, |x| x * x).sqrt();
    let residual =
        self::residual(a, norm / (s.len() as f64).sqrt(), u, &s, vt, &judge::weights::<PROBES>(seed, n));
    let largest = Checked::new(worst(residual.par_iter().copied()), 40.0 * size * rounding.sum + tolerance);
    let checked = ratio.worse(largest.on_scale_of(LAPACK_THRESHOLD));

    let typical = 8.0 * (8.0 + size.sqrt()) * rounding.sum;
    let values = relative(judge::sum(&s, |x| x * x).sqrt() - norm, norm).abs();
    let projections = orthogonality(u, s.len(), seed).into_iter().chain(orthogonality(vt, n, seed)).flatten();
    let is_coarse = projections.chain([residual]).any(|components| {
        worst(components.par_iter().copied()) > 20.0 * size * rounding.sum + tolerance
            || judge::median_magnitude(components) > typical
    });
    Checked { coarse: checked.is_right() && (is_coarse || values > typical), ..checked }
}

/// Returns the 1-norms of `A - U S Vᵀ` relative to that of A, of `UᵀU - I`, and of `V Vᵀ - I`.
fn lapack_ratios<T: Real>(n: usize, a: &[T], u: &[T], s: &[f64], vt: &[T], seed: u64) -> [f64; 3] {
    let k = s.len();
    let scaled = |mut block: Block| -> Block {
        block.iter_mut().zip(s).for_each(|(row, s)| row.iter_mut().for_each(|x| *x *= s));
        block
    };
    let minus = |mut left: Block, right: &Block| -> Block {
        left.iter_mut()
            .zip(right)
            .for_each(|(left, right)| left.iter_mut().zip(right).for_each(|(l, r)| *l -= r));
        left
    };
    let residual = judge::one_norm(
        n,
        seed,
        |x| minus(judge::rows_times(a, x), &judge::rows_times(u, &scaled(judge::rows_times(vt, x)))),
        |x| minus(judge::columns_times(a, x), &judge::columns_times(vt, &scaled(judge::columns_times(u, x)))),
    );
    let of_columns = |x: &Block| minus(judge::columns_times(u, &judge::rows_times(u, x)), x);
    let of_rows = |x: &Block| minus(judge::rows_times(vt, &judge::columns_times(vt, x)), x);
    let norm = judge::one_norm(n, seed, |x| judge::rows_times(a, x), |x| judge::columns_times(a, x));
    // Both are symmetric.
    let [columns, rows] =
        [judge::one_norm(k, seed, of_columns, of_columns), judge::one_norm(k, seed, of_rows, of_rows)];
    [relative(residual, norm), columns, rows]
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

/// Returns the components of `QᵀQ y - y` where Q, of `cols` columns, has at least as many rows, and those of `Q Qᵀ y - y` where it has
/// at least as many columns.
fn orthogonality<T: Real>(q: &[T], cols: usize, seed: u64) -> [Option<Vec<f64>>; 2] {
    let rows = q.len() / cols;
    let probes = |len| judge::weights::<PROBES>(seed, len);
    let of_columns = || {
        let y = probes(cols);
        difference(&judge::columns_times(q, &judge::rows_times(q, &y)), &y)
    };
    let of_rows = || {
        let y = probes(rows);
        difference(&judge::rows_times(q, &judge::columns_times(q, &y)), &y)
    };
    [(rows >= cols).then(of_columns), (cols >= rows).then(of_rows)]
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
