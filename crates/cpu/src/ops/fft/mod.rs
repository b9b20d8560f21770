//! The variants of the two-dimensional FFT of a real matrix with the full complex spectrum on the CPU.

mod library;
mod real;
mod tile;

use std::sync::Arc;

use gpubench_report::data::Real;
use rayon::prelude::*;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftNum, FftPlanner};

use self::library::{fftw, mkl};
use self::real::realfft;
use super::dense::{Matrices, MatrixKernel, prepared};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, variant};
use crate::CellResult;
use crate::operands::{HostMatrix, ShowMemory, memory};
use crate::threads::{PerThread, wake};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "-2d",
        Scope::Mkl,
        "{} (DFTI), two-dimensional r2c, then the mirrored half, all threads",
        by_dtype!(mkl),
    ),
    variant(
        "realfft",
        Scope::Default,
        "rustfft for lines of own code: columns in pairs, then half of the rows, all threads",
        by_dtype!(realfft),
    ),
    variant(
        "fftw-2d",
        Scope::Fftw,
        "FFTW, two-dimensional r2c, then the mirrored half, all threads",
        by_dtype!(fftw),
    ),
    variant(
        "rustfft",
        Scope::Default,
        "rustfft: complex rows, transposed, complex rows again, all threads",
        by_dtype!(rustfft),
    ),
];

/// Rows that one task transposes: whole cache lines of the source.
const BAND: usize = 16;

/// Below this number of elements, threads cost more than they save.
const SERIAL: usize = 1 << 14;

/// The real matrix and its full spectrum.
type Spectrum<T> = Matrices<T, Complex<T>, 1>;

fn spectrum<T: Real + FftNum>(request: &mut JobRequest<'_>) -> CellResult<Spectrum<T>> {
    let (n, inputs) = (request.side(), request.operands()?);
    let zeros = vec![Complex::new(T::zero(), T::zero()); n * n];
    Ok(Matrices { inputs, copy: vec![], results: vec![HostMatrix::complex(n, n, zeros)] })
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
    side: usize,
    transposed: Vec<Complex<T>>,
    lines: LineFft<T, ()>,
}

fn rustfft<T: Real + FftNum>(mut request: JobRequest<'_>) -> PreparedJob {
    let (side, matrices) = (request.side(), spectrum::<T>(&mut request)?);
    let transposed = matrices.results[0].to_vec();
    prepared(matrices, ComplexFft { side, transposed, lines: LineFft::new(side, || ()) }, vec![], None)
}

impl<T: Real + FftNum> MatrixKernel<T, Complex<T>, 1> for ComplexFft<T> {
    fn show(&self, show: ShowMemory<'_>) {
        show(memory(&self.transposed));
        self.lines.scratch.each(|(work, ())| show(memory(work)));
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        wake::pool(rayon::current_num_threads());
        Ok(())
    }

    /// Writes the spectra of the rows to the output, then the result.
    fn compute(&mut self, Matrices { inputs: [input], results, .. }: &mut Spectrum<T>) -> CellResult<()> {
        let (n, lines, output) = (self.side, &self.lines, &mut results[0][..]);
        output.par_chunks_mut(n).zip(input.par_chunks(n)).for_each(|(row, input)| {
            for (z, x) in row.iter_mut().zip(input) {
                *z = Complex::new(*x, T::default());
            }
            lines.transform(row);
        });
        transpose(n, output, &mut self.transposed);
        self.transposed.par_chunks_mut(n).for_each(|row| lines.transform(row));
        transpose(n, &self.transposed, output);
        Ok(())
    }
}

/// Transposes an `n` by `n` matrix, one band of rows of `to` per task.
fn transpose<Z: Copy + Send + Sync>(n: usize, from: &[Z], to: &mut [Z]) {
    to.par_chunks_mut(BAND * n).enumerate().for_each(|(band, rows)| {
        let first = band * BAND;
        for block in (0..n).step_by(BAND) {
            for (offset, row) in rows.chunks_mut(n).enumerate() {
                let end = n.min(block + BAND);
                for (source, z) in (block..end).zip(&mut row[block..end]) {
                    *z = from[source * n + first + offset];
                }
            }
        }
    });
}
