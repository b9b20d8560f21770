//! Products of a row-major matrix with a few probe vectors at the same time, in float64.
//!
//! A probe set is one `[f64; K]` per index, so that `K` products cost one pass over the matrix. Sums run
//! over blocks of 256 terms, so that their own rounding grows with the square root of the blocks.

use gpubench_report::data::generator::Stream;
use gpubench_report::data::{Element, Wide};
use rayon::prelude::*;

/// Terms per partial sum.
const BLOCK: usize = 256;
/// Independent partial sums per block, for the pipelines of the CPU.
const LANES: usize = 4;
/// Combined with the seed of the operands, so that probes are independent of operands.
const JUDGE_SEED: u64 = 0x6A75_6467_6521_0001;

/// Returns `K` vectors of random weights, of either sign and of magnitude in [0.5, 1.5).
///
/// No weight is small, so that no entry hides. No two are equal, so that swapped entries do not hide either, as plain
/// signs would let them half the time.
pub(crate) fn weights<const K: usize>(seed: u64, len: usize) -> Vec<[f64; K]> {
    let streams: [Stream; K] = std::array::from_fn(|k| Stream::new(seed ^ JUDGE_SEED, k as u64));
    let weight = |uniform: f64| {
        let centred = 2.0 * uniform - 1.0;
        centred + 0.5f64.copysign(centred)
    };
    (0..len as u64).map(|i| streams.map(|stream| weight(stream.uniform(i)))).collect()
}

/// Returns random weights, each with its opposite half the length away, and ones.
///
/// The first vector sums to zero (to its last weight for an odd length): whatever all entries of a row share cancels,
/// including most of the rounding of the operands. The second vector sees what the first cannot.
pub(crate) fn balanced_and_ones(seed: u64, len: usize) -> Vec<[f64; 2]> {
    let half = len / 2;
    let mut probes: Vec<[f64; 2]> =
        weights::<1>(seed, len).into_iter().map(|[weight]| [weight, 1.0]).collect();
    for i in half..2 * half {
        probes[i][0] = -probes[i - half][0];
    }
    probes
}

fn row_times<T: Element, const K: usize>(row: &[T], probes: &[[T::Wide; K]]) -> [T::Wide; K] {
    let mut total = [T::Wide::default(); K];
    for (row, probes) in row.chunks(BLOCK).zip(probes.chunks(BLOCK)) {
        let mut lanes = [[T::Wide::default(); K]; LANES];
        let (entries, weights) = (row.chunks_exact(LANES), probes.chunks_exact(LANES));
        let tail = entries.remainder().iter().zip(weights.remainder());
        for (entries, weights) in entries.zip(weights) {
            for lane in 0..LANES {
                let entry = entries[lane].widen();
                for k in 0..K {
                    lanes[lane][k] += entry * weights[lane][k];
                }
            }
        }
        for (entry, weights) in tail {
            for k in 0..K {
                lanes[0][k] += entry.widen() * weights[k];
            }
        }
        for k in 0..K {
            total[k] += (lanes[0][k] + lanes[1][k]) + (lanes[2][k] + lanes[3][k]);
        }
    }
    total
}

/// Returns `M P`: the products of each row of a matrix of `probes.len()` columns with the probes.
pub(crate) fn rows_times<T: Element, const K: usize>(
    matrix: &[T],
    probes: &[[T::Wide; K]],
) -> Vec<[T::Wide; K]> {
    matrix.par_chunks(probes.len()).map(|row| row_times(row, probes)).collect()
}

/// Returns `|M| p`: the products of the magnitudes of each row of a matrix of `weights.len()` columns with weights.
pub(crate) fn magnitudes_times<T: Element>(matrix: &[T], weights: &[f64]) -> Vec<f64> {
    let row_times = |row: &[T]| {
        let blocks = row.chunks(BLOCK).zip(weights.chunks(BLOCK));
        let of_block = |(row, weights): (&[T], &[f64])| -> f64 {
            row.iter().zip(weights).map(|(entry, weight)| entry.widen().magnitude() * weight).sum()
        };
        blocks.map(of_block).sum()
    };
    matrix.par_chunks(weights.len()).map(row_times).collect()
}

/// Returns `Mᵀ P`: the products of each column of a matrix of `probes.len()` rows with the probes.
pub(crate) fn columns_times<T: Element, const K: usize>(
    matrix: &[T],
    probes: &[[T::Wide; K]],
) -> Vec<[T::Wide; K]> {
    let cols = matrix.len() / probes.len();
    let add = |totals: &mut [[T::Wide; K]], part: &[[T::Wide; K]]| {
        for (total, part) in totals.iter_mut().zip(part) {
            for k in 0..K {
                total[k] += part[k];
            }
        }
    };
    let blocks = matrix.par_chunks(BLOCK * cols).zip(probes.par_chunks(BLOCK));
    let blocks = blocks.map(|(block, probes)| {
        let mut totals = vec![[T::Wide::default(); K]; cols];
        for (row, weights) in block.chunks(cols).zip(probes) {
            for (total, entry) in totals.iter_mut().zip(row) {
                let entry = entry.widen();
                for k in 0..K {
                    total[k] += entry * weights[k];
                }
            }
        }
        totals
    });
    let blocks: Vec<_> = blocks.collect();
    let mut totals = vec![[T::Wide::default(); K]; cols];
    blocks.iter().for_each(|block| add(&mut totals, block));
    totals
}

/// Returns `Mᴴ P`, which for a real matrix is `Mᵀ P`.
pub(crate) fn adjoint_times<T: Element, const K: usize>(
    matrix: &[T],
    probes: &[[T::Wide; K]],
) -> Vec<[T::Wide; K]> {
    let conjugate = |rows: &[[T::Wide; K]]| -> Vec<[T::Wide; K]> {
        rows.iter().map(|row| row.map(Wide::conjugate)).collect()
    };
    match T::DTYPE.is_complex() {
        true => conjugate(&columns_times(matrix, &conjugate(probes))),
        false => columns_times(matrix, probes),
    }
}

/// Returns probes of real numbers as numbers of a type in which sums are judged.
pub(crate) fn as_wide<W: Wide, const K: usize>(probes: &[[f64; K]]) -> Vec<[W; K]> {
    probes.iter().map(|probe| probe.map(W::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_plain_sums_across_blocks() {
        let (rows, cols) = (300, 517);
        let matrix: Vec<f64> = Stream::new(1, 0).uniforms(rows * cols);
        let (right, left) = (weights::<3>(9, cols), weights::<3>(9, rows));
        for (i, found) in rows_times(&matrix, &right).iter().enumerate() {
            for k in 0..3 {
                let plain: f64 = (0..cols).map(|j| matrix[i * cols + j] * right[j][k]).sum();
                assert!((found[k] - plain).abs() < 1e-11);
            }
        }
        for (j, found) in columns_times(&matrix, &left).iter().enumerate() {
            for k in 0..3 {
                let plain: f64 = (0..rows).map(|i| matrix[i * cols + j] * left[i][k]).sum();
                assert!((found[k] - plain).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn balanced_weights_cancel_and_none_is_small() {
        for len in [1, 2, 3, 64, 101] {
            let probes = balanced_and_ones(5, len);
            let paired: f64 = probes[..len / 2 * 2].iter().map(|probe| probe[0]).sum();
            assert!(paired.abs() < 1e-13);
            assert!(probes.iter().all(|probe| (0.5..=1.5).contains(&probe[0].abs()) && probe[1] == 1.0));
        }
    }
}
