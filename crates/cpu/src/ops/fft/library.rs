//! The real transform of a library, as its users call it.
//!
//! A library writes the leading half of the columns of the spectrum; the other half is its mirror image: an element is the conjugate of
//! the one whose every index is the negative, modulo its extent. A loop on the threads of the transform writes it.

use std::sync::{Mutex, PoisonError};

use gpubench_ops::fft::Transforms;
use gpubench_report::data::Real;
use rayon::prelude::*;
use rustfft::FftNum;
use rustfft::num_complex::Complex;

use super::{SERIAL, Spectrum, spectrum};
use crate::CellResult;
use crate::libs::blas::BlasThreads;
use crate::libs::dfti::MklTransform;
use crate::libs::fftw::FftwTransform;
use crate::libs::openmp::OpenMp;
use crate::operands::ArrayElement;
use crate::ops::dense::{Matrices, MatrixKernel, prepared};
use crate::ops::variants::{JobRequest, PreparedJob};
use crate::threads::{ThreadPool, choices_for, wake};

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

struct MklFft<T: ArrayElement> {
    pool: BlasThreads,
    transforms: Transforms,
    threads: usize,
    plan: MklTransform<T>,
    openmp: OpenMp,
}

pub(super) fn mkl<T: ArrayElement>(mut request: JobRequest<'_>) -> PreparedJob {
    let transforms = Transforms::of(request.case);
    let pool = BlasThreads::new(request.threads, request.blas()?, transforms.side(), MAX_CHOICE_SIDE)?;
    let (threads, choices) = (pool.provider().threads(), pool.choices());
    let (plan, openmp) = (MklTransform::<T>::new(pool.provider(), &transforms)?, OpenMp::of_intel()?);
    prepared(spectrum(&mut request)?, MklFft { pool, transforms, threads, plan, openmp }, choices, None)
}

impl<T: ArrayElement> MatrixKernel<T, Complex<T::Part>, 1> for MklFft<T> {
    fn use_threads(&mut self, threads: usize, _: &mut Spectrum<T>) -> CellResult<()> {
        if threads != self.threads {
            // The old plan is for the old number, to which the pool may be set again if there is no new one.
            self.threads = 0;
            self.pool.choose(threads);
            self.plan = MklTransform::new(self.pool.provider(), &self.transforms)?;
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
        mirror::<T>(&self.transforms, &mut results[0], self.threads, |tasks, task| {
            self.openmp.each(tasks, tasks, task)
        });
        Ok(())
    }
}

struct FftwFft<T: ArrayElement> {
    transforms: Transforms,
    threads: usize,
    plan: FftwTransform<T>,
}

pub(super) fn fftw<T: ArrayElement>(mut request: JobRequest<'_>) -> PreparedJob {
    let (transforms, threads) = (Transforms::of(request.case), request.threads);
    let choices = choices_for(transforms.side(), MAX_CHOICE_SIDE, threads);
    let mut matrices = spectrum::<T>(&mut request)?;
    let plan = FftwTransform::new(&transforms, threads, &matrices.inputs[0], &mut matrices.results[0])?;
    prepared(matrices, FftwFft { transforms, threads, plan }, choices, None)
}

impl<T: ArrayElement> MatrixKernel<T, Complex<T::Part>, 1> for FftwFft<T> {
    fn use_threads(&mut self, threads: usize, matrices: &mut Spectrum<T>) -> CellResult<()> {
        if threads != self.threads {
            let Matrices { inputs, results, .. } = matrices;
            self.plan = FftwTransform::new(&self.transforms, threads, &inputs[0], &mut results[0])?;
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
            self.plan = FftwTransform::new(&self.transforms, self.threads, input, &mut results[0])?;
        }
        self.plan.transform(input, &mut results[0]);
        mirror::<T>(&self.transforms, &mut results[0], self.threads, |tasks, task| {
            (0..tasks).into_par_iter().with_max_len(1).for_each(task);
        });
        Ok(())
    }
}

/// Writes the right half of the columns of spectra of real arrays from the left half, as tasks for at most `threads` threads: `each` runs the task for
/// every number below the number of tasks.
fn mirror<T: ArrayElement>(
    transforms: &Transforms,
    output: &mut [Complex<T::Part>],
    threads: usize,
    mut each: impl FnMut(usize, &(dyn Fn(usize) + Sync)),
) {
    if T::DTYPE.is_complex() {
        return;
    }
    let (points, sides) = (transforms.points(), &transforms.sides[..]);
    if output.len() <= SERIAL || threads == 1 {
        return output.chunks_exact_mut(points).for_each(|spectrum| mirror_one(sides, spectrum));
    }
    // With a single axis, or enough arrays, each task has arrays of its own.
    if sides.len() == 1 || transforms.batch >= threads {
        let size = transforms.batch.div_ceil(threads) * points;
        let shares: Vec<_> = output.chunks_mut(size).map(Mutex::new).collect();
        return each(threads, &|task| {
            let Some(share) = shares.get(task) else { return };
            let mut share = share.lock().unwrap_or_else(PoisonError::into_inner);
            share.chunks_exact_mut(points).for_each(|spectrum| mirror_one(sides, spectrum));
        });
    }
    for spectrum in output.chunks_exact_mut(points) {
        let (block, below) = (points / sides[0], &sides[1..]);
        let [pairs, images] = mirror_unpaired(sides, spectrum);
        let size = (pairs.len() / block).div_ceil(threads).max(1) * block;
        let shares: Vec<_> = pairs.chunks_mut(size).zip(images.rchunks_mut(size)).map(Mutex::new).collect();
        each(threads, &|task| {
            let Some(share) = shares.get(task) else { return };
            let (blocks, images) = &mut *share.lock().unwrap_or_else(PoisonError::into_inner);
            mirror_blocks(below, block, blocks, images);
        });
    }
}

/// Completes the parts of a spectrum that are their own mirror images, at index 0 of the first axis and in the middle of an even one.
/// Returns the parts between them and the mirror images of those, in the opposite order.
fn mirror_unpaired<'a, T: Real + FftNum>(
    sides: &[usize],
    spectrum: &'a mut [Complex<T>],
) -> [&'a mut [Complex<T>]; 2] {
    let block = spectrum.len() / sides[0];
    let (first, others) = spectrum.split_at_mut(block);
    let (upper, lower) = others.split_at_mut(sides[0] / 2 * block);
    let (pairs, middle) = upper.split_at_mut(lower.len());
    for alone in [first, middle].into_iter().filter(|alone| !alone.is_empty()) {
        mirror_one(&sides[1..], alone);
    }
    [pairs, lower]
}

