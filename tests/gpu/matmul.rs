//! Matrix products of values that random data lacks: zeros, denormals, infinities, NaN and rows of very different
//! scales.

use gpubench::backend::{Backend, Variant};
use gpubench::case::{Cache, Case, DType};
use gpubench::data::Operand;
use gpubench::error::CellError;
use gpubench::op;

use crate::device::{case, samples, skipped, start_alone, variants};

/// Multiples of 16, of 4, and of neither; smaller and larger than a tile of each kernel.
const SIZES: [u64; 7] = [1, 3, 17, 31, 64, 129, 260];

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
        DType::F32 => Operand::dense(n, n, values.collect::<Vec<f32>>()),
        DType::F64 => Operand::dense(n, n, values.map(f64::from).collect::<Vec<f64>>()),
    }
}

/// The elements as float64.
fn wide(operand: &Operand, dtype: DType) -> Vec<f64> {
    match dtype {
        DType::F32 => operand.dense_slice::<f32>().unwrap().iter().map(|value| f64::from(*value)).collect(),
        DType::F64 => operand.dense_slice::<f64>().unwrap().to_vec(),
    }
}

/// The product term by term in float64, like NumPy's `dot` except for its rounding.
fn by_terms(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|place| (0..n).map(|k| a[place / n * n + k] * b[k * n + place % n]).sum()).collect()
}

/// The answer of a variant, or `None` if it does not support the case here.
fn answer(backend: &mut dyn Backend, variant: &Variant, case: &Case, inputs: &[Operand]) -> Option<Operand> {
    let mut job = match backend.prepare(&variant.name, case, inputs) {
        Ok(job) => job,
        Err(CellError::Unavailable(missing)) => {
            skipped(&format!("{case} cuda/{}", variant.name), &missing.reason);
            return None;
        }
        Err(error) => panic!("{case} cuda/{}: {error}", variant.name),
    };
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
        for (n, dtype) in sizes.iter().flat_map(|n| variant.dtypes.iter().map(move |dtype| (*n, *dtype))) {
            let case = case(variant, n, dtype);
            let inputs = operands(&case);
            if let Some(found) = answer(&mut *backend, variant, &case, &inputs) {
                judge(&format!("{case} cuda/{}", variant.name), variant, &case, &inputs, &found);
            }
        }
    }
}

#[test]
fn zeros_give_zeros() {
    let zeros = |case: &Case| {
        // Rows of A and columns of B that are zero, with both signs.
        let a = matrix(case, |i, k| if i % 3 == 0 { -0.0 } else { noise(7 * i + k) });
        let b = matrix(case, |k, j| if j % 4 == 1 { 0.0 } else { noise(3 * k + 5 * j) });
        [a, b]
    };
    for_each_product(&products(), &SIZES, zeros, |cell, _, case, _, found| {
        for (place, value) in wide(found, case.dtype).iter().enumerate() {
            let (i, j) = (place / case.side(), place % case.side());
            assert!((i % 3 != 0 && j % 4 != 1) || *value == 0.0, "{cell}: {value} at {i}, {j}");
        }
    });
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
    // Each row of A and each column of B has its own scale, small enough for denormal products.
    let scaled = |case: &Case| {
        let scale = |index: usize| 2f32.powi(25 * (index % 5) as i32 - 70);
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
            assert!(checked.is_right(), "{cell}: error {:e}, bound {:e}", checked.value, checked.bound);
        },
    );
}
