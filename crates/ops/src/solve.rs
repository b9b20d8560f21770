//! The solution of a symmetric or Hermitian positive definite system with one right-hand side, judged by its backward error.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::generator::Stream;
use gpubench_report::data::{Element, Operand, Real, Wide};
use gpubench_report::error::CellError;
use gpubench_report::shape::{BATCH, RHS};
use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::judge::{self, relative, worst};
use super::volume::{bytes_of, element, product};
use super::{About, Checked, Given, Limit, Op, Work, matrix, uniform};

/// The dimensions of A, and those of b and x.
const MATRIX: [&str; 3] = [BATCH, "n", "n"];
const COLUMNS: [&str; 3] = [BATCH, "n", RHS];

/// `A x = b` with A symmetric positive definite, or Hermitian if complex, for one or several right-hand sides, which are the columns of b.
pub(crate) struct Solve;

impl Op for Solve {
    fn about(&self) -> About {
        About {
            limit: Limit::Read,
            ..About::new(
                "solve",
                "solution of A x = b, A symmetric (complex: Hermitian) positive definite",
                &[100, 500, 512, 1024, 2048],
            )
            .shaped(&["n"], &[RHS, BATCH])
            .of_types(DType::REAL_AND_COMPLEX)
        }
    }

    /// Cholesky's count, `n^3 / 3` for the factor and `2 n^2` for the two triangular solves of each right-hand side; four times as much of
    /// complex numbers.
    fn work(&self, case: &Case) -> Work {
        let [n, columns, systems] = ["n", RHS, BATCH].map(|name| case.extent(name) as f64);
        let of_term = if case.dtype.is_complex() { 4.0 } else { 1.0 };
        let flop = of_term * systems * (n * n * n / 3.0 + 2.0 * n * n * columns);
        Work { flop, bytes: systems * (n * n + 2.0 * n * columns) * element(case.dtype) }
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        (product(case, &MATRIX) + product(case, &COLUMNS)) * element(case.dtype)
    }

    fn footprint(&self, case: &Case) -> u128 {
        bytes_of(case, &[&MATRIX, &COLUMNS, &COLUMNS])
    }

    /// Counts X and XᵀX of one system, both in float64 for any element type, which the matrix of a file does not need; or the copy of
    /// A that becomes the factors, and that of x row after row for the judge.
    fn scratch(&self, case: &Case) -> u128 {
        let copies = bytes_of(case, &[&MATRIX, &COLUMNS]);
        if case.matrix.is_some() {
            return copies;
        }
        let dtype = if case.dtype.is_complex() { DType::C128 } else { DType::F64 };
        copies.max(bytes_of(&Case { dtype, ..case.clone() }, &[&["n", "n"], &["n", "n"]]))
    }

    /// `A = Xᵀ X + I` rounded once to the element type, where X holds the leading 19 bits of the uniform
    /// values of operand 0, and b is uniform. Of complex ones it is `Xᴴ X + I`, where the parts of X have 19 bits.
    ///
    /// A product of two entries of X has at most 38 bits, so sums of up to 2^15 of them are exact in
    /// float64 in any order, with or without fused multiply-add: A is the same bit for bit on every
    /// machine up to `n = 32768`. Of the matrix of a file, A has all elements.
    fn inputs(&self, case: &Case) -> Vec<Operand> {
        match case.dtype {
            DType::C64 => inputs::<Complex<f32>>(case),
            DType::C128 => inputs::<Complex<f64>>(case),
            dtype => for_dtype!(dtype, real_inputs(case)),
        }
    }

    /// The componentwise backward error `max |A x - b|_i / (|A| |x| + |b|)_i`: the least relative change
    /// of the entries of A and b of which x is the exact solution (Oettli and Prager 1964).
    ///
    /// Even the simplest factorisation stays below one unit roundoff at every size tried, so the bound is a constant.
    /// The usual bound, `16 n` unit roundoffs in HPL, would hide a wrong entry of x.
    ///
    /// The matrix of a file may have zeros and rows of different size, where even Cholesky's factorisation has no small componentwise
    /// error: its backward error is bounded by multiples of `d_i d_j`, where `d_i` is the root of element `i` of the diagonal (Demmel;
    /// Higham 2002, theorem 10.5). So the 2-norm of `d_i d_j x_j` over `j`, by which independent errors of that size add up, is added to
    /// the denominator.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(any given.case.dtype, check(given))
    }
}

/// The leading 19 bits of the uniform value at `index`.
fn short_uniform(stream: Stream, index: u64) -> f64 {
    (stream.bits(index) >> 45) as f64 / f64::from(1 << 19)
}

/// Numbers of which A is made in float64.
trait Exact: Wide + ComplexField {
    /// Returns the element of X at `index`.
    fn short(stream: Stream, index: u64) -> Self;
}

impl Exact for f64 {
    fn short(stream: Stream, index: u64) -> f64 {
        short_uniform(stream, index)
    }
}

