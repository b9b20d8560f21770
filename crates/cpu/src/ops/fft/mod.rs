//! The variants of the FFT of real and complex arrays with the full complex spectrum on the CPU.

mod library;
mod real;
mod tile;

use std::sync::Arc;

use gpubench_ops::fft::Transforms;
use rayon::prelude::*;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftNum, FftPlanner};

use self::library::{fftw, mkl};
use self::real::realfft;
use super::dense::{Matrices, MatrixKernel, prepared};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, by_type, variant};
use crate::CellResult;
use crate::operands::{ArrayElement, HostMatrix, ShowMemory, memory};
use crate::threads::{PerThread, wake};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "-2d",
        Scope::Mkl,
        "{} (DFTI), all threads; of real arrays r2c, then the mirrored half",
        by_type!(mkl),
    )
    .general(),
    variant(
        "realfft",
        Scope::Default,
        "rustfft for lines of own code: columns in pairs, then half of the rows, all threads",
        by_dtype!(realfft),
    ),
    variant(
        "fftw-2d",
        Scope::Fftw,
        "FFTW, all threads; of real arrays r2c, then the mirrored half",
        by_type!(fftw),
    )
    .general(),
    variant(
        "rustfft",
        Scope::Default,
        "rustfft: complex rows, then the other axes as rows of the transposed array, all threads",
        by_type!(rustfft),
    )
    .general(),
];

/// Rows that one task transposes: whole cache lines of the source.
const BAND: usize = 16;

/// Below this number of elements, threads cost more than they save.
const SERIAL: usize = 1 << 14;

/// The arrays and their full spectra.
type Spectrum<T> = Matrices<T, Complex<<T as ArrayElement>::Part>, 1>;

fn spectrum<T: ArrayElement>(request: &mut JobRequest<'_>) -> CellResult<Spectrum<T>> {
    let (transforms, inputs) = (Transforms::of(request.case), request.operands()?);
    let (rows, cols) = (transforms.elements() / transforms.cols, transforms.cols);
    Ok(Matrices { inputs, copy: vec![], results: vec![HostMatrix::zeros(rows, cols)] })
}

/// The transform of rustfft for one length, and workspace for each thread.
struct LineFft<T: FftNum, S> {
    plan: Arc<dyn Fft<T>>,
    scratch: PerThread<(Vec<Complex<T>>, S)>,
}

impl<T: FftNum, S> LineFft<T, S> {
    /// Plans for one length; `make` makes further workspace.
    fn new(side: usize, make: impl Fn() -> S) -> Self {
        let plan = FftPlanner::new().plan_fft_forward(side);
        let zero = Complex::new(T::zero(), T::zero());
        let work = || vec![zero; plan.get_inplace_scratch_len()];
        LineFft { scratch: PerThread::new(|| (work(), make())), plan }
    }

    /// Transforms `lines`, stored one after another, in place.
    fn transform(&self, lines: &mut [Complex<T>]) {
        self.scratch.with(|(work, _)| self.plan.process_with_scratch(lines, work));
    }
}

struct ComplexFft<T: FftNum> {
    transposed: Vec<Complex<T>>,
    /// Transforms of the rows of arrays, then of their other axes, the last of them first.
    axes: Vec<LineFft<T, ()>>,
}

fn rustfft<T: ArrayElement>(mut request: JobRequest<'_>) -> PreparedJob {
    let (transforms, matrices) = (Transforms::of(request.case), spectrum::<T>(&mut request)?);
    let transposed = if transforms.sides.len() > 1 { matrices.results[0].to_vec() } else { vec![] };
    let axes = transforms.sides.iter().rev().map(|side| LineFft::new(*side, || ())).collect();
    prepared(matrices, ComplexFft { transposed, axes }, vec![], None)
}

impl<T: ArrayElement> MatrixKernel<T, Complex<T::Part>, 1> for ComplexFft<T::Part> {
    fn show(&self, show: ShowMemory<'_>) {
        show(memory(&self.transposed));
        self.axes.iter().for_each(|axis| axis.scratch.each(|(work, ())| show(memory(work))));
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        wake::pool(rayon::current_num_threads());
        Ok(())
    }

    /// Writes the spectra of the rows to the output, then the result.
    fn compute(&mut self, Matrices { inputs: [input], results, .. }: &mut Spectrum<T>) -> CellResult<()> {
        let (output, [rows, others @ ..]) = (&mut results[0][..], &self.axes[..]) else { return Ok(()) };
        let mut inner = rows.plan.len();
        let lines = SERIAL.div_ceil(8 * inner) * inner;
        output.par_chunks_mut(lines).zip(input.par_chunks(lines)).for_each(|(lines, input)| {
            for (z, x) in lines.iter_mut().zip(input) {
                *z = (*x).into();
            }
            rows.transform(lines);
        });
        for axis in others {
            let side = axis.plan.len();
            let blocks =
                output.par_chunks_mut(side * inner).zip(self.transposed.par_chunks_mut(side * inner));
            blocks.for_each(|(block, transposed)| {
                transpose([side, inner], block, transposed);
                transposed.par_chunks_mut(side).for_each(|line| axis.transform(line));
                transpose([inner, side], transposed, block);
            });
            inner *= side;
        }
        Ok(())
    }
}

/// Transposes a matrix of rows and columns, one band of rows of `to` per task.
fn transpose<Z: Copy + Send + Sync>([rows, cols]: [usize; 2], from: &[Z], to: &mut [Z]) {
    let transpose = |(band, bands): (usize, &mut [Z])| {
        let first = band * BAND;
        for block in (0..rows).step_by(BAND) {
            for (offset, row) in bands.chunks_mut(rows).enumerate() {
                let end = rows.min(block + BAND);
                for (source, z) in (block..end).zip(&mut row[block..end]) {
                    *z = from[source * cols + first + offset];
                }
            }
        }
    };
    if to.len() <= SERIAL {
        return to.chunks_mut(BAND * rows).enumerate().for_each(transpose);
    }
    to.par_chunks_mut(BAND * rows).enumerate().for_each(transpose);
}
