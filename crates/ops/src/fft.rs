//! The two-dimensional Fourier transform of a real matrix. The judge checks every output by direct sums.

use gpubench_report::case::{Case, DType};
use gpubench_report::data::Real;
use gpubench_report::error::CellError;
use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::judge::{self, relative, worst};
use super::volume::{dense_bytes, element, side};
use super::{About, Checked, Given, Op, Work};

/// `F = DFT(a)` over both axes, unnormalised, all `n` by `n` outputs.
pub(crate) struct Fft;

impl Op for Fft {
    fn about(&self) -> About {
        About::new(
            "fft",
            "2-D Fourier transform of a real matrix, full complex spectrum",
            &[100, 500, 512, 1024, 2048],
        )
    }

    /// Counts `2.5 m log2 m` for `m = n^2` real inputs, as benchFFT does.
    fn work(&self, case: &Case) -> Work {
        let elements = side(case) * side(case);
        Work { flop: 2.5 * elements * elements.log2(), bytes: 3.0 * elements * element(case.dtype) }
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 3, 0)
    }

    /// Checks every output. Row 0 and column 0 are transforms of the column and row sums: each of their entries is
    /// compared, relative to the largest output, `F[0, 0]`, whose rounding they carry. Every other row `u` is
    /// projected on random weights q, zero at column 0, and `(F q)_u` is compared with `sum_r w^(u r) sum_c a_rc Q_c`,
    /// where Q is the transform of q. The error is relative to the 2-norm of a typical row of F, `sqrt(n) |a|_F`, so
    /// it estimates the relative L2 error of the row. A share of the norm of row 0 is added: in a transform of the
    /// columns, rows `n / 2`, `n / 4` and similar ones are differences of sums as large as row 0, and carry their
    /// rounding (a transform of the rows spreads it over all rows).
    ///
    /// All transforms of the judge are direct sums. Rounding grows with `log2 n`. In float64 the bound also has the term of
    /// Gentleman and Sande (1966) for the prime factors p of n above 7, `1.06 sum((2 p)^(3/2))` unit roundoffs: MKL 2025.3
    /// transforms factors from 11 to 149 directly, with errors up to `7 p` unit roundoffs. In float32 no library needs it, and it
    /// would hide operands of fewer bits.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, check(given))
    }
}

fn check<T: Real>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let n = case.side();
    let a = judge::dense::<T>(inputs, 0, "a", (n, n))?;
    let f = judge::complex::<T>(answer, 0, "F", (n, n))?;
    let sums = Sums::of(a, n);
    let growth = growth(n);
    // The bound grows with n; the error carried from row 0 does not.
    let scale = typical_row(a, n) + sums.first_row() / growth;
    let error = edge_error(&sums, f, n).max(interior_error(case.seed, a, f, n, scale));
    let primes = if case.dtype == DType::F64 { of_primes(n) } else { 0.0 };
    Ok(Checked::new(error, (4.0 * growth + primes) * rounding.sum))
}

/// Returns the growth of rounding errors, in units of one rounding.
fn growth(n: usize) -> f64 {
    2.0 + (n as f64).log2()
}

/// Returns the bound on the error of the direct transforms over the prime factors of `n` above 7, in unit roundoffs.
fn of_primes(mut n: usize) -> f64 {
    let mut sum = 0.0;
    let mut factor = 2;
    while n > 1 {
        if !n.is_multiple_of(factor) {
            // What is left has no smaller factor, so above its root it is prime.
            factor = if factor * factor > n { n } else { factor + 1 };
            continue;
        }
        n /= factor;
        if factor > 7 {
            sum += 1.06 * (2.0 * factor as f64).powf(1.5);
        }
    }
    sum
}

/// Returns the 2-norm of a typical row of the spectrum.
fn typical_row<T: Real>(a: &[T], n: usize) -> f64 {
    (n as f64 * judge::sum(a, |x| x * x)).sqrt()
}

/// The sums of the rows and of the columns of the operand.
struct Sums {
    rows: Vec<[f64; 1]>,
    columns: Vec<[f64; 1]>,
}

