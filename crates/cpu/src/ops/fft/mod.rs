//! The variants of the two-dimensional FFT of a real matrix with the full complex spectrum on the CPU.

mod library;
mod real;
mod tile;

use std::mem::{MaybeUninit, take};
use std::sync::Arc;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, JobTraits, Lent, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::{Dense, Operand, Real};
use gpubench_report::error::CellError;
use rayon::prelude::*;
use rustfft::num_complex::Complex;
use rustfft::{FftNum, FftPlanner};

use self::library::{fftw as fftw_2d, mkl as mkl_2d};
use self::real::RealFft;
use super::variants::{CpuVariant, LibraryVariant, Scope, by_dtype, library_variant, variant};
use crate::libs::blas::BlasLibrary;
use crate::libs::dfti::MklLines;
use crate::libs::fftw::{self, FftwLines};
use crate::operands::{self, Taken, memory};
use crate::threads::{PerThread, wake};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "fft",
        "realfft",
        "rustfft for lines of own code: columns in pairs, then half of the rows, all threads",
        true,
        by_dtype!(real),
    ),
    library_variant(
        "fft",
        "fftw-2d",
        "FFTW, two-dimensional r2c, then the mirrored half, all threads",
        fftw::WORD,
        by_dtype!(fftw_2d),
    ),
    library_variant(
        "fft",
        "fftw",
        "FFTW for lines of own code: columns in pairs, then half of the rows, all threads",
        fftw::WORD,
        by_dtype!(fftw),
    ),
    variant(
        "fft",
        "rustfft",
        "rustfft: complex rows, transposed, complex rows again, all threads",
        true,
        by_dtype!(complex),
    ),
];

/// The variants that use the FFTs of a BLAS library.
pub(super) const LIBRARY_VARIANTS: &[LibraryVariant] = &[
    LibraryVariant {
        op: "fft",
        suffix: "-2d",
        summary: "{} (DFTI), two-dimensional r2c, then the mirrored half, all threads",
        scope: Scope::Mkl,
        prepare: by_dtype!(mkl_2d with library),
    },
    LibraryVariant {
        op: "fft",
        suffix: "",
        summary: "{} (DFTI) for lines of own code: columns in pairs, then half of the rows, all threads",
        scope: Scope::Mkl,
        prepare: by_dtype!(mkl with library),
    },
];

/// Rows that one task transposes: whole cache lines of the source.
const BAND: usize = 16;

/// Below this number of elements, threads cost more than they save.
const SERIAL: usize = 1 << 14;

fn real<T: Real + FftNum>(_: usize, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    by_lines(case, inputs, RustLines(FftPlanner::<T>::new().plan_fft_forward(case.side())))
}

fn fftw<T: Real + FftNum>(_: usize, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    by_lines(case, inputs, FftwLines::<T>::new(case.side())?)
}

fn mkl<T: Real + FftNum>(
    _: usize,
    case: &Case,
    inputs: &mut [Operand],
    library: &BlasLibrary,
) -> Result<Box<Prepared>, CellError> {
    by_lines(case, inputs, MklLines::<T>::new(library.provider()?, case.side())?)
}

fn by_lines<T: Real + FftNum>(
    case: &Case,
    inputs: &mut [Operand],
    lines: impl LineFft<T> + 'static,
) -> Result<Box<Prepared>, CellError> {
    let plan = RealFft::new(case.side(), lines);
    FftJob::prepared(case, inputs, plan.thread_choices(), |_, _| Ok(plan))
}

/// The transform of a real matrix to its full spectrum: its plan, and the threads that it runs on.
trait PlannedFft<T> {
    /// Shows the workspace.
    fn show(&self, _show: &mut dyn FnMut(&[MaybeUninit<u8>])) {}

    /// Plans again for another number of threads; if that fails, the plan stays.
    fn use_threads(
        &mut self,
        _threads: usize,
        _input: &[T],
        _output: &mut [Complex<T>],
    ) -> Result<(), CellError> {
        Ok(())
    }

    fn wake_threads(&mut self) -> Result<(), CellError>;

    fn transform(&mut self, input: &[T], output: &mut [Complex<T>]) -> Result<(), CellError>;
}

struct FftJob<T, P> {
    side: usize,
    input: Taken<T>,
    output: Vec<Complex<T>>,
    plan: P,
    /// Why no plan was made for the number of threads last asked for.
    problem: Option<CellError>,
}

impl<T: Real + FftNum, P: PlannedFft<T> + 'static> FftJob<T, P> {
    /// Prepares a job with the plan that `make` returns for its input and output.
    fn prepared(
        case: &Case,
        inputs: &mut [Operand],
        thread_choices: Vec<usize>,
        make: impl FnOnce(&[T], &mut [Complex<T>]) -> Result<P, CellError>,
    ) -> Result<Box<Prepared>, CellError> {
        let [input] = operands::operands::<T, 1>(case, inputs)?;
        let mut output = vec![zero(); input.len()];
        let plan = make(&input, &mut output)?;
        let traits = JobTraits { thread_choices, ..JobTraits::default() };
        Ok(Prepared::with(traits, FftJob { side: case.side(), input, output, plan, problem: None }))
    }
}

