//! faer's threads, which are rayon's.

use faer::Par;
use faer::dyn_stack::{MemBuffer, StackReq};
use gpubench_model::error::CellError;

use super::Crew;
use crate::{Cpu, rouse, thread_choices};

/// How faer is to run.
pub(in super::super) struct Faer {
    /// What its routines take.
    pub(in super::super) par: Par,
    choices: Vec<usize>,
}

impl Faer {
    /// All threads of `cpu`, for matrices of `side`; with fewer to choose from up to a side of `most`, beyond which
    /// nothing is won.
    pub(in super::super) fn new(cpu: &Cpu, side: usize, most: usize) -> Self {
        let choices = if side <= most { thread_choices::up_to(cpu.threads) } else { vec![cpu.threads] };
        Faer { par: cpu.faer(), choices }
    }

    /// Memory for what `scratch` asks for, whichever number of threads is chosen.
    pub(in super::super) fn workspace(&self, scratch: impl Fn(Par) -> StackReq) -> MemBuffer {
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
