//! Copies between rows of a matrix and a tile of its columns, for the real FFT.

use std::ops::Range;

use gpubench_report::data::Real;
use rustfft::num_complex::Complex;

/// Rows copied together, so that their cache misses overlap and the tile is written by whole lines.
const GROUP: usize = 8;
/// Padding in elements between the columns of a tile, so that they do not share a cache set.
const PAD: usize = 8;

/// Returns the distance in elements from one column of a tile to the next.
pub(super) fn stride(side: usize) -> usize {
    side + PAD
}

/// Copies columns of a real `side` by `side` matrix to a tile, in pairs: each pair becomes a complex column, whose
/// imaginary part is 0 if the last column has no partner.
pub(super) fn gather<T: Real>(input: &[T], side: usize, columns: Range<usize>, tile: &mut [Complex<T>]) {
    let whole = columns.len() / 2;
    let mut rows = input.chunks_exact(side).map(|row| row[columns.clone()].as_chunks::<2>());
    for first in (0..side).step_by(GROUP) {
        let mut group: [&[[T; 2]]; GROUP] = [&[]; GROUP];
        let mut single = [T::default(); GROUP];
        let mut present = 0;
        for ((pairs, last), row) in group.iter_mut().zip(&mut single).zip(rows.by_ref()) {
            *pairs = row.0;
            *last = row.1.first().copied().unwrap_or_default();
            present += 1;
        }
        for (t, column) in tile.chunks_exact_mut(stride(side)).enumerate() {
            let column = &mut column[first..first + present];
            if t >= whole {
                column.iter_mut().zip(single).for_each(|(z, x)| *z = Complex::new(x, T::default()));
            } else if let Ok(column) = <&mut [Complex<T>; GROUP]>::try_from(&mut *column) {
                *column = group.map(|pairs| Complex::new(pairs[t][0], pairs[t][1]));
            } else {
                column
                    .iter_mut()
                    .zip(group)
                    .for_each(|(z, pairs)| *z = Complex::new(pairs[t][0], pairs[t][1]));
            }
        }
    }
}

/// Writes row `k` of the real columns' spectra: for the common spectrum `z` of columns `a` and `b`, and
/// `w` its conjugate at `-k`, these are `(z + w) / 2` and `(z - w) / 2i`.
pub(super) fn separate<T: Real>(tile: &[Complex<T>], side: usize, k: usize, row: &mut [Complex<T>]) {
    let (half, opposite) = (T::from_f64(0.5), if k == 0 { 0 } else { side - k });
    let apart = |column: &[Complex<T>]| {
        let (z, w) = (column[k], column[opposite]);
        let a = Complex::new((z.re + w.re) * half, (z.im - w.im) * half);
        let b = Complex::new((z.im + w.im) * half, (w.re - z.re) * half);
        [a, b]
    };
    let mut columns = tile.chunks_exact(stride(side));
    let (pairs, last) = row.as_chunks_mut::<2>();
    for (pair, column) in pairs.iter_mut().zip(columns.by_ref()) {
        *pair = apart(column);
    }
    for (z, column) in last.iter_mut().zip(columns) {
        [*z, _] = apart(column);
    }
}

/// Writes the mirror image of a row: reversed and conjugated, except for the first element, which stays first.
pub(super) fn reflect<T: Real + std::ops::Neg<Output = T>>(row: &[Complex<T>], image: &mut [Complex<T>]) {
    let mirrored = row.iter().take(1).chain(row[1..].iter().rev());
    for (to, from) in image.iter_mut().zip(mirrored) {
        *to = Complex::new(from.re, -from.im);
    }
}
