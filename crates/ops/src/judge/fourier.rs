//! One-dimensional Fourier transforms by direct summation in float64.

use rayon::prelude::*;
use rustfft::num_complex::Complex;

/// Terms per partial sum, which keeps the rounding of the sums low.
const BLOCK: usize = 64;

/// Returns `exp(-2 pi i k / n)` for `k` below `n`.
fn roots(n: usize) -> Vec<Complex<f64>> {
    let root = |k: usize| {
        let (k, sign) = if 2 * k > n { (n - k, 1.0) } else { (k, -1.0) };
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
        Complex::new(cos, sign * sin)
    };
    (0..n).map(root).collect()
}

/// Returns the unnormalised forward transform: `y_u = sum_r x_r exp(-2 pi i u r / n)`. O(n^2), over all threads.
pub(crate) fn dft(values: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let n = values.len();
    let roots = roots(n);
    let output = |u: usize| {
        let mut power = 0;
        let mut of_block = |block: &[Complex<f64>]| {
            let mut sum = Complex::default();
            for value in block {
                sum += value * roots[power];
                power += u;
                if power >= n {
                    power -= n;
                }
            }
            sum
        };
        values.chunks(BLOCK).map(&mut of_block).sum()
    };
    (0..n).into_par_iter().map(output).collect()
}

/// Returns the forward transform of one probe of real numbers.
pub(crate) fn dft_of_reals(values: &[[f64; 1]]) -> Vec<Complex<f64>> {
    let values: Vec<Complex<f64>> = values.iter().map(|&[value]| Complex::new(value, 0.0)).collect();
    dft(&values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::data::generator::Stream;

    #[test]
    fn direct_sums_agree_with_an_fft() {
        for n in [1, 2, 3, 64, 101, 333] {
            let stream = Stream::new(4, 0);
            let values: Vec<Complex<f64>> = (0..n as u64)
                .map(|i| Complex::new(stream.uniform(2 * i), stream.uniform(2 * i + 1)))
                .collect();
            let mut expected = values.clone();
            rustfft::FftPlanner::new().plan_fft_forward(n).process(&mut expected);
            for (found, expected) in dft(&values).iter().zip(&expected) {
                assert!((found - expected).norm() < 1e-13 * n as f64);
            }
        }
    }
}
