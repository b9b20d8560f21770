//! Computes right answers at the sizes of the article, where the simplest algorithms take too long.

use faer::Mat;
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::Solve;
use faer::{Accum, MatMut, MatRef, Par};
use gpubench_model::case::{Case, DType};
use gpubench_model::data::{Operand, Real};

use super::naive;
use crate::judge;

/// The answer of the case's op: sums of products and factors of faer, and a reduction joined in float64.
pub(crate) fn answer(case: &Case, inputs: &[Operand]) -> Vec<Operand> {
    match case.op.as_str() {
        "matmul" => vec![product(case, inputs)],
        "solve" => for_dtype!(case.dtype, solution(case, inputs)),
        "reduction" => for_dtype!(case.dtype, moments(inputs)),
        _ => naive::answer(case, inputs),
    }
}

fn product(case: &Case, inputs: &[Operand]) -> Operand {
    macro_rules! of {
        ($t:ty) => {{
            let n = case.side();
            let [a, b] = [0, 1].map(|k| inputs[k].dense_slice::<$t>().unwrap());
            let mut c = vec![<$t>::default(); n * n];
            matmul(
                MatMut::from_row_major_slice_mut(&mut c, n, n),
                Accum::Replace,
                MatRef::from_row_major_slice(a, n, n),
                MatRef::from_row_major_slice(b, n, n),
                1.0,
                Par::rayon(0),
            );
            Operand::dense(n, n, c)
        }};
    }
    match case.dtype {
        DType::F32 => of!(f32),
        DType::F64 => of!(f64),
    }
}

/// Solved in float64 and rounded once; by elimination, since A of fewer bits need not be positive definite.
fn solution<T: Real>(case: &Case, inputs: &[Operand]) -> Vec<Operand> {
    let n = case.side();
    let [a, b] = [0, 1].map(|k| inputs[k].dense_slice::<T>().unwrap());
    let a = Mat::from_fn(n, n, |i, j| a[i * n + j].to_f64());
    let mut x = Mat::from_fn(n, 1, |i, _| b[i].to_f64());
    a.partial_piv_lu().solve_in_place(&mut x);
    vec![Operand::dense(n, 1, (0..n).map(|i| T::from_f64(x[(i, 0)])).collect::<Vec<T>>())]
}

fn moments<T: Real>(inputs: &[Operand]) -> Vec<Operand> {
    vec![Operand::dense(3, 1, judge::moments(inputs[0].dense_slice::<T>().unwrap()).to_vec())]
}
