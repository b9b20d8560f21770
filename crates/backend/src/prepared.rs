//! A prepared job, with the traits found when it was prepared and the history of its timing.

use std::ops::{Deref, DerefMut};

use super::{Job, JobTraits};

/// How a device timer takes samples of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplingMode {
    /// Not executed yet. The first execution may load code, which behind a blocking kernel would wait for that kernel.
    #[default]
    New,
    /// The number of executions so far, all of which were long.
    Slow(u32),
    /// One execution serves both clocks: the job is long, or a blocking kernel timed out around it.
    BothClocks,
    /// Each clock gets its own execution; the device's runs behind a blocking kernel.
    Blocked,
}

/// The timing history of a job. It is stored with the job and dropped with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// How the next sample is taken.
    pub mode: SamplingMode,
    /// Number of executions in a hot batch, once it has been chosen.
    pub repeats: Option<u32>,
}

/// A job as returned by [`Backend::prepare`](super::Backend::prepare). It dereferences to the job.
#[derive(Debug)]
pub struct Prepared<J: ?Sized = dyn Job> {
    /// The properties of the job, which do not change.
    pub traits: JobTraits,
    /// The timing history, which the timing backend maintains.
    pub history: History,
    /// The job itself.
    pub job: J,
}

impl<J: Job> Prepared<J> {
    /// Makes a job with the default traits.
    pub fn new(job: J) -> Box<Self> {
        Prepared::with(JobTraits::default(), job)
    }

    /// Makes a job with the given traits.
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
