//! The 1-norm of a matrix that is given by its products.

use gpubench_report::data::Wide;
use gpubench_report::data::generator::Stream;

/// Vectors per block.
const BLOCK: usize = 4;
/// Maximum number of blocks; the estimate rarely grows after the second.
const MAX_BLOCKS: usize = 3;

/// A block of vectors, one array per index.
pub(crate) type Block<W> = Vec<[W; BLOCK]>;

/// Returns a lower bound of the 1-norm of an `n` by `n` matrix E, its largest column sum, which is nearly always within a factor of 3
/// of it; infinite if a product is not finite. `times` returns `E X`, `adjoint_times` `Eᴴ X`.
///
/// Source: N. J. Higham and F. Tisseur, *A block algorithm for matrix 1-norm estimation*, SIAM J. Matrix Anal. Appl. 21 (2000).
pub(crate) fn one_norm<W: Wide>(
    n: usize,
    seed: u64,
    times: impl Fn(&Block<W>) -> Block<W>,
    adjoint_times: impl Fn(&Block<W>) -> Block<W>,
) -> f64 {
    let streams: [Stream; BLOCK] = std::array::from_fn(|k| Stream::new(seed, k as u64));
    // The direction of a number; of a real one its sign.
    let sign = |value: W| match value.magnitude() {
        0.0 => W::from(1.0),
        magnitude => value / magnitude,
    };
    let start = |i: usize| {
        std::array::from_fn(|k| match k {
            0 => W::from(1.0 / n as f64),
            _ => W::from((streams[k].uniform::<f64>(i as u64) - 0.5).signum() / n as f64),
        })
    };
    let mut vectors: Block<W> = (0..n).map(start).collect();
    let (mut norm, mut tried) = (0.0, vec![false; n]);
    for _ in 0..MAX_BLOCKS {
        let products = times(&vectors);
        let largest = (0..BLOCK).map(|k| products.iter().map(|row| row[k].magnitude()).sum());
        let largest = largest.fold(0.0, |a: f64, b: f64| if b.is_nan() { f64::INFINITY } else { a.max(b) });
        if largest <= norm || !largest.is_finite() {
            return norm.max(largest);
        }
        norm = largest;
        let slopes = adjoint_times(&products.iter().map(|row| row.map(sign)).collect());
        let slope = |i: &usize| slopes[*i].iter().fold(0.0, |a: f64, b| a.max(b.magnitude()));
        let mut columns: Vec<usize> = (0..n).filter(|i| !tried[*i]).collect();
        columns.sort_by(|a, b| slope(b).total_cmp(&slope(a)));
        columns.truncate(BLOCK);
        vectors = vec![[W::default(); BLOCK]; n];
        for (k, &column) in columns.iter().enumerate() {
            (vectors[column][k], tried[column]) = (W::from(1.0), true);
        }
    }
    norm
}

#[cfg(test)]
mod tests {
    use super::super::{columns_times, rows_times};
    use super::*;

    #[test]
    fn the_estimate_is_a_column_sum_and_near_the_largest() {
        for n in [1, 2, 5, 40] {
            for seed in 0..20 {
                let stream = Stream::new(seed, 9);
                let matrix: Vec<f64> =
                    (0..n * n).map(|i| stream.uniform::<f64>(i as u64).powi(8) - 0.1).collect();
                let sum = |column: usize| (0..n).map(|row| matrix[row * n + column].abs()).sum::<f64>();
                let exact = (0..n).map(sum).fold(0.0, f64::max);
                let found = one_norm(n, seed, |x| rows_times(&matrix, x), |x| columns_times(&matrix, x));
                assert!(
                    found <= exact * (1.0 + 1e-12) && found >= 0.7 * exact,
                    "{n} {seed}: {found} of {exact}"
                );
            }
        }
        assert_eq!(one_norm::<f64>(1, 1, |_| vec![[f64::NAN; BLOCK]], |x| x.clone()), f64::INFINITY);
        assert_eq!(one_norm::<f64>(3, 1, |_| vec![[0.0; BLOCK]; 3], |x| x.clone()), 0.0);
    }

    #[test]
    fn one_large_column_is_found() {
        let n = 200;
        let mut matrix = vec![1e-3; n * n];
        (0..n).for_each(|row| matrix[row * n + 77] = 1e-2);
        let found = one_norm(n, 5, |x| rows_times(&matrix, x), |x| columns_times(&matrix, x));
        assert!((found - 2.0).abs() < 1e-12, "{found}");
    }
}
