//! Checks the structure of sparse matrices, and computes products with their rows in float64.

use std::borrow::Cow;

use gpubench_report::data::{Csr, Real};
use rayon::prelude::*;

fn row_ranges(csr: &Csr) -> impl IndexedParallelIterator<Item = std::ops::Range<usize>> + '_ {
    csr.indptr.par_windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
}

/// Returns the fault of the structure, to follow "it": offsets rise from 0 to the number of entries, and every row has
/// distinct columns in range.
pub(crate) fn structural_fault(csr: &Csr) -> Option<&'static str> {
    let nnz = csr.nnz();
    let framed = csr.indptr.len() == csr.rows + 1
        && csr.values.len() == nnz
        && csr.indptr.first() == Some(&0)
        && csr.indptr.last().is_some_and(|&last| usize::try_from(last) == Ok(nnz))
        && csr.indptr.windows(2).all(|ends| ends[0] <= ends[1]);
    let in_range = |column: &i32| usize::try_from(*column).is_ok_and(|column| column < csr.cols);
    if !framed {
        Some("has offsets of rows that do not rise from 0 to the number of entries")
    } else if !csr.indices.par_iter().all(in_range) {
        Some("has a column index outside the matrix")
    } else if !row_ranges(csr).all(|range| are_distinct(&csr.indices[range])) {
        Some("has two entries in one row and column")
    } else {
        None
    }
}

fn are_distinct(columns: &[i32]) -> bool {
    if columns.windows(2).all(|pair| pair[0] < pair[1]) {
        return true;
    }
    let mut sorted = columns.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] < pair[1])
}

/// Returns the number of entries of the fullest row of a well-formed matrix.
pub(crate) fn widest_row(csr: &Csr) -> usize {
    row_ranges(csr).map(|range| range.len()).max().unwrap_or(0)
}

/// Returns the magnitudes of values: the values themselves where none is negative.
pub(crate) fn magnitudes<T: Real>(values: &[T]) -> Cow<'_, [T]> {
    let is_negative = |value: &T| *value < T::default();
    if !values.par_iter().any(is_negative) {
        return Cow::Borrowed(values);
    }
    Cow::Owned(values.par_iter().map(|value| T::from_f64(value.to_f64().abs())).collect())
}

/// Returns the 2-norm of each row of a well-formed matrix, and its 1-norm.
pub(crate) fn row_norms<T: Real>(csr: &Csr, values: &[T]) -> Vec<[f64; 2]> {
    let norms = |range: std::ops::Range<usize>| {
        let magnitudes = || values[range.clone()].iter().map(|value| value.to_f64().abs());
        [magnitudes().map(|value| value * value).sum::<f64>().sqrt(), magnitudes().sum()]
    };
    row_ranges(csr).map(norms).collect()
}

/// Returns the index of the largest magnitude; `None` if there is none other than zero.
pub(crate) fn largest(magnitudes: impl Iterator<Item = f64>) -> Option<usize> {
    let found = magnitudes.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    found.filter(|found| found.1 > 0.0).map(|(index, _)| index)
}

/// Returns `M P`: the products of each row of a well-formed matrix with the probes.
pub(crate) fn csr_times<T: Real, const K: usize>(
    csr: &Csr,
    values: &[T],
    probes: &[[f64; K]],
) -> Vec<[f64; K]> {
    let row_times = |range: std::ops::Range<usize>| {
        let mut total = [0.0; K];
        for (column, value) in csr.indices[range.clone()].iter().zip(&values[range]) {
            let (weights, value) = (&probes[*column as usize], value.to_f64());
            for k in 0..K {
                total[k] += value * weights[k];
            }
        }
        total
    };
    row_ranges(csr).map(row_times).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::data::Values;

    fn matrix(indptr: &[i32], indices: &[i32]) -> Csr {
        let values = Values::F64(vec![1.0; indices.len()]);
        Csr { rows: 3, cols: 3, indptr: indptr.to_vec(), indices: indices.to_vec(), values }
    }

    #[test]
    fn sorted_and_unsorted_rows_are_well_formed() {
        for (indptr, indices) in
            [([0, 2, 2, 3], &[0, 2, 1][..]), ([0, 2, 2, 3], &[2, 0, 1]), ([0, 0, 0, 0], &[])]
        {
            assert_eq!(structural_fault(&matrix(&indptr, indices)), None);
        }
    }

    #[test]
    fn broken_structure_is_seen() {
        for (indptr, indices, fault) in [
            (&[0, 2, 2][..], &[0, 2][..], "offsets"),
            (&[1, 2, 2, 3], &[0, 2, 1], "offsets"),
            (&[0, 2, 2, 4], &[0, 2, 1], "offsets"),
            (&[0, 3, 2, 3], &[0, 2, 1], "offsets"),
            (&[0, -1, 2, 3], &[0, 2, 1], "offsets"),
            (&[0, 2, 2, 3], &[0, 3, 1], "outside the matrix"),
            (&[0, 2, 2, 3], &[-1, 2, 1], "outside the matrix"),
            (&[0, 2, 2, 3], &[2, 2, 1], "two entries"),
            (&[0, 3, 3, 3], &[2, 0, 2], "two entries"),
        ] {
            let found = structural_fault(&matrix(indptr, indices));
            assert!(found.is_some_and(|found| found.contains(fault)), "{indptr:?} {indices:?}: {found:?}");
        }
    }
}
