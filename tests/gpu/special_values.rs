//! Zeros, denormals, infinities and NaN give the same results in elementwise ops and reductions as in NumPy.

use gpubench::backend::Backend;
use gpubench::case::{Case, DType};
use gpubench::data::Operand;

use crate::{start_alone, variants};

const N: usize = 37;

/// The answer of a variant for these operands, square matrices.
fn answer(backend: &mut dyn Backend, op: &str, variant: &str, inputs: &[&[f32]], dtype: DType) -> Vec<f64> {
    let n = inputs[0].len().isqrt();
    let case = Case::square(op, n as u64, dtype, 1);
    let operands: Vec<Operand> = inputs
        .iter()
        .map(|values| match dtype {
            DType::F64 => Operand::dense(n, n, values.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>()),
            _ => Operand::dense(n, n, values.to_vec()),
        })
        .collect();
    let mut job = backend.prepare(variant, &case, &mut operands.clone()).unwrap();
    job.execute().unwrap();
    let found = job.answer().unwrap();
    // A reduction's answer is in float64 for every element type.
    match (dtype, op) {
        (DType::F32, op) if op != "reduction" => {
            found[0].dense_slice::<f32>().unwrap().iter().map(|x| f64::from(*x)).collect()
        }
        _ => found[0].dense_slice::<f64>().unwrap().to_vec(),
    }
}

/// Names every variant of an op in full precision.
fn names(op: &str) -> Vec<String> {
    let of_op = variants().into_iter().filter(|variant| variant.op == op && variant.accuracy.is_headline());
    of_op.map(|variant| variant.name.into_owned()).collect()
}

/// Values from which all pairs are formed: 37 x 37.
fn specials() -> Vec<f32> {
    let some = [
        0.0,
        -0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        -1e-40,
        1e-45,
        1.0,
        -2.5,
        // Around the multiples of pi / 2, and the arguments from which a reduction in three parts is no longer enough.
        std::f32::consts::FRAC_PI_2,
        -std::f32::consts::PI,
        355.0,
        51_472.7,
        -99_999.0,
        1e5,
        2.1e9,
        -1e10,
        f32::MAX,
    ];
    (0..N).map(|k| some.get(k).copied().unwrap_or(k as f32 / 7.0)).collect()
}

#[test]
fn elementwise_ops_treat_special_values_as_ieee_says() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let some = specials();
    let a: Vec<f32> = (0..N * N).map(|k| some[k / N]).collect();
    let b: Vec<f32> = (0..N * N).map(|k| some[k % N]).collect();
    for (dtype, tolerance) in [(DType::F32, 4e-7), (DType::F64, 1e-15)] {
        for name in names("elementwise") {
            let found = answer(&mut *backend, "elementwise", &name, &[&a, &b], dtype);
            for (k, found) in found.into_iter().enumerate() {
                let (x, y) = (f64::from(a[k]), f64::from(b[k]));
                let product = if dtype == DType::F32 { f64::from(a[k] * b[k]) } else { x * y };
                let expected = product + x.sin() + y.cos();
                let scale = product.abs() + 2.0;
                let close = found == expected
                    || expected.is_finite() && (found - expected).abs() <= tolerance * scale;
                assert!(close || found.is_nan() && expected.is_nan(), "{name} {dtype} {x} {y}: {found}");
            }
        }
        for name in names("sin") {
            let found = answer(&mut *backend, "sin", &name, &[&a], dtype);
            for (x, found) in a.iter().zip(found) {
                let expected = f64::from(*x).sin();
                // Denormals keep their value, and zeros their sign.
                let close = (found - expected).abs() <= tolerance * expected.abs().max(1e-38)
                    && found.is_sign_negative() == expected.is_sign_negative();
                assert!(close || found.is_nan() && expected.is_nan(), "{name} {dtype} {x}: {found}");
            }
        }
    }
}

