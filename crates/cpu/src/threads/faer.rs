//! The threads of faer, which are those of rayon.

use faer::Par;
use faer::dyn_stack::{MemBuffer, StackReq};
use gpubench_host::memory;
use gpubench_model::error::CellError;

use super::pooled_job::ThreadPool;
use super::{thread_choices, wake};
use crate::context::Cpu;

pub(crate) struct Faer {
    pub(crate) par: Par,
    choices: Vec<usize>,
}

impl Faer {
    /// Uses all threads of `cpu` for matrices of `side`. Up to a side of `most`, beyond which fewer threads are never
    /// faster, the job can choose fewer.
    ///
    /// # Errors
    /// A limit of the process leaves too little address space.
    pub(crate) fn new(cpu: &Cpu, side: usize, most: usize) -> Result<Self, CellError> {
        memory::check_packing_space()?;
        let choices = if side <= most { thread_choices::up_to(cpu.threads) } else { vec![cpu.threads] };
        Ok(Faer { par: thread_choices::faer(cpu.threads), choices })
    }

    /// Allocates workspace for `scratch`, enough for any number of threads.
    pub(crate) fn workspace(&self, scratch: impl Fn(Par) -> StackReq) -> MemBuffer {
        let of_choices = self.choices.iter().map(|&threads| scratch(thread_choices::faer(threads)));
        MemBuffer::new(of_choices.fold(scratch(self.par), StackReq::or))
    }
}

impl ThreadPool for Faer {
    fn choices(&self) -> Vec<usize> {
        self.choices.clone()
    }

    fn choose(&mut self, threads: usize) {
        self.par = thread_choices::faer(threads);
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        wake::faer(self.par);
        Ok(())
    }
}
