//! Divides the elements of a result among threads, and chooses the kind of store that writes them.

use std::ops::Range;
use std::time::Instant;

use gpubench_host::processors;
use rayon::prelude::*;

use super::{thread_choices, wake};
use crate::simd::stream;

/// Below this number of elements, threads cost more than they save.
pub(crate) const SERIAL: usize = 1 << 15;
/// Elements per task when all threads work.
pub(crate) const TASK: usize = 1 << 14;
/// Executions per kind of store to find the faster one.
const TRIALS: usize = 3;
/// Stores past the caches are used if they take less than this share of the ordinary stores' time.
const CLEARLY: f64 = 0.97;
/// Parts for fewer threads are multiples of this number of elements: whole pages.
const GRAIN: usize = 1 << 10;

/// The partition of one result among threads.
pub(crate) struct Partition {
    elements: usize,
    /// Threads of the pool, and the number of them that work.
    pool: usize,
    threads: usize,
    /// Whether the result is too large to stay in any cache.
    past_caches: bool,
}

impl Partition {
    /// Partitions `elements` elements of type `T` among at most `threads` threads, the size of the pool.
    pub(crate) fn of<T>(elements: usize, threads: usize) -> Self {
        let bytes = (elements * size_of::<T>()) as u64;
        let past_caches =
            stream::IS_PAST_CACHES && processors::last_level_cache_bytes().is_some_and(|cache| bytes > cache);
        let threads = if elements <= SERIAL { 1 } else { threads };
        Partition { elements, pool: threads, threads, past_caches }
    }

    /// Keeps ordinary stores unless stores past the caches are clearly faster, which depends on the CPU and on the
    /// share of arithmetic. Tries both with `execute` and takes the best of a few executions, only for results that
    /// exceed every cache.
    pub(crate) fn try_stores(&mut self, mut execute: impl FnMut(&Partition)) {
        if !self.past_caches {
            return;
        }
        let mut best = [f64::INFINITY; 2];
        for _ in 0..TRIALS {
            for past_caches in [false, true] {
                self.past_caches = past_caches;
                let start = Instant::now();
                execute(self);
                let best = &mut best[usize::from(past_caches)];
                *best = best.min(start.elapsed().as_secs_f64());
            }
        }
        self.past_caches = best[1] < CLEARLY * best[0];
    }

    /// Numbers of threads that are worth trying.
    pub(crate) fn choices(&self) -> Vec<usize> {
        thread_choices::up_to(self.pool.min(self.elements / TASK))
    }

    /// Uses `threads` threads for later executions.
    pub(crate) fn use_threads(&mut self, threads: usize) {
        self.threads = threads.clamp(1, self.pool);
    }

    /// Wakes the threads that will work.
    pub(crate) fn wake_threads(&self) {
        if self.threads > 1 {
            wake::pool();
        }
    }

    /// Computes `y`: `compute` gets a range of elements, the slice for their results, and whether to store past the
    /// caches.
    pub(crate) fn run<T: Send>(&self, y: &mut [T], compute: impl Fn(Range<usize>, &mut [T], bool) + Sync) {
        if self.threads == 1 {
            return compute(0..y.len(), y, self.past_caches);
        }
        let even = y.len().div_ceil(self.threads).next_multiple_of(GRAIN);
        let part = if self.threads < self.pool { even } else { TASK };
        y.par_chunks_mut(part).enumerate().for_each(|(at, y)| {
            let first = at * part;
            compute(first..first + y.len(), y, self.past_caches);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_computes_every_element_once() {
        for elements in [0, 1, SERIAL, SERIAL + 1, 3 * TASK + 7, 100_003] {
            let mut partition = Partition::of::<f32>(elements, 3);
            for threads in 1..=4 {
                partition.use_threads(threads);
                let mut y = vec![0; elements];
                partition.run(&mut y, |part, y, _| {
                    for (at, y) in part.zip(y) {
                        *y += at + 1;
                    }
                });
                assert!(y.iter().enumerate().all(|(at, &y)| y == at + 1), "{elements} {threads}");
            }
        }
    }

    #[test]
    fn the_stores_that_are_faster_are_kept_and_small_results_try_none() {
        for slow in [false, true] {
            let mut partition = Partition { past_caches: true, ..Partition::of::<f32>(10, 1) };
            partition.try_stores(|partition| {
                if partition.past_caches == slow {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
            });
            assert_eq!(partition.past_caches, !slow);
        }
        Partition::of::<f32>(10, 1).try_stores(|_| unreachable!("a small result"));
    }

    #[test]
    fn small_results_leave_no_choice_and_no_result_within_the_caches_goes_past_them() {
        assert_eq!(Partition::of::<f32>(100 * 100, 16).choices(), [1]);
        assert_eq!(Partition::of::<f32>(500 * 500, 16).choices(), [1, 2, 4, 8, 15]);
        assert!(!Partition::of::<f64>(100 * 100, 1).past_caches);
        let past = Partition { past_caches: true, ..Partition::of::<f32>(10, 1) };
        past.run(&mut [0.0f32; 10], |_, _, past_caches| assert!(past_caches));
    }
}
