//! Jobs of libraries that bring threads of their own, of which a job may use fewer; knows no library and no op.

use std::mem::MaybeUninit;

use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

/// The threads of a library that work on one job.
pub(crate) trait Crew {
    /// The numbers of threads to choose from; one where fewer than all win nothing.
    fn choices(&self) -> Vec<usize>;

    /// Works with so many threads from now on.
    fn choose(&mut self, threads: usize);

    fn rouse(&mut self) -> Result<(), CellError>;
}

/// The work of one job, done by a crew.
pub(crate) trait Work {
    type Crew: Crew;

    /// Whether an execution destroys operands, which [`Work::restore`] brings back.
    const DESTROYS: bool = false;

    /// Brings back operands, outside the clock.
    fn restore(&mut self) {}

    /// Shows the memory that an execution reads and writes.
    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>]));

    /// Shows the operands and the answer, as [`Job::contents`].
    fn contents(&mut self) -> Contents<'_>;

    fn execute(&mut self, crew: &Self::Crew) -> Result<(), CellError>;

    /// The answer of the last execution.
    fn answer(&mut self) -> Result<Vec<Operand>, CellError>;
}

/// A job of some work and the crew that does it.
pub(crate) struct Crewed<W: Work> {
    pub(crate) work: W,
    pub(crate) crew: W::Crew,
}

impl<W: Work + 'static> Crewed<W> {
    /// The job of `work` that `crew` does.
    pub(crate) fn prepared(work: W, crew: W::Crew) -> Box<Prepared> {
        let (resets, thread_choices) = (W::DESTROYS, crew.choices());
        Prepared::with(JobTraits { resets, thread_choices, ..JobTraits::default() }, Crewed { work, crew })
    }
}

impl<W: Work> Job for Crewed<W> {
    fn reset(&mut self) -> Result<(), CellError> {
        self.work.restore();
        Ok(())
    }

    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.work.show(show);
    }

    fn use_threads(&mut self, threads: usize) {
        self.crew.choose(threads);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        self.crew.rouse()
    }

    fn contents(&mut self) -> Contents<'_> {
        self.work.contents()
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.work.execute(&self.crew)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        self.work.answer()
    }
}
