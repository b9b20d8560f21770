//! The fft variants `hermitian` and `bluestein`: all kinds of sizes, bitwise symmetry of the answer, and special inputs.

use gpubench::backend::{Accuracy, Backend};
use gpubench::case::{Cache, Case, DType};
use gpubench::data::{Dense, Operand, Real, Values};
use gpubench::error::CellError;
use gpubench::op;
use num_complex::Complex;

use crate::{answer, assert_none, start_alone};

const LARGE: [u64; 14] = [243, 343, 500, 512, 625, 1000, 1024, 1536, 2000, 2048, 2401, 4096, 4725, 7200];
const LARGE_WITH_FACTORS_UP_TO_43: [u64; 22] = [
    121, 135, 238, 289, 361, 363, 435, 442, 484, 507, 522, 676, 713, 774, 841, 888, 961, 1369, 1681, 2106,
    2662, 3968,
];
const LARGE_WITH_LARGE_FACTORS: [u64; 16] =
    [127, 202, 211, 454, 509, 777, 1021, 1201, 1537, 2049, 2657, 3001, 3998, 4093, 4097, 7919];

fn case(n: u64, dtype: DType) -> Case {
    Case::square("fft", n, dtype, 7)
}

/// The spectrum by a variant, after two executions, or `None` if the device has too little shared memory.
fn spectrum(
    backend: &mut dyn Backend,
    variant: &str,
    case: &Case,
    inputs: &[Operand],
) -> Option<Vec<Operand>> {
    match answer(backend, variant, case, inputs, &[Cache::Hot; 2]) {
        Ok(answer) => Some(answer),
        Err(CellError::Unavailable(missing)) => {
            // Chips with little shared memory do not support the largest sizes.
            assert!(missing.reason.contains("shared memory"), "{case}: {}", missing.reason);
            None
        }
        Err(error) => panic!("{case}: {error}"),
    }
}

fn values(operand: &Operand) -> &Values {
    match operand {
        Operand::Dense(dense) => &dense.values,
        other => panic!("not a dense answer: {other:?}"),
    }
}

/// Returns whether `F[u, v] = conj(F[-u, -v])` in every bit except the sign of a zero.
fn is_symmetric<T: Real>(answer: &Operand, n: usize) -> bool {
    let f: &[Complex<T>] = T::complex_slice(values(answer)).unwrap();
    (0..n * n).all(|at| {
        let (row, column) = (at / n, at % n);
        let mirror = f[(n - row) % n * n + (n - column) % n];
        f[at].re == mirror.re && f[at].im.to_f64() == -mirror.im.to_f64()
    })
}

fn every_output_is_lost<T: Real>(answer: &Operand) -> bool {
    let f: &[Complex<T>] = T::complex_slice(values(answer)).unwrap();
    f.iter().all(|z| !(z.re.to_f64().is_finite() && z.im.to_f64().is_finite()))
}

fn dense<T: Real>(n: usize, element: impl Fn(usize) -> f64) -> Operand {
    let values = T::into_values((0..n * n).map(|at| T::from_f64(element(at))).collect());
    Operand::Dense(Dense { rows: n, cols: n, values })
}

/// Describes the fault in the answer to these inputs, if any.
fn fault(case: &Case, inputs: &[Operand], answer: &[Operand]) -> Option<String> {
    let op = op::find("fft").unwrap();
    let checked = op.check(case, inputs, answer, Accuracy::Ieee.rounding(case.dtype)).unwrap();
    let symmetric = match case.dtype {
        DType::F64 => is_symmetric::<f64>(&answer[0], case.side()),
        _ => is_symmetric::<f32>(&answer[0], case.side()),
    };
    if !checked.is_precise() {
        return Some(format!("{case}: error {:e}, bound {:e}", checked.value, checked.bound));
    }
    (!symmetric).then(|| format!("{case}: not its own mirrored conjugate"))
}

/// Returns whether no prime factor exceeds `most`.
pub(crate) fn has_primes_up_to(n: u64, most: u64) -> bool {
    (2..=most).fold(n, |mut rest, factor| {
        while rest.is_multiple_of(factor) {
            rest /= factor;
        }
        rest
    }) == 1
}

fn assert_right_and_symmetric(variant: &str, sizes: impl Iterator<Item = u64>) {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let mut faults = Vec::new();
    for n in sizes {
        for &dtype in DType::REAL {
            let case = case(n, dtype);
            let inputs = op::find("fft").unwrap().inputs(&case);
            let answer = spectrum(&mut *backend, variant, &case, &inputs);
            faults.extend(answer.and_then(|answer| fault(&case, &inputs, &answer)));
        }
    }
    assert_none(&faults);
}

#[test]
fn every_size_with_small_factors_is_right_and_symmetric() {
    assert_right_and_symmetric("hermitian", (1..=128).filter(|&n| has_primes_up_to(n, 7)).chain(LARGE));
}

#[test]
fn sizes_with_factors_up_to_43_are_right_and_symmetric() {
    let small = (11..=46).filter(|&n| has_primes_up_to(n, 43) && !has_primes_up_to(n, 7));
    assert_right_and_symmetric("hermitian", small.chain(LARGE_WITH_FACTORS_UP_TO_43));
}

#[test]
fn every_size_is_right_and_symmetric_by_convolutions() {
    assert_right_and_symmetric("bluestein", (1..=104).chain(LARGE_WITH_LARGE_FACTORS));
}

fn with_variant(hermitian: &[u64], bluestein: &[u64]) -> Vec<(&'static str, u64)> {
    let by = |variant, sizes: &[u64]| sizes.iter().map(|&n| (variant, n)).collect::<Vec<_>>();
    [by("hermitian", hermitian), by("bluestein", bluestein)].concat()
}

#[test]
fn one_nan_or_infinity_spoils_every_output() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for (variant, n) in with_variant(&[2, 15, 100, 512, 1024, 1426], &[2, 17, 101, 509, 1021]) {
        let side = usize::try_from(n).unwrap();
        for (bad, at) in [(f64::NAN, 0), (f64::NAN, side * side - 1), (f64::INFINITY, side + 1)] {
            let element = |other: usize| if other == at { bad } else { 0.5 };
            let inputs = [dense::<f32>(side, element)];
            let Some(answer) = spectrum(&mut *backend, variant, &case(n, DType::F32), &inputs) else {
                continue;
            };
            assert!(every_output_is_lost::<f32>(&answer[0]), "{n}: {bad} at {at}");
            let inputs = [dense::<f64>(side, element)];
            let Some(answer) = spectrum(&mut *backend, variant, &case(n, DType::F64), &inputs) else {
                continue;
            };
            assert!(every_output_is_lost::<f64>(&answer[0]), "{n}: {bad} at {at}");
        }
    }
}

#[test]
fn a_large_prime_factor_is_rejected_with_a_fix() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let case = case(101, DType::F32);
    let inputs = op::find("fft").unwrap().inputs(&case);
    match backend.prepare("hermitian", &case, &mut inputs.clone()).err() {
        Some(CellError::Unavailable(missing)) => assert!(missing.fix.unwrap().contains("r2c")),
        other => panic!("{other:?}"),
    }
}
