//! faer's threads, which are rayon's.

use faer::Par;
use faer::dyn_stack::{MemBuffer, StackReq};
use gpubench_model::error::CellError;

use super::crew::Crew;
use super::{rouse, thread_choices};
use crate::context::Cpu;

pub(crate) struct Faer {
    pub(crate) par: Par,
    choices: Vec<usize>,
}

impl Faer {
    /// All threads of `cpu`, for matrices of `side`; with fewer to choose from up to a side of `most`, beyond which
    /// nothing is won.
    pub(crate) fn new(cpu: &Cpu, side: usize, most: usize) -> Self {
        let choices = if side <= most { thread_choices::up_to(cpu.threads) } else { vec![cpu.threads] };
        Faer { par: thread_choices::faer(cpu.threads), choices }
    }

    /// Memory for what `scratch` asks for, whichever number of threads is chosen.
    pub(crate) fn workspace(&self, scratch: impl Fn(Par) -> StackReq) -> MemBuffer {
        let of_choices = self.choices.iter().map(|&threads| scratch(thread_choices::faer(threads)));
        MemBuffer::new(of_choices.fold(scratch(self.par), StackReq::or))
    }
}

impl Crew for Faer {
    fn choices(&self) -> Vec<usize> {
        self.choices.clone()
    }

    fn choose(&mut self, threads: usize) {
        self.par = thread_choices::faer(threads);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        rouse::faer(self.par);
        Ok(())
    }
}
