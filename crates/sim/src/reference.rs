//! Computes answers for the simulated device, in float64, rounded once. Meant for small sizes.

use gpubench_model::case::{Case, DType};
use gpubench_model::data::{Csr, Operand, Real};
use gpubench_model::error::CellError;
use gpubench_ops::SINES;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

/// Returns the answer of `case`, in the layout the op's check expects.
pub(crate) fn answer(case: &Case, inputs: &[Operand]) -> Result<Vec<Operand>, CellError> {
    match case.dtype {
        DType::F32 => typed::<f32>(case, inputs),
        DType::F64 => typed::<f64>(case, inputs),
    }
}

fn typed<T: Real>(case: &Case, inputs: &[Operand]) -> Result<Vec<Operand>, CellError> {
    let n = case.side();
    let input =
        |i: usize| inputs.get(i).ok_or_else(|| CellError::Failed(format!("{case} lacks operand {i}")));
    let dense = |i: usize| -> Result<Vec<f64>, CellError> {
        Ok(input(i)?.dense_slice::<T>()?.iter().map(|x| x.to_f64()).collect())
    };
    let part = match case.op.as_str() {
        "matmul" => round::<T>(n, n, &matmul(n, &dense(0)?, &dense(1)?)),
        "elementwise" => {
            let pairs = dense(0)?.into_iter().zip(dense(1)?);
            round::<T>(n, n, &pairs.map(|(a, b)| a * b + a.sin() + b.cos()).collect::<Vec<_>>())
        }
        "sin" | "host-loop" => sines::<T>(n, &dense(0)?, 1),
        "reduction" => Operand::dense(3, 1, statistics(&dense(0)?)),
        "fft" => spectrum::<T>(n, &dense(0)?),
        "solve" => round::<T>(n, 1, &solve(n, &dense(0)?, &dense(1)?)),
        "spgemm" => spgemm::<T>(input(0)?.as_csr()?, input(1)?.as_csr()?)?,
        "spmv" => round::<T>(n, 1, &spmv::<T>(input(0)?.as_csr()?, &dense(1)?)?),
        "svd" => return svd::<T>(n, &dense(0)?),
        "transfer" => input(0)?.clone(),
        "overhead" => Operand::dense(1, 1, vec![case.n as f64]),
        "transfer-loop" => sines::<T>(n, &dense(0)?, SINES),
        other => return Err(CellError::Failed(format!("the simulated device cannot do {other}"))),
    };
    Ok(vec![part])
}

fn round<T: Real>(rows: usize, cols: usize, values: &[f64]) -> Operand {
    Operand::dense(rows, cols, values.iter().map(|&x| T::from_f64(x)).collect())
}

/// Returns each element after `times` applications of the sine.
fn sines<T: Real>(n: usize, a: &[f64], times: usize) -> Operand {
    let values: Vec<f64> = a.iter().map(|&a| (0..times).fold(a, |x, _| x.sin())).collect();
    round::<T>(n, n, &values)
}

fn matmul(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for (row, out) in a.chunks(n).zip(c.chunks_mut(n)) {
        for (x, b_row) in row.iter().zip(b.chunks(n)) {
            out.iter_mut().zip(b_row).for_each(|(sum, y)| *sum += x * y);
        }
    }
    c
}

/// Returns sum, mean and population standard deviation, computed in two passes.
fn statistics(values: &[f64]) -> Vec<f64> {
    let count = values.len() as f64;
    let sum = pairwise_sum(values);
    let mean = sum / count;
    let squares: Vec<f64> = values.iter().map(|x| (x - mean).powi(2)).collect();
    vec![sum, mean, (pairwise_sum(&squares) / count).sqrt()]
}

/// Returns the pairwise sum, whose rounding error hardly grows with the number of values.
fn pairwise_sum(values: &[f64]) -> f64 {
    if values.len() <= 64 {
        return values.iter().sum();
    }
    let (left, right) = values.split_at(values.len() / 2);
    pairwise_sum(left) + pairwise_sum(right)
}

