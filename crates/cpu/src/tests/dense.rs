//! Every dense variant whose library is present, against float64 arithmetic written out.

use gpubench_backend::Job;
use gpubench_model::case::DType;
use gpubench_model::data::generator::Stream;
use gpubench_model::data::{Real, Values};
use gpubench_model::error::CellError;

use super::with_stack;
use crate::*;

const SIDES: [usize; 5] = [1, 2, 31, 100, 101];

fn case(op: &str, n: usize, dtype: DType) -> Case {
    Case { op: op.to_owned(), n: n as u64, dtype, density: None, seed: 5 }
}

fn in_dtype(dtype: DType, rows: usize, cols: usize, values: &[f64]) -> Operand {
    match dtype {
        DType::F32 => {
            Operand::dense(rows, cols, values.iter().map(|&x| <f32 as Real>::from_f64(x)).collect())
        }
        DType::F64 => Operand::dense(rows, cols, values.to_vec()),
    }
}

fn uniform(dtype: DType, operand: u64, rows: usize, cols: usize) -> Operand {
    in_dtype(dtype, rows, cols, &Stream::new(5, operand).uniforms::<f64>(rows * cols))
}

/// Row-major elements in float64, after a look at the shape.
fn matrix(operand: &Operand, rows: usize, cols: usize) -> Vec<f64> {
    let dense = operand.as_dense().unwrap();
    assert_eq!((dense.rows, dense.cols), (rows, cols));
    match &dense.values {
        Values::F32(v) => v.iter().map(|&x| f64::from(x)).collect(),
        Values::F64(v) => v.clone(),
        _ => panic!("complex elements"),
    }
}

fn product(a: &[f64], b: &[f64], n: usize, cols: usize) -> Vec<f64> {
    let entry = |index: usize| (0..n).map(|k| a[index / cols * n + k] * b[k * cols + index % cols]).sum();
    (0..n * cols).map(entry).collect()
}

fn transposed(a: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|index| a[index % n * n + index / n]).collect()
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|index| f64::from(u8::from(index / n == index % n))).collect()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, |worst, d| if d > worst || d.is_nan() { d } else { worst })
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |worst, x| worst.max(x.abs()))
}

fn inputs(op: &str, n: usize, dtype: DType) -> Vec<Operand> {
    match op {
        "matmul" => vec![uniform(dtype, 0, n, n), uniform(dtype, 1, n, n)],
        "svd" => vec![uniform(dtype, 0, n, n)],
        _ => {
            let x = Stream::new(5, 0).uniforms::<f64>(n * n);
            let gram = product(&transposed(&x, n), &x, n, n);
            let spd: Vec<f64> = gram.iter().zip(identity(n)).map(|(g, i)| g + i).collect();
            vec![in_dtype(dtype, n, n, &spd), uniform(dtype, 1, n, 1)]
        }
    }
}

/// The error of an answer, in units of `n` times the unit roundoff; a right one has a few.
fn error(op: &str, n: usize, dtype: DType, inputs: &[Operand], answer: &[Operand]) -> f64 {
    let unit = n as f64 * dtype.unit_roundoff();
    let a = matrix(&inputs[0], n, n);
    match op {
        "matmul" => {
            let exact = product(&a, &matrix(&inputs[1], n, n), n, n);
            largest_difference(&matrix(&answer[0], n, n), &exact) / largest(&exact) / unit
        }
        "svd" => {
            let (u, s, vt) = (matrix(&answer[0], n, n), matrix(&answer[1], n, 1), matrix(&answer[2], n, n));
            assert!(s.is_sorted_by(|x, y| x >= y) && s.iter().all(|&x| x >= 0.0));
            let scaled: Vec<f64> = u.iter().enumerate().map(|(index, x)| x * s[index % n]).collect();
            let residual = largest_difference(&product(&scaled, &vt, n, n), &a) / s[0];
            let of_u = largest_difference(&product(&transposed(&u, n), &u, n, n), &identity(n));
            let of_v = largest_difference(&product(&vt, &transposed(&vt, n), n, n), &identity(n));
            residual.max(of_u).max(of_v) / unit
        }
        _ => {
            let (x, b) = (matrix(&answer[0], n, 1), matrix(&inputs[1], n, 1));
            let residual = largest_difference(&product(&a, &x, n, 1), &b);
            residual / (n as f64 * largest(&a) * largest(&x) + largest(&b)) / unit
        }
    }
}

