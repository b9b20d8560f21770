//! The sparse product by rows (Gustavson, "Two fast algorithms for sparse matrices", ACM TOMS 4, 1978).
//!
//! Each row of the product is gathered in a dense accumulator, and a bitmap says which of its columns are
//! present, so that they come out sorted without sorting. A first pass counts the entries of each row, by
//! the bitmap alone; the second computes them where they belong. Knows no table of variants.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::memory::{memory, show_csr};
use super::per_thread::PerThread;
use super::rouse;
use super::row_blocks::{BLOCKS_PER_THREAD, balanced, split};
use crate::backend::Job;
use crate::data::{Csr, Operand, Real};
use crate::error::CellError;

/// Products below which threads cost more than they save.
const SERIAL: i64 = 1 << 14;
/// Rows of which a task counts the products at least.
const LEAST_ROWS: usize = 256;
/// Columns that one word of the bitmap holds.
const WORD: usize = u64::BITS as usize;

/// The job of `C = A B`.
pub(super) struct Gustavson<T> {
    a: Csr,
    b: Csr,
    threads: usize,
    /// Products of all rows of A before each.
    work: Vec<i64>,
    /// Entries of all rows of C before each.
    indptr: Vec<i32>,
    indices: Vec<i32>,
    values: Vec<T>,
    rows: PerThread<Row<T>>,
}

/// A row of the product in the making; all zero between rows.
struct Row<T> {
    sums: Vec<T>,
    present: Vec<u64>,
}

/// The rows of a matrix: columns and values.
#[derive(Clone, Copy)]
struct Rows<'a, T> {
    indptr: &'a [i32],
    indices: &'a [i32],
    values: &'a [T],
}

impl<'a, T: Real> Rows<'a, T> {
    fn of(matrix: &'a Csr) -> Result<Self, CellError> {
        Ok(Rows { indptr: &matrix.indptr, indices: &matrix.indices, values: T::slice(&matrix.values)? })
    }

    fn columns(&self, row: usize) -> &'a [i32] {
        &self.indices[self.indptr[row] as usize..self.indptr[row + 1] as usize]
    }

    fn entries(&self, row: usize) -> impl Iterator<Item = (i32, T)> + 'a {
        let entries = self.indptr[row] as usize..self.indptr[row + 1] as usize;
        self.indices[entries.clone()].iter().copied().zip(self.values[entries].iter().copied())
    }
}

impl<T: Real> Row<T> {
    /// Marks the columns of row `row` of A B, and returns how many there are.
    fn count(&mut self, a: Rows<T>, b: Rows<T>, row: usize) -> i32 {
        for &k in a.columns(row) {
            for &j in b.columns(k as usize) {
                self.present[j as usize / WORD] |= 1 << (j as usize % WORD);
            }
        }
        self.present.iter_mut().map(|word| std::mem::take(word).count_ones() as i32).sum()
    }

    /// Computes row `row` of A B to where it belongs.
    fn compute(&mut self, a: Rows<T>, b: Rows<T>, row: usize, mut indices: &mut [i32], mut values: &mut [T]) {
        for (k, factor) in a.entries(row) {
            for (j, value) in b.entries(k as usize) {
                self.sums[j as usize] += factor * value;
                self.present[j as usize / WORD] |= 1 << (j as usize % WORD);
            }
        }
        for (word, (present, sums)) in self.present.iter_mut().zip(self.sums.chunks_mut(WORD)).enumerate() {
            let mut left = std::mem::take(present);
            let (index, value);
            (index, indices) = indices.split_at_mut(left.count_ones() as usize);
            (value, values) = values.split_at_mut(left.count_ones() as usize);
            for (index, value) in index.iter_mut().zip(value) {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                *index = (word * WORD + bit) as i32;
                *value = std::mem::take(&mut sums[bit]);
            }
        }
    }
}

impl<T: Real> Gustavson<T> {
    /// Prepares the product; `threads` is the number of threads of the pool.
    pub(super) fn new(a: &Csr, b: &Csr, threads: usize) -> Result<Self, CellError> {
        let mut job = Gustavson {
            a: a.clone(),
            b: b.clone(),
            threads,
            work: vec![0; a.rows + 1],
            indptr: vec![0; a.rows + 1],
            indices: Vec::new(),
            values: Vec::new(),
            rows: PerThread::new(|| Row {
                sums: vec![T::default(); b.cols],
                present: vec![0; b.cols.div_ceil(WORD)],
            }),
        };
        // Counted once here, so that the result's memory is there before the first execution.
        job.count()?;
        job.indices = vec![0; job.entries()];
        job.values = vec![T::default(); job.entries()];
        Ok(job)
    }