impl Sums {
    fn of<T: Real>(a: &[T], n: usize) -> Sums {
        let ones = vec![[1.0]; n];
        Sums { rows: judge::rows_times(a, &ones), columns: judge::columns_times(a, &ones) }
    }

    /// The 2-norm of row 0 of the spectrum, by Parseval's theorem.
    fn first_row(&self) -> f64 {
        let squares: f64 = self.columns.iter().map(|[sum]| sum * sum).sum();
        (self.columns.len() as f64 * squares).sqrt()
    }
}

fn widen<T: Real>(z: Complex<T>) -> Complex<f64> {
    Complex::new(z.re.to_f64(), z.im.to_f64())
}

/// Returns the largest error of row 0 and column 0, relative to the sum of all inputs.
fn edge_error<T: Real>(sums: &Sums, f: &[Complex<T>], n: usize) -> f64 {
    let total: f64 = sums.rows.iter().map(|[sum]| sum).sum();
    let (down, across) = (judge::dft_of_reals(&sums.rows), judge::dft_of_reals(&sums.columns));
    let error = |found: Complex<T>, expected: Complex<f64>| relative((widen(found) - expected).norm(), total);
    let column = worst(down.par_iter().enumerate().map(|(u, &expected)| error(f[u * n], expected)));
    let row = worst(across.par_iter().zip(f).map(|(&expected, &found)| error(found, expected)));
    column.max(row)
}

/// Returns the largest error of a projected row below row 0 and right of column 0, relative to `scale`.
fn interior_error<T: Real>(seed: u64, a: &[T], f: &[Complex<T>], n: usize, scale: f64) -> f64 {
    let mut probe = judge::weights::<1>(seed, n);
    probe[0] = [0.0];
    let spectrum: Vec<[f64; 2]> = judge::dft_of_reals(&probe).iter().map(|z| [z.re, z.im]).collect();
    let projected = judge::rows_times(a, &spectrum);
    let projected: Vec<Complex<f64>> = projected.iter().map(|&[re, im]| Complex::new(re, im)).collect();
    let expected = judge::dft(&projected);
    let found = judge::complex_rows_times(f, &probe);
    let rows = found.par_iter().zip(&expected).skip(1);
    worst(rows.map(|(found, expected)| relative((found - expected).norm(), scale)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rounding;
    use crate::reference::spectrum;
    use gpubench_report::case::DType;
    use gpubench_report::data::{Dense, Operand};

    #[test]
    fn a_row_may_carry_rounding_of_the_first_row_and_no_more() {
        let n = 600;
        let case = Case {
            op: "fft".into(),
            n: n as u64,
            dtype: DType::F64,
            density: None,
            shape: None,
            matrix: None,
            seed: 3,
        };
        let inputs = Fft.inputs(&case);
        let a = inputs[0].dense_slice::<f64>().unwrap();
        let exact = spectrum(n, a);
        let rounding = Rounding { input: 0.0, sum: 1e-8 };
        let weights = judge::weights::<1>(case.seed, n);
        // Errors of row n / 2, which its projection sees as this number of roundings of `norm`.
        let is_right = |roundings: f64, norm: f64| {
            let mut f = exact.clone();
            let square: f64 = weights[1..].iter().map(|[q]| q * q).sum();
            for (z, [q]) in f[n / 2 * n..][..n].iter_mut().zip(&weights).skip(1) {
                z.re += roundings * rounding.sum * norm / square * q;
            }
            let answer = Operand::Dense(Dense { rows: n, cols: n, values: f64::into_complex_values(f) });
            Fft.check(&case, &inputs, &[answer], rounding).unwrap().is_right()
        };
        let (typical, first) = (typical_row(a, n), Sums::of(a, n).first_row());
        assert!(is_right(0.0, typical));
        // In a typical row the same error is too large.
        assert!(3.0 * first > 4.0 * growth(n) * typical && is_right(3.0, first));
        assert!(!is_right(4.0 * growth(n), typical + first));
        assert!(!is_right(12.0, first));
    }
}
