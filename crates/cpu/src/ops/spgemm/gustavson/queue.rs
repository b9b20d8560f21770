//! Assigns parts of the result to blocks in order, while several threads compute the blocks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

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
    /// The number of the next block, or [`LOST`].
    next: AtomicUsize,
    rest: Mutex<UnplacedEntries<'a, I, T>>,
}

/// Replaces the number of the next block after a thread has panicked: no turn comes any more.
const LOST: usize = usize::MAX;

/// The turn of one block in a queue, which comes once all blocks before it are placed.
pub(super) struct Turn<'q, 'a, I, T> {
    queue: &'q Queue<'a, I, T>,
    block: usize,
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

    /// Returns the turn of `block`; call it before computing the block. Threads must take blocks in order, or all wait
    /// for one that no thread has begun.
    pub(super) fn turn(&self, block: usize) -> Turn<'_, 'a, I, T> {
        Turn { queue: self, block }
    }
}

impl<'a, I, T> Turn<'_, 'a, I, T> {
    /// Returns the memory for a block with the given numbers of rows and entries, once all blocks before it are
    /// placed; `None` if one of them never will be.
    pub(super) fn place(self, rows: usize, entries: usize) -> Option<UnplacedEntries<'a, I, T>> {
        let Queue { next, rest } = self.queue;
        wait_until(|| [self.block, LOST].contains(&next.load(Ordering::Acquire)));
        let place = rest.lock().unwrap_or_else(PoisonError::into_inner).take(rows, entries);
        let passed =
            next.compare_exchange(self.block, self.block + 1, Ordering::Release, Ordering::Relaxed).is_ok();
        passed.then_some(place)
    }
}

impl<I, T> Drop for Turn<'_, '_, I, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.queue.next.store(LOST, Ordering::Release);
        }
    }
}

/// Polls: the wait takes microseconds, as long as falling asleep would.
fn wait_until(reached: impl Fn() -> bool) {
    let mut looks = 0;
    while !reached() {
        looks += 1;
        if looks % LOOKS == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
    }
}

/// Bounds of blocks that one thread computes while the others wait for them.
#[derive(Default)]
pub(super) struct Bounds(OnceLock<Vec<usize>>);

impl Bounds {
    /// Waits for the bounds.
    pub(super) fn wait(&self) -> &[usize] {
        wait_until(|| self.0.get().is_some());
        self.0.get().map_or(&[], Vec::as_slice)
    }

    /// Publishes the bounds that `find` returns, or none if it panics, so that nobody waits for ever.
    pub(super) fn publish(&self, find: impl FnOnce() -> Vec<usize>) {
        struct OrNone<'a>(&'a Bounds);
        impl Drop for OrNone<'_> {
            fn drop(&mut self) {
                self.0.0.get_or_init(Vec::new);
            }
        }
        let _if_it_panics = OrNone(self);
        self.0.get_or_init(find);
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
                    let place = queue.turn(block).place(1, block + 1).unwrap();
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
    fn nobody_waits_for_a_block_that_is_lost() {
        let (mut ends, mut indices, mut values) = ([0; 4], [0; 4], [0.0f32; 4]);
        let queue = Queue::new(UnplacedEntries {
            base: 0,
            ends: &mut ends,
            indices: &mut indices,
            values: &mut values,
        });
        std::thread::scope(|scope| {
            let queue = &queue;
            let waiting = [2, 3].map(|block| scope.spawn(move || queue.turn(block).place(1, 1).is_none()));
            assert!(queue.turn(0).place(1, 1).is_some());
            let lost = scope.spawn(|| {
                let _turn = queue.turn(1);
                std::panic::resume_unwind(Box::new("no block"));
            });
            assert!(lost.join().is_err());
            assert!(waiting.into_iter().all(|waiting| waiting.join().unwrap()));
        });
    }

    #[test]
    fn whoever_waits_for_bounds_gets_them_and_none_after_a_panic() {
        for (panics, expected) in [(false, &[0, 3, 5][..]), (true, &[])] {
            let bounds = Bounds::default();
            std::thread::scope(|scope| {
                let waiting = [(); 2].map(|()| scope.spawn(|| bounds.wait().to_vec()));
                let publishing = scope.spawn(|| {
                    bounds.publish(|| {
                        if panics {
                            std::panic::resume_unwind(Box::new("no bounds"));
                        }
                        vec![0, 3, 5]
                    });
                });
                assert_eq!(publishing.join().is_err(), panics);
                waiting.into_iter().for_each(|waiting| assert_eq!(waiting.join().unwrap(), expected));
            });
        }
    }
}