    fn entries(&self) -> usize {
        self.indptr[self.a.rows] as usize
    }

    /// Counts the entries of each row of the product, and returns blocks of rows of about equal work.
    fn count(&mut self) -> Result<Vec<usize>, CellError> {
        let (a, b) = (Rows::<T>::of(&self.a)?, Rows::<T>::of(&self.b)?);
        self.work[1..].par_iter_mut().with_min_len(LEAST_ROWS).enumerate().for_each(|(row, work)| {
            *work = a.columns(row).iter().map(|&k| b.columns(k as usize).len() as i64).sum();
        });
        accumulate(&mut self.work);
        let products = self.work[self.a.rows];
        let bounds =
            balanced(&self.work, if products <= SERIAL { 1 } else { self.threads * BLOCKS_PER_THREAD });

        let counts = split(&mut self.indptr[1..], bounds.iter().copied());
        in_blocks(counts.into_iter().zip(&bounds), |(counts, &first): (&mut [i32], &usize)| {
            self.rows.with(|row| {
                for (offset, count) in counts.iter_mut().enumerate() {
                    *count = row.count(a, b, first + offset);
                }
            });
        });
        let total: i64 = self.indptr[1..].iter().map(|&count| i64::from(count)).sum();
        if total > i64::from(i32::MAX) {
            return Err(too_many(total));
        }
        accumulate(&mut self.indptr);
        Ok(bounds)
    }
}

/// Turns counts, after a leading zero, into their running sums.
fn accumulate<N: Copy + std::ops::AddAssign>(counts: &mut [N]) {
    for row in 1..counts.len() {
        let before = counts[row - 1];
        counts[row] += before;
    }
}

/// The error of a product whose offsets do not fit their type.
pub(super) fn too_many(entries: i64) -> CellError {
    CellError::Failed(format!(
        "the product has {entries} entries, more than 32-bit offsets hold; choose a smaller --sizes or --density"
    ))
}

/// Works on each block, in parallel where there are several.
fn in_blocks<B: Send>(blocks: impl Iterator<Item = B>, work: impl Fn(B) + Sync + Send) {
    let mut blocks: Vec<B> = blocks.collect();
    if blocks.len() == 1 {
        blocks.drain(..).for_each(work);
    } else {
        blocks.into_par_iter().with_max_len(1).for_each(work);
    }
}

impl<T: Real> Job for Gustavson<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show_csr(&self.a, show);
        show_csr(&self.b, show);
        show(memory(&self.work));
        show(memory(&self.indptr));
        show(memory(&self.indices));
        show(memory(&self.values));
        self.rows.each(|row| {
            show(memory(&row.sums));
            show(memory(&row.present));
        });
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        if self.work[self.a.rows] > SERIAL || self.a.rows >= 2 * LEAST_ROWS {
            rouse::pool();
        }
        Ok(())
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let bounds = self.count()?;
        let (a, b) = (Rows::<T>::of(&self.a)?, Rows::<T>::of(&self.b)?);
        let indptr = &self.indptr;
        let offsets = || bounds.iter().map(|&row| indptr[row] as usize);
        let indices = split(&mut self.indices, offsets());
        let values = split(&mut self.values, offsets());
        in_blocks(bounds.windows(2).zip(indices).zip(values), |((rows, indices), values)| {
            let base = indptr[rows[0]];
            self.rows.with(|row| {
                for at in rows[0]..rows[1] {
                    let entries = (indptr[at] - base) as usize..(indptr[at + 1] - base) as usize;
                    row.compute(a, b, at, &mut indices[entries.clone()], &mut values[entries]);
                }
            });
        });
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::Csr(Csr {
            rows: self.a.rows,
            cols: self.b.cols,
            indptr: self.indptr.clone(),
            indices: self.indices.clone(),
            values: T::into_values(self.values.clone()),
        })])
    }
}
