//! Scratch memory of the pool's threads, kept between executions; knows nothing of what it is for.

use std::sync::{Mutex, PoisonError};

/// One `S` for each thread of rayon's pool, and one for a caller outside the pool.
pub(crate) struct PerThread<S>(Vec<Mutex<S>>);

impl<S> PerThread<S> {
    /// As many values as threads can ask for at once.
    pub(crate) fn new(make: impl Fn() -> S) -> Self {
        PerThread((0..=rayon::current_num_threads()).map(|_| Mutex::new(make())).collect())
    }

    /// Lends every value, one after the other.
    pub(crate) fn each(&self, mut look: impl FnMut(&S)) {
        self.0.iter().for_each(|slot| look(&slot.lock().unwrap_or_else(PoisonError::into_inner)));
    }

    /// Lends the present thread's value. `work` must not enter rayon, lest a stolen task ask for it too.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut S) -> R) -> R {
        let outside = self.0.len() - 1;
        let slot = rayon::current_thread_index().map_or(outside, |index| index.min(outside));
        work(&mut self.0[slot].lock().unwrap_or_else(PoisonError::into_inner))
    }
}
