//! The svd variant `gram` is right for matrices within its range and for those that it passes on to cuSOLVER, and
//! `jacobi` for small ones.
//!
//! The judge sees the method used: from AᵀA alone, U is not orthogonal for ill-conditioned A, and small singular
//! values are off by the square root of the rounding.

use gpubench::backend::Backend;
use gpubench::case::{Cache, Case, DType};
use gpubench::data::Operand;
use gpubench::error::CellError;
use gpubench::op;

use crate::{assert_none, fault, median, start_alone, steady};

const SIZES: [usize; 6] = [1, 2, 31, 100, 333, 512];

/// An execution that used another method must not affect the next, and the later ones launch graphs.
const CACHES: [Cache; 3] = [Cache::Cold, Cache::Hot, Cache::Hot];

/// A row-major matrix.
struct Matrix {
    name: &'static str,
    elements: Vec<f64>,
}

/// Uniform numbers in [0, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn many(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }
}

fn transposed(n: usize, a: &[f64]) -> Vec<f64> {
    (0..n * n).map(|i| a[i % n * n + i / n]).collect()
}

/// Reflects the columns of an `n x n` matrix three times, in random directions.
fn reflected(n: usize, mut a: Vec<f64>, random: &mut Random) -> Vec<f64> {
    for _ in 0..3 {
        let v: Vec<f64> = random.many(n).iter().map(|x| x - 0.5).collect();
        let square: f64 = v.iter().map(|x| x * x).sum();
        let mut products = vec![0.0; n];
        for (row, vi) in a.chunks(n).zip(&v) {
            row.iter().zip(&mut products).for_each(|(x, product)| *product += vi * x);
        }
        for (row, vi) in a.chunks_mut(n).zip(&v) {
            row.iter_mut().zip(&products).for_each(|(x, product)| *x -= 2.0 * vi * product / square);
        }
    }
    a
}

/// A matrix with these singular values, which must descend.
fn with_values(name: &'static str, values: Vec<f64>) -> Matrix {
    let (n, mut random) = (values.len(), Random(7));
    let diagonal = (0..n * n).map(|i| if i / n == i % n { values[i / n] } else { 0.0 }).collect();
    let left = reflected(n, diagonal, &mut random);
    let elements = reflected(n, transposed(n, &left), &mut random);
    Matrix { name, elements }
}

/// Values from 1 down to `1 / condition` in equal ratios.
fn geometric(n: usize, condition: f64) -> Vec<f64> {
    (0..n).map(|i| condition.powf(-(i as f64) / (n as f64 - 1.0).max(1.0))).collect()
}

fn matrices(n: usize) -> Vec<Matrix> {
    let mut random = Random(n as u64);
    let uniform = random.many(n * n);
    let scaled = |name, scale: &dyn Fn(usize, usize) -> f64| Matrix {
        name,
        elements: uniform.iter().enumerate().map(|(i, x)| x * scale(i / n, i % n)).collect(),
    };
    let grade = |i: usize| 10f64.powf(-8.0 * i as f64 / n as f64);
    let counted = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect();
    vec![
        scaled("uniform", &|_, _| 1.0),
        scaled("large", &|_, _| 1e30),
        scaled("small", &|_, _| 1e-30),
        scaled("close to subnormal", &|_, _| 1e-36),
        scaled("graded rows", &|i, _| grade(i)),
        scaled("graded columns", &|_, j| grade(j)),
        scaled("empty columns", &|_, j| if j < 2 { 0.0 } else { 1.0 }),
        with_values("condition 1e3", geometric(n, 1e3)),
        with_values("condition 1e6", geometric(n, 1e6)),
        with_values("condition 1e7", geometric(n, 1e7)),
        with_values("condition 1e9", geometric(n, 1e9)),
        with_values("condition 1e12", geometric(n, 1e12)),
        with_values("one small value", counted(&|i| if i + 1 < n || n == 1 { 1.0 } else { 1e-12 })),
        with_values("rank 1", counted(&|i| if i == 0 { 1.0 } else { 0.0 })),
        with_values("half the rank", counted(&|i| if i < n.div_ceil(2) { 1.0 } else { 0.0 })),
        with_values("zero", counted(&|_| 0.0)),
        with_values("orthogonal", counted(&|_| 1.0)),
        with_values("repeated", counted(&|i| ((n - i) as f64 / 10.0).ceil())),
        with_values("nearly repeated", counted(&|i| 2.0 - i as f64 * 1e-9)),
        Matrix {
            name: "diagonal",
            elements: (0..n * n).map(|i| if i / n == i % n { (i % n + 1) as f64 } else { 0.0 }).collect(),
        },
    ]
}

