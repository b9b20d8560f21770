//! Two-dimensional Fourier transform of a real matrix; knows how the full spectrum is judged.

use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::judge::{self, relative, worst};
use super::volume::{dense_bytes, element, side};
use super::{Checked, Op, Rounding, Work, uniform_square};
use crate::case::Case;
use crate::data::{Operand, Real};
use crate::error::CellError;

/// `F = DFT(a)` over both axes, unnormalised, all `n` by `n` outputs.
pub struct Fft;

impl Op for Fft {
    fn name(&self) -> &'static str {
        "fft"
    }

    fn summary(&self) -> &'static str {
        "2-D Fourier transform of a real matrix, full complex spectrum"
    }

    fn default_sizes(&self) -> &'static [u64] {
        &[100, 500, 512, 1024, 2048]
    }

    /// `2.5 m log2 m` for `m = n^2` real inputs, benchFFT's count.
    fn work(&self, case: &Case) -> Work {
        let elements = side(case) * side(case);
        Work { flop: 2.5 * elements * elements.log2(), bytes: 3.0 * elements * element(case.dtype) }
    }

    fn footprint(&self, case: &Case) -> u128 {
        dense_bytes(case, 3, 0)
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![uniform_square(case, 0)]
    }

    /// Every output is looked at. Row 0 and column 0 are transforms of the column and row sums: each of
    /// their entries is compared, relative to the largest output, `F[0, 0]`, whose rounding they carry.
    /// Every other row `u` is projected on random weights q, zero at column 0, and `(F q)_u` compared with
    /// `sum_r w^(u r) sum_c a_rc Q_c`, Q the transform of q; relative to the 2-norm of a typical row of F,
    /// `sqrt(n) |a|_F`, which makes it an estimate of the relative L2 error of the row.
    ///
    /// All transforms of the judge are direct sums. Rounding grows with `log2 n`.
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
    let a = judge::dense::<T>(inputs, 0, "a", (n, n))?;
    let f = judge::complex::<T>(answer, 0, "F", (n, n))?;
    let error = edge_error(a, f, n).max(interior_error(case.seed, a, f, n));
    let growth = 2.0 + (n as f64).log2();
    Ok(Checked::new(error, 4.0 * growth * rounding.sum))
}

fn widen<T: Real>(z: Complex<T>) -> Complex<f64> {
    Complex::new(z.re.to_f64(), z.im.to_f64())
}

/// The largest error of row 0 and column 0, relative to the sum of all inputs.
fn edge_error<T: Real>(a: &[T], f: &[Complex<T>], n: usize) -> f64 {
    let ones = vec![[1.0]; n];
    let (row_sums, column_sums) = (judge::rows_times(a, &ones), judge::columns_times(a, &ones));
    let total: f64 = row_sums.iter().map(|[sum]| sum).sum();
    let (down, across) = (judge::dft_of_reals(&row_sums), judge::dft_of_reals(&column_sums));
    let error = |found: Complex<T>, expected: Complex<f64>| relative((widen(found) - expected).norm(), total);
    let column = worst(down.par_iter().enumerate().map(|(u, &expected)| error(f[u * n], expected)));
    let row = worst(across.par_iter().zip(f).map(|(&expected, &found)| error(found, expected)));
    column.max(row)
}

/// The largest error of a projected row below row 0 and right of column 0, relative to a typical row.
fn interior_error<T: Real>(seed: u64, a: &[T], f: &[Complex<T>], n: usize) -> f64 {
    let mut probe = judge::weights::<1>(seed, n);
    probe[0] = [0.0];
    let spectrum: Vec<[f64; 2]> = judge::dft_of_reals(&probe).iter().map(|z| [z.re, z.im]).collect();
    let projected = judge::rows_times(a, &spectrum);
    let projected: Vec<Complex<f64>> = projected.iter().map(|&[re, im]| Complex::new(re, im)).collect();
    let expected = judge::dft(&projected);
    let found = judge::complex_rows_times(f, &probe);
    let scale = (n as f64 * judge::sum(a, |x| x * x)).sqrt();
    let rows = found.par_iter().zip(&expected).skip(1);
    worst(rows.map(|(found, expected)| relative((found - expected).norm(), scale)))
}
