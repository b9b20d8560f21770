//! The solution of a symmetric positive definite system with one right-hand side, judged by its backward error.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::generator::Stream;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;
use gpubench_report::shape::{BATCH, RHS};
use rayon::prelude::*;

use super::judge::{self, relative, worst};
use super::volume::{bytes_of, element, product};
use super::{About, Checked, Given, Limit, Op, Work, matrix, uniform};

/// The dimensions of A, and those of b and x.
const MATRIX: [&str; 3] = [BATCH, "n", "n"];
const COLUMNS: [&str; 3] = [BATCH, "n", RHS];

/// `A x = b` with A symmetric positive definite, for one or several right-hand sides, which are the columns of b.
pub(crate) struct Solve;

impl Op for Solve {
    fn about(&self) -> About {
        About {
            limit: Limit::Read,
            ..About::new(
                "solve",
                "solution of A x = b, A symmetric positive definite",
                &[100, 500, 512, 1024, 2048],
            )
            .shaped(&["n"], &[RHS, BATCH])
        }
    }

    /// Cholesky's count, `n^3 / 3` for the factor and `2 n^2` for the two triangular solves of each right-hand side.
    fn work(&self, case: &Case) -> Work {
        let [n, columns, systems] = ["n", RHS, BATCH].map(|name| case.extent(name) as f64);
        let flop = systems * (n * n * n / 3.0 + 2.0 * n * n * columns);
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
        copies.max(bytes_of(&Case { dtype: DType::F64, ..case.clone() }, &[&["n", "n"], &["n", "n"]]))
    }

    /// `A = Xᵀ X + I` rounded once to the element type, where X holds the leading 19 bits of the uniform
    /// values of operand 0, and b is uniform.
    ///
    /// A product of two entries of X has at most 38 bits, so sums of up to 2^15 of them are exact in
    /// float64 in any order, with or without fused multiply-add: A is the same bit for bit on every
    /// machine up to `n = 32768`. Of the matrix of a file, A has all elements.
    fn inputs(&self, case: &Case) -> Vec<Operand> {
        for_dtype!(case.dtype, inputs(case))
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
        for_dtype!(given.case.dtype, check(given))
    }
}

/// X of system number `index`: the leading 19 bits of the uniform values.
fn short_uniforms(seed: u64, n: usize, index: usize) -> Vec<f64> {
    let (stream, len) = (Stream::new(seed, 0), (n * n) as u64);
    let first = index as u64 * len;
    (first..first + len).into_par_iter().map(|i| (stream.bits(i) >> 45) as f64 / f64::from(1 << 19)).collect()
}

/// `Xᵀ X` of a row-major matrix, both triangles.
fn gram(x: &[f64], n: usize) -> Vec<f64> {
    let mut product = vec![0.0; n * n];
    let x = MatRef::from_row_major_slice(x, n, n);
    triangular::matmul(
        MatMut::from_column_major_slice_mut(&mut product, n, n),
        BlockStructure::TriangularLower,
        Accum::Replace,
        x.transpose(),
        BlockStructure::Rectangular,
        x,
        BlockStructure::Rectangular,
        1.0,
        Par::rayon(0),
    );
    product
}

fn inputs<T: Real>(case: &Case) -> Vec<Operand> {
    let [n, columns, systems] = case.extents(["n", RHS, BATCH]);
    let b = uniform(case, 1, [systems * n, columns]);
    if let Some(matrix) = matrix::of(case) {
        return vec![Operand::dense(n, n, matrix::dense::<T>(&matrix.rounded(case.dtype))), b];
    }
    let mut a = vec![T::default(); systems * n * n];
    for (index, a) in a.chunks_mut(n * n).enumerate() {
        let product = gram(&short_uniforms(case.seed, n, index), n);
        a.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
            for (j, entry) in row.iter_mut().enumerate() {
                // Column-major with its lower triangle filled: column min(i, j), row max(i, j).
                let sum = product[i.min(j) * n + i.max(j)];
                *entry = T::from_f64(if i == j { sum + 1.0 } else { sum });
            }
        });
    }
    vec![Operand::dense(systems * n, n, a), b]
}

fn check<T: Real>(given: &Given) -> Result<Checked, CellError> {
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

fn backward_error<T: Real>(a: &[T], b: &[T], x: &[T], is_of_file: bool) -> f64 {
    let n = x.len();
    let probes: Vec<[f64; 2]> = x.iter().map(|x| [x.to_f64(), x.to_f64().abs()]).collect();
    let mut products = judge::rows_times(a, &probes);
    // A generated A has no negative entry, so |A| |x| is A |x|.
    if is_of_file {
        let roots: Vec<f64> = (0..n).map(|i| a[i * n + i].to_f64().abs().sqrt()).collect();
        let of_x = roots.iter().zip(&probes).map(|(root, [_, x])| (root * x).powi(2)).sum::<f64>().sqrt();
        let magnitudes = judge::magnitudes_times(a, &probes);
        let rows = products.iter_mut().zip(magnitudes).zip(roots);
        rows.for_each(|((product, [_, magnitude]), root)| product[1] = magnitude + root * of_x);
    }
    worst(products.par_iter().zip(b).map(|([product, magnitude], b)| {
        let b = b.to_f64();
        relative(product - b, magnitude + b.abs())
    }))
}
