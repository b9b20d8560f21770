//! The thread pool of a BLAS library, as one job uses it.

use gpubench_model::error::{CellError, Unavailable};

use super::wake::ThreadWaker;
use super::{Library, Provider, stack};
use crate::context::Cpu;
use crate::threads::pooled_job::ThreadPool;
use crate::threads::thread_choices;

/// The threads of a provider that work on one job.
pub(crate) struct BlasThreads {
    provider: &'static Provider,
    side: usize,
    threads: usize,
    choices: Vec<usize>,
    waker: ThreadWaker,
}

impl BlasThreads {
    /// Uses all threads of `cpu` for matrices of `side`. Up to a side of `most`, beyond which fewer threads are never
    /// faster, the job can choose fewer.
    pub(crate) fn new(cpu: &Cpu, library: &Library, side: usize, most: usize) -> Result<Self, Unavailable> {
        stack::require()?;
        let provider = library.provider()?;
        let threads = provider.set_threads_up_to(cpu.threads);
        let choices = if side <= most { thread_choices::up_to(threads) } else { vec![threads] };
        let waker = ThreadWaker::new(provider, threads, side);
        Ok(BlasThreads { provider, side, threads, choices, waker })
    }

    /// Returns the provider, with its number of threads set for this job.
    pub(crate) fn provider(&self) -> &'static Provider {
        self.provider.set_threads(self.threads);
        self.provider
    }
}

impl ThreadPool for BlasThreads {
    fn choices(&self) -> Vec<usize> {
        self.choices.clone()
    }

    fn choose(&mut self, threads: usize) {
        self.threads = threads;
        self.waker = ThreadWaker::new(self.provider(), threads, self.side);
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        self.provider.set_threads(self.threads);
        self.waker.wake()
    }
}
