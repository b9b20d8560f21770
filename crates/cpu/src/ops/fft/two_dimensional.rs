//! The two-dimensional real transform of a library, as its users call it.
//!
//! A library writes the leading half of the columns of the spectrum; the other half is its mirror image: element (i, j) is the
//! conjugate of element (n - i, n - j), indices modulo n. A loop on the threads of the transform writes it.

use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, JobTraits, Lent, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;
use rayon::prelude::*;
use rustfft::FftNum;
use rustfft::num_complex::Complex;

use super::spectrum::{SERIAL, lend, spectrum, zero};
use crate::context::Cpu;
use crate::libs::blas::{BlasThreads, Library};
use crate::libs::dfti::MklMatrix;
use crate::libs::fftw::FftwMatrix;
use crate::libs::openmp::OpenMp;
use crate::memory::memory;
use crate::ops::taken::{Taken, operands};
use crate::threads::pooled_job::ThreadPool;
use crate::threads::{thread_choices, wake};

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

/// The transform of one matrix to the leading half of the columns of its spectrum, and the threads that it runs on.
trait Transform<T> {
    fn threads(&self) -> usize;

    /// Plans again for another number of threads.
    fn use_threads(
        &mut self,
        threads: usize,
        input: &[T],
        output: &mut [Complex<T>],
    ) -> Result<(), CellError>;

    fn wake_threads(&mut self) -> Result<(), CellError>;

    /// Writes columns 0 to `n / 2` of every row of the output.
    fn transform(&mut self, input: &[T], output: &mut [Complex<T>]) -> Result<(), CellError>;

    /// Runs `task` for 0 to `tasks - 1` on its threads.
    fn each(&self, tasks: usize, task: &(dyn Fn(usize) + Sync));
}

struct Mkl<T> {
    pool: BlasThreads,
    library: &'static Path,
    side: usize,
    plan: MklMatrix<T>,
    openmp: OpenMp,
}

impl<T: Real> Transform<T> for Mkl<T> {
    fn threads(&self) -> usize {
        self.pool.provider().threads()
    }

    fn use_threads(&mut self, threads: usize, _: &[T], _: &mut [Complex<T>]) -> Result<(), CellError> {
        self.pool.choose(threads);
        self.plan = MklMatrix::new(self.library, self.side)?;
        Ok(())
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        self.pool.wake_threads()
    }

    fn transform(&mut self, input: &[T], output: &mut [Complex<T>]) -> Result<(), CellError> {
        self.pool.provider();
        self.plan.transform(input, output)
    }

    fn each(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        self.openmp.each(tasks, tasks, task);
    }
}

struct Fftw<T: Real + FftNum> {
    side: usize,
    threads: usize,
    plan: FftwMatrix<T>,
}

impl<T: Real + FftNum> Transform<T> for Fftw<T> {
    fn threads(&self) -> usize {
        self.threads
    }

    fn use_threads(
        &mut self,
        threads: usize,
        input: &[T],
        output: &mut [Complex<T>],
    ) -> Result<(), CellError> {
        self.plan = FftwMatrix::new(self.side, threads, input, output)?;
        self.threads = threads;
        Ok(())
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        if self.threads > 1 {
            wake::pool();
        }
        Ok(())
    }

    fn transform(&mut self, input: &[T], output: &mut [Complex<T>]) -> Result<(), CellError> {
        self.plan.transform(input, output);
        Ok(())
    }

    fn each(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..tasks).into_par_iter().with_max_len(1).for_each(task);
    }
}

struct Fft<T, X> {
    side: usize,
    input: Taken<T>,
    output: Vec<Complex<T>>,
    transform: X,
    /// Why no plan was made for the number of threads last asked for.
    problem: Option<CellError>,
}