fn run(job: &mut dyn Job) -> Vec<Operand> {
    job.reset().unwrap();
    job.execute().unwrap();
    job.answer().unwrap()
}

#[expect(clippy::print_stderr, reason = "says which library's variants were not tested")]
fn skipped(listed: &AvailableVariant, missing: &Unavailable) {
    eprintln!("skipped {}: {}", listed.title(), missing.reason);
    assert!(missing.fix.is_some());
}

fn of_ops(ops: &[&str]) -> Vec<AvailableVariant> {
    let listed = ops::list(&libraries(&Options::default())).into_iter();
    listed.filter(|listed| ops.contains(&listed.variant.op.as_ref())).collect()
}

const DENSE: &[&str] = &["matmul", "solve", "svd"];

#[test]
fn every_dense_variant_is_right_at_awkward_sizes() {
    with_stack(|| {
        let cpu = Cpu { threads: 2 };
        for kernel in &of_ops(DENSE) {
            for (n, &dtype) in SIDES.iter().flat_map(|&n| DType::ALL.iter().map(move |dtype| (n, dtype))) {
                let op = kernel.variant.op.as_ref();
                let case = case(op, n, dtype);
                let inputs = inputs(op, n, dtype);
                let mut job = match kernel.prepare(&cpu, &case, &mut inputs.clone()) {
                    Ok(job) => job,
                    Err(CellError::Unavailable(missing)) => {
                        skipped(kernel, &missing);
                        break;
                    }
                    Err(problem) => panic!("{case} {}: {problem}", kernel.variant.name),
                };
                let choices = job.traits.thread_choices.clone();
                for threads in choices.into_iter().rev().map(Some).chain([None, None]) {
                    threads.into_iter().for_each(|threads| job.use_threads(threads));
                    let error = error(op, n, dtype, &inputs, &run(&mut job.job));
                    assert!(error < 10.0, "{case} {} on {threads:?} threads: {error}", kernel.variant.name);
                }
            }
        }
    });
}

#[test]
fn faer_and_ndarray_need_no_library() {
    let cpu = Cpu { threads: 1 };
    let kernels = of_ops(DENSE);
    for kernel in kernels.iter().filter(|k| ["faer", "ndarray"].contains(&k.variant.name.as_ref())) {
        let op = kernel.variant.op.as_ref();
        let mut inputs = inputs(op, 5, DType::F32);
        assert!(kernel.prepare(&cpu, &case(op, 5, DType::F32), &mut inputs).is_ok());
    }
}

#[test]
fn jobs_of_several_libraries_take_turns() {
    with_stack(|| {
        let cpu = Cpu { threads: 2 };
        let mut jobs: Vec<(&str, Vec<Operand>, Box<Prepared>)> = vec![];
        let kernels = of_ops(&["solve", "svd"]);
        for kernel in &kernels {
            let op = kernel.variant.op.as_ref();
            let inputs = inputs(op, 60, DType::F64);
            if let Ok(job) = kernel.prepare(&cpu, &case(op, 60, DType::F64), &mut inputs.clone()) {
                jobs.push((op, inputs, job));
            }
        }
        for _ in 0..3 {
            for (op, inputs, job) in &mut jobs {
                assert!(error(op, 60, DType::F64, inputs, &run(&mut job.job)) < 10.0);
            }
        }
    });
}

