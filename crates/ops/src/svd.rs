//! The thin singular value decomposition, judged by random projections of its three factors.

use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Element, Operand, Wide};
use gpubench_report::error::CellError;
use gpubench_report::shape::BATCH;
use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::judge::{self, Block, relative, worst};
use super::volume::{element, product};
use super::{About, Checked, Decisive, Given, Op, Rounding, Work, uniform};

/// `A = U diag(S) Vᵀ` of a matrix of m x n: U has m x k, Vᵀ k x n elements, where k is the smaller of m and n. Of complex matrices Vᵀ is Vᴴ,
/// and S is real.
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
            .of_types(DType::REAL_AND_COMPLEX)
    }

    /// Counts `14 m n^2 + 8 n^3` for m >= n, `22 n^3` if square, as Golub and Van Loan do for all three thin factors by
    /// Golub-Reinsch, for any algorithm; four times as much of complex numbers.
    fn work(&self, case: &Case) -> Work {
        let [long, short, batch] = sides(case).map(|side| side as f64);
        let [of_element, of_value] = [case.dtype, case.dtype.working()].map(element);
        let bytes = batch * short * ((2.0 * long + short) * of_element + of_value);
        let of_term = if case.dtype.is_complex() { 4.0 } else { 1.0 };
        Work { flop: of_term * batch * (14.0 * long * short * short + 8.0 * short * short * short), bytes }
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        product(case, &MATRIX) * element(case.dtype)
    }

    fn footprint(&self, case: &Case) -> u128 {
        let [long, short, batch] = sides(case).map(u128::from);
        let of_vectors =
            long.saturating_mul(short).saturating_mul(2).saturating_add(short.saturating_mul(short));
        let of_vectors = of_vectors.saturating_mul(case.dtype.bytes().into());
        let of_values = short.saturating_mul(case.dtype.working().bytes().into());
        of_vectors.saturating_add(of_values).saturating_mul(batch)
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
        match given.case.dtype {
            DType::C64 => check::<Complex<f32>>(given),
            DType::C128 => check::<Complex<f64>>(given),
            dtype => for_dtype!(dtype, check(given)),
        }
    }
}

/// Returns the singular values, which libraries give as real numbers or with imaginary parts of zero.
fn singular_values<T: Element>(answer: &[Operand], count: usize) -> Result<Vec<f64>, CellError> {
    fn of<T: Element>(answer: &[Operand], count: usize) -> Result<Vec<f64>, CellError> {
        let values = judge::dense::<T>(answer, 1, "S", (count, 1))?;
        let real = |value: &T| match value.widen().complex() {
            value if value.im == 0.0 => value.re,
            _ => f64::NAN,
        };
        Ok(values.iter().map(real).collect())
    }
    match answer.get(1).map(|part| part.values().dtype()) {
        Some(dtype) if dtype == T::DTYPE.working() => for_dtype!(dtype, of(answer, count)),
        _ => of::<T>(answer, count),
    }
}

fn check<T: Element>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let [m, n, batch] = case.extents(["m", "n", BATCH]);
    let k = m.min(n);
    let a = judge::dense::<T>(inputs, 0, "A", (batch * m, n))?;
    let u = judge::dense::<T>(answer, 0, "U", (batch * m, k))?;
    let s = singular_values::<T>(answer, batch * k)?;
    let vt = judge::dense::<T>(answer, 2, "Vt", (batch * k, n))?;
    let of_batch =
        a.par_chunks(m * n).zip(u.par_chunks(m * k)).zip(s.par_chunks(k)).zip(vt.par_chunks(k * n));
    let checked = of_batch.map(|(((a, u), s), vt)| check_one([m, n], a, (u, s, vt), case.seed, rounding));
    let worst = checked.reduce_with(Checked::worse);
    worst.ok_or_else(|| CellError::Failed("the batch has no matrix".into()))
}

fn check_one<T: Element>(
    [m, n]: [usize; 2],
    a: &[T],
    (u, s, vt): (&[T], &[f64], &[T]),
    seed: u64,
    rounding: Rounding,
) -> Checked {
    let size = m.max(n) as f64;
    let tolerance = 8.0 * dropped(rounding.sum) * rounding.sum;
    if s.iter().any(|value| value.is_nan() || *value < 0.0) {
        return Checked::invalid("has a negative singular value", LAPACK_THRESHOLD);
    }
    if !s.is_sorted_by(|left, right| left >= right) {
        return Checked::invalid("has singular values that are not in descending order", LAPACK_THRESHOLD);
    }
    let [residual, of_u, of_v] = lapack_ratios(n, a, u, s, vt, seed);
    let ratios = [residual / size, of_u / m as f64, of_v / n as f64].map(|norm| norm / (2.0 * rounding.sum));
    let ratio = Checked::new(worst(ratios.into_par_iter()), LAPACK_THRESHOLD);

    let norm = judge::sum(a, |x| x.magnitude() * x.magnitude()).sqrt();
    let residual = self::residual(a, norm / (s.len() as f64).sqrt(), u, s, vt, &probes::<T>(seed, n));
    let largest = Checked::new(worst(residual.par_iter().copied()), 40.0 * size * rounding.sum + tolerance);
    let checked = ratio.worse(largest.on_scale_of(LAPACK_THRESHOLD));

    let typical = 8.0 * (8.0 + size.sqrt()) * rounding.sum;
    let values = relative(judge::sum(s, |x| x * x).sqrt() - norm, norm).abs();
    let projections = orthogonality(u, s.len(), seed).into_iter().chain(orthogonality(vt, n, seed)).flatten();
    let is_coarse = projections.chain([residual]).any(|components| {
        worst(components.par_iter().copied()) > 20.0 * size * rounding.sum + tolerance
            || judge::median_magnitude(components) > typical
    });
    Checked { coarse: checked.is_right() && (is_coarse || values > typical), ..checked }
}

