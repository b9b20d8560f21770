//! Loops on the threads of Intel's OpenMP, on which MKL's routines run: code around such a call would otherwise wait for
//! CPUs on which these threads spin.
//!
//! `GOMP_parallel` is the entry point that compilers generate calls of for `#pragma omp parallel`; Intel's and LLVM's
//! runtime has it under that name too: <https://openmp.llvm.org/design/Runtimes.html>, "GNU Compatibility".

use std::ffi::{c_int, c_uint, c_void};
use std::path::Path;

use crate::{CellError, CellResult};
use gpubench_backend::host::shared_library::SharedLibrary;

type Region = unsafe extern "C" fn(*mut c_void);

pub(crate) struct OpenMp {
    parallel: unsafe extern "C" fn(Region, *mut c_void, c_uint, c_uint),
    thread: unsafe extern "C" fn() -> c_int,
    threads: unsafe extern "C" fn() -> c_int,
}

struct Loop<'a> {
    runtime: &'a OpenMp,
    tasks: usize,
    task: &'a (dyn Fn(usize) + Sync),
}

impl OpenMp {
    /// Finds the routines of Intel's OpenMP, which is already loaded.
    pub(crate) fn of_intel() -> CellResult<OpenMp> {
        let found = || -> Result<OpenMp, String> {
            // SAFETY: the library is loaded, so that nothing is initialised; the types are those of its headers.
            unsafe {
                let library = SharedLibrary::open(Path::new("libiomp5.so"))?;
                let runtime = OpenMp {
                    parallel: library.symbol("GOMP_parallel")?,
                    thread: library.symbol("omp_get_thread_num")?,
                    threads: library.symbol("omp_get_num_threads")?,
                };
                library.keep();
                Ok(runtime)
            }
        };
        found().map_err(|problem| CellError::call("Intel's OpenMP", problem))
    }

    /// Runs `task` for 0 to `tasks - 1` on at most `threads` threads. A panic of a task ends the process.
    pub(crate) fn each(&self, threads: usize, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let all = Loop { runtime: self, tasks, task };
        let threads = c_uint::try_from(threads.min(tasks).max(1)).unwrap_or(1);
        // SAFETY: the region gets the loop, which outlives the call: it returns when all threads have left the region.
        unsafe { (self.parallel)(region, (&raw const all).cast_mut().cast(), threads, 0) };
    }
}

/// Runs the tasks of one thread: with T threads, every T-th task, beginning with the thread's own number.
unsafe extern "C" fn region(all: *mut c_void) {
    // SAFETY: `OpenMp::each` passes a loop, which lives until all threads have left; the routines take nothing.
    let (all, thread, threads) = unsafe {
        let all = &*all.cast::<Loop<'_>>();
        (all, (all.runtime.thread)(), (all.runtime.threads)())
    };
    let (first, step) = (usize::try_from(thread).unwrap_or(0), usize::try_from(threads).unwrap_or(1));
    (first..all.tasks).step_by(step.max(1)).for_each(all.task);
}
