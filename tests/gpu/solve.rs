//! The Cholesky kernels on small, ill-conditioned, badly scaled and indefinite systems, and on infinities and NaN.

use gpubench::backend::Backend;
use gpubench::case::{Cache, Case, DType};
use gpubench::data::{Operand, Real};
use gpubench::error::CellError;
use gpubench::op;

use crate::{answer, assert_none, fault, skipped, start_alone};

const VARIANTS: [&str; 2] = ["cholesky", "cholesky-refined"];

fn case(n: usize, dtype: DType) -> Case {
    Case::square("solve", n as u64, dtype, 42)
}

/// Makes A from its entries and b, rounded to the element type.
fn system(
    n: usize,
    dtype: DType,
    entry: &dyn Fn(usize, usize) -> f64,
    b: &dyn Fn(usize) -> f64,
) -> Vec<Operand> {
    fn rounded<T: Real>(
        n: usize,
        entry: &dyn Fn(usize, usize) -> f64,
        b: &dyn Fn(usize) -> f64,
    ) -> Vec<Operand> {
        let a = (0..n * n).map(|at| T::from_f64(entry(at / n, at % n))).collect::<Vec<_>>();
        let b = (0..n).map(|i| T::from_f64(b(i))).collect::<Vec<_>>();
        vec![Operand::dense(n, n, a), Operand::dense(n, 1, b)]
    }
    match dtype {
        DType::F64 => rounded::<f64>(n, entry, b),
        _ => rounded::<f32>(n, entry, b),
    }
}

/// Later executions must find what the first has left.
const CACHES: [Cache; 3] = [Cache::Cold, Cache::Hot, Cache::Cold];

fn solved(
    backend: &mut dyn Backend,
    variant: &str,
    case: &Case,
    inputs: &[Operand],
) -> Result<Vec<Operand>, CellError> {
    answer(backend, variant, case, inputs, &CACHES)
}

