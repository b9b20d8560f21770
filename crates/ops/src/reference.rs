//! Computes answers by the simplest right algorithms: for the simulated device, and for the tests of the judges. Meant for small
//! sizes.

use std::ops::{Add, Div, Mul, Sub};

use faer::Mat;
use faer::traits::{ComplexField, RealField};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Csr, Dense, Element, Operand, Real};
use gpubench_report::error::CellError;
use gpubench_report::shape::{BATCH, RHS};
use rustfft::num_complex::Complex;
use rustfft::{FftNum, FftPlanner};

use crate::SINES;
use crate::fft::Transforms;
use crate::matmul::Products;
use crate::reduction::Reductions;

/// `f32` or `f64`, as a type to compute in.
pub(crate) trait WorkingPrecision: Real + FftNum + RealField + Number {}

impl<T: Real + FftNum + RealField + Number> WorkingPrecision for T {}

/// A real or complex number to compute with.
pub(crate) trait Number:
    Copy + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// Returns the complex conjugate.
    fn conjugated(self) -> Self;

    /// Returns the square root of the real part.
    fn root(self) -> Self;
}

impl Number for f32 {
    fn conjugated(self) -> f32 {
        self
    }

    fn root(self) -> f32 {
        self.sqrt()
    }
}

impl Number for f64 {
    fn conjugated(self) -> f64 {
        self
    }

    fn root(self) -> f64 {
        self.sqrt()
    }
}

impl<W: WorkingPrecision> Number for Complex<W> {
    fn conjugated(self) -> Self {
        self.conj()
    }

    fn root(self) -> Self {
        Complex::new(self.re.root(), W::default())
    }
}

/// Returns the answer of a case, in the layout that the op's check expects, computed in float64 and rounded once.
///
/// # Errors
/// The op is unknown, or the operands are not those of the case.
pub fn answer(case: &Case, inputs: &[Operand]) -> Result<Vec<Operand>, CellError> {
    fn of<T: Element<Wide = f64>>(case: &Case, inputs: &[Operand]) -> Result<Vec<Operand>, CellError> {
        computed_in::<T, f64>(case, inputs)
    }
    match case.dtype {
        DType::C64 => complex_in::<f32, f64>(case, inputs),
        DType::C128 => complex_in::<f64, f64>(case, inputs),
        dtype => for_dtype!(real dtype, of(case, inputs)),
    }
}

/// Returns the answer of a case of complex elements with parts `T`, computed in `W`.
pub(crate) fn complex_in<T: Real, W: WorkingPrecision>(
    case: &Case,
    inputs: &[Operand],
) -> Result<Vec<Operand>, CellError>
where
    Complex<T>: Element,
{
    let dense = |k: usize| -> Result<Vec<Complex<W>>, CellError> {
        let operand = inputs.get(k).ok_or_else(|| CellError::Failed(format!("{case} lacks operand {k}")))?;
        let values = T::complex_slice(&operand.as_dense()?.values)?;
        let widen = |z: &Complex<T>| Complex::new(W::narrow(z.re.widen()), W::narrow(z.im.widen()));
        Ok(values.iter().map(widen).collect())
    };
    let (cols, values) = match case.op.as_str() {
        "matmul" => (Products::of(case).sides[1], matmul(case, &dense(0)?, &dense(1)?)),
        "fft" => {
            let transforms = Transforms::of(case);
            (transforms.cols, spectrum(&transforms, dense(0)?))
        }
        "solve" => {
            let [n, columns] = case.extents(["n", RHS]);
            (columns, solve([n, columns], &dense(0)?, &dense(1)?))
        }
        "svd" => {
            let [u, s, vt] = svd(case, &dense(0)?)?;
            let [m, n] = case.extents(["m", "n"]);
            let s: Vec<T> = s.into_iter().map(|s| round(s.re)).collect();
            let [u, vt] = [(m.min(n), u), (n, vt)].map(|(cols, part)| complex_matrix::<T, W>(cols, &part));
            return Ok(vec![u, Operand::dense(s.len(), 1, s), vt]);
        }
        other => {
            return Err(CellError::Failed(format!("{other} has no problems of {}", case.dtype.words())));
        }
    };
    Ok(vec![complex_matrix::<T, W>(cols, &values)])
}

