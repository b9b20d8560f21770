//! The two-dimensional real transform of a library, as its users call it.
//!
//! A library writes the leading half of the columns of the spectrum; the other half is its mirror image: element (i, j) is the
//! conjugate of element (n - i, n - j), indices modulo n. A loop on the threads of the transform writes it.

use std::sync::{Mutex, PoisonError};

use gpubench_report::data::Real;
use rayon::prelude::*;
use rustfft::FftNum;
use rustfft::num_complex::Complex;

use super::{SERIAL, Spectrum, spectrum};
use crate::CellResult;
use crate::libs::blas::BlasThreads;
use crate::libs::dfti::MklMatrix;
use crate::libs::fftw::FftwMatrix;
use crate::libs::openmp::OpenMp;
use crate::ops::dense::{Matrices, MatrixKernel, prepared};
use crate::ops::variants::{JobRequest, PreparedJob};
use crate::threads::{ThreadPool, choices_for, wake};

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

struct MklFft<T> {
    pool: BlasThreads,
    side: usize,
    threads: usize,
    plan: MklMatrix<T>,
    openmp: OpenMp,
}

pub(super) fn mkl<T: Real + FftNum>(mut request: JobRequest<'_>) -> PreparedJob {
    let side = request.side();
    let pool = BlasThreads::new(request.threads, request.blas()?, side, MAX_CHOICE_SIDE)?;
    let (threads, choices) = (pool.provider().threads(), pool.choices());
    let (plan, openmp) = (MklMatrix::<T>::new(pool.provider(), side)?, OpenMp::of_intel()?);
    prepared(spectrum(&mut request)?, MklFft { pool, side, threads, plan, openmp }, choices, None)
}

impl<T: Real + FftNum> MatrixKernel<T, Complex<T>, 1> for MklFft<T> {
    fn use_threads(&mut self, threads: usize, _: &mut Spectrum<T>) -> CellResult<()> {
        if threads != self.threads {
            // The old plan is for the old number, to which the pool may be set again if there is no new one.
            self.threads = 0;
            self.pool.choose(threads);
            self.plan = MklMatrix::new(self.pool.provider(), self.side)?;
            self.threads = threads;
        }
        Ok(())
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        self.pool.wake_threads()
    }

    fn compute(&mut self, Matrices { inputs: [input], results, .. }: &mut Spectrum<T>) -> CellResult<()> {
        self.pool.provider();
        self.plan.transform(input, &mut results[0])?;
        mirror(self.side, &mut results[0], self.threads, |tasks, task| self.openmp.each(tasks, tasks, task));
        Ok(())
    }
}

struct FftwFft<T: Real + FftNum> {
    side: usize,
    threads: usize,
    plan: FftwMatrix<T>,
}

pub(super) fn fftw<T: Real + FftNum>(mut request: JobRequest<'_>) -> PreparedJob {
    let (side, threads) = (request.side(), request.threads);
    let choices = choices_for(side, MAX_CHOICE_SIDE, threads);
    let mut matrices = spectrum::<T>(&mut request)?;
    let plan = FftwMatrix::new(side, threads, &matrices.inputs[0], &mut matrices.results[0])?;
    prepared(matrices, FftwFft { side, threads, plan }, choices, None)
}

impl<T: Real + FftNum> MatrixKernel<T, Complex<T>, 1> for FftwFft<T> {
    fn use_threads(&mut self, threads: usize, matrices: &mut Spectrum<T>) -> CellResult<()> {
        if threads != self.threads {
            self.plan = FftwMatrix::new(self.side, threads, &matrices.inputs[0], &mut matrices.results[0])?;
            self.threads = threads;
        }
        Ok(())
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        wake::pool(self.threads);
        Ok(())
    }

    fn compute(&mut self, Matrices { inputs: [input], results, .. }: &mut Spectrum<T>) -> CellResult<()> {
        if !self.plan.is_for(input, &results[0]) {
            // The arrays were moved to addresses of another alignment.
            self.plan = FftwMatrix::new(self.side, self.threads, input, &mut results[0])?;
        }
        self.plan.transform(input, &mut results[0]);
        mirror(self.side, &mut results[0], self.threads, |tasks, task| {
            (0..tasks).into_par_iter().with_max_len(1).for_each(task);
        });
        Ok(())
    }
}

/// Writes columns `n / 2 + 1` to `n - 1` of a spectrum from the other columns, as tasks for at most `threads` threads:
/// `each` runs the task for every number below the number of tasks.
fn mirror<T: Real + FftNum>(
    n: usize,
    output: &mut [Complex<T>],
    threads: usize,
    each: impl FnOnce(usize, &(dyn Fn(usize) + Sync)),
) {
    let tasks = if output.len() <= SERIAL { 1 } else { threads };
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
    if tasks == 1 { fill(0) } else { each(tasks, &fill) }
}

/// Writes as many conjugates as `to` has elements, the first of `from` last.
fn conjugate_backwards<T: Real + FftNum>(from: &[Complex<T>], to: &mut [Complex<T>]) {
    for (to, from) in to.iter_mut().rev().zip(from) {
        *to = from.conj();
    }
}
