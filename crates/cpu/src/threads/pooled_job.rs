//! Jobs whose kernel runs on the thread pool of a library, and may use fewer threads than the pool has.

use std::mem::MaybeUninit;

use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Lent, Prepared};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

/// The threads of a library that work on one job.
pub(crate) trait ThreadPool {
    /// The numbers of threads to choose from; only one if fewer threads are never faster.
    fn choices(&self) -> Vec<usize>;

    /// Uses `threads` threads for later executions.
    fn choose(&mut self, threads: usize);

    fn wake_threads(&mut self) -> Result<(), CellError>;
}

/// The computation of one job, which a thread pool runs.
pub(crate) trait Kernel {
    type Pool: ThreadPool;

    /// Whether an execution destroys operands, which [`Kernel::restore`] restores.
    const DESTROYS_INPUTS: bool = false;

    /// Restores operands, outside the timed section.
    fn restore(&mut self) {}

    /// Shows the memory that an execution reads and writes.
    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>]));

    /// Shows the operands and the answer, as [`Job::contents`].
    fn contents(&mut self) -> Contents<'_>;

    fn execute(&mut self, pool: &Self::Pool) -> Result<(), CellError>;

    /// The answer of the last execution.
    fn answer(&mut self) -> Result<Vec<Operand>, CellError>;

    /// Lends the operands and the answer, as [`Job::lend`].
    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError>;
}

/// A kernel and the thread pool that runs it.
pub(crate) struct PooledJob<K: Kernel> {
    pub(crate) kernel: K,
    pub(crate) pool: K::Pool,
}

impl<K: Kernel + 'static> PooledJob<K> {
    pub(crate) fn prepared(kernel: K, pool: K::Pool) -> Box<Prepared> {
        let (resets, thread_choices) = (K::DESTROYS_INPUTS, pool.choices());
        Prepared::with(
            JobTraits { resets, thread_choices, ..JobTraits::default() },
            PooledJob { kernel, pool },
        )
    }
}

impl<K: Kernel> Job for PooledJob<K> {
    fn reset(&mut self) -> Result<(), CellError> {
        self.kernel.restore();
        Ok(())
    }

    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.kernel.show(show);
    }

    fn use_threads(&mut self, threads: usize) {
        self.pool.choose(threads);
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        self.pool.wake_threads()
    }

    fn contents(&mut self) -> Contents<'_> {
        self.kernel.contents()
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.kernel.execute(&self.pool)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        self.kernel.answer()
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        self.kernel.lend(to)
    }
}