#[test]
fn sines_and_cosines_of_large_arguments_are_accurate() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for (dtype, largest, tolerance) in [(DType::F32, 1e5, 4e-7), (DType::F64, 2f64.powi(31), 1e-15)] {
        // One element per thread, and several.
        for n in [40, 1000] {
            // Their products do not count: one factor is 2^-20.
            let far: Vec<f32> = (0..n * n)
                .map(|k| (largest * (2.0 * (k as f64 * 0.618_033_988_75).fract() - 1.0)) as f32)
                .collect();
            let near = vec![2f32.powi(-20); n * n];
            for inputs in [[&far, &near], [&near, &far]] {
                let found = answer(&mut *backend, "elementwise", "fused", &inputs.map(Vec::as_slice), dtype);
                for (k, found) in found.into_iter().enumerate() {
                    let (a, b) = (f64::from(inputs[0][k]), f64::from(inputs[1][k]));
                    let expected = a * b + a.sin() + b.cos();
                    let bound = tolerance * (a * b).abs().max(1.0);
                    assert!(
                        (found - expected).abs() <= bound,
                        "{dtype} n = {n}, {a}, {b}: {found} for {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn reductions_treat_special_values_as_numpy_does() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    // In float32 `moments_of_few` reduces the first two, the first with one load per lane and the second with two.
    for n in [5, 16, N] {
        for dtype in [DType::F32, DType::F64] {
            for name in names("reduction") {
                let mut reported =
                    |values: &[f32]| answer(&mut *backend, "reduction", &name, &[values], dtype);
                special_values_reach_the_statistics(n, &format!("{name} {dtype} {n}"), &mut reported);
            }
        }
    }
}

/// Checks the statistics of n x n elements with infinities or NaN at one place, or infinities of both signs at two.
fn special_values_reach_the_statistics(n: usize, job: &str, reported: &mut dyn FnMut(&[f32]) -> Vec<f64>) {
    let plain: Vec<f32> = (0..n * n).map(|k| (k % 11) as f32).collect();
    let with = |places: &[(usize, f32)]| {
        let mut values = plain.clone();
        places.iter().for_each(|(at, value)| values[*at] = *value);
        values
    };
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    for at in [0, 5, n * n / 2, n * n - 1] {
        let place = format!("{job} at {at}");
        let one = reported(&with(&[(at, inf)]));
        assert!(one[0] == f64::INFINITY && one[1] == f64::INFINITY && one[2].is_nan(), "{place}: {one:?}");
        let below = reported(&with(&[(at, -inf)]));
        assert!(below[0] == f64::NEG_INFINITY && below[2].is_nan(), "{place}: {below:?}");
        let both = reported(&with(&[(at, inf), ((at + 1) % n, -inf)]));
        assert!(both.iter().all(|x| x.is_nan()), "{place}: {both:?}");
        let none = reported(&with(&[(at, nan)]));
        assert!(none.iter().all(|x| x.is_nan()), "{place}: {none:?}");
    }
}

#[test]
fn one_pass_stays_accurate_with_a_large_mean_or_an_outlier() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    // Mean 10 000, deviation 1.
    let far: Vec<f32> = (0..N * N).map(|k| 1e4 + if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let mut wild = far.clone();
    wild[0] = 1e8;
    let zeros = vec![0.0; N * N];
    let tiny = vec![1e-40; N * N];
    for dtype in [DType::F32, DType::F64] {
        for values in [&far, &wild, &zeros, &tiny] {
            let found = answer(&mut *backend, "reduction", "one-pass", &[values], dtype);
            let exact: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
            let mean = exact.iter().sum::<f64>() / exact.len() as f64;
            let spread = exact.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / exact.len() as f64;
            let (deviation, scale) = (spread.sqrt(), mean.abs());
            assert!((found[1] - mean).abs() <= 1e-6 * scale, "{dtype}: mean {} for {mean}", found[1]);
            assert!(
                (found[2] - deviation).abs() <= 1e-6 * deviation.max(1e-6 * scale),
                "{dtype}: deviation {} for {deviation}",
                found[2]
            );
        }
    }
}
