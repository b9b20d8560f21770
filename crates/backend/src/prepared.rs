//! Defines a prepared job, with its traits and the history of its timing.

use std::ops::{Deref, DerefMut};

use super::{Job, JobTraits};

/// How samples of a job are taken on a device that can be held back until all work is queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Course {
    /// Never executed: its first execution may load code, which behind a hold would wait for the hold.
    #[default]
    New,
    /// The number of executions so far, all of which were long.
    Slow(u32),
    /// One execution serves both clocks: it is long, or a hold around it gave up.
    Together,
    /// Each clock has an execution of its own, the device's held back.
    Held,
}

/// A timer's knowledge about a job, kept with the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// How its samples are taken.
    pub course: Course,
    /// Executions of a hot batch, once they are settled.
    pub repeats: Option<u32>,
}

/// A job as [`Backend::prepare`](super::Backend::prepare) returns it. It dereferences to the job.
#[derive(Debug)]
pub struct Prepared<J: ?Sized = dyn Job> {
    /// Traits of the job, which do not change.
    pub traits: JobTraits,
    /// History of its timing, kept by the backend.
    pub history: History,
    /// The job.
    pub job: J,
}

impl<J: Job> Prepared<J> {
    /// Creates a job with the default traits.
    pub fn new(job: J) -> Box<Self> {
        Prepared::with(JobTraits::default(), job)
    }

    /// Creates a job with those traits.
    pub fn with(traits: JobTraits, job: J) -> Box<Self> {
        Box::new(Prepared { traits, history: History::default(), job })
    }
}

impl<J: ?Sized> Deref for Prepared<J> {
    type Target = J;

    fn deref(&self) -> &J {
        &self.job
    }
}

impl<J: ?Sized> DerefMut for Prepared<J> {
    fn deref_mut(&mut self) -> &mut J {
        &mut self.job
    }
}