/// Returns random weights as probes of a matrix.
fn probes<T: Element>(seed: u64, len: usize) -> Vec<[T::Wide; PROBES]> {
    judge::as_wide(&judge::weights::<PROBES>(seed, len))
}

/// Returns the 1-norms of `A - U S Vᴴ` relative to that of A, of `UᴴU - I`, and of `Vᴴ V - I`.
fn lapack_ratios<T: Element>(n: usize, a: &[T], u: &[T], s: &[f64], vt: &[T], seed: u64) -> [f64; 3] {
    let k = s.len();
    let scaled = |mut block: Block<T::Wide>| -> Block<T::Wide> {
        let rows = block.iter_mut().zip(s);
        rows.for_each(|(row, s)| row.iter_mut().for_each(|x| *x = *x * T::Wide::from(*s)));
        block
    };
    let minus = |mut left: Block<T::Wide>, right: &Block<T::Wide>| -> Block<T::Wide> {
        left.iter_mut()
            .zip(right)
            .for_each(|(left, right)| left.iter_mut().zip(right).for_each(|(l, r)| *l = *l - *r));
        left
    };
    let residual = judge::one_norm(
        n,
        seed,
        |x| minus(judge::rows_times(a, x), &judge::rows_times(u, &scaled(judge::rows_times(vt, x)))),
        |x| minus(judge::adjoint_times(a, x), &judge::adjoint_times(vt, &scaled(judge::adjoint_times(u, x)))),
    );
    let of_columns = |x: &Block<T::Wide>| minus(judge::adjoint_times(u, &judge::rows_times(u, x)), x);
    let of_rows = |x: &Block<T::Wide>| minus(judge::rows_times(vt, &judge::adjoint_times(vt, x)), x);
    let norm = judge::one_norm(n, seed, |x| judge::rows_times(a, x), |x| judge::adjoint_times(a, x));
    // Both are their own adjoints.
    let [columns, rows] =
        [judge::one_norm(k, seed, of_columns, of_columns), judge::one_norm(k, seed, of_rows, of_rows)];
    [relative(residual, norm), columns, rows]
}

/// Returns the largest off-diagonal that LAPACK's `xBDSQR` takes for zero, in unit roundoffs relative to the singular value
/// next to it: 10 in float32 and 98.7 in float64.
fn dropped(unit_roundoff: f64) -> f64 {
    unit_roundoff.powf(-0.125).clamp(10.0, 100.0)
}

/// Returns the magnitudes of the components of the difference of two sets of vectors.
fn difference<W: Wide>(left: &[[W; PROBES]], right: &[[W; PROBES]]) -> Vec<f64> {
    left.iter().zip(right).flat_map(|(l, r)| (0..PROBES).map(move |k| (l[k] - r[k]).magnitude())).collect()
}

/// Returns the components of `QᴴQ y - y` where Q, of `cols` columns, has at least as many rows, and those of `Q Qᴴ y - y` where it has
/// at least as many columns.
fn orthogonality<T: Element>(q: &[T], cols: usize, seed: u64) -> [Option<Vec<f64>>; 2] {
    let rows = q.len() / cols;
    let of_columns = || {
        let y = probes::<T>(seed, cols);
        difference(&judge::adjoint_times(q, &judge::rows_times(q, &y)), &y)
    };
    let of_rows = || {
        let y = probes::<T>(seed, rows);
        difference(&judge::rows_times(q, &judge::adjoint_times(q, &y)), &y)
    };
    [(rows >= cols).then(of_columns), (cols >= rows).then(of_rows)]
}

/// Returns the magnitudes of the components of `Uᴴ A y - S Vᴴ y` relative to `S_j + typical`.
fn residual<T: Element>(
    a: &[T],
    typical: f64,
    u: &[T],
    s: &[f64],
    vt: &[T],
    probes: &[[T::Wide; PROBES]],
) -> Vec<f64> {
    let left = judge::adjoint_times(u, &judge::rows_times(a, probes));
    let right = judge::rows_times(vt, probes);
    let components = left.iter().zip(&right).zip(s);
    let of_component = |((left, right), s): ((&[T::Wide; PROBES], _), &f64)| {
        let right: &[T::Wide; PROBES] = right;
        let errors = left
            .iter()
            .zip(right)
            .map(|(left, right)| relative((*left - *right * T::Wide::from(*s)).magnitude(), s + typical));
        errors.collect::<Vec<f64>>()
    };
    components.flat_map(of_component).collect()
}
