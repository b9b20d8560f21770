//! Divides the elements of a result among threads.

use std::ops::Range;

use rayon::prelude::*;

use super::{ThreadPool, choices_up_to, wake};
use crate::CellResult;

/// Below this number of elements, threads cost more than they save.
const SERIAL: usize = 1 << 15;
/// Below this number of tasks, threads cost more than they save.
const SERIAL_TASKS: usize = 2;
/// Parts per thread of many tasks: enough to even out their times.
const TASKS_EACH: usize = 16;
/// Elements per task when all threads work.
const TASK: usize = 1 << 14;
/// Parts for fewer threads are multiples of this number of elements: whole pages.
const GRAIN: usize = 1 << 10;

/// The partition of one result among threads.
pub(crate) struct Partition {
    /// Elements per task when all threads work.
    task: usize,
    /// Parts for fewer threads are multiples of this number of elements.
    grain: usize,
    /// Number of threads in the pool.
    pool: usize,
    /// Number of threads that work.
    threads: usize,
    choices: Vec<usize>,
}

impl Partition {
    /// Partitions `elements` elements among at most `threads` threads, the size of the pool.
    pub(crate) fn of(elements: usize, threads: usize) -> Self {
        let pool = if elements <= SERIAL { 1 } else { threads };
        let choices = choices_up_to(pool.min(elements / TASK));
        Partition { task: TASK, grain: GRAIN, pool, threads: pool, choices }
    }

    /// Partitions as [`Partition::of`] does, always among all threads.
    pub(crate) fn without_choice(elements: usize, threads: usize) -> Self {
        Partition { choices: vec![], ..Partition::of(elements, threads) }
    }

    /// Partitions a result of which every element is a task.
    pub(crate) fn of_tasks(tasks: usize, threads: usize) -> Self {
        let pool = if tasks <= SERIAL_TASKS { 1 } else { threads };
        let task = (tasks / (threads * TASKS_EACH)).max(1);
        Partition { task, grain: 1, pool, threads: pool, choices: choices_up_to(pool.min(tasks)) }
    }

    /// Computes `y`: `compute` gets a range of elements and the slice for their results.
    pub(crate) fn run<T: Send>(&self, y: &mut [T], compute: impl Fn(Range<usize>, &mut [T]) + Sync) {
        if self.threads == 1 {
            return compute(0..y.len(), y);
        }
        let part = self.part(y.len());
        y.par_chunks_mut(part).enumerate().for_each(|(index, y)| {
            let first = index * part;
            compute(first..first + y.len(), y);
        });
    }

    /// Computes several results of equal length: `compute` gets a range of elements and the slices for their results.
    pub(crate) fn run_rows<T: Send, const N: usize>(
        &self,
        rows: [&mut [T]; N],
        compute: impl Fn(Range<usize>, [&mut [T]; N]) + Sync,
    ) {
        let length = rows.first().map_or(0, |row| row.len());
        if self.threads == 1 {
            return compute(0..length, rows);
        }
        let part = self.part(length);
        let mut chunks = rows.map(|row| row.chunks_mut(part));
        let parts: Vec<[&mut [T]; N]> = (0..length.div_ceil(part))
            .map(|_| chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default()))
            .collect();
        parts.into_par_iter().enumerate().for_each(|(index, rows)| {
            let first = index * part;
            compute(first..length.min(first + part), rows);
        });
    }

    /// Returns the number of elements, or of tasks, that one thread takes at a time.
    pub(crate) fn part(&self, elements: usize) -> usize {
        let even = elements.div_ceil(self.threads).next_multiple_of(self.grain);
        if self.threads < self.pool { even } else { self.task }
    }
}

impl ThreadPool for Partition {
    fn choices(&self) -> Vec<usize> {
        self.choices.clone()
    }

    fn choose(&mut self, threads: usize) {
        self.threads = threads.clamp(1, self.pool);
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        wake::pool(self.threads);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_computes_every_element_once() {
        for elements in [0, 1, SERIAL, SERIAL + 1, 3 * TASK + 7, 100_003] {
            let mut partition = Partition::of(elements, 3);
            for threads in 1..=4 {
                partition.choose(threads);
                let mut y = vec![0; elements];
                partition.run(&mut y, |part, y| {
                    for (index, y) in part.zip(y) {
                        *y += index + 1;
                    }
                });
                assert!(y.iter().enumerate().all(|(index, &y)| y == index + 1), "{elements} {threads}");
                let mut other = vec![0; elements];
                partition.run_rows([&mut y, &mut other], |part, [y, other]| {
                    for (index, (y, other)) in part.zip(y.iter_mut().zip(other)) {
                        (*y, *other) = (*y - index, index);
                    }
                });
                assert!(y.iter().all(|&y| y == 1) && other.iter().enumerate().all(|(index, &y)| y == index));
            }
        }
    }
}
