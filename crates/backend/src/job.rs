//! What a job does, and what it is.

use std::mem::MaybeUninit;

use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::contents::Contents;

/// One variant ready for one case: operands resident, plans made, workspaces and outputs allocated.
pub trait Job {
    /// Restores inputs that [`Job::execute`] destroys. Called before each execution, outside the clock. A job that does
    /// anything here says so in its [`traits`](JobTraits::resets).
    fn reset(&mut self) -> Result<(), CellError> {
        Ok(())
    }

    /// Executes on so many threads, one of its [`thread_choices`](JobTraits::thread_choices), from now on. Called
    /// outside the clock, before the first execution of each batch.
    fn use_threads(&mut self, threads: usize) {
        let _ = threads;
    }

    /// Shows the memory on the host that [`Job::execute`] reads and writes, operands, workspaces and answer, for
    /// caches to be emptied of it. A job that shows nothing has all data in the caches displaced by other data.
    fn buffers(&self, _show: &mut dyn FnMut(&[MaybeUninit<u8>])) {}

    /// Shows the operands and the answer, so that timed executions can be checked: after the last sample of a round
    /// both must still be what they were when the answer was judged. A job that shows no answer has it judged again.
    fn contents(&mut self) -> Contents<'_> {
        Contents::default()
    }

    /// Wakes the threads that [`Job::execute`] will use, without touching its buffers. Called outside the clock,
    /// immediately before executions with cold caches: others find the threads awake.
    fn rouse(&mut self) -> Result<(), CellError> {
        Ok(())
    }

    /// Does the op once; on a device it may only enqueue it. The same work at every call.
    fn execute(&mut self) -> Result<(), CellError>;

    /// Returns the answer of the last execution, copied to the host.
    fn answer(&mut self) -> Result<Vec<Operand>, CellError>;
}

/// What a job is, as far as whoever times it must know. The default is a job that only enqueues work, leaves its
/// operands as they are and has no choice of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobTraits {
    /// True if [`Job::reset`] does anything, so that executions cannot follow each other back to back.
    pub resets: bool,
    /// True if [`Job::execute`] waits for the device somewhere inside, so that the device cannot be held back
    /// until all of its work is queued.
    pub synchronises: bool,
    /// True if [`Job::execute`] is the host's work, such as compiling or the launching itself, which the host's clock
    /// alone is to tell: events on the device would stand around nothing, or around what is not asked about.
    pub is_host_work: bool,
    /// Numbers of threads that are worth trying, ascending, all that it may use last; none where there is no choice.
    ///
    /// A library keeps one number for the whole process: a job that must have all of them while another has fewer
    /// names that number alone, and is told it before each batch.
    pub thread_choices: Vec<usize>,
    /// The variant that does the work, where the one that was asked for picks among others.
    pub picked: Option<&'static str>,
}
