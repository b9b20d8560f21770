//! Matrix products of values that random data lacks: zeros, denormals, infinities, NaN and rows of very different
//! scales.

use gpubench::backend::{Backend, Variant};
use gpubench::case::{Cache, Case, DType};
use gpubench::data::Operand;
use gpubench::data::generator::Stream;
use gpubench::op;

use crate::{case, prepared, samples, start_alone, variants};

/// Multiples of 16, of 4, of 2, and odd ones; smaller and larger than a tile of each kernel.
const SIZES: [u64; 10] = [1, 3, 17, 31, 64, 65, 100, 129, 258, 260];

/// Sizes of the largest tiles and of several blocks per dimension; multiples of 4 and others.
const LARGE: [u64; 4] = [577, 640, 4099, 4100];

fn products() -> Vec<Variant> {
    variants().into_iter().filter(|variant| variant.op == "matmul").collect()
}

/// A float in -1..1 that depends only on the position.
fn noise(place: usize) -> f32 {
    let mixed = (place as u32).wrapping_mul(2_654_435_761) ^ 0x9e37_79b9;
    (mixed.wrapping_mul(0x85eb_ca6b) >> 8) as f32 / (1 << 23) as f32 - 1.0
}

/// A matrix of the case's element type.
fn matrix(case: &Case, value: impl Fn(usize, usize) -> f32) -> Operand {
    let n = case.side();
    let values = (0..n * n).map(|place| value(place / n, place % n));
    match case.dtype {
        DType::F64 => Operand::dense(n, n, values.map(f64::from).collect::<Vec<f64>>()),
        _ => Operand::dense(n, n, values.collect::<Vec<f32>>()),
    }
}

/// The elements as float64.
fn wide(operand: &Operand, dtype: DType) -> Vec<f64> {
    match dtype {
        DType::F64 => operand.dense_slice::<f64>().unwrap().to_vec(),
        _ => operand.dense_slice::<f32>().unwrap().iter().map(|value| f64::from(*value)).collect(),
    }
}

/// The product term by term in float64, like NumPy's `dot` except for its rounding.
fn by_terms(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|place| (0..n).map(|k| a[place / n * n + k] * b[k * n + place % n]).sum()).collect()
}

/// The answer of a variant, or `None` if it does not support the case here.
fn answer(backend: &mut dyn Backend, variant: &Variant, case: &Case, inputs: &[Operand]) -> Option<Operand> {
    let mut job = prepared(backend, variant, case, inputs)?;
    // Twice, because nothing may be left over from the last execution.
    samples(backend, &mut *job, Cache::Hot, 3);
    Some(job.answer().unwrap().remove(0))
}

/// Calls `judge` with the name of the cell, the case, both operands and the answer of every variant at each size.
fn for_each_product(
    variants: &[Variant],
    sizes: &[u64],
    operands: impl Fn(&Case) -> [Operand; 2],
    mut judge: impl FnMut(&str, &Variant, &Case, &[Operand; 2], &Operand),
) {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for variant in variants {
        // These operands have all digits of float32.
        let dtypes = || variant.dtypes.iter().filter(|dtype| DType::REAL.contains(dtype));
        for (n, dtype) in sizes.iter().flat_map(|n| dtypes().map(move |dtype| (*n, *dtype))) {
            let case = case(variant, n, dtype);
            let inputs = operands(&case);
            if let Some(found) = answer(&mut *backend, variant, &case, &inputs) {
                judge(&format!("{case} cuda/{}", variant.name), variant, &case, &inputs, &found);
            }
        }
    }
}

#[test]
fn infinities_and_nan_propagate_as_in_a_term_by_term_product() {
    let special = |case: &Case| {
        let n = case.side();
        let a = matrix(case, |i, k| match (i, k) {
            (1, 2) => f32::INFINITY,
            (2, _) if k + 1 == n => f32::NAN,
            (3, 0) => f32::NEG_INFINITY,
            (3, 1) => f32::INFINITY,
            _ => noise(11 * i + k),
        });
        let b = matrix(case, |k, j| match (k, j) {
            (0, 0) => f32::NEG_INFINITY,
            (_, 4) if k + 1 == n => f32::NAN,
            (2, 5) => 0.0,
            _ => noise(3 * k + 13 * j),
        });
        [a, b]
    };
    for_each_product(&products(), &SIZES, special, |cell, _, case, inputs, found| {
        let n = case.side();
        let [a, b] = [0, 1].map(|index| wide(&inputs[index], case.dtype));
        let found = wide(found, case.dtype);
        for (place, expected) in by_terms(&a, &b, n).into_iter().enumerate() {
            let (found, at) = (found[place], (place / n, place % n));
            if expected.is_finite() {
                assert!(found.is_finite(), "{cell}: {found} for {expected} at {at:?}");
            } else {
                let alike = expected.is_nan() && found.is_nan() || expected == found;
                assert!(alike, "{cell}: {found} for {expected} at {at:?}");
            }
        }
    });
}