fn complex_matrix<T: Real, W: WorkingPrecision>(cols: usize, values: &[Complex<W>]) -> Operand {
    let round = |z: &Complex<W>| Complex { re: round::<T, W>(z.re), im: round::<T, W>(z.im) };
    let values = T::into_complex_values(values.iter().map(round).collect());
    Operand::Dense(Dense { rows: values.len() / cols, cols, values })
}

/// Returns the answer of a case of real elements `T`, computed in `W`.
pub(crate) fn computed_in<T: Element<Wide = f64>, W: WorkingPrecision>(
    case: &Case,
    inputs: &[Operand],
) -> Result<Vec<Operand>, CellError> {
    let n = case.side();
    let input =
        |k: usize| inputs.get(k).ok_or_else(|| CellError::Failed(format!("{case} lacks operand {k}")));
    let dense = |k: usize| Ok::<Vec<W>, CellError>(widened(input(k)?.dense_slice::<T>()?));
    let sparse = |k: usize| {
        let csr = input(k)?.as_csr()?;
        Ok::<WidenedCsr<W>, CellError>(WidenedCsr { csr, values: widened(T::slice(&csr.values)?) })
    };
    Ok(vec![match case.op.as_str() {
        "matmul" => {
            let [m, n, batch] = case.extents(["m", "n", BATCH]);
            rounded::<T, W>(batch * m, n, &matmul(case, &dense(0)?, &dense(1)?))
        }
        "elementwise" => {
            let pairs = dense(0)?.into_iter().zip(dense(1)?);
            let sums = pairs.map(|(a, b)| a * b + apply(a, f64::sin) + apply(b, f64::cos));
            let [rows, cols] = case.extents(["rows", "cols"]);
            rounded::<T, W>(rows, cols, &sums.collect::<Vec<W>>())
        }
        "sin" | "host-loop" => rounded::<T, W>(n, n, &sines(dense(0)?, 1)),
        "transfer-loop" => rounded::<T, W>(n, n, &sines(dense(0)?, SINES)),
        "reduction" => {
            let (reductions, a) = (Reductions::of(case), dense(0)?);
            let of_result = |index| moments(&reductions.elements(&a, index), pairwise_sum);
            let results: Vec<[f64; 3]> = (0..reductions.count()).map(of_result).collect();
            let rows = (0..3).flat_map(|row| results.iter().map(move |result| result[row])).collect();
            Operand::dense(3, reductions.count(), rows)
        }
        "fft" => {
            let transforms = Transforms::of(case);
            let values = dense(0)?.into_iter().map(|x| Complex::new(x, W::default())).collect();
            let values = spectrum(&transforms, values);
            match case.dtype.working() {
                DType::F64 => complex_matrix::<f64, W>(transforms.cols, &values),
                _ => complex_matrix::<f32, W>(transforms.cols, &values),
            }
        }
        "solve" => {
            let [n, columns, systems] = case.extents(["n", RHS, BATCH]);
            rounded::<T, W>(systems * n, columns, &solve([n, columns], &dense(0)?, &dense(1)?))
        }
        "spgemm" => spgemm::<T, W>(&sparse(0)?, &sparse(1)?)?,
        "spmv" => {
            let (a, x) = (sparse(0)?, dense(1)?);
            let product = |i| a.row(i).fold(W::default(), |sum, (j, value)| sum + value * x[j]);
            rounded::<T, W>(a.csr.rows, 1, &(0..a.csr.rows).map(product).collect::<Vec<W>>())
        }
        "svd" => {
            let [u, s, vt] = svd(case, &dense(0)?)?;
            let [m, n] = case.extents(["m", "n"]);
            let parts = [(m.min(n), u), (1, s), (n, vt)];
            let part = |(cols, part): (usize, Vec<W>)| rounded::<T, W>(part.len() / cols, cols, &part);
            return Ok(parts.map(part).into());
        }
        "transfer" => input(0)?.clone(),
        "overhead" => Operand::dense(1, 1, vec![case.n as f64]),
        other => return Err(CellError::Failed(format!("there is no right answer of {other}"))),
    }])
}