/// Prepares the transform of MKL's DFTI.
pub(super) fn mkl<T: Real + FftNum>(
    cpu: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
    library: &Library,
) -> Result<Box<Prepared>, CellError> {
    let side = case.side();
    let pool = BlasThreads::new(cpu, library, side, MAX_CHOICE_SIDE)?;
    let (library, choices) = (pool.provider().path(), pool.choices());
    let (plan, openmp) = (MklMatrix::<T>::new(library, side)?, OpenMp::of_intel()?);
    let [input] = operands::<T, 1>(case, inputs)?;
    let output = vec![zero(); side * side];
    let transform = Mkl { pool, library, side, plan, openmp };
    Ok(Fft { side, input, output, transform, problem: None }.prepared(choices))
}

/// Prepares the transform of FFTW.
pub(super) fn fftw<T: Real + FftNum>(
    cpu: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    let (side, threads) = (case.side(), cpu.threads);
    let [input] = operands::<T, 1>(case, inputs)?;
    let mut output = vec![zero(); side * side];
    let plan = FftwMatrix::new(side, threads, &input, &mut output)?;
    let choices = if side <= MAX_CHOICE_SIDE { thread_choices::up_to(threads) } else { vec![threads] };
    let transform = Fftw { side, threads, plan };
    Ok(Fft { side, input, output, transform, problem: None }.prepared(choices))
}

impl<T: Real + FftNum, X: Transform<T> + 'static> Fft<T, X> {
    fn prepared(self, thread_choices: Vec<usize>) -> Box<Prepared> {
        Prepared::with(JobTraits { thread_choices, ..JobTraits::default() }, self)
    }
}

impl<T: Real + FftNum, X: Transform<T>> Job for Fft<T, X> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.input));
        show(memory(&self.output));
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(&mut self.input)], [host(&mut self.output)])
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        self.transform.wake_threads()
    }

    fn use_threads(&mut self, threads: usize) {
        if threads == self.transform.threads() && self.problem.is_none() {
            return;
        }
        self.problem = self.transform.use_threads(threads, &self.input, &mut self.output).err();
    }

    fn execute(&mut self) -> Result<(), CellError> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        self.transform.transform(&self.input, &mut self.output)?;
        let tasks = if self.output.len() <= SERIAL { 1 } else { self.transform.threads() };
        mirror(self.side, &mut self.output, tasks, |task| self.transform.each(tasks, task));
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![spectrum(self.side, self.output.clone())])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        lend(&mut self.input, (self.side, &mut self.output), to)
    }
}

/// Writes columns `n / 2 + 1` to `n - 1` of a spectrum from the other columns, in `tasks` tasks which `each` runs.
fn mirror<T: Real + FftNum>(
    n: usize,
    output: &mut [Complex<T>],
    tasks: usize,
    each: impl FnOnce(&(dyn Fn(usize) + Sync)),
) {
    let (first, others) = output.split_at_mut(n);
    let (upper, lower) = others.split_at_mut(n / 2 * n);
    // Row 0 is its own mirror image, and so is row n / 2 of an even side.
    let (paired, middle) = upper.split_at_mut(lower.len());
    for row in [first, middle] {
        for j in n / 2 + 1..row.len() {
            row[j] = row[n - j].conj();
        }
    }
    let size = (paired.len() / n).div_ceil(tasks).max(1) * n;
    let shares = paired.chunks_mut(size).zip(lower.rchunks_mut(size)).map(Mutex::new);
    let shares: Vec<_> = shares.collect();
    let fill = |task: usize| {
        let Some(share) = shares.get(task) else { return };
        let (rows, images) = &mut *share.lock().unwrap_or_else(PoisonError::into_inner);
        for (row, image) in rows.chunks_exact_mut(n).zip(images.chunks_exact_mut(n).rev()) {
            conjugate_backwards(&image[1..], &mut row[n / 2 + 1..]);
            conjugate_backwards(&row[1..], &mut image[n / 2 + 1..]);
        }
    };
    if tasks == 1 { fill(0) } else { each(&fill) }
}

/// Writes as many conjugates as `to` has elements, the first of `from` last.
fn conjugate_backwards<T: Real + FftNum>(from: &[Complex<T>], to: &mut [Complex<T>]) {
    for (to, from) in to.iter_mut().rev().zip(from) {
        *to = from.conj();
    }
}
