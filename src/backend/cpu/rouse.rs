//! Wakes rayon's threads, so that a timed execution finds them looking for work, as a program at work would;
//! knows no job.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// Longest wait for threads that the system does not let run.
const PATIENCE: Duration = Duration::from_millis(2);

/// Threads that have come, and whether they may go.
#[derive(Default)]
struct Muster {
    present: AtomicUsize,
    dismissed: AtomicBool,
}

impl Muster {
    /// Comes, and stays awake until dismissed.
    fn attend(&self) {
        self.present.fetch_add(1, Ordering::AcqRel);
        wait_until(|| self.dismissed.load(Ordering::Acquire));
    }
}

/// Wakes every thread of the pool and returns as soon as all are awake.
///
/// `rayon::broadcast` would put the calling thread to sleep, and while it wakes the pool's would fall asleep again:
/// they look for work some thirty times, yielding in between. Here all wait for each other, yielding too, as there
/// is one thread more than processors.
pub(super) fn pool() {
    let (threads, muster) = (rayon::current_num_threads(), Arc::new(Muster::default()));
    let theirs = Arc::clone(&muster);
    rayon::spawn_broadcast(move |_| theirs.attend());
    wait_until(|| muster.present.load(Ordering::Acquire) == threads);
    muster.dismissed.store(true, Ordering::Release);
}

fn wait_until(reached: impl Fn() -> bool) {
    let start = Instant::now();
    while !reached() && start.elapsed() < PATIENCE {
        yield_now();
    }
}

/// Wakes the threads that faer runs on, if there are several.
pub(super) fn faer(par: faer::Par) {
    if par != faer::Par::Seq {
        pool();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_of_the_pool_comes_and_goes() {
        for _ in 0..50 {
            pool();
        }
        // All are free again: a broadcast reaches each of them.
        assert_eq!(rayon::broadcast(|context| context.index()).len(), rayon::current_num_threads());
    }

    #[test]
    fn a_wait_in_vain_ends() {
        let start = Instant::now();
        wait_until(|| false);
        assert!(start.elapsed() >= PATIENCE && start.elapsed() < 500 * PATIENCE);
    }
}