fn widened<T: Element<Wide = f64>, W: WorkingPrecision>(values: &[T]) -> Vec<W> {
    values.iter().map(|x| W::narrow(x.widen())).collect()
}

fn round<T: Element<Wide = f64>, W: Real>(x: W) -> T {
    T::narrow(x.widen())
}

fn rounded<T: Element<Wide = f64>, W: Real>(rows: usize, cols: usize, values: &[W]) -> Operand {
    Operand::dense(rows, cols, values.iter().map(|&x| round(x)).collect::<Vec<T>>())
}

/// Returns a function of one variable, rounded once.
fn apply<W: Real>(x: W, f: impl Fn(f64) -> f64) -> W {
    W::from_f64(f(x.to_f64()))
}

fn matmul<W: Number>(case: &Case, a: &[W], b: &[W]) -> Vec<W> {
    let Products { sides: [m, n, k], batch, transposed: [a_is_transposed, b_is_transposed], .. } =
        Products::of(case);
    // The step from one row to the next, and from one column to the next.
    let steps =
        |is_transposed: bool, rows: usize, cols: usize| if is_transposed { (1, rows) } else { (cols, 1) };
    let ((a_row, a_col), (b_row, b_col)) = (steps(a_is_transposed, m, k), steps(b_is_transposed, k, n));
    let mut c = vec![W::default(); batch * m * n];
    for (i, c) in c.chunks_mut(n).enumerate() {
        let (a, b) = (&a[i / m * m * k + i % m * a_row..], &b[i / m * k * n..]);
        for l in 0..k {
            c.iter_mut().enumerate().for_each(|(j, c)| *c = *c + a[l * a_col] * b[l * b_row + j * b_col]);
        }
    }
    c
}

/// Returns each element after `times` sines, rounded each time.
fn sines<W: Real>(a: Vec<W>, times: usize) -> Vec<W> {
    a.into_iter().map(|a| (0..times).fold(a, |x, _| apply(x, f64::sin))).collect()
}

/// Returns sum, mean and population standard deviation in two passes, with the given summation.
pub(crate) fn moments<W: WorkingPrecision>(values: &[W], sum: fn(&[W]) -> W) -> [f64; 3] {
    let count = apply(W::default(), |_| values.len() as f64);
    let total = sum(values);
    let mean = total / count;
    let squares: Vec<W> = values.iter().map(|&x| (x - mean) * (x - mean)).collect();
    [total, mean, apply(sum(&squares) / count, f64::sqrt)].map(Real::to_f64)
}

pub(crate) fn running_sum<W: Real>(values: &[W]) -> W {
    values.iter().fold(W::default(), |sum, &value| sum + value)
}

/// Sums recursively by halves, down to short runs, as NumPy does: its rounding error hardly grows with the number of values.
fn pairwise_sum<W: Real>(values: &[W]) -> W {
    if values.len() <= 64 {
        return running_sum(values);
    }
    let (left, right) = values.split_at(values.len() / 2);
    pairwise_sum(left) + pairwise_sum(right)
}

/// Returns the full spectra of arrays, in their place.
pub(crate) fn spectrum<W: WorkingPrecision>(
    transforms: &Transforms,
    mut f: Vec<Complex<W>>,
) -> Vec<Complex<W>> {
    let mut inner = 1;
    for &side in transforms.sides.iter().rev() {
        let plan = FftPlanner::new().plan_fft_forward(side);
        for block in f.chunks_exact_mut(side * inner) {
            for offset in 0..inner {
                let mut line: Vec<_> = block.iter().skip(offset).step_by(inner).copied().collect();
                plan.process(&mut line);
                block.iter_mut().skip(offset).step_by(inner).zip(line).for_each(|(to, value)| *to = value);
            }
        }
        inner *= side;
    }
    f
}

