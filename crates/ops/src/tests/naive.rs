//! Computes answers by the simplest right algorithms, all arithmetic in the element type of the case.

use faer::MatRef;
use gpubench_model::case::{Case, DType};
use gpubench_model::data::{Csr, Operand, Real};
use rustfft::num_complex::Complex;
use rustfft::{FftNum, FftPlanner};

use crate::SINES;

/// The answer of the case's op.
pub(crate) fn answer(case: &Case, inputs: &[Operand]) -> Vec<Operand> {
    if case.op == "svd" {
        return match case.dtype {
            DType::F32 => svd_f32(case.side(), inputs),
            DType::F64 => svd_f64(case.side(), inputs),
        };
    }
    for_dtype!(case.dtype, of(case, inputs))
}

fn of<T: Real + FftNum>(case: &Case, inputs: &[Operand]) -> Vec<Operand> {
    let n = case.side();
    let dense = |k: usize| inputs[k].dense_slice::<T>().unwrap();
    let sparse = |k: usize| inputs[k].as_csr().unwrap();
    vec![match case.op.as_str() {
        "matmul" => Operand::dense(n, n, matmul(dense(0), dense(1), n)),
        "elementwise" => Operand::dense(n, n, elementwise(dense(0), dense(1))),
        "sin" | "host-loop" => Operand::dense(n, n, sines(dense(0), 1)),
        "reduction" => Operand::dense(3, 1, moments(dense(0), pairwise_sum).to_vec()),
        "fft" => {
            let values = T::into_complex_values(fft(dense(0), n));
            Operand::Dense(gpubench_model::data::Dense { rows: n, cols: n, values })
        }
        "solve" => Operand::dense(n, 1, cholesky_solve(dense(0), dense(1), n)),
        "spgemm" => Operand::Csr(spgemm::<T>(sparse(0), sparse(1))),
        "spmv" => Operand::dense(n, 1, spmv(sparse(0), dense(1))),
        "transfer" => inputs[0].clone(),
        "overhead" => Operand::dense(1, 1, vec![case.n as f64]),
        "transfer-loop" => Operand::dense(n, n, sines(dense(0), SINES)),
        other => panic!("no right answer of {other} here, in {}", file!()),
    }]
}

/// A function of one variable, rounded once.
fn apply<T: Real>(x: T, f: impl Fn(f64) -> f64) -> T {
    T::from_f64(f(x.to_f64()))
}

fn divide<T: Real>(x: T, y: T) -> T {
    T::from_f64(x.to_f64() / y.to_f64())
}

fn matmul<T: Real>(a: &[T], b: &[T], n: usize) -> Vec<T> {
    let mut c = vec![T::default(); n * n];
    for (a, c) in a.chunks(n).zip(c.chunks_mut(n)) {
        for (&a, b) in a.iter().zip(b.chunks(n)) {
            c.iter_mut().zip(b).for_each(|(c, &b)| *c += a * b);
        }
    }
    c
}

fn elementwise<T: Real>(a: &[T], b: &[T]) -> Vec<T> {
    a.iter().zip(b).map(|(&a, &b)| a * b + apply(a, f64::sin) + apply(b, f64::cos)).collect()
}

/// Returns the sine applied the given number of times, rounded to `T` each time.
fn sines<T: Real>(a: &[T], times: usize) -> Vec<T> {
    a.iter().map(|&a| (0..times).fold(a, |x, _| apply(x, f64::sin))).collect()
}

/// Returns sum, mean and deviation in two passes, with the given summation.
fn moments<T: Real>(values: &[T], sum: fn(&[T]) -> T) -> [f64; 3] {
    let count = T::from_f64(values.len() as f64);
    let total = sum(values);
    let mean = divide(total, count);
    let squares: Vec<T> = values.iter().map(|&x| (x - mean) * (x - mean)).collect();
    [total, mean, apply(divide(sum(&squares), count), f64::sqrt)].map(Real::to_f64)
}

fn running_sum<T: Real>(values: &[T]) -> T {
    let mut sum = T::default();
    values.iter().for_each(|&value| sum += value);
    sum
}