#[test]
fn rows_and_columns_of_any_scale_are_as_accurate_as_others() {
    // Each row of A and each column of B has its own scale, small enough for denormal products, or is zero.
    let scaled = |case: &Case| {
        let scale = |index: usize| if index % 6 == 5 { 0.0 } else { 2f32.powi(25 * (index % 6) as i32 - 70) };
        let a = matrix(case, |i, k| noise(17 * i + k) * scale(i));
        let b = matrix(case, |k, j| noise(5 * k + 3 * j) * scale(j + 2));
        [a, b]
    };
    let exact: Vec<Variant> = products()
        .into_iter()
        .filter(|variant| variant.accuracy.rounding(DType::F32).input == DType::F32.unit_roundoff())
        .collect();
    for_each_product(&exact, &SIZES, scaled, |cell, _, case, inputs, found| {
        let n = case.side();
        let [a, b] = [0, 1].map(|index| wide(&inputs[index], case.dtype));
        let found = wide(found, case.dtype);
        let largest = |values: &mut dyn Iterator<Item = f64>| values.map(f64::abs).fold(0.0, f64::max);
        for (place, expected) in by_terms(&a, &b, n).into_iter().enumerate() {
            let (i, j) = (place / n, place % n);
            let row = largest(&mut (0..n).map(|k| a[i * n + k]));
            let column = largest(&mut (0..n).map(|k| b[k * n + j]));
            // Per term a few roundings relative to the largest term, or a last place of denormals.
            let bound = n as f64 * (8.0 * case.dtype.unit_roundoff() * row * column + 1.5e-45);
            let error = (found[place] - expected).abs();
            assert!(error <= bound, "{cell}: {error:e} beyond {bound:e} at {i}, {j}");
        }
    });
}

#[test]
fn random_products_pass_the_judge_where_no_tile_fits() {
    let judged = op::find("matmul").unwrap();
    let inputs = |case: &Case| {
        let mut inputs = judged.inputs(case).into_iter();
        [inputs.next().unwrap(), inputs.next().unwrap()]
    };
    for_each_product(
        &products(),
        &[&SIZES[..], &LARGE].concat(),
        inputs,
        |cell, variant, case, inputs, found| {
            let rounding = variant.accuracy.rounding(case.dtype);
            let checked = judged.check(case, inputs, std::slice::from_ref(found), rounding).unwrap();
            assert!(checked.is_precise(), "{cell}: error {:e}, bound {:e}", checked.value, checked.bound);
        },
    );
}

/// Operands of float64 with the named distribution, all of which depend only on the position.
fn graded(n: usize, seed: u64, value: impl Fn(f64, f64) -> f64) -> Operand {
    let stream = Stream::new(seed, 0);
    let values = (0..n * n).map(|place| {
        let [u, v, w] = [0, 1, 2].map(|part| stream.uniform(3 * place as u64 + part));
        // Box and Muller's normal deviate, from numbers that are not zero.
        value(u, (-2.0 * (1.0 - v).ln()).sqrt() * (std::f64::consts::TAU * w).cos())
    });
    Operand::dense(n, n, values.collect::<Vec<f64>>())
}

/// Returns the largest error of the first rows of an answer, in roundings of the sum of the terms' magnitudes.
fn worst_error(answer: &[f64], a: &[f64], b: &[f64], n: usize) -> f64 {
    const ROWS: usize = 40;
    let entry = |i: usize, j: usize| {
        let (mut sum, mut rest, mut magnitudes) = (0.0f64, 0.0f64, 0.0f64);
        for k in 0..n {
            // Products and sums with their rounding errors: T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product", 2005.
            let (x, y) = (a[i * n + k], b[k * n + j]);
            let product = x * y;
            let total = sum + product;
            let part = total - sum;
            rest += x.mul_add(y, -product) + ((sum - (total - part)) + (product - part));
            sum = total;
            magnitudes += product.abs();
        }
        let error = (answer[i * n + j] - sum) - rest;
        error.abs() / (magnitudes * DType::F64.unit_roundoff())
    };
    (0..n.min(ROWS)).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).fold(0.0, f64::max)
}

#[test]
fn the_emulated_float64_product_keeps_the_bound_on_uniform_normal_and_graded_operands() {
    type Value = fn(f64, f64) -> f64;
    const DISTRIBUTIONS: [(&str, Value); 6] = [
        ("uniform", |u, _| u),
        ("of both signs", |u, _| 2.0 * u - 1.0),
        ("normal", |_, z| z),
        ("graded by half", |u, z| (u - 0.5) * (0.5 * z).exp()),
        ("graded by 1", |u, z| (u - 0.5) * z.exp()),
        ("graded by 4", |u, z| (u - 0.5) * (4.0 * z).exp()),
    ];
    let Some((_alone, mut backend)) = start_alone() else { return };
    let named = |name: &str| products().into_iter().find(|variant| variant.name == name).unwrap();
    let [emulated, library] = ["ozaki2-int8", "cublas"].map(named);
    for (n, (distribution, value)) in
        [100, 700, 1024, 1501].into_iter().flat_map(|n| DISTRIBUTIONS.map(|d| (n, d)))
    {
        let inputs = [1, 2].map(|seed| graded(n, seed, value));
        let [a, b] = [0, 1].map(|index| wide(&inputs[index], DType::F64));
        let mut error = |variant: &Variant| {
            let case = case(variant, n as u64, DType::F64);
            let found = answer(&mut *backend, variant, &case, &inputs)?;
            Some(worst_error(&wide(&found, DType::F64), &a, &b, n))
        };
        let Some((found, usual)) = error(&emulated).zip(error(&library)) else { return };
        assert!(found <= n as f64 + 2.0, "{distribution}, N = {n}: {found}");
        // Residues are more accurate than float64 or the product falls back to it, in another order of the terms.
        assert!(found <= 4.0 * usual.max(1.0), "{distribution}, N = {n}: {found}, cuBLAS {usual}");
    }
}
