//! Rows of a sparse product gathered in a dense accumulator; knows no threads.

use std::mem::MaybeUninit;
use std::ops::Range;

use gpubench_model::data::{Csr, Real};
use gpubench_model::error::CellError;

use crate::memory::memory;
use crate::simd::{Vectorized, vectorize};

/// Columns that one word of the bitmap holds.
const WORD: usize = u64::BITS as usize;

/// Entries that are taken from a word of the bitmap before asking whether more are left, where words hold few and where
/// they are crowded: one too many costs less than a branch that is predicted wrong.
const FEW: usize = 2;
const MANY: usize = 4;
/// Products for each word from which it is crowded.
const CROWDED: i64 = 5;

/// Words of the bitmap of a row of so many columns.
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
    pub(super) fn of(matrix: &'a Csr) -> Result<Self, CellError> {
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

/// Consecutive rows of the product in the making.
pub(super) struct Gathered<T> {
    /// Sums of the row at hand by column, a whole number of words, and which are present; all zero between rows.
    sums: Vec<T>,
    present: Vec<u64>,
    /// Where each row gathered ends among the entries.
    ends: Vec<i32>,
    /// The entries of the rows gathered, and room for more.
    indices: Vec<i32>,
    values: Vec<T>,
    /// Whether words of the bitmap hold many entries.
    crowded: bool,
}

impl<T: Real> Gathered<T> {
    /// Room for blocks of so many rows and entries of a product of `cols` columns, with so many products for each word
    /// of the bitmap.
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

    /// Computes these rows of A B, in place of those gathered before.
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

    /// Appends the present sums behind `filled` entries, sorted by column, and clears them: the entries then filled.
    ///
    /// Takes `BATCH` at a time; what is more than a word has, all of it the word's first column whose sum is zero by
    /// then, is overwritten by the next.
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

    /// Where each row gathered ends among their entries.
    pub(super) fn ends(&self) -> &[i32] {
        &self.ends
    }

    /// The columns and values of the rows gathered.
    pub(super) fn entries(&self) -> (&[i32], &[T]) {
        let filled = self.ends.last().map_or(0, |&end| end as usize);
        (&self.indices[..filled], &self.values[..filled])
    }

    pub(super) fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.sums));
        show(memory(&self.present));
        show(memory(&self.ends));
        show(memory(&self.indices));
        show(memory(&self.values));
    }
}

/// What counting and finding the bits of a word is an instruction for.
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

    fn run_portable(self) {
        self.run();
    }
}