/// Returns a full spectrum as an answer.
fn spectrum<T: Real>(side: usize, values: Vec<Complex<T>>) -> Operand {
    Operand::Dense(Dense { rows: side, cols: side, values: T::into_complex_values(values) })
}

impl<T: Real + FftNum, P: PlannedFft<T>> Job for FftJob<T, P> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.input));
        show(memory(&self.output));
        self.plan.show(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(&mut self.input)], [host(&mut self.output)])
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        self.plan.wake_threads()
    }

    fn use_threads(&mut self, threads: usize) {
        self.problem = self.plan.use_threads(threads, &self.input, &mut self.output).err();
    }

    fn execute(&mut self) -> Result<(), CellError> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        self.plan.transform(&self.input, &mut self.output)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![spectrum(self.side, self.output.clone())])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let answer = spectrum(self.side, take(&mut self.output));
        let lent = operands::lend([&mut self.input], std::slice::from_ref(&answer), to);
        self.output = T::from_complex_values(answer.into_values())?;
        lent
    }
}

fn zero<T: FftNum>() -> Complex<T> {
    Complex::new(T::zero(), T::zero())
}

/// Transforms of lines of one length.
trait LineFft<T>: Send + Sync {
    /// Number of elements of workspace that [`LineFft::transform`] needs.
    fn work(&self) -> usize {
        0
    }

    /// Transforms `lines`, stored one after another, in place.
    fn transform(&self, lines: &mut [Complex<T>], work: &mut [Complex<T>]);

    /// Returns an error with the first problem of any call so far.
    fn checked(&self) -> Result<(), CellError> {
        Ok(())
    }
}

struct RustLines<T: FftNum>(Arc<dyn rustfft::Fft<T>>);

impl<T: FftNum> LineFft<T> for RustLines<T> {
    fn work(&self) -> usize {
        self.0.get_inplace_scratch_len()
    }

    fn transform(&self, lines: &mut [Complex<T>], work: &mut [Complex<T>]) {
        self.0.process_with_scratch(lines, work);
    }
}

impl<T: Real + FftNum> LineFft<T> for FftwLines<T> {
    fn transform(&self, lines: &mut [Complex<T>], _: &mut [Complex<T>]) {
        self.transform(lines);
    }
}

impl<T: Real> LineFft<T> for MklLines<T> {
    fn transform(&self, lines: &mut [Complex<T>], _: &mut [Complex<T>]) {
        self.transform(lines);
    }

    fn checked(&self) -> Result<(), CellError> {
        self.checked()
    }
}

struct ComplexFft<T: FftNum> {
    side: usize,
    transposed: Vec<Complex<T>>,
    lines: RustLines<T>,
    scratch: PerThread<Vec<Complex<T>>>,
}

fn complex<T: Real + FftNum>(
    _: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    FftJob::prepared(case, inputs, vec![], |_, output: &mut [Complex<T>]| {
        let lines = RustLines(FftPlanner::new().plan_fft_forward(case.side()));
        let scratch = PerThread::new(|| vec![zero(); lines.work()]);
        Ok(ComplexFft { side: case.side(), transposed: output.to_vec(), lines, scratch })
    })
}

impl<T: Real + FftNum> PlannedFft<T> for ComplexFft<T> {
    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.transposed));
        self.scratch.each(|work| show(memory(work)));
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        wake::pool(rayon::current_num_threads());
        Ok(())
    }

    /// Writes the spectra of the rows to `output`, then the result.
    fn transform(&mut self, input: &[T], output: &mut [Complex<T>]) -> Result<(), CellError> {
        let (n, lines, scratch) = (self.side, &self.lines, &self.scratch);
        let transform = |row: &mut [Complex<T>]| scratch.with(|work| lines.transform(row, work));
        output.par_chunks_mut(n).zip(input.par_chunks(n)).for_each(|(row, input)| {
            for (z, x) in row.iter_mut().zip(input) {
                *z = Complex::new(*x, T::default());
            }
            transform(row);
        });
        transpose(n, output, &mut self.transposed);
        self.transposed.par_chunks_mut(n).for_each(transform);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{TEST_SIDES, assert_right_at};

    #[test]
    fn every_variant_is_right_at_odd_and_even_sides() {
        assert_right_at("fft", &TEST_SIDES, &[None]);
    }

    #[test]
    fn a_transposed_matrix_has_rows_for_columns() {
        let n = 37;
        let from: Vec<usize> = (0..n * n).collect();
        let mut to = vec![0; n * n];
        transpose(n, &from, &mut to);
        assert!((0..n * n).all(|at| to[at] == at % n * n + at / n));
    }
}
