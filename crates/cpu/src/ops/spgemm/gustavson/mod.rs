//! The sparse product by rows (Gustavson, "Two fast algorithms for sparse matrices", ACM TOMS 4, 1978).
//!
//! Each row of the product is summed in a dense accumulator, and a bitmap marks its columns, so that they come out
//! sorted without sorting. Nothing is computed twice to count entries: a thread computes a block of rows in its own
//! memory, which stays in its caches, and copies it after the blocks before it as soon as all of those are counted.

use std::mem::take;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpubench_backend::contents::{Contents, Memory, host};
use gpubench_backend::{Job, JobTraits, Lent, Prepared};
use gpubench_report::data::{Csr, Operand, Real};
use rayon::prelude::*;

use self::queue::{Queue, UnplacedEntries};
use self::row::{Gathered, Rows, words};
use crate::operands::{ShowMemory, memory, show_csr};
use crate::ops::row_blocks::{BLOCKS_PER_THREAD, balanced};
use crate::threads::{PerThread, choices_up_to, wake};
use crate::{CellError, CellResult};

mod queue;
mod row;

/// Minimum work per thread, in products and bitmap words, which cost about the same: a few times the cost of bringing
/// in another thread.
const MIN_WORK: i64 = 1 << 12;
/// Minimum work per block: small enough that a late thread still finds work, and many times the cost of placing a
/// block.
const MIN_BLOCK: i64 = 1 << 11;
/// Maximum work per block, unless one row has more: the entries of a block stay in a second-level cache.
const MAX_WORK: i64 = 1 << 16;
/// Beyond this number of entries of A, several threads count the work.
const SERIAL_COUNT: usize = 1 << 15;
/// Minimum rows per counting task.
const MIN_ROWS: usize = 256;

type RowsOfBoth<'a, T> = (Rows<'a, T>, Rows<'a, T>);

/// The job of `C = A B`.
pub(super) struct Gustavson<T> {
    a: Csr,
    b: Csr,
    /// Number of threads in the pool.
    pool: usize,
    /// Number of threads that work.
    threads: usize,
    /// Total work of the rows of A before each row.
    work: Vec<i64>,
    /// Total entries of the rows of C before each row.
    indptr: Vec<i32>,
    indices: Vec<i32>,
    values: Vec<T>,
    gathered: PerThread<Gathered<T>>,
    /// Whether executions write into the memory of the first result. Otherwise each allocates its own.
    reuses: bool,
}

impl<T: Real> Gustavson<T> {
    /// Prepares the product; `threads` is the number of threads of the pool.
    pub(super) fn new(a: Csr, b: Csr, threads: usize, reuses: bool) -> CellResult<Self> {
        let (rows_of_a, cols_of_b) = (a.rows, b.cols);
        let mut job = Gustavson {
            a,
            b,
            pool: threads,
            threads,
            work: vec![0; rows_of_a + 1],
            indptr: vec![0; rows_of_a + 1],
            indices: Vec::new(),
            values: Vec::new(),
            gathered: PerThread::new(|| Gathered::new(0, 0, 0, 0)),
            reuses,
        };
        let mut work = take(&mut job.work);
        let bounds = job.blocks(job.operands()?, &mut work);
        job.work = work;
        job.threads = job.most_threads();
        let largest = |size: &dyn Fn(&[usize]) -> usize| bounds.windows(2).map(size).max().unwrap_or(0);
        let rows = largest(&|block| block[1] - block[0]);
        let entries = largest(&|block| {
            let products = usize::try_from(job.work[block[1]] - job.work[block[0]]).unwrap_or(usize::MAX);
            products.min((block[1] - block[0]).saturating_mul(cols_of_b))
        });
        let scanned = (rows_of_a * words(cols_of_b)) as i64;
        let products_a_word = (job.work[rows_of_a] - scanned) / scanned.max(1);
        job.gathered = PerThread::new(|| Gathered::new(cols_of_b, rows, entries, products_a_word));
        // Counted once here, so that a result that is too large is refused and, with reuse, its memory exists.
        let total = AtomicUsize::new(0);
        job.each_block(job.operands()?, &bounds, || {
            |_, gathered: &Gathered<T>| {
                total.fetch_add(gathered.entries().0.len(), Ordering::Relaxed);
            }
        });
        let total = total.into_inner();
        if i32::try_from(total).is_err() {
            return Err(too_many(total as i64));
        }
        if reuses {
            (job.indices, job.values) = (vec![0; total], vec![T::default(); total]);
        }
        Ok(job)
    }