impl Exact for Complex<f64> {
    fn short(stream: Stream, index: u64) -> Self {
        Complex::new(short_uniform(stream, 2 * index), short_uniform(stream, 2 * index + 1))
    }
}

/// X of system number `index`.
fn short_uniforms<W: Exact>(seed: u64, n: usize, index: usize) -> Vec<W> {
    let (stream, len) = (Stream::new(seed, 0), (n * n) as u64);
    let first = index as u64 * len;
    (first..first + len).into_par_iter().map(|i| W::short(stream, i)).collect()
}

/// The lower triangle of `Xᴴ X` of a row-major matrix, column after column.
fn gram<W: Exact>(x: &[W], n: usize) -> Vec<W> {
    let mut product = vec![W::default(); n * n];
    let x = MatRef::from_row_major_slice(x, n, n);
    triangular::matmul(
        MatMut::from_column_major_slice_mut(&mut product, n, n),
        BlockStructure::TriangularLower,
        Accum::Replace,
        x.adjoint(),
        BlockStructure::Rectangular,
        x,
        BlockStructure::Rectangular,
        W::from(1.0),
        Par::rayon(0),
    );
    product
}

fn real_inputs<T: Real>(case: &Case) -> Vec<Operand> {
    let Some(matrix) = matrix::of(case) else { return inputs::<T>(case) };
    let n = case.side();
    vec![Operand::dense(n, n, matrix::dense::<T>(&matrix.rounded(case.dtype))), uniform(case, 1, [n, 1])]
}

fn inputs<T: Element>(case: &Case) -> Vec<Operand>
where
    T::Wide: Exact,
{
    let [n, columns, systems] = case.extents(["n", RHS, BATCH]);
    let b = uniform(case, 1, [systems * n, columns]);
    let mut a = vec![T::default(); systems * n * n];
    for (index, a) in a.chunks_mut(n * n).enumerate() {
        let product = gram(&short_uniforms::<T::Wide>(case.seed, n, index), n);
        a.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
            for (j, entry) in row.iter_mut().enumerate() {
                // Column-major with its lower triangle filled: column min(i, j), row max(i, j).
                let sum = product[i.min(j) * n + i.max(j)];
                let sum = if i < j { sum.conjugate() } else { sum };
                *entry = T::narrow(if i == j { sum + T::Wide::from(1.0) } else { sum });
            }
        });
    }
    vec![Operand::dense(systems * n, n, a), b]
}

fn check<T: Element>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let [n, columns, systems] = case.extents(["n", RHS, BATCH]);
    let a = judge::dense::<T>(inputs, 0, "A", (systems * n, n))?;
    let b = judge::dense::<T>(inputs, 1, "b", (systems * n, columns))?;
    let x = judge::dense::<T>(answer, 0, "x", (systems * n, columns))?;
    let of_batch = a.par_chunks(n * n).zip(b.par_chunks(n * columns)).zip(x.par_chunks(n * columns));
    let of_system = |((a, b), x): ((&[T], &[T]), &[T])| {
        let errors = (0..columns).map(|column| {
            let of_column =
                |values: &[T]| values[column..].iter().step_by(columns).copied().collect::<Vec<T>>();
            backward_error(a, &of_column(b), &of_column(x), case.matrix.is_some())
        });
        errors.fold(0.0, |worst: f64, error| if error > worst || error.is_nan() { error } else { worst })
    };
    Ok(Checked::new(worst(of_batch.map(of_system)), 8.0 * (rounding.input + rounding.sum)))
}

fn backward_error<T: Element>(a: &[T], b: &[T], x: &[T], is_of_file: bool) -> f64 {
    let n = x.len();
    let magnitudes: Vec<f64> = x.iter().map(|x| x.widen().magnitude()).collect();
    let probes: Vec<[T::Wide; 2]> =
        x.iter().zip(&magnitudes).map(|(x, magnitude)| [x.widen(), T::Wide::from(*magnitude)]).collect();
    let products = judge::rows_times(a, &probes);
    // A generated real A has no negative entry, so |A| |x| is A |x|.
    let mut scales: Vec<f64> = match is_of_file || T::DTYPE.is_complex() {
        true => judge::magnitudes_times(a, &magnitudes),
        false => products.iter().map(|[_, magnitude]| magnitude.magnitude()).collect(),
    };
    if is_of_file {
        let roots: Vec<f64> = (0..n).map(|i| a[i * n + i].widen().magnitude().sqrt()).collect();
        let of_x = roots.iter().zip(&magnitudes).map(|(root, x)| (root * x).powi(2)).sum::<f64>().sqrt();
        scales.iter_mut().zip(roots).for_each(|(scale, root)| *scale += root * of_x);
    }
    worst(products.par_iter().zip(scales).zip(b).map(|(([product, _], scale), b)| {
        let b = b.widen();
        relative((*product - b).magnitude(), scale + b.magnitude())
    }))
}
