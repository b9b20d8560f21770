//! Fourier transforms by direct summation in float64.

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

/// The longest transform that is summed directly although its length is a product.
const LONGEST: usize = 8192;

/// Below this length, one thread sums.
const SHORT: usize = 256;

/// Returns two factors of a length, the smaller one as large as possible, if both are above 1.
fn factors(n: usize) -> Option<(usize, usize)> {
    let smaller = (2..=n.isqrt()).rev().find(|factor| n.is_multiple_of(*factor))?;
    Some((smaller, n / smaller))
}

/// Returns the unnormalised forward transform: `y_u = sum_r x_r exp(-2 pi i u r / n)`, over all threads. Of long transforms whose length is
/// a product p q, it takes the sums over q numbers each, turns them, and sums over p (Cooley and Tukey 1965).
pub(crate) fn dft(values: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let n = values.len();
    let roots = roots(n);
    if let Some((p, q)) = factors(n).filter(|_| n > LONGEST) {
        let of_column = |column: usize| {
            let line: Vec<_> = values.iter().skip(column).step_by(q).copied().collect();
            let turned = dft(&line).into_iter().enumerate().map(|(u, sum)| sum * roots[u * column % n]);
            turned.collect::<Vec<_>>()
        };
        let columns: Vec<_> = (0..q).into_par_iter().map(of_column).collect();
        let of_row = |row: usize| dft(&columns.iter().map(|column| column[row]).collect::<Vec<_>>());
        let rows: Vec<_> = (0..p).into_par_iter().map(of_row).collect();
        return (0..n).map(|u| rows[u % p][u / p]).collect();
    }
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
    // The threads of a pool are no help for short transforms, of which there are many.
    if n < SHORT {
        return (0..n).map(output).collect();
    }
    (0..n).into_par_iter().map(output).collect()
}

/// Returns the forward transform over all axes of an array, whose extents are `sides` with the contiguous axis last. Without an axis, the
/// array is its own transform.
pub(crate) fn dft_of_axes(mut values: Vec<Complex<f64>>, sides: &[usize]) -> Vec<Complex<f64>> {
    let mut inner = 1;
    for &side in sides.iter().rev() {
        for block in values.chunks_exact_mut(side * inner) {
            let of_line =
                |offset: usize| dft(&block.iter().skip(offset).step_by(inner).copied().collect::<Vec<_>>());
            let lines: Vec<_> = (0..inner).into_par_iter().map(of_line).collect();
            for (offset, line) in lines.into_iter().enumerate() {
                block.iter_mut().skip(offset).step_by(inner).zip(line).for_each(|(to, value)| *to = value);
            }
        }
        inner *= side;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::data::generator::Stream;

    #[test]
    fn axes_are_transformed_one_after_the_other() {
        let values: Vec<Complex<f64>> = (0..24).map(|i| Complex::new(f64::from(i * i % 7), 0.0)).collect();
        let (sides, root) = ([2, 3, 4], |k: usize, n: usize| roots(n)[k % n]);
        let found = dft_of_axes(values.clone(), &sides);
        let index = |i: usize| [i / 12, i / 4 % 3, i % 4];
        for (u, found) in found.iter().enumerate() {
            let term = |r: usize| {
                let turns = index(u).into_iter().zip(index(r)).zip(sides).map(|((u, r), n)| root(u * r, n));
                values[r] * turns.product::<Complex<f64>>()
            };
            assert!((found - (0..24).map(term).sum::<Complex<f64>>()).norm() < 1e-12);
        }
        assert_eq!(dft_of_axes(values.clone(), &[]), values);
    }

    #[test]
    fn direct_sums_agree_with_an_fft() {
        for n in [1, 2, 3, 64, 101, 333, 9000, 8209, 1 << 14] {
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
