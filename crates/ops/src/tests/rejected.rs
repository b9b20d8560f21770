//! Wrong answers do not pass, even if only a small part is wrong.

use gpubench_report::data::{Csr, Dense};

use rustfft::num_complex::Complex;

use super::*;
use crate::reference::{WorkingPrecision, moments, running_sum};

/// Ops whose answers are judged as a whole, by projections or a residual: one entry far below the others may be off. Those of
/// every other op are judged entry by entry.
const JUDGED_AS_A_WHOLE: [&str; 5] = ["matmul", "fft", "solve", "spgemm", "svd"];

/// Asserts that the answer is right, and wrong after the change.
fn rejects(op: &str, n: u64, dtype: DType, name: &str, change: impl Fn(&mut Vec<Operand>)) {
    let (case, inputs, mut answer) = solved(op, n, dtype);
    assert!(check(&case, &inputs, &answer).is_right(), "{case} is right");
    change(&mut answer);
    let checked = check(&case, &inputs, &answer);
    assert!(!checked.is_right(), "{case}: {name} passes with {checked:?}");
}

fn everywhere(name: &str, op: &str, change: impl Fn(&mut Vec<Operand>)) {
    for dtype in types_of(op) {
        for n in [5, 64, 256] {
            rejects(op, n, dtype, name, &change);
        }
    }
}

/// Some positions of an operand: the ends, the middle and a few between.
fn positions(operand: &Operand) -> Vec<usize> {
    let len = operand.values().len();
    let mut positions: Vec<usize> = (0..17).map(|k| (k * len / 17 + 7 * k) % len).collect();
    positions.extend([len / 2, len - 1]);
    positions
}

#[test]
fn zero_and_stale_answers_are_wrong() {
    for op in OPS {
        everywhere("zero", op.name(), |answer| {
            for part in answer {
                for index in 0..part.values().len() {
                    alter(part, index, |_| 0.0);
                }
            }
        });
        for dtype in types_of(op.name()) {
            let (case, inputs, _) = solved(op.name(), 31, dtype);
            if inputs.is_empty() {
                continue; // A count does not depend on the seed.
            }
            let other = Case { seed: 43, ..case.clone() };
            let stale = plain_answer(&other, &op.inputs(&other));
            assert!(!check(&case, &inputs, &stale).is_right(), "{case}: stale");
        }
    }
}

#[test]
fn one_value_that_is_not_finite_has_the_largest_error() {
    for (op, dtype) in ops_in_their_types() {
        let (case, inputs, answer) = solved(op.name(), 31, dtype);
        for part in 0..answer.len() {
            for index in positions(&answer[part]) {
                for poison in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let mut answer = answer.clone();
                    alter(&mut answer[part], index, |_| poison);
                    assert_eq!(check(&case, &inputs, &answer).value, f64::MAX, "{case} {part} {index}");
                }
            }
        }
    }
}

#[test]
fn one_entry_off_by_one_percent_is_wrong() {
    for (op, dtype) in ops_in_their_types() {
        let (case, inputs, answer) = solved(op.name(), 256, dtype);
        for part in 0..answer.len() {
            let values = values_of(&answer[part]);
            let typical = (values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64).sqrt();
            for index in positions(&answer[part]) {
                // An entry far below its neighbours has no visible 1 %.
                if values[index].abs() < 0.5 * typical && JUDGED_AS_A_WHOLE.contains(&op.name()) {
                    continue;
                }
                let mut answer = answer.clone();
                // Of 16-bit types the entries themselves are rounded to half a per cent.
                let off = (16.0 * dtype.unit_roundoff()).max(0.01);
                alter(&mut answer[part], index, |x| x + off * values[index]);
                let checked = check(&case, &inputs, &answer);
                assert!(!checked.is_right(), "{case}: part {part} at {index} passes with {checked:?}");
            }
        }
    }
}

#[test]
fn transposed_answers_are_wrong() {
    let is_square =
        |part: &Operand| part.as_dense().is_ok_and(|dense| dense.rows == dense.cols && dense.rows > 1);
    for op in OPS {
        let (_, _, answer) = solved(op.name(), 5, DType::F64);
        for part in (0..answer.len()).filter(|&part| is_square(&answer[part])) {
            everywhere("transposed", op.name(), |answer| transpose(&mut answer[part]));
        }
    }
    everywhere("swapped factors", "svd", |answer| answer.swap(0, 2));
}

