//! The variants of the two-dimensional FFT of a real matrix with the full complex spectrum on the CPU.

mod real;
mod spectrum;
mod tile;
mod two_dimensional;

use std::mem::MaybeUninit;
use std::sync::Arc;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, Lent, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;
use rayon::prelude::*;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftNum, FftPlanner};

use self::real::RealFft;
use self::spectrum::{lend, spectrum, zero};
use self::two_dimensional::{fftw as fftw_2d, mkl as mkl_2d};
use super::cpu_variant::CpuVariant;
use super::entry::{by_dtype, library_variant, variant};
use super::library_variant::{LibraryVariant, Scope};
use super::taken::{Taken, operands};
use crate::context::Cpu;
use crate::libs::blas::Library;
use crate::libs::dfti::MklLines;
use crate::libs::fft_lines::Lines;
use crate::libs::fftw::{self, FftwLines};
use crate::memory::memory;
use crate::threads::per_thread::PerThread;
use crate::threads::wake;

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
        true,
        fftw::WORD,
        by_dtype!(fftw_2d),
    ),
    library_variant(
        "fft",
        "fftw",
        "FFTW for lines of own code: columns in pairs, then half of the rows, all threads",
        true,
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

fn real<T: Real + FftNum>(_: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    let lines = RustLines(FftPlanner::new().plan_fft_forward(case.side()));
    by_lines::<T>(case, inputs, lines)
}

fn fftw<T: Real + FftNum>(_: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    let lines = FftwLines::<T>::new(case.side())?;
    by_lines::<T>(case, inputs, lines)
}

fn mkl<T: Real + FftNum>(
    _: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
    library: &Library,
) -> Result<Box<Prepared>, CellError> {
    let lines = MklLines::<T>::new(library.provider()?.path(), case.side())?;
    by_lines::<T>(case, inputs, lines)
}

fn by_lines<T: Real + FftNum>(
    case: &Case,
    inputs: &mut [Operand],
    lines: impl Lines<T> + 'static,
) -> Result<Box<Prepared>, CellError> {
    let [a] = operands::<T, 1>(case, inputs)?;
    Ok(RealFft::new(case.side(), a, Box::new(lines)).prepared())
}

struct RustLines<T: FftNum>(Arc<dyn Fft<T>>);

impl<T: FftNum> Lines<T> for RustLines<T> {
    fn work(&self) -> usize {
        self.0.get_inplace_scratch_len()
    }

    fn transform(&self, lines: &mut [Complex<T>], work: &mut [Complex<T>]) {
        self.0.process_with_scratch(lines, work);
    }
}

struct ComplexFft<T> {
    side: usize,
    input: Taken<T>,
    /// The spectra of the rows, then the result.
    matrix: Vec<Complex<T>>,
    transposed: Vec<Complex<T>>,
    plan: Arc<dyn Fft<T>>,
    scratch: PerThread<Vec<Complex<T>>>,
}

fn complex<T: Real + FftNum>(
    _: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    let [input] = operands::<T, 1>(case, inputs)?;
    let plan = FftPlanner::new().plan_fft_forward(case.side());
    let zeros = vec![zero(); input.len()];
    let scratch = PerThread::new(|| vec![zero(); plan.get_inplace_scratch_len()]);
    let transposed = zeros.clone();
    Ok(Prepared::new(ComplexFft { side: case.side(), input, matrix: zeros, transposed, plan, scratch }))
}

impl<T: Real + FftNum> Job for ComplexFft<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.input));
        show(memory(&self.matrix));
        show(memory(&self.transposed));
        self.scratch.each(|work| show(memory(work)));
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(&mut self.input)], [host(&mut self.matrix)])
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        wake::pool();
        Ok(())
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let (n, plan, scratch) = (self.side, &self.plan, &self.scratch);
        let transform = |row: &mut [Complex<T>]| scratch.with(|work| plan.process_with_scratch(row, work));
        let rows = self.matrix.par_chunks_mut(n).zip(self.input.par_chunks(n));
        rows.for_each(|(row, input)| {
            for (z, x) in row.iter_mut().zip(input) {
                *z = Complex::new(*x, T::default());
            }
            transform(row);
        });
        transpose(n, &self.matrix, &mut self.transposed);
        self.transposed.par_chunks_mut(n).for_each(transform);
        transpose(n, &self.transposed, &mut self.matrix);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![spectrum(self.side, self.matrix.clone())])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        lend(&mut self.input, (self.side, &mut self.matrix), to)
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
    use crate::libs::blas::{self, Vendor};
    use crate::libs::fftw::Fftw;
    use crate::tests::{TEST_SIDES, answer_of, with_stack};
    use gpubench_model::case::DType;
    use gpubench_model::data::generator::Stream;

    use super::*;

    /// Rows, then columns, by the definition in float64.
    fn reference(n: usize, a: &[f64]) -> Vec<Complex<f64>> {
        let turn = -2.0 * std::f64::consts::PI / n as f64;
        let roots: Vec<Complex<f64>> = (0..n).map(|k| Complex::from_polar(1.0, turn * k as f64)).collect();
        let mut rows = vec![zero(); n * n];
        let mut all = vec![zero(); n * n];
        for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
            rows[i * n + j] = (0..n).map(|k| roots[j * k % n] * a[i * n + k]).sum();
        }
        for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
            all[i * n + j] = (0..n).map(|k| roots[i * k % n] * rows[k * n + j]).sum();
        }
        all
    }

    fn agrees<T: Real>(variant: &str, n: usize, a: &[f64], exact: &[Complex<f64>]) {
        let rounded: Vec<T> = a.iter().map(|x| T::from_f64(*x)).collect();
        let answer = answer_of("fft", variant, n, T::DTYPE, &[Operand::dense(n, n, rounded)]);
        let found = T::complex_slice(answer[0].values()).unwrap();
        assert_eq!(found.len(), n * n);
        let tolerance = 16.0 * T::DTYPE.unit_roundoff() * (n as f64) * (n as f64).log2().max(1.0);
        for (at, (z, exact)) in found.iter().zip(exact).enumerate() {
            let error = (Complex::new(z.re.to_f64(), z.im.to_f64()) - exact).norm();
            assert!(error <= tolerance, "{variant} {} {n} at {at}: {error} > {tolerance}", T::DTYPE);
        }
    }

    #[test]
    fn every_variant_agrees_with_the_definition_in_float64() {
        with_stack(agree);
    }

    fn agree() {
        let libraries = blas::all(&[]);
        let usable = |library: &Library| library.vendor() == Vendor::Mkl && library.provider().is_ok();
        let has_fftw = DType::ALL.iter().all(|&dtype| Fftw::of(dtype).is_ok());
        let variants = VARIANTS.iter().map(|kernel| kernel.variant.name.to_string());
        let variants = variants.filter(|name| has_fftw || !name.starts_with("fftw"));
        let words = libraries.iter().filter(|library| usable(library)).map(|library| library.word());
        let made = words.flat_map(|word| [word.to_owned(), format!("{word}-2d")]);
        let variants: Vec<String> = variants.chain(made).collect();
        for n in TEST_SIDES {
            // With 24 bits, so that both element types represent the same matrix; around zero, so that no output is
            // far larger than the others.
            let uniforms: Vec<f32> = Stream::new(1, 0).uniforms(n * n);
            let a: Vec<f64> = uniforms.into_iter().map(|x| f64::from(x) - 0.5).collect();
            let exact = reference(n, &a);
            for variant in &variants {
                agrees::<f32>(variant, n, &a, &exact);
                agrees::<f64>(variant, n, &a, &exact);
            }
        }
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
