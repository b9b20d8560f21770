//! The dense variants on every number of threads, taking turns, and with matrices that have no solution; and the
//! findings about their libraries.

use super::*;

fn case(op: &str, n: usize, dtype: DType) -> Case {
    Case { op: op.to_owned(), n: n as u64, dtype, density: None, seed: 5 }
}

fn inputs(case: &Case) -> Vec<Operand> {
    op::find(&case.op).unwrap().inputs(case)
}

fn in_dtype(dtype: DType, rows: usize, cols: usize, values: &[f64]) -> Operand {
    match dtype {
        DType::F32 => Operand::dense(rows, cols, values.iter().map(|&x| x as f32).collect()),
        DType::F64 => Operand::dense(rows, cols, values.to_vec()),
    }
}

fn run(job: &mut Prepared) -> Vec<Operand> {
    job.reset().unwrap();
    job.execute().unwrap();
    job.answer().unwrap()
}

fn of_ops(ops: &[&str]) -> Vec<AvailableVariant> {
    let listed = ops::list(&libraries(&Options::default())).into_iter();
    listed.filter(|listed| ops.contains(&listed.variant.op.as_ref())).collect()
}

#[test]
fn every_dense_variant_is_right_at_awkward_sizes() {
    for op in ["matmul", "solve", "svd"] {
        assert_right_at(op, &TEST_SIDES[..5], &[None]);
    }
}

#[test]
fn faer_and_ndarray_need_no_library() {
    for kernel in of_ops(&["matmul", "solve", "svd"]) {
        let case = case(&kernel.variant.op, 5, DType::F32);
        if ["faer", "ndarray"].contains(&kernel.variant.name.as_ref()) {
            assert!(kernel.prepare(1, &case, &mut inputs(&case)).is_ok());
        }
    }
}

#[test]
fn jobs_of_several_libraries_take_turns() {
    with_stack(|| {
        let mut jobs = vec![];
        for kernel in of_ops(&["solve", "svd"]) {
            let case = case(&kernel.variant.op, 60, DType::F64);
            let inputs = inputs(&case);
            if let Ok(job) = kernel.prepare(2, &case, &mut inputs.clone()) {
                jobs.push((kernel.variant, case, inputs, job));
            }
        }
        for _ in 0..3 {
            for (variant, case, inputs, job) in &mut jobs {
                assert_right(case, variant, inputs, &run(job));
            }
        }
    });
}

#[test]
fn a_matrix_that_cannot_be_factorised_is_a_failed_call() {
    with_stack(|| {
        for (dtype, is_lu, matrix, right) in
            [(DType::F64, false, [1.0, 2.0, 2.0, 1.0], [1.0, 1.0]), (DType::F32, true, [1.0; 4], [1.0, 2.0])]
        {
            let inputs = [in_dtype(dtype, 2, 2, &matrix), in_dtype(dtype, 2, 1, &right)];
            for kernel in of_ops(&["solve"]).iter().filter(|k| k.variant.name.ends_with("-lu") == is_lu) {
                let (case, mut inputs) = (case("solve", 2, dtype), inputs.clone());
                if let Ok(mut job) = kernel.prepare(1, &case, &mut inputs) {
                    assert!(matches!(job.execute(), Err(CellError::Failed(_))), "{}", kernel.variant.name);
                }
            }
        }
    });
}

#[test]
fn cholesky_in_several_blocks_solves_and_fails_in_any_of_them() {
    // Two whole blocks and a part of one.
    const N: usize = 1_100;
    with_stack(|| {
        let noise = Stream::new(5, 0).uniforms::<f64>(N * N);
        let entry = |(i, j): (usize, usize)| if i == j { N as f64 } else { noise[i.max(j) * N + i.min(j)] };
        let mut a: Vec<f64> = (0..N * N).map(|index| entry((index / N, index % N))).collect();
        let b = Stream::new(5, 1).uniforms::<f64>(N);
        let case = case("solve", N, DType::F64);
        for blocked in of_ops(&["solve"]).iter().filter(|k| k.variant.name.ends_with("-blocked")) {
            let inputs = |a: &[f64]| [in_dtype(DType::F64, N, N, a), in_dtype(DType::F64, N, 1, &b)];
            let Ok(mut job) = blocked.prepare(2, &case, &mut inputs(&a)) else { continue };
            job.execute().unwrap();
            let answer = job.answer().unwrap();
            let x = answer[0].dense_slice::<f64>().unwrap();
            for (row, b) in a.chunks(N).zip(&b) {
                let product: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
                assert!((product - b).abs() < 1e-13);
            }
            for broken in [3, 700, N - 1] {
                let whole = std::mem::replace(&mut a[broken * N + broken], -1.0);
                let mut job = blocked.prepare(2, &case, &mut inputs(&a)).unwrap();
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
