//! A provider as one job uses it: on so many threads, which can be chosen and woken. Knows no op.

use gpubench_model::error::{CellError, Unavailable};

use super::rouse::Rouser;
use super::{Library, Provider, stack};
use crate::context::Cpu;
use crate::threads::crew::Crew;
use crate::threads::thread_choices;

/// The threads of a provider that work on one job.
pub(crate) struct ProviderCrew {
    provider: &'static Provider,
    side: usize,
    threads: usize,
    choices: Vec<usize>,
    rouser: Rouser,
}

impl ProviderCrew {
    /// All threads of `cpu`, for matrices of `side`; with fewer to choose from up to a side of `most`, beyond which
    /// nothing is won.
    pub(crate) fn new(cpu: &Cpu, library: &Library, side: usize, most: usize) -> Result<Self, Unavailable> {
        stack::require()?;
        let (provider, threads) = (library.provider()?, cpu.threads);
        provider.set_threads(threads);
        let choices = if side <= most { thread_choices::up_to(threads) } else { vec![threads] };
        let rouser = Rouser::new(provider, provider.threads(), side);
        Ok(ProviderCrew { provider, side, threads, choices, rouser })
    }

    /// The provider, set to this crew's threads.
    pub(crate) fn provider(&self) -> &'static Provider {
        self.provider.set_threads(self.threads);
        self.provider
    }
}

impl Crew for ProviderCrew {
    fn choices(&self) -> Vec<usize> {
        self.choices.clone()
    }

    fn choose(&mut self, threads: usize) {
        self.threads = threads;
        self.rouser = Rouser::new(self.provider(), threads, self.side);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        self.provider.set_threads(self.threads);
        self.rouser.rouse()
    }
}
