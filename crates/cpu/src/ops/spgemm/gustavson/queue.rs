//! Assigns parts of the result to blocks in order, while several threads compute the blocks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Number of times that a waiting thread polls before it yields its CPU.
const LOOKS: usize = 64;

/// The rest of a sparse matrix after the blocks placed so far.
pub(super) struct UnplacedEntries<'a, I, T> {
    /// Entries placed so far.
    pub(super) base: usize,
    /// Offsets of the row ends.
    pub(super) ends: &'a mut [i32],
    pub(super) indices: &'a mut [I],
    pub(super) values: &'a mut [T],
}

/// The queue of threads that have computed a block and wait for its place.
pub(super) struct Queue<'a, I, T> {
    /// The number of the next block.
    next: AtomicUsize,
    /// Whether a thread has panicked, whose block will never be placed.
    is_broken: AtomicBool,
    rest: Mutex<UnplacedEntries<'a, I, T>>,
}

/// One thread that works for a queue.
pub(super) struct QueueMember<'q, 'a, I, T>(&'q Queue<'a, I, T>);

impl<'a, I, T> UnplacedEntries<'a, I, T> {
    /// Splits off the memory of the next block, with the given numbers of rows and entries.
    fn take(&mut self, rows: usize, entries: usize) -> UnplacedEntries<'a, I, T> {
        let base = self.base;
        self.base += entries;
        UnplacedEntries {
            base,
            ends: first(&mut self.ends, rows),
            indices: first(&mut self.indices, entries),
            values: first(&mut self.values, entries),
        }
    }
}

fn first<'a, X>(slice: &mut &'a mut [X], count: usize) -> &'a mut [X] {
    let (first, rest) = std::mem::take(slice).split_at_mut(count);
    *slice = rest;
    first
}

impl<'a, I, T> Queue<'a, I, T> {
    pub(super) fn new(whole: UnplacedEntries<'a, I, T>) -> Self {
        Queue { next: AtomicUsize::new(0), is_broken: AtomicBool::new(false), rest: Mutex::new(whole) }
    }

    /// Lets a thread join; it must do so before it takes its first block, and stay until it has placed its last.
    pub(super) fn join(&self) -> QueueMember<'_, 'a, I, T> {
        QueueMember(self)
    }
}

impl<'a, I, T> QueueMember<'_, 'a, I, T> {
    /// Returns the memory for a block with the given numbers of rows and entries, once all blocks before it are placed;
    /// `None` if another member has panicked. Threads must take blocks in order, or all wait for one that no thread has
    /// begun.
    pub(super) fn place(
        &self,
        block: usize,
        rows: usize,
        entries: usize,
    ) -> Option<UnplacedEntries<'a, I, T>> {
        let Queue { next, is_broken, rest } = self.0;
        let mut looks = 0;
        // Polls: the wait takes microseconds, as long as falling asleep would.
        while next.load(Ordering::Acquire) != block {
            if is_broken.load(Ordering::Relaxed) {
                return None;
            }
            looks += 1;
            if looks % LOOKS == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
        let place = rest.lock().unwrap_or_else(PoisonError::into_inner).take(rows, entries);
        next.store(block + 1, Ordering::Release);
        Some(place)
    }
}

impl<I, T> Drop for QueueMember<'_, '_, I, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_broken.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test may end where no thread can be started")]

    use super::*;

    fn queue<'a>(ends: &'a mut [i32], indices: &'a mut [i32], values: &'a mut [f32]) -> Queue<'a, i32, f32> {
        Queue::new(UnplacedEntries { base: 0, ends, indices, values })
    }

    #[test]
    fn blocks_that_finish_in_any_order_are_placed_in_theirs() {
        let (mut ends, mut indices, mut values) = ([0; 4], [0; 10], [0.0f32; 10]);
        let queue = queue(&mut ends, &mut indices, &mut values);
        std::thread::scope(|scope| {
            for block in (0..4).rev() {
                let queue = &queue;
                scope.spawn(move || {
                    let place = queue.join().place(block, 1, block + 1).unwrap();
                    place.ends[0] = place.base as i32;
                    place.indices.fill(block as i32);
                    place.values.fill(block as f32);
                });
            }
        });
        assert_eq!(ends, [0, 1, 3, 6]);
        assert_eq!(indices, [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]);
        assert_eq!(values.map(|value| value as i32), indices);
    }

    #[test]
    fn nobody_waits_for_the_block_of_a_thread_that_panicked() {
        let (mut ends, mut indices, mut values) = ([0; 4], [0; 4], [0.0f32; 4]);
        let queue = queue(&mut ends, &mut indices, &mut values);
        std::thread::scope(|scope| {
            let queue = &queue;
            let waiting = [2, 3].map(|block| scope.spawn(move || queue.join().place(block, 1, 1).is_none()));
            assert!(queue.join().place(0, 1, 1).is_some());
            let panicked = scope.spawn(|| {
                let _member = queue.join();
                std::panic::resume_unwind(Box::new("no block"));
            });
            assert!(panicked.join().is_err());
            assert!(waiting.into_iter().all(|waiting| waiting.join().unwrap()));
        });
    }
}