#[test]
fn two_entries_swapped_in_any_row_are_wrong() {
    for (op, dtype) in ops_in_their_types() {
        let (case, inputs, answer) = solved(op.name(), 64, dtype);
        let values = values_of(&answer[0]);
        if values.len() < 64 {
            continue; // A few figures have no rows.
        }
        // Entries that hardly differ in their type can be swapped.
        let differ = |&index: &usize| {
            let difference = (values[index] - values[index - 1]).abs();
            difference > 32.0 * dtype.unit_roundoff() * values[index].abs()
        };
        let inside = positions(&answer[0]).into_iter().filter(|index| index % 64 > 0);
        for index in inside.filter(differ) {
            let mut answer = answer.clone();
            alter(&mut answer[0], index, |_| values[index - 1]);
            alter(&mut answer[0], index - 1, |_| values[index]);
            assert!(!check(&case, &inputs, &answer).is_right(), "{case}: swapped at {index}");
        }
    }
}

#[test]
fn one_changed_value_of_a_copy_and_one_thing_left_out_are_wrong() {
    everywhere("next value", "transfer", |answer| {
        let last = answer[0].values().len() - 1;
        alter(&mut answer[0], last, |x| f64::from((x as f32).next_up()));
    });
    everywhere("one thing left out", "overhead", |answer| alter(&mut answer[0], 0, |count| count - 1.0));
}

#[test]
fn a_sine_too_many_or_too_few_is_wrong() {
    let each = |answer: &mut Vec<Operand>, change: fn(f64) -> f64| {
        (0..answer[0].values().len()).for_each(|index| alter(&mut answer[0], index, change));
    };
    everywhere("one too many", "transfer-loop", |answer| each(answer, f64::sin));
    everywhere("one too few", "transfer-loop", |answer| each(answer, f64::asin));
}

#[test]
fn moments_in_the_wrong_order_or_of_a_sample_are_wrong() {
    everywhere("sum and mean swapped", "reduction", |answer| {
        let values = values_of(&answer[0]);
        alter(&mut answer[0], 0, |_| values[1]);
        alter(&mut answer[0], 1, |_| values[0]);
    });
    // In float32 the two deviations are alike: they differ by 1 / (2 N^2), which is below 8 u for N >= 1024.
    for (n, is_found) in [(500, true), (2000, false)] {
        let (case, inputs, mut answer) = solved("reduction", n, DType::F32);
        let count = (n * n) as f64;
        alter(&mut answer[0], 2, |std| f64::from((std * (count / (count - 1.0)).sqrt()) as f32));
        let checked = check(&case, &inputs, &answer);
        assert_eq!(!checked.is_right(), is_found, "{case}: {checked:?}");
    }
    for (n, dtype) in [(2, DType::F32), (100, DType::F32), (2, DType::F64), (512, DType::F64)] {
        let count = (n * n) as f64;
        rejects("reduction", n, dtype, "sample deviation", |answer| {
            alter(&mut answer[0], 2, |std| std * (count / (count - 1.0)).sqrt());
        });
    }
}

#[test]
fn running_float32_sums_drift_too_far_and_float64_sums_do_not() {
    for n in [500, 1000, 2048] {
        let (case, inputs, _) = solved("reduction", n, DType::F32);
        let drifted = check(&case, &inputs, &running_moments(&case, &inputs));
        assert!(!drifted.is_right(), "{drifted:?}");
        let side = case.side();
        let widened = Operand::dense(side, side, values_of(&inputs[0]));
        let summed = running_moments(&Case { dtype: DType::F64, ..case.clone() }, &[widened]);
        let checked = check(&case, &inputs, &summed);
        assert!(checked.value < 1e-3 * checked.bound, "{checked:?}");
    }
}

/// Returns the moments of a matrix by one running sum of all elements, which loses digits.
fn running_moments(case: &Case, inputs: &[Operand]) -> Vec<Operand> {
    fn of<T: WorkingPrecision>(inputs: &[Operand]) -> [f64; 3] {
        moments(inputs[0].dense_slice::<T>().unwrap(), running_sum)
    }
    vec![Operand::dense(3, 1, for_dtype!(case.dtype, of(inputs)).to_vec())]
}

/// Changes the rows of a spectrum in float64.
fn change_rows(answer: &mut [Operand], change: fn(&mut [Complex<f64>])) {
    let Operand::Dense(Dense { values, rows, .. }) = &mut answer[0] else { panic!("a spectrum is dense") };
    match values {
        Values::C128(f) => f.chunks_mut(*rows).for_each(change),
        Values::C64(f) => f.chunks_mut(*rows).for_each(|row| {
            let mut wide: Vec<_> = row.iter().map(|z| Complex::new(z.re.into(), z.im.into())).collect();
            change(&mut wide);
            row.iter_mut().zip(wide).for_each(|(z, w)| *z = Complex::new(w.re as f32, w.im as f32));
        }),
        _ => panic!("a spectrum is complex"),
    }
}

#[test]
fn a_missing_half_and_a_conjugate_spectrum_are_wrong() {
    let rejects = |name: &str, change: fn(&mut [Complex<f64>])| {
        everywhere(name, "fft", |answer| change_rows(answer, change));
    };
    rejects("right half missing", |row| {
        let half = row.len() / 2;
        row[half + 1..].fill(Complex::default());
    });
    rejects("conjugate", |row| row.iter_mut().for_each(|z| *z = z.conj()));
    rejects("half mirrored along columns only", |row| {
        let n = row.len();
        (1..n.div_ceil(2)).for_each(|c| row[n - c] = row[c].conj());
    });
}

