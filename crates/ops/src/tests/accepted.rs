//! Right answers pass, including those of the simplest float32 algorithms.

use super::formats::{BF16, TF32, TRUNCATED, in_format};
use super::*;

/// Asserts `holds` for the verdict on the plain answer of every op, in its types at these sizes.
fn assert_plain_answers(sizes: &[u64], holds: impl Fn(&Checked) -> bool) {
    for (op, dtype) in ops_in_their_types() {
        for &n in sizes {
            let (case, inputs, answer) = solved(op.name(), n, dtype);
            let checked = check(&case, &inputs, &answer);
            assert!(holds(&checked), "{case}: {checked:?}");
        }
    }
}

#[test]
fn plain_answers_pass_at_every_small_size_in_all_types() {
    assert_plain_answers(&[1, 2, 3, 5, 31, 64, 101], Checked::is_right);
}

#[test]
fn plain_answers_pass_with_room_to_spare_at_larger_sizes() {
    // A bound of zero leaves no room, and a right answer needs none.
    assert_plain_answers(&[333, 500, 512], |checked| checked.value <= 0.5 * checked.bound);
}

#[test]
fn products_of_short_operands_pass_at_their_own_accuracy_only() {
    for n in [1, 2, 31, 256] {
        let case = case("matmul", n, DType::F32);
        let inputs = the("matmul").inputs(&case);
        for (format, roundoff) in [(TF32, 2f64.powi(-11)), (TRUNCATED, 2f64.powi(-11)), (BF16, 2f64.powi(-8))]
        {
            let answer = plain_answer(&case, &in_format(&inputs, format));
            let rounding = Rounding { input: roundoff, ..ieee(DType::F32) };
            let checked = the("matmul").check(&case, &inputs, &answer, rounding).unwrap();
            assert!(checked.value <= 0.5 * checked.bound, "{case} {}: {checked:?}", format.name);
            assert!(!check(&case, &inputs, &answer).is_right(), "{case} {} passes as float32", format.name);
        }
    }
}

#[test]
fn products_whose_sums_tensor_cores_truncate_are_right_in_float16() {
    let shape = serde_json::from_str(r#"{"m":2,"n":8192,"k":5000}"#).ok();
    let case = Case { shape, ..Case::square("matmul", 8192, DType::F16, 42) };
    let inputs = the("matmul").inputs(&case);
    let [a, b] = [0, 1].map(|k| values_of(&inputs[k]));
    // What an H200 was seen to lose in a sum of 5000 terms.
    let kept = 1.0 - 4.3e-5;
    let mut truncated = vec![0.0; 2 * 8192];
    for (a, sums) in a.chunks(5000).zip(truncated.chunks_mut(8192)) {
        for (a, b) in a.iter().zip(b.chunks(8192)) {
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += kept * a * b);
        }
    }
    let rounded = truncated.into_iter().map(f16::from_f64).collect::<Vec<_>>();
    let checked = check(&case, &inputs, &[Operand::dense(2, 8192, rounded)]);
    assert!(checked.is_right(), "{case}: {checked:?}");
}

#[test]
fn the_gram_matrix_is_the_same_in_any_order_of_summation() {
    let n = 101;
    let case = case("solve", n as u64, DType::F64);
    let inputs = the("solve").inputs(&case);
    let a = inputs[0].dense_slice::<f64>().unwrap();
    let stream = gpubench_report::data::generator::Stream::new(case.seed, 0);
    let x: Vec<f64> =
        (0..(n * n) as u64).map(|i| (stream.uniform::<f64>(i) * 524_288.0).floor() / 524_288.0).collect();
    let product = |k: usize, i: usize, j: usize| x[k * n + i] * x[k * n + j];
    for i in 0..n {
        for j in 0..n {
            let one = f64::from(u8::from(i == j));
            let backward = (0..n).rev().map(|k| product(k, i, j)).sum::<f64>() + one;
            let blocks: Vec<usize> = (0..n).collect();
            let blocked = blocks
                .chunks(16)
                .map(|block| block.iter().map(|&k| product(k, i, j)).sum::<f64>())
                .sum::<f64>();
            let fused = (0..n).fold(0.0, |sum, k| x[k * n + i].mul_add(x[k * n + j], sum));
            let bits = a[i * n + j].to_bits();
            assert_eq!([backward, blocked + one, fused + one].map(f64::to_bits), [bits; 3], "{i} {j}");
        }
    }
}