#[test]
fn a_matrix_that_is_not_positive_definite_or_for_lu_singular_is_a_failed_call() {
    with_stack(|| {
        for (dtype, is_lu, matrix, right) in
            [(DType::F64, false, [1.0, 2.0, 2.0, 1.0], [1.0, 1.0]), (DType::F32, true, [1.0; 4], [1.0, 2.0])]
        {
            let inputs = [in_dtype(dtype, 2, 2, &matrix), in_dtype(dtype, 2, 1, &right)];
            for kernel in of_ops(&["solve"]).iter().filter(|k| k.variant.name.ends_with("-lu") == is_lu) {
                let (case, mut inputs) = (case("solve", 2, dtype), inputs.clone());
                if let Ok(mut job) = kernel.prepare(&Cpu { threads: 1 }, &case, &mut inputs) {
                    assert!(matches!(job.execute(), Err(CellError::Failed(_))), "{}", kernel.variant.name);
                }
            }
        }
    });
}

#[test]
fn a_cholesky_factorisation_of_several_blocks_solves_and_fails_in_any_of_them() {
    // Two whole blocks and a part of one.
    const N: usize = 1_100;
    with_stack(|| {
        let cpu = Cpu { threads: 2 };
        let noise = Stream::new(5, 0).uniforms::<f64>(N * N);
        let entry = |(i, j): (usize, usize)| if i == j { N as f64 } else { noise[i.max(j) * N + i.min(j)] };
        let mut a: Vec<f64> = (0..N * N).map(|index| entry((index / N, index % N))).collect();
        let b = Stream::new(5, 1).uniforms::<f64>(N);
        let case = case("solve", N, DType::F64);
        for blocked in of_ops(&["solve"]).iter().filter(|k| k.variant.name.ends_with("-blocked")) {
            let inputs = |a: &[f64]| [in_dtype(DType::F64, N, N, a), in_dtype(DType::F64, N, 1, &b)];
            let Ok(mut job) = blocked.prepare(&cpu, &case, &mut inputs(&a)) else { continue };
            job.execute().unwrap();
            let x = matrix(&job.answer().unwrap()[0], N, 1);
            assert!(largest_difference(&product(&a, &x, N, 1), &b) < 1e-13);
            for broken in [3, 700, N - 1] {
                let whole = std::mem::replace(&mut a[broken * N + broken], -1.0);
                let mut job = blocked.prepare(&cpu, &case, &mut inputs(&a)).unwrap();
                assert!(matches!(job.execute(), Err(CellError::Failed(_))), "{broken}");
                a[broken * N + broken] = whole;
            }
        }
    });
}

#[test]
fn every_librarys_variants_are_named_by_its_finding() {
    let findings = |library: Option<&str>| {
        (REGISTRATION.findings)(&Options { library: library.map(str::to_owned), ..Options::default() })
    };
    assert_eq!(findings(None), [], "a worker without a library looks for none");
    for (name, word) in [("OpenBLAS", "openblas"), ("MKL", "mkl")] {
        let [finding] = &findings(Some(word))[..] else { panic!("not one finding about {word}") };
        assert_eq!(finding.name, name);
        for op in ["matmul", "solve", "svd"] {
            assert!(finding.serves.contains(&format!("{op}/{word}")), "{:?}", finding.serves);
        }
    }
    for library in gpubench_backend::libraries(&REGISTRATION, &Options::default()) {
        let found = findings(Some(&library));
        assert!(!found.is_empty(), "{library}");
        for finding in found {
            assert!(!finding.serves.is_empty() && finding.path.is_some() != finding.problem.is_some());
        }
    }
}

#[test]
fn a_library_that_is_named_is_the_vendors_preferred_one() {
    let found = libraries(&Options::default());
    // With several libraries, the last one, which is not preferred.
    let Some(file) = found.iter().rev().flat_map(|library| library.files()).find(|file| file.is_absolute())
    else {
        return;
    };
    let named = libraries(&Options { blas: vec![file.clone()], ..Options::default() });
    assert!(named.iter().any(|library| library.is_preferred() && library.files() == [file.clone()]));
    check_library(file).unwrap();
}