#[test]
fn unsorted_negative_or_skewed_factors_are_wrong() {
    everywhere("ascending values", "svd", |answer| {
        let values = values_of(&answer[1]);
        values.iter().rev().enumerate().for_each(|(i, &s)| alter(&mut answer[1], i, |_| s));
    });
    everywhere("negative value", "svd", |answer| {
        let last = answer[1].values().len() - 1;
        alter(&mut answer[1], last, |s| -s);
    });
    everywhere("sign of a column of U", "svd", |answer| {
        let n = answer[1].values().len();
        (0..n).for_each(|i| alter(&mut answer[0], i * n + n / 2, |u| -u));
    });
    everywhere("columns of U not of unit length", "svd", |answer| {
        let n = answer[1].values().len();
        (0..n).for_each(|i| alter(&mut answer[0], i * n, |u| 1.01 * u));
        alter(&mut answer[1], 0, |s| s / 1.01);
    });
}

#[test]
fn each_fault_of_an_answer_that_no_error_describes_has_its_own_reason() {
    let reason = |op: &str, change: &dyn Fn(&mut Vec<Operand>)| {
        let (case, inputs, mut answer) = solved(op, 5, DType::F64);
        change(&mut answer);
        check(&case, &inputs, &answer).complaint()
    };
    let of_svd = |index: usize, by: f64| reason("svd", &|answer| alter(&mut answer[1], index, |s| by * s));
    assert_eq!(of_svd(4, 1e9), "it has singular values that are not in descending order");
    assert_eq!(of_svd(4, -1.0), "it has a negative singular value");
    assert_eq!(of_svd(0, f64::NAN), "it contains values that are not finite");
    let of_product = |change: fn(&mut Csr)| reason("spgemm", &|answer| change(product(answer)));
    assert!(of_product(|c| c.indptr[1] = i32::MAX).starts_with("it has offsets of rows that do not rise"));
    assert_eq!(of_product(|c| c.indices[0] = -1), "it has a column index outside the matrix");
    assert_eq!(of_product(|c| c.indices[1] = c.indices[0]), "it has two entries in one row and column");
    // Nothing is stored in the operands, and so not in the right answer.
    let case = Case { density: Some(0.0), ..case("spmv", 5, DType::F64) };
    let (inputs, answer) = (the("spmv").inputs(&case), [Operand::dense(5, 1, vec![1.0; 5])]);
    let complaint = check(&case, &inputs, &answer).complaint();
    assert_eq!(complaint, "it has a value other than zero where the right one is zero");
}

fn product(answer: &mut [Operand]) -> &mut Csr {
    match &mut answer[0] {
        Operand::Csr(csr) => csr,
        Operand::Dense(_) => panic!("a sparse product is sparse"),
    }
}

#[test]
fn entries_in_the_wrong_row_and_no_entries_are_wrong() {
    everywhere("offset moved", "spgemm", |answer| {
        let c = product(answer);
        let row = (1..c.rows).find(|&i| c.indptr[i] < c.indptr[i + 1]).unwrap();
        c.indptr[row] += 1;
    });
    everywhere("empty", "spgemm", |answer| {
        let c = product(answer);
        c.indptr.fill(0);
        c.indices.clear();
        c.values = if matches!(c.values, Values::F32(_)) { Values::F32(vec![]) } else { Values::F64(vec![]) };
    });
}

#[test]
fn unsorted_columns_of_a_sparse_product_are_right() {
    let (case, inputs, mut answer) = solved("spgemm", 64, DType::F64);
    let c = product(&mut answer);
    let Values::F64(values) = &mut c.values else { panic!("float64") };
    for ends in c.indptr.windows(2) {
        let range = ends[0] as usize..ends[1] as usize;
        c.indices[range.clone()].reverse();
        values[range].reverse();
    }
    assert!(check(&case, &inputs, &answer).is_right());
}

#[test]
fn answers_of_the_wrong_shape_or_type_are_errors() {
    for op in OPS {
        let (case, inputs, answer) = solved(op.name(), 5, DType::F32);
        let other = solved(op.name(), 4, DType::F32).2;
        let check = |answer: &[Operand]| op.check(&case, &inputs, answer, ieee(DType::F32));
        assert!(check(&answer).is_ok());
        assert!(check(&[]).is_err(), "{case}: nothing");
        // A few float64 numbers have the same form in every case.
        if !["reduction", "overhead"].contains(&op.name()) {
            assert!(check(&other).is_err(), "{case}: another size");
            assert!(check(&solved(op.name(), 5, DType::F64).2).is_err(), "{case}: another type");
        }
    }
}