#[test]
fn every_matrix_gets_orthogonal_factors_that_make_it() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let mut faults = Vec::new();
    let small = (1..=32).chain([33, 40, 47, 63, 64]).map(|n| ("jacobi", n));
    for (variant, n) in SIZES.map(|n| ("gram", n)).into_iter().chain(small) {
        for matrix in matrices(n) {
            for &dtype in DType::REAL {
                let case = Case::square("svd", n as u64, dtype, 42);
                let inputs = [match dtype {
                    DType::F64 => Operand::dense(n, n, matrix.elements.clone()),
                    _ => {
                        Operand::dense(n, n, matrix.elements.iter().map(|x| *x as f32).collect::<Vec<f32>>())
                    }
                }];
                let found = fault(&mut *backend, variant, &case, &inputs, &CACHES);
                faults.extend(found.map(|fault| format!("{}: {fault}", matrix.name)));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn rotations_decompose_batches_of_every_small_shape() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let mut faults = Vec::new();
    for (dtype, m) in DType::REAL.iter().flat_map(|dtype| (1..=64).map(move |m| (*dtype, m))) {
        for n in [1 + m * 29 % 64, m] {
            let shape =
                serde_json::from_str(&format!(r#"{{"m":{m},"n":{n},"batch":{}}}"#, 2 + m % 5)).unwrap();
            let case = Case { shape: Some(shape), ..Case::square("svd", m.max(n), dtype, 42) };
            let inputs = op::find("svd").unwrap().inputs(&case);
            faults.extend(fault(&mut *backend, "jacobi", &case, &inputs, &CACHES));
        }
    }
    assert_none(&faults);
}

/// Sizes around the borders of the forms of the reduction to tridiagonal form.
const BORDERS: [u64; 11] = [128, 129, 513, 1000, 1024, 1025, 1777, 2048, 2049, 2177, 3001];

#[test]
fn sizes_around_the_borders_of_the_reduction_pass_the_judge() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let mut faults = Vec::new();
    for (n, dtype) in BORDERS.iter().flat_map(|n| DType::REAL.iter().map(move |dtype| (*n, *dtype))) {
        let case = Case::square("svd", n, dtype, 42);
        let inputs = op::find("svd").unwrap().inputs(&case);
        faults.extend(fault(&mut *backend, "gram", &case, &inputs, &CACHES));
    }
    assert_none(&faults);
}

/// Median device seconds of an execution on a matrix of size 512.
fn device_s(backend: &mut dyn Backend, name: &str) -> f64 {
    const N: usize = 512;
    let matrix = matrices(N).into_iter().find(|matrix| matrix.name == name).unwrap();
    let elements: Vec<f32> = matrix.elements.iter().map(|x| *x as f32).collect();
    let case = Case::square("svd", N as u64, DType::F32, 42);
    let mut job = backend.prepare("gram", &case, &mut [Operand::dense(N, N, elements)]).unwrap();
    median(steady(backend, &mut *job, Cache::Hot).into_iter().filter_map(|sample| sample.device_s))
}

#[test]
fn the_own_eigensolver_is_tried_first_and_cusolver_second() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    // The Gram matrix loses vanishing values, so the library's routines run after ours.
    let [uniform, singular] = ["uniform", "half the rank"].map(|name| device_s(&mut *backend, name));
    assert!(uniform < 0.6 * singular, "{uniform} s and {singular} s");
}

#[test]
fn numbers_whose_squares_overflow_are_rejected_with_a_fix() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let case = Case::square("svd", 2, DType::F64, 42);
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        let inputs = [Operand::dense(2, 2, vec![1.0, bad, 0.0, 1.0])];
        let refused = backend.prepare("gram", &case, &mut inputs.clone()).err().unwrap();
        assert!(matches!(refused, CellError::Unavailable(_)), "{bad}: {refused}");
    }
}
