//! Wakes rayon's threads, so that a timed execution finds them looking for work, as in a program that is busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// Longest wait for threads that the system does not schedule.
const MAX_WAIT: Duration = Duration::from_millis(2);

/// Counts the threads that have arrived, and releases them.
#[derive(Default)]
struct Barrier {
    arrived: AtomicUsize,
    released: AtomicBool,
}

impl Barrier {
    /// Arrives, and stays awake until released.
    fn wait(&self) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        wait_until(|| self.released.load(Ordering::Acquire));
    }
}

/// Wakes every thread of the pool, if more than one of them `work`.
pub(crate) fn pool(work: usize) {
    if work > 1 {
        all();
    }
}

/// Wakes every thread of the pool and returns as soon as all are awake. Returns whether all woke in time.
///
/// `rayon::broadcast` could put the calling thread to sleep, and while waking it the threads of the pool would fall
/// asleep again: they look for work about thirty times, yielding in between. Here all threads wait for each other and
/// yield too, so that none keeps another from its CPU.
fn all() -> bool {
    // A calling thread that belongs to the pool is awake.
    let others = rayon::current_num_threads() - usize::from(rayon::current_thread_index().is_some());
    let barrier = Arc::new(Barrier::default());
    let their_barrier = Arc::clone(&barrier);
    rayon::spawn_broadcast(move |_| their_barrier.wait());
    let awake = wait_until(|| barrier.arrived.load(Ordering::Acquire) == others);
    barrier.released.store(true, Ordering::Release);
    // The broadcast to the calling thread itself must not wait in its queue until it is timed.
    rayon::yield_local();
    awake
}

/// Waits until `reached` returns true, or for [`MAX_WAIT`]; returns whether it did.
fn wait_until(reached: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !reached() {
        if start.elapsed() >= MAX_WAIT {
            return false;
        }
        yield_now();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_comes_and_goes_whether_the_caller_is_of_the_pool_or_not() {
        let wake_often = || {
            let awake = (0..20).filter(|_| all()).count();
            // All threads are released: a broadcast reaches each of them.
            assert_eq!(rayon::broadcast(|context| context.index()).len(), rayon::current_num_threads());
            awake
        };
        let of_three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        // On a busy system some waits may time out.
        assert!(wake_often() > 0 && of_three.install(wake_often) > 0);
    }
}
