//! Computes rows of a sparse product in a dense accumulator.

use std::ops::Range;

use gpubench_report::data::{Csr, Real};

use crate::CellResult;
use crate::operands::{ShowMemory, memory};
use crate::simd::{Vectorized, vectorize};

/// Columns per word of the bitmap.
const WORD: usize = u64::BITS as usize;

/// Entries taken from a word of the bitmap per check whether more are left, for sparse and for crowded words: one
/// entry too many costs less than a mispredicted branch.
const FEW: usize = 2;
const MANY: usize = 4;
/// Products per word from which a bitmap counts as crowded.
const CROWDED: i64 = 5;

/// Returns the number of bitmap words for a row of `cols` columns.
pub(super) fn words(cols: usize) -> usize {
    cols.div_ceil(WORD)
}

/// The rows of a matrix: columns and values.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    indptr: &'a [i32],
    indices: &'a [i32],
    values: &'a [T],
}

impl<'a, T: Real> Rows<'a, T> {
    pub(super) fn of(matrix: &'a Csr) -> CellResult<Self> {
        Ok(Rows { indptr: &matrix.indptr, indices: &matrix.indices, values: T::slice(&matrix.values)? })
    }

    pub(super) fn columns(&self, row: usize) -> &'a [i32] {
        &self.indices[self.indptr[row] as usize..self.indptr[row + 1] as usize]
    }

    #[inline(always)]
    fn entries(&self, row: usize) -> impl Iterator<Item = (i32, T)> + 'a {
        let entries = self.indptr[row] as usize..self.indptr[row + 1] as usize;
        self.indices[entries.clone()].iter().copied().zip(self.values[entries].iter().copied())
    }
}

/// Consecutive rows of the product that are being computed.
pub(super) struct Gathered<T> {
    /// Sums of the current row by column, padded to whole words, and the bitmap of present columns; all zero between
    /// rows.
    sums: Vec<T>,
    present: Vec<u64>,
    /// End of each row among the entries.
    ends: Vec<i32>,
    /// The entries of the rows so far, and room for more.
    indices: Vec<i32>,
    values: Vec<T>,
    /// Whether words of the bitmap hold many entries.
    crowded: bool,
}

impl<T: Real> Gathered<T> {
    /// Allocates for blocks of the given rows and entries of a product with `cols` columns, and the given number of
    /// products per bitmap word.
    pub(super) fn new(cols: usize, rows: usize, entries: usize, products_a_word: i64) -> Self {
        Gathered {
            sums: vec![T::default(); words(cols) * WORD],
            present: vec![0; words(cols)],
            ends: Vec::with_capacity(rows),
            indices: vec![0; entries + MANY],
            values: vec![T::default(); entries + MANY],
            crowded: products_a_word >= CROWDED,
        }
    }

    /// Computes these rows of A B, replacing the previous ones.
    pub(super) fn gather(&mut self, a: Rows<T>, b: Rows<T>, rows: Range<usize>) {
        vectorize(Gathering { gathered: self, a, b, rows });
    }

    #[inline(always)]
    fn gather_each(&mut self, a: Rows<T>, b: Rows<T>, rows: Range<usize>) {
        self.ends.clear();
        let mut filled = 0;
        for row in rows {
            for (k, factor) in a.entries(row) {
                for (j, value) in b.entries(k as usize) {
                    self.sums[j as usize] += factor * value;
                    self.present[j as usize / WORD] |= 1 << (j as usize % WORD);
                }
            }
            filled = if self.crowded { self.collect::<MANY>(filled) } else { self.collect::<FEW>(filled) };
            self.ends.push(filled as i32);
        }
    }

    /// Appends the sums of the present columns after `filled` entries, sorted by column, and clears them. Returns the
    /// new number of entries.
    ///
    /// Takes `BATCH` entries at a time. Surplus entries, which repeat the first column of the word with a sum that is
    /// zero by then, are overwritten by the next word.
    #[inline(always)]
    fn collect<const BATCH: usize>(&mut self, mut filled: usize) -> usize {
        let (sums, _) = self.sums.as_chunks_mut::<WORD>();
        for (word, (present, sums)) in self.present.iter_mut().zip(sums).enumerate() {
            let mut left = std::mem::take(present);
            let mut at = filled;
            filled += left.count_ones() as usize;
            while at < filled {
                let batch = at..at + BATCH;
                for (index, value) in self.indices[batch.clone()].iter_mut().zip(&mut self.values[batch]) {
                    let bit = left.trailing_zeros() as usize % WORD;
                    left &= left.wrapping_sub(1);
                    *index = (word * WORD + bit) as i32;
                    *value = std::mem::take(&mut sums[bit]);
                }
                at += BATCH;
            }
        }
        filled
    }

    pub(super) fn ends(&self) -> &[i32] {
        &self.ends
    }

    pub(super) fn entries(&self) -> (&[i32], &[T]) {
        let filled = self.ends.last().map_or(0, |&end| end as usize);
        (&self.indices[..filled], &self.values[..filled])
    }

    pub(super) fn show(&self, show: ShowMemory<'_>) {
        show(memory(&self.sums));
        show(memory(&self.present));
        show(memory(&self.ends));
        show(memory(&self.indices));
        show(memory(&self.values));
    }
}

/// Runs the counting and finding of bits with the instructions for it.
struct Gathering<'a, T> {
    gathered: &'a mut Gathered<T>,
    a: Rows<'a, T>,
    b: Rows<'a, T>,
    rows: Range<usize>,
}

impl<T: Real> Vectorized for Gathering<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.gathered.gather_each(self.a, self.b, self.rows);
    }
}