fn spectrum<T: Real>(n: usize, a: &[f64]) -> Operand {
    let plan = FftPlanner::new().plan_fft_forward(n);
    let mut rows: Vec<Complex<f64>> = a.iter().map(|&x| Complex::new(x, 0.0)).collect();
    plan.process(&mut rows);
    let mut columns = transpose(n, &rows);
    plan.process(&mut columns);
    let full = transpose(n, &columns);
    let values = full.iter().map(|z| Complex { re: T::from_f64(z.re), im: T::from_f64(z.im) }).collect();
    Operand::Dense(gpubench_model::data::Dense { rows: n, cols: n, values: T::into_complex_values(values) })
}

fn transpose<V: Copy>(n: usize, a: &[V]) -> Vec<V> {
    (0..n * n).map(|k| a[k % n * n + k / n]).collect()
}

/// Solves with Cholesky's factor of a symmetric positive definite matrix.
fn solve(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut l = a.to_vec();
    for j in 0..n {
        for i in j..n {
            let dot: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let rest = l[i * n + j] - dot;
            l[i * n + j] = if i == j { rest.sqrt() } else { rest / l[j * n + j] };
        }
    }
    let mut x = b.to_vec();
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| l[i * n + k] * x[k]).sum();
        x[i] = (x[i] - dot) / l[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
        x[i] = (x[i] - dot) / l[i * n + i];
    }
    x
}

/// Returns the stored entries of row `i`: column and value.
fn row<'a, T: Real>(m: &'a Csr, values: &'a [T], i: usize) -> impl Iterator<Item = (usize, f64)> + 'a {
    let range = m.indptr[i] as usize..m.indptr[i + 1] as usize;
    range.map(move |k| (m.indices[k] as usize, values[k].to_f64()))
}

fn spmv<T: Real>(a: &Csr, x: &[f64]) -> Result<Vec<f64>, CellError> {
    let values = T::slice(&a.values)?;
    Ok((0..a.rows).map(|i| row(a, values, i).map(|(j, v)| v * x[j]).sum()).collect())
}

fn spgemm<T: Real>(a: &Csr, b: &Csr) -> Result<Operand, CellError> {
    let (a_values, b_values) = (T::slice(&a.values)?, T::slice(&b.values)?);
    let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
    let mut sums: Vec<Option<f64>> = vec![None; b.cols];
    for i in 0..a.rows {
        for (k, x) in row(a, a_values, i) {
            for (j, y) in row(b, b_values, k) {
                sums[j] = Some(sums[j].unwrap_or(0.0) + x * y);
            }
        }
        for (j, sum) in sums.iter_mut().enumerate() {
            if let Some(sum) = sum.take() {
                indices.push(i32::try_from(j).map_err(|e| CellError::call("column index", e))?);
                values.push(T::from_f64(sum));
            }
        }
        indptr.push(i32::try_from(indices.len()).map_err(|e| CellError::call("stored entries", e))?);
    }
    Ok(Operand::Csr(Csr { rows: a.rows, cols: b.cols, indptr, indices, values: T::into_values(values) }))
}

fn svd<T: Real>(n: usize, a: &[f64]) -> Result<Vec<Operand>, CellError> {
    let a = faer::Mat::from_fn(n, n, |i, j| a[i * n + j]);
    let svd = a.thin_svd().map_err(|error| CellError::Failed(format!("faer thin_svd: {error:?}")))?;
    let entries = |at: &dyn Fn(usize, usize) -> f64| (0..n * n).map(|k| at(k / n, k % n)).collect::<Vec<_>>();
    let (left, right) = (svd.U(), svd.V());
    let singular: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    Ok(vec![
        round::<T>(n, n, &entries(&|i, j| left[(i, j)])),
        round::<T>(n, 1, &singular),
        round::<T>(n, n, &entries(&|i, j| right[(j, i)])),
    ])
}