    /// Prepares the job, with its choice of threads.
    pub(super) fn prepared(self) -> Box<Prepared> {
        let thread_choices = choices_up_to(self.most_threads());
        Prepared::with(JobTraits { thread_choices, ..JobTraits::default() }, self)
    }

    fn operands(&self) -> CellResult<RowsOfBoth<'_, T>> {
        Ok((Rows::of(&self.a)?, Rows::of(&self.b)?))
    }

    /// Returns memory for the result: for as many entries as it can have.
    fn room(&self, work: &[i64]) -> (Vec<i32>, Vec<T>) {
        let scanned = (self.a.rows * words(self.b.cols)) as i64;
        let products = usize::try_from(work[self.a.rows] - scanned).unwrap_or_default();
        let most = products.min(self.a.rows.saturating_mul(self.b.cols));
        (Vec::with_capacity(most), Vec::with_capacity(most))
    }

    /// Counts the work of each row, and returns the bounds of blocks of rows of about equal work.
    fn blocks(&self, (a, b): RowsOfBoth<T>, work: &mut [i64]) -> Vec<usize> {
        let scan = words(self.b.cols) as i64;
        let count = |(row, work): (usize, &mut i64)| {
            *work = scan + a.columns(row).iter().map(|&k| b.columns(k as usize).len() as i64).sum::<i64>();
        };
        let rows = &mut work[1..];
        if self.threads > 1 && self.a.nnz() > SERIAL_COUNT {
            rows.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(count);
        } else {
            rows.iter_mut().enumerate().for_each(count);
        }
        for row in 1..work.len() {
            work[row] += work[row - 1];
        }
        let total = work[self.a.rows];
        let even = ((self.pool * BLOCKS_PER_THREAD) as i64).min(total / MIN_BLOCK);
        balanced(work, even.max(total / MAX_WORK).max(1) as usize)
    }

    /// Computes each block between `bounds` on all working threads. Each thread makes a function by `start`, and passes
    /// its blocks to that with their numbers.
    fn each_block<F: Fn(usize, &Gathered<T>)>(
        &self,
        (a, b): RowsOfBoth<T>,
        bounds: &[usize],
        start: impl Fn() -> F + Sync,
    ) {
        let next = AtomicUsize::new(0);
        let work = || {
            let done = start();
            self.gathered.with(|gathered| {
                loop {
                    let block = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&[first, end]) = bounds.get(block..).and_then(|rest| rest.first_chunk()) else {
                        break;
                    };
                    gathered.gather(a, b, first..end);
                    done(block, gathered);
                }
            });
        };
        if self.threads > 1 {
            rayon::scope(|scope| {
                (1..self.threads).for_each(|_| scope.spawn(|_| work()));
                work();
            });
        } else {
            work();
        }
    }

    fn most_threads(&self) -> usize {
        let enough = usize::try_from(self.work[self.a.rows] / MIN_WORK).unwrap_or(usize::MAX);
        self.pool.min(enough).max(1)
    }
}

/// The error for a product whose offsets exceed their type.
pub(super) fn too_many(entries: i64) -> CellError {
    CellError::Failed(format!(
        "the product has {entries} entries, more than 32-bit offsets hold; choose a smaller --sizes or --density"
    ))
}

