//! Scratch memory per thread of the pool, kept between executions.

use std::sync::{Mutex, PoisonError};

/// One `S` for each thread of rayon's pool, and one for a caller outside the pool.
pub(crate) struct PerThread<S>(Vec<Mutex<S>>);

impl<S> PerThread<S> {
    /// Makes one value for each thread that may ask at the same time.
    pub(crate) fn new(make: impl Fn() -> S) -> Self {
        PerThread((0..=rayon::current_num_threads()).map(|_| Mutex::new(make())).collect())
    }

    /// Passes every value to `look`, one after another.
    pub(crate) fn each(&self, mut look: impl FnMut(&S)) {
        self.0.iter().for_each(|slot| look(&slot.lock().unwrap_or_else(PoisonError::into_inner)));
    }

    /// Passes the value of the current thread to `work`, which must not enter rayon: a stolen task could ask for the
    /// same value.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut S) -> R) -> R {
        let outside = self.0.len() - 1;
        let slot = rayon::current_thread_index().map_or(outside, |index| index.min(outside));
        work(&mut self.0[slot].lock().unwrap_or_else(PoisonError::into_inner))
    }
}
