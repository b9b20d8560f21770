//! Defines the interface of a job and its traits.

use std::mem::MaybeUninit;

use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::contents::Contents;

/// One variant ready for one case: operands resident, plans made, workspaces and outputs allocated.
pub trait Job {
    /// Restores inputs that [`Job::execute`] destroys. Called before each execution, outside the timed region. A job that
    /// implements this sets [`resets`](JobTraits::resets).
    fn reset(&mut self) -> Result<(), CellError> {
        Ok(())
    }

    /// Sets the number of threads of later executions to one of [`thread_choices`](JobTraits::thread_choices). Called
    /// outside the timed region, before the first execution of each batch.
    fn use_threads(&mut self, threads: usize) {
        let _ = threads;
    }

    /// Shows the host memory that [`Job::execute`] reads and writes (operands, workspaces, answer), so that it can be
    /// flushed from the caches. For a job that shows nothing, the caches are flushed completely.
    fn buffers(&self, _show: &mut dyn FnMut(&[MaybeUninit<u8>])) {}

    /// Shows the operands and the answer, so that timed executions can be checked: after the last sample of a round
    /// both must still be what they were when the answer was judged. A job that shows no answer has it judged again.
    fn contents(&mut self) -> Contents<'_> {
        Contents::default()
    }

    /// Wakes the threads that [`Job::execute`] will use, without touching its buffers. Called outside the clock,
    /// immediately before executions with cold caches: others find the threads awake.
    fn wake_threads(&mut self) -> Result<(), CellError> {
        Ok(())
    }

    /// Executes the op once; on a device it may only enqueue it. Every call does the same work.
    fn execute(&mut self) -> Result<(), CellError>;

    /// Returns the answer of the last execution, copied to the host.
    fn answer(&mut self) -> Result<Vec<Operand>, CellError>;

    /// Shows the answer of the last execution to `judge`. A job that has taken its operands
    /// ([`Backend::prepare`](super::Backend::prepare)) shows them too, and moves both there and back, so that a judge
    /// needs no copy of them.
    ///
    /// # Errors
    /// The answer cannot be read; `judge` has not been called then.
    fn lend(&mut self, judge: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let answer = self.answer()?;
        judge(Lent { operands: None, answer: &answer });
        Ok(())
    }
}

/// What a job shows to a judge.
#[derive(Clone, Copy, Debug)]
pub struct Lent<'a> {
    /// The operands, in the op's order; `None` if the job has not taken them.
    pub operands: Option<&'a [Operand]>,
    /// The answer of the last execution.
    pub answer: &'a [Operand],
}

/// Properties of a job that matter to its timing. The default is a job that only enqueues work, does not change its
/// operands and has no choice of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobTraits {
    /// True if [`Job::reset`] does anything, so that executions cannot follow each other back to back.
    pub resets: bool,
    /// True if [`Job::execute`] waits for the device, so that a blocking kernel cannot delay the device until all of its
    /// work is queued.
    pub synchronises: bool,
    /// True if [`Job::execute`] is work of the host, such as compiling or launching, which only the host's clock can time.
    /// Events on the device would enclose no work, or the wrong work.
    pub is_host_work: bool,
    /// Numbers of threads worth trying, ascending, with the maximum last; empty if there is no choice.
    ///
    /// A library has one number of threads for the whole process. A job that needs all of them, next to jobs with fewer,
    /// lists only the maximum, which is set before each of its batches.
    pub thread_choices: Vec<usize>,
    /// The variant that does the work, if the requested one picks among others.
    pub picked: Option<&'static str>,
}