/// Completes a spectrum with those axes.
fn mirror_one<T: Real + FftNum>(sides: &[usize], spectrum: &mut [Complex<T>]) {
    match sides {
        [] => {}
        [n] => (n / 2 + 1..*n).for_each(|j| spectrum[j] = spectrum[n - j].conj()),
        [first, below @ ..] => {
            let block = spectrum.len() / first;
            let [pairs, images] = mirror_unpaired(sides, spectrum);
            mirror_blocks(below, block, pairs, images);
        }
    }
}

/// Completes blocks with those axes and their mirror images, which come in the opposite order.
fn mirror_blocks<T: Real + FftNum>(
    sides: &[usize],
    block: usize,
    blocks: &mut [Complex<T>],
    images: &mut [Complex<T>],
) {
    for (one, image) in blocks.chunks_exact_mut(block).zip(images.chunks_exact_mut(block).rev()) {
        mirror_pair(sides, one, image);
    }
}

/// Completes two spectra with those axes, of which each is the mirror image of the other.
fn mirror_pair<T: Real + FftNum>(sides: &[usize], one: &mut [Complex<T>], image: &mut [Complex<T>]) {
    let [first, below @ ..] = sides else { return };
    if below.is_empty() {
        conjugate_backwards(&image[1..], &mut one[first / 2 + 1..]);
        return conjugate_backwards(&one[1..], &mut image[first / 2 + 1..]);
    }
    let block = one.len() / first;
    let (one, others) = one.split_at_mut(block);
    let (image, images) = image.split_at_mut(block);
    mirror_pair(below, one, image);
    mirror_blocks(below, block, others, images);
}

/// Writes as many conjugates as `to` has elements, the first of `from` last.
fn conjugate_backwards<T: Real + FftNum>(from: &[Complex<T>], to: &mut [Complex<T>]) {
    for (to, from) in to.iter_mut().rev().zip(from) {
        *to = from.conj();
    }
}