/// Sums recursively by halves, down to short runs, as NumPy does.
fn pairwise_sum<T: Real>(values: &[T]) -> T {
    if values.len() <= 64 {
        return running_sum(values);
    }
    let (left, right) = values.split_at(values.len() / 2);
    pairwise_sum(left) + pairwise_sum(right)
}

/// Returns the moments of a matrix by one running sum of all elements, which loses digits.
pub(crate) fn running_moments(case: &Case, inputs: &[Operand]) -> Vec<Operand> {
    fn of<T: Real>(inputs: &[Operand]) -> [f64; 3] {
        moments(inputs[0].dense_slice::<T>().unwrap(), running_sum)
    }
    vec![Operand::dense(3, 1, for_dtype!(case.dtype, of(inputs)).to_vec())]
}

fn fft<T: Real + FftNum>(a: &[T], n: usize) -> Vec<Complex<T>> {
    let plan = FftPlanner::new().plan_fft_forward(n);
    let flipped = |f: &[Complex<T>]| (0..n * n).map(|k| f[(k % n) * n + k / n]).collect::<Vec<_>>();
    let mut f: Vec<Complex<T>> = a.iter().map(|&re| Complex::new(re, T::default())).collect();
    plan.process(&mut f);
    f = flipped(&f);
    plan.process(&mut f);
    flipped(&f)
}

fn cholesky_solve<T: Real>(a: &[T], b: &[T], n: usize) -> Vec<T> {
    let (mut l, mut x) = (a.to_vec(), b.to_vec());
    for i in 0..n {
        for j in 0..=i {
            for k in 0..j {
                l[i * n + j] = l[i * n + j] - l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] =
                if i == j { apply(l[i * n + i], f64::sqrt) } else { divide(l[i * n + j], l[j * n + j]) };
        }
        for k in 0..i {
            x[i] = x[i] - l[i * n + k] * x[k];
        }
        x[i] = divide(x[i], l[i * n + i]);
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] = x[i] - l[k * n + i] * x[k];
        }
        x[i] = divide(x[i], l[i * n + i]);
    }
    x
}

fn row<'a, T: Real>(m: &'a Csr, i: usize) -> impl Iterator<Item = (usize, T)> + 'a {
    let values = T::slice(&m.values).unwrap();
    (m.indptr[i] as usize..m.indptr[i + 1] as usize).map(|k| (m.indices[k] as usize, values[k]))
}

fn spgemm<T: Real>(a: &Csr, b: &Csr) -> Csr {
    let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
    for i in 0..a.rows {
        let mut sums: Vec<Option<T>> = vec![None; b.cols];
        for (k, x) in row::<T>(a, i) {
            for (j, y) in row::<T>(b, k) {
                *sums[j].get_or_insert_default() += x * y;
            }
        }
        for (j, sum) in sums.into_iter().enumerate() {
            if let Some(sum) = sum {
                indices.push(j as i32);
                values.push(sum);
            }
        }
        indptr.push(indices.len() as i32);
    }
    Csr { rows: a.rows, cols: b.cols, indptr, indices, values: T::into_values(values) }
}

fn spmv<T: Real>(a: &Csr, x: &[T]) -> Vec<T> {
    let of_row = |i| {
        let mut sum = T::default();
        row::<T>(a, i).for_each(|(j, value)| sum += value * x[j]);
        sum
    };
    (0..a.rows).map(of_row).collect()
}

macro_rules! svd {
    ($name:ident, $t:ty) => {
        fn $name(n: usize, inputs: &[Operand]) -> Vec<Operand> {
            let a = MatRef::from_row_major_slice(inputs[0].dense_slice::<$t>().unwrap(), n, n);
            let factors = a.thin_svd().unwrap();
            let (u, s, v) = (factors.U(), factors.S().column_vector(), factors.V());
            vec![
                Operand::dense(n, n, (0..n * n).map(|k| u[(k / n, k % n)]).collect()),
                Operand::dense(n, 1, (0..n).map(|k| s[k]).collect()),
                Operand::dense(n, n, (0..n * n).map(|k| v[(k % n, k / n)]).collect()),
            ]
        }
    };
}

svd!(svd_f32, f32);
svd!(svd_f64, f64);