/// Solves with Cholesky's factor L Lᴴ of a symmetric or Hermitian positive definite matrix.
fn solve<N: Number>([n, columns]: [usize; 2], a: &[N], b: &[N]) -> Vec<N> {
    let mut x = b.to_vec();
    for (a, x) in a.chunks(n * n).zip(x.chunks_mut(n * columns)) {
        let l = factor(n, a);
        (0..columns).for_each(|column| solve_column(n, &l, &mut x[column..], columns));
    }
    x
}

/// Returns Cholesky's factor, in the lower triangle.
fn factor<N: Number>(n: usize, a: &[N]) -> Vec<N> {
    let mut l = a.to_vec();
    for j in 0..n {
        for i in j..n {
            let dot = (0..j).fold(N::default(), |sum, k| sum + l[i * n + k] * l[j * n + k].conjugated());
            let rest = l[i * n + j] - dot;
            l[i * n + j] = if i == j { rest.root() } else { rest / l[j * n + j] };
        }
    }
    l
}

/// Solves for one right-hand side, whose elements are `step` apart.
fn solve_column<N: Number>(n: usize, l: &[N], x: &mut [N], step: usize) {
    for i in 0..n {
        let dot = (0..i).fold(N::default(), |sum, k| sum + l[i * n + k] * x[k * step]);
        x[i * step] = (x[i * step] - dot) / l[i * n + i];
    }
    for i in (0..n).rev() {
        let dot = (i + 1..n).fold(N::default(), |sum, k| sum + l[k * n + i].conjugated() * x[k * step]);
        x[i * step] = (x[i * step] - dot) / l[i * n + i];
    }
}

/// A sparse matrix with its stored values in the type to compute in.
struct WidenedCsr<'a, W> {
    csr: &'a Csr,
    values: Vec<W>,
}

impl<W: Copy> WidenedCsr<'_, W> {
    /// Returns the stored entries of row `i`: column and value.
    fn row(&self, i: usize) -> impl Iterator<Item = (usize, W)> + '_ {
        let range = self.csr.indptr[i] as usize..self.csr.indptr[i + 1] as usize;
        range.map(|k| (self.csr.indices[k] as usize, self.values[k]))
    }
}

fn spgemm<T: Element<Wide = f64>, W: WorkingPrecision>(
    a: &WidenedCsr<W>,
    b: &WidenedCsr<W>,
) -> Result<Operand, CellError> {
    let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
    let mut sums: Vec<Option<W>> = vec![None; b.csr.cols];
    for i in 0..a.csr.rows {
        for (k, x) in a.row(i) {
            b.row(k).for_each(|(j, y)| *sums[j].get_or_insert_default() += x * y);
        }
        for (j, sum) in sums.iter_mut().enumerate() {
            if let Some(sum) = sum.take() {
                indices.push(i32::try_from(j).map_err(|e| CellError::call("column index", e))?);
                values.push(round(sum));
            }
        }
        indptr.push(i32::try_from(indices.len()).map_err(|e| CellError::call("stored entries", e))?);
    }
    let (rows, cols) = (a.csr.rows, b.csr.cols);
    Ok(Operand::Csr(Csr { rows, cols, indptr, indices, values: T::into_values(values) }))
}

/// Returns U, the singular values and Vᴴ of all matrices.
fn svd<N: Number + ComplexField>(case: &Case, a: &[N]) -> Result<[Vec<N>; 3], CellError> {
    let [m, n] = case.extents(["m", "n"]);
    let k = m.min(n);
    let (mut u, mut s, mut vt) = (vec![], vec![], vec![]);
    for a in a.chunks(m * n) {
        let svd = Mat::from_fn(m, n, |i, j| a[i * n + j]).thin_svd();
        let svd = svd.map_err(|error| CellError::Failed(format!("faer thin_svd: {error:?}")))?;
        u.extend((0..m * k).map(|at| svd.U()[(at / k, at % k)]));
        s.extend((0..k).map(|at| svd.S().column_vector()[at]));
        vt.extend((0..k * n).map(|at| svd.V()[(at % n, at / n)].conjugated()));
    }
    Ok([u, s, vt])
}
