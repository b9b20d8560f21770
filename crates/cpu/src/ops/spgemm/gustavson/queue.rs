//! Assigns parts of the result to blocks in order, while several threads compute the blocks.

use std::sync::atomic::{AtomicUsize, Ordering};
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
    rest: Mutex<UnplacedEntries<'a, I, T>>,
}

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

/// Splits off the first `count` elements.
fn first<'a, X>(slice: &mut &'a mut [X], count: usize) -> &'a mut [X] {
    let (first, rest) = std::mem::take(slice).split_at_mut(count);
    *slice = rest;
    first
}

impl<'a, I, T> Queue<'a, I, T> {
    pub(super) fn new(whole: UnplacedEntries<'a, I, T>) -> Self {
        Queue { next: AtomicUsize::new(0), rest: Mutex::new(whole) }
    }

    /// Returns the memory for a block with the given numbers of rows and entries, once all blocks before it are placed.
    /// Threads must take blocks in order, or all wait for one that no thread has begun.
    pub(super) fn place(&self, block: usize, rows: usize, entries: usize) -> UnplacedEntries<'a, I, T> {
        let mut looks = 0;
        // Polls: the wait takes microseconds, as long as falling asleep would.
        while self.next.load(Ordering::Acquire) != block {
            looks += 1;
            if looks % LOOKS == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
        let place = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take(rows, entries);
        self.next.store(block + 1, Ordering::Release);
        place
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test may end where no thread can be started")]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_finish_in_any_order_are_placed_in_theirs() {
        let (mut ends, mut indices, mut values) = ([0; 4], [0; 10], [0.0f32; 10]);
        let queue = Queue::new(UnplacedEntries {
            base: 0,
            ends: &mut ends,
            indices: &mut indices,
            values: &mut values,
        });
        std::thread::scope(|scope| {
            for block in (0..4).rev() {
                let queue = &queue;
                scope.spawn(move || {
                    let place = queue.place(block, 1, block + 1);
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
}