fn assert_solved(systems: &dyn Fn(DType) -> Vec<(usize, Vec<Operand>)>) {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let mut faults = Vec::new();
    for dtype in DType::REAL {
        for (n, inputs) in systems(*dtype) {
            for variant in VARIANTS {
                faults.extend(fault(&mut *backend, variant, &case(n, *dtype), &inputs, &CACHES));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn every_small_size_and_some_large_ones_are_solved() {
    let sizes = (1..=70).chain([127, 128, 129, 192, 193, 333, 1000, 2048, 2177, 3001]);
    let sizes: Vec<usize> = sizes.collect();
    assert_solved(&|dtype| {
        let op = op::find("solve").unwrap();
        sizes.iter().map(|&n| (n, op.inputs(&case(n, dtype)))).collect()
    });
}

#[test]
fn ill_conditioned_systems_have_small_backward_errors() {
    // Hilbert's matrix, shifted as far from singular as the factorisation needs.
    assert_solved(&|dtype| {
        let shift = 60.0 * dtype.unit_roundoff();
        let entry = move |i: usize, j: usize| 1.0 / (i + j + 1) as f64 + if i == j { shift } else { 0.0 };
        [5, 12, 40, 100, 333].map(|n| (n, system(n, dtype, &entry, &|i| 1.0 / (i + 1) as f64))).into()
    });
}

#[test]
fn rows_of_very_different_scales_are_solved() {
    // Powers of two from 2^-40 to 2^40 in mixed order, so that scaling rounds nothing.
    let scale = |i: usize| f64::from((i * 37 % 81) as i32 - 40).exp2();
    assert_solved(&|dtype| {
        let coupled = |i: usize, j: usize| scale(i) * scale(j) * if i == j { 2.0 } else { 1.0 };
        let diagonal = |i: usize, j: usize| if i == j { scale(i) } else { 0.0 };
        let ones = |_: usize| 1.0;
        let systems = [1, 33, 64, 100, 200]
            .into_iter()
            .flat_map(|n| [(n, system(n, dtype, &coupled, &ones)), (n, system(n, dtype, &diagonal, &ones))]);
        systems.collect()
    });
}

/// Checks that the solve fails at the leading minor of that order.
fn assert_minor(backend: &mut dyn Backend, variant: &str, case: &Case, inputs: &[Operand], order: usize) {
    let cell = format!("{case} cuda/{variant}");
    let expected = format!("the matrix is not positive definite in this arithmetic: leading minor {order};");
    match solved(backend, variant, case, inputs) {
        Err(CellError::Unavailable(missing)) => skipped(&cell, &missing.reason),
        Err(error) => assert!(error.to_string().starts_with(&expected), "{cell}: {error}"),
        Ok(_) => panic!("{cell}: solved, though minor {order} is not positive"),
    }
}

#[test]
fn an_indefinite_matrix_is_reported_with_its_leading_minor() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    const N: usize = 150;
    for dtype in DType::REAL {
        let case = case(N, *dtype);
        for variant in VARIANTS {
            for bad in [0, 1, 31, 32, 63, 64, 100, 127, 128, 149] {
                let entry = |i: usize, j: usize| match (i == j, i == bad) {
                    (true, true) => -1.0,
                    (true, false) => 4.0 * N as f64,
                    _ => 1.0,
                };
                let inputs = system(N, *dtype, &entry, &|_| 1.0);
                assert_minor(&mut *backend, variant, &case, &inputs, bad + 1);
            }
        }
    }
}

/// The case of `batch` systems of `n` unknowns with `rhs` right-hand sides.
fn batch(n: usize, rhs: usize, batch: usize, dtype: DType) -> Case {
    let shape = format!(r#"{{"n":{n},"rhs":{rhs},"batch":{batch}}}"#);
    Case { shape: Some(serde_json::from_str(&shape).unwrap()), ..case(n, dtype) }
}

#[test]
fn batches_of_every_small_size_are_solved() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let mut faults = Vec::new();
    for (dtype, n) in DType::REAL.iter().flat_map(|dtype| (1..=64).map(move |n| (*dtype, n))) {
        let case = batch(n, 1 + n % 6, 2 + n * 7 % 40, dtype);
        let inputs = op::find("solve").unwrap().inputs(&case);
        faults.extend(fault(&mut *backend, "cholesky", &case, &inputs, &CACHES));
    }
    assert_none(&faults);
}

#[test]
fn an_indefinite_matrix_of_a_batch_is_reported_with_its_leading_minor() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    const SYSTEMS: usize = 5;
    for n in [1, 7, 20, 32, 50] {
        for bad in [0, n / 2, n - 1] {
            let entries = (0..SYSTEMS * n * n).map(|index| {
                let (system, i, j) = (index / (n * n), index / n % n, index % n);
                match (i == j, system == 3 && i == bad) {
                    (true, true) => -1.0,
                    (true, false) => 4.0 * n as f64,
                    _ => 1.0,
                }
            });
            let inputs = [
                Operand::dense(SYSTEMS * n, n, entries.collect::<Vec<f64>>()),
                Operand::dense(SYSTEMS * n, 1, vec![1.0; SYSTEMS * n]),
            ];
            let case = batch(n, 1, SYSTEMS, DType::F64);
            assert_minor(&mut *backend, "cholesky", &case, &inputs, bad + 1);
        }
    }
}

#[test]
fn nan_input_gives_an_error_or_a_non_finite_answer() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    const N: usize = 200;
    let identity = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    for dtype in DType::REAL {
        let case = case(N, *dtype);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (row, column) in [(0, 0), (70, 70), (199, 199), (3, 150)] {
                let touched = |i: usize, j: usize| (i, j) == (row, column) || (j, i) == (row, column);
                let entry = |i: usize, j: usize| if touched(i, j) { value } else { identity(i, j) };
                let inputs = system(N, *dtype, &entry, &|_| 1.0);
                for variant in VARIANTS {
                    assert_minor(&mut *backend, variant, &case, &inputs, row.max(column) + 1);
                }
            }
            let inputs = system(N, *dtype, &identity, &|i| if i == 7 { value } else { 1.0 });
            for variant in VARIANTS {
                let answer = match solved(&mut *backend, variant, &case, &inputs) {
                    Ok(answer) => answer,
                    Err(CellError::Unavailable(missing)) => {
                        skipped(&format!("{case} cuda/{variant}"), &missing.reason);
                        continue;
                    }
                    Err(error) => panic!("{case} cuda/{variant}: {error}"),
                };
                let finite = match dtype {
                    DType::F64 => answer[0].dense_slice::<f64>().unwrap()[7].is_finite(),
                    _ => answer[0].dense_slice::<f32>().unwrap()[7].is_finite(),
                };
                assert!(!finite, "{case} cuda/{variant}: {value} in b has a finite answer");
            }
        }
    }
}

#[test]
fn every_execution_gives_the_same_bits_and_refinement_gains_digits() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let op = op::find("solve").unwrap();
    for n in [100, 333, 1000] {
        let wide = case(n, DType::F64);
        // The reference is the float64 solution of the float32 system.
        let inputs = op.inputs(&case(n, DType::F32));
        let widened = |operand: &Operand| -> Vec<f64> {
            operand.dense_slice::<f32>().unwrap().iter().map(|value| f64::from(*value)).collect()
        };
        let exact: Vec<Operand> = vec![
            Operand::dense::<f64>(n, n, widened(&inputs[0])),
            Operand::dense::<f64>(n, 1, widened(&inputs[1])),
        ];
        let reference = match solved(&mut *backend, "cholesky-refined", &wide, &exact) {
            Ok(reference) => reference,
            Err(CellError::Unavailable(missing)) => return skipped("cholesky-refined", &missing.reason),
            Err(error) => panic!("{wide}: {error}"),
        };
        let reference = reference[0].dense_slice::<f64>().unwrap();
        let scale = reference.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let errors = VARIANTS.map(|variant| {
            let [first, second] = [(), ()].map(|()| {
                let answer = solved(&mut *backend, variant, &case(n, DType::F32), &inputs).unwrap();
                answer[0].dense_slice::<f32>().unwrap().to_vec()
            });
            assert!(first.iter().zip(&second).all(|(a, b)| a.to_bits() == b.to_bits()), "{n} {variant}");
            let off = first.iter().zip(reference).map(|(x, exact)| (f64::from(*x) - exact).abs());
            off.fold(0.0, f64::max) / scale
        });
        assert!(errors[1] < 0.2 * errors[0] && errors[1] < 1e-5, "{n}: {errors:?}");
    }
}
