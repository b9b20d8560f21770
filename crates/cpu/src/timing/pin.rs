//! Binds threads to CPUs, one per core, for `--pin`.

use std::io;

use gpubench_backend::host::processors;
use gpubench_backend::host::threads::{bind, tasks, this_thread};
use gpubench_report::error::Unavailable;

/// The CPUs that the threads of the pools are bound to.
///
/// The thread that times and calls the libraries stays free: threads that a library starts inherit its CPUs, and
/// OpenBLAS starts only as many as it may use. All others leave the first core to it.
pub(crate) struct Pins {
    processors: Vec<usize>,
    /// The threads of rayon's pool, the calling thread first.
    pool: Vec<i32>,
}

impl Pins {
    /// Binds the threads of the pool that the calling thread is in. Fails if the system does not list its CPUs, or
    /// refuses to bind.
    pub(crate) fn of_pool() -> Result<Self, Unavailable> {
        let leave_out = |reason| Unavailable::new(reason, "leave out --pin");
        let processors = processors::cores_first();
        if processors.is_empty() {
            return Err(leave_out("the system does not list its CPUs, so --pin cannot bind threads".into()));
        }
        let bound = rayon::broadcast(|context| {
            if context.index() > 0 {
                bind(0, processors[context.index() % processors.len()])?;
            }
            Ok(this_thread())
        });
        let pool = bound.into_iter().collect::<io::Result<Vec<i32>>>();
        let pool =
            pool.map_err(|error| leave_out(format!("the system refuses to bind a thread: {error}")))?;
        Ok(Pins { processors, pool })
    }

    /// The CPUs in use, that of the free thread first.
    pub(crate) fn cpus(&self) -> &[usize] {
        &self.processors[..self.pool.len().min(self.processors.len())]
    }

    /// Binds every thread that libraries have started so far, in the order of their start, because a pool starts its
    /// threads one after another. A thread that has ended needs no CPU.
    pub(crate) fn bind_libraries(&self) {
        let [_, others @ ..] = self.cpus() else { return };
        if others.is_empty() {
            return;
        }
        let threads = tasks().into_iter().filter(|task| !self.pool.contains(task));
        for (thread, processor) in threads.zip(others.iter().cycle()) {
            let _ = bind(thread, *processor);
        }
    }
}