impl<T: Real> Job for Gustavson<T> {
    fn buffers(&self, show: ShowMemory<'_>) {
        show_csr(&self.a, show);
        show_csr(&self.b, show);
        show(memory(&self.work));
        show(memory(&self.indptr));
        show(memory(&self.indices));
        show(memory(&self.values));
        self.gathered.each(|gathered| gathered.show(show));
    }

    fn contents(&mut self) -> Contents<'_> {
        // Offset 0 is always 0.
        let answer = [host(&mut self.indptr[1..]), host(&mut self.indices), host(&mut self.values)];
        let operands = [Memory::Host(self.a.values.bytes_mut()), Memory::Host(self.b.values.bytes_mut())];
        Contents::new(operands, answer).with_fixed([
            host(&mut self.a.indptr),
            host(&mut self.a.indices),
            host(&mut self.b.indptr),
            host(&mut self.b.indices),
        ])
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        wake::pool(self.threads);
        Ok(())
    }

    fn use_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    fn execute(&mut self) -> CellResult<()> {
        let mut work = take(&mut self.work);
        let (mut indptr, mut indices) = (take(&mut self.indptr), take(&mut self.indices));
        let mut values = take(&mut self.values);
        let operands = self.operands()?;
        let bounds = self.blocks(operands, &mut work);
        if self.reuses {
            indices.clear();
            values.clear();
        } else {
            // The last result first, as a caller who no longer needs it does.
            drop((indices, values));
            (indices, values) = self.room(&work);
        }
        let queue = Queue::new(UnplacedEntries {
            base: 0,
            ends: &mut indptr[1..],
            indices: indices.spare_capacity_mut(),
            values: values.spare_capacity_mut(),
        });
        self.each_block(operands, &bounds, || {
            let member = queue.join();
            move |block, gathered: &Gathered<T>| {
                let (columns, sums) = gathered.entries();
                let Some(place) = member.place(block, gathered.ends().len(), columns.len()) else { return };
                for (to, column) in place.indices.iter_mut().zip(columns) {
                    to.write(*column);
                }
                for (to, sum) in place.values.iter_mut().zip(sums) {
                    to.write(*sum);
                }
                for (end, within) in place.ends.iter_mut().zip(gathered.ends()) {
                    *end = place.base as i32 + within;
                }
            }
        });
        let entries = indptr[self.a.rows] as usize;
        // SAFETY: the blocks lie one after another from the start, each wrote all of its entries, and the last offset is
        // their number; a block without a place follows a panic, which `each_block` passes on.
        unsafe {
            indices.set_len(entries);
            values.set_len(entries);
        }
        (self.work, self.indptr, self.indices, self.values) = (work, indptr, indices, values);
        Ok(())
    }

    fn answer(&mut self) -> CellResult<Vec<Operand>> {
        Ok(vec![Operand::Csr(Csr {
            rows: self.a.rows,
            cols: self.b.cols,
            indptr: self.indptr.clone(),
            indices: self.indices.clone(),
            values: T::into_values(self.values.clone()),
        })])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> CellResult<()> {
        let (rows, cols) = (self.a.rows, self.b.cols);
        let (indptr, indices) = (take(&mut self.indptr), take(&mut self.indices));
        let values = T::into_values(take(&mut self.values));
        let operands = [Operand::Csr(take(&mut self.a)), Operand::Csr(take(&mut self.b))];
        let answer = [Operand::Csr(Csr { rows, cols, indptr, indices, values })];
        to(Lent { operands: Some(&operands), answer: &answer });
        let ([a, b], [product]) = (operands, answer);
        let Csr { indptr, indices, values, .. } = product.into_csr()?;
        (self.a, self.b) = (a.into_csr()?, b.into_csr()?);
        (self.indptr, self.indices, self.values) = (indptr, indices, T::from_values(values)?);
        Ok(())
    }
}
