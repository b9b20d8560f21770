//! The threads of a job: how many work, how they are woken, and how they divide the work.

use std::sync::{Mutex, PoisonError};

use crate::CellResult;
use faer::Par;
use faer::dyn_stack::{MemBuffer, StackReq};
pub(crate) mod partition;
pub(crate) mod wake;

/// Returns the numbers of threads that are worth trying where fewer than all may be faster: 1, 2, 4, ..., and `threads`
/// last (at least 1).
pub(crate) fn choices_up_to(threads: usize) -> Vec<usize> {
    let doubling = std::iter::successors(Some(1usize), |count| count.checked_mul(2));
    doubling.take_while(|count| *count < threads).chain([threads.max(1)]).collect()
}

/// Returns the numbers of threads to choose from for matrices of `side`: all threads only beyond `max_side`, where fewer
/// are never faster.
pub(crate) fn choices_for(side: usize, max_side: usize, threads: usize) -> Vec<usize> {
    if side <= max_side { choices_up_to(threads) } else { vec![threads] }
}

pub(crate) trait ThreadPool {
    /// The numbers of threads to choose from: only one if fewer threads are never faster, none if there is no choice.
    fn choices(&self) -> Vec<usize>;

    fn choose(&mut self, threads: usize);

    fn wake_threads(&mut self) -> CellResult<()>;
}

/// The thread that times, which needs no others.
pub(crate) struct CallingThread;

impl ThreadPool for CallingThread {
    fn choices(&self) -> Vec<usize> {
        vec![]
    }

    fn choose(&mut self, _: usize) {}

    fn wake_threads(&mut self) -> CellResult<()> {
        Ok(())
    }
}

/// The threads of faer, which are those of rayon.
pub(crate) struct Faer {
    pub(crate) par: Par,
    choices: Vec<usize>,
}

pub(crate) fn faer_par(threads: usize) -> Par {
    if threads > 1 { Par::rayon(threads) } else { Par::Seq }
}

impl Faer {
    /// Uses all `threads` for matrices of `side`; up to `max_side`, the job can choose fewer.
    pub(crate) fn new(threads: usize, side: usize, max_side: usize) -> Self {
        Faer { par: faer_par(threads), choices: choices_for(side, max_side, threads) }
    }

    /// Allocates workspace for `scratch`, enough for any number of threads.
    pub(crate) fn workspace(&self, scratch: impl Fn(Par) -> StackReq) -> MemBuffer {
        let of_choices = self.choices.iter().map(|&threads| scratch(faer_par(threads)));
        MemBuffer::new(of_choices.fold(scratch(self.par), StackReq::or))
    }
}

impl ThreadPool for Faer {
    fn choices(&self) -> Vec<usize> {
        self.choices.clone()
    }

    fn choose(&mut self, threads: usize) {
        self.par = faer_par(threads);
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        wake::pool(self.par.degree());
        Ok(())
    }
}

/// Scratch memory kept between executions: one `S` for each thread of rayon's pool, and one for a caller outside it.
pub(crate) struct PerThread<S>(Vec<Mutex<S>>);

impl<S> PerThread<S> {
    /// Makes one value for each thread that may ask at the same time.
    pub(crate) fn new(make: impl Fn() -> S) -> Self {
        PerThread((0..=rayon::current_num_threads()).map(|_| Mutex::new(make())).collect())
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_double_and_end_with_all() {
        assert_eq!(choices_up_to(0), [1]);
        assert_eq!(choices_up_to(6), [1, 2, 4, 6]);
        assert_eq!(choices_up_to(16), [1, 2, 4, 8, 16]);
    }
}
