//! Sum, mean and standard deviation of one matrix, judged against compensated float64 sums.

use std::borrow::Cow;

use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Element, Operand};
use gpubench_report::error::CellError;
use gpubench_report::shape::{AXIS, Shape};
use rayon::prelude::*;

use super::judge::{self, relative};
use super::volume::{bytes_of, element, product};
use super::{About, Checked, Given, Limit, Op, Work, uniform};

/// The dimensions of the operand.
const MATRIX: [&str; 2] = ["rows", "cols"];

/// Sum, mean and population standard deviation: of all elements, or along an axis of each column or row.
pub(crate) struct Reduction;

/// The reductions of a case, which all have equally many elements.
#[derive(Clone, Copy, Debug)]
pub struct Reductions {
    /// Rows and columns of the matrix.
    pub matrix: [usize; 2],
    /// The axis: 0 reduces each column, 1 each row; `None` all elements.
    pub axis: Option<usize>,
}

impl Reductions {
    /// Returns the reductions of a case.
    pub fn of(case: &Case) -> Reductions {
        let axis = case.shape.as_ref().and_then(|shape| shape.word(AXIS));
        Reductions { matrix: case.extents(MATRIX), axis: axis.map(|axis| usize::from(axis == "1")) }
    }

    /// Returns the number of results per statistic.
    pub fn count(&self) -> usize {
        self.axis.map_or(1, |axis| self.matrix[1 - axis])
    }

    /// Returns the number of elements of one result.
    pub fn extent(&self) -> usize {
        self.axis.map_or(self.matrix[0] * self.matrix[1], |axis| self.matrix[axis])
    }

    /// Returns rows and columns of the answer: 3 x 1 for all elements, otherwise three rows: sums, means and deviations.
    pub fn answer(&self) -> (usize, usize) {
        (3, self.count())
    }

    /// Returns the elements of each result one after another: those of a column are copied.
    pub fn elements<'a, T: Copy>(&self, a: &'a [T], index: usize) -> Cow<'a, [T]> {
        let cols = self.matrix[1];
        match self.axis {
            Some(0) => a.iter().skip(index).step_by(cols).copied().collect(),
            Some(_) => a[index * cols..][..cols].into(),
            None => a.into(),
        }
    }
}

impl Op for Reduction {
    fn about(&self) -> About {
        About {
            limit: Limit::Read,
            ..About::new(
                "reduction",
                "sum, mean and population standard deviation of a matrix",
                &[100, 500, 1000, 5000, 10000],
            )
            .shaped(&MATRIX, &[AXIS])
            .of_types(DType::REAL_AND_HALF)
        }
    }

    /// Counts four operations per element: an addition for the sum, and a subtraction, a square and an addition for
    /// the deviation.
    fn work(&self, case: &Case) -> Work {
        let elements = product(case, &MATRIX);
        Work { flop: 4.0 * elements, bytes: elements * element(case.dtype) + answer_bytes(case) as f64 }
    }

    fn footprint(&self, case: &Case) -> u128 {
        bytes_of(case, &[&MATRIX]).saturating_add(answer_bytes(case))
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        product(case, &MATRIX) * element(case.dtype)
    }

    fn refuse_shape(&self, shape: &Shape) -> Option<String> {
        let axis = shape.word(AXIS).filter(|axis| !["0", "1"].contains(axis))?;
        Some(format!("axis {axis} is none of 0, 1"))
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![uniform(case, 0, case.extents(MATRIX))]
    }

    /// Returns the largest relative error of all numbers against compensated float64 sums.
    ///
    /// An answer in float32 may be off by 16 unit roundoffs. Sums in blocks, in pairs or with compensation stay below two at
    /// every size (Higham 1993; Blanchard, Higham and Mary 2020), CuPy 14's deviation below seven; one running sum of all elements
    /// rounds by about `n / 4` and is no full-precision answer. An answer with more digits than the element type is
    /// judged as sums in the element type that were added in float64: see [`joined`].
    ///
    /// Operands rounded to fewer bits change the sum by about 3500 / n float32 roundoffs (11 bits), at random. An
    /// answer in float32 hides that for `n` above a few hundred, because right answers in float32 have errors of the
    /// same size. An answer in a 16-bit type may be off by four of its roundoffs, as libraries round sums in float32 to it.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(real given.case.dtype, check(given))
    }
}

/// Bytes of the answer: three numbers in float64 per result.
fn answer_bytes(case: &Case) -> u128 {
    24 * Reductions::of(case).count() as u128
}

fn check<T: Element<Wide = f64>>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let reductions = Reductions::of(case);
    // The side of a square matrix of as many elements as one result has.
    let n = (reductions.extent() as f64).sqrt();
    let a = judge::dense::<T>(inputs, 0, "a", case.extents(MATRIX).into())?;
    let found = judge::dense::<f64>(answer, 0, "[sum, mean, std]", reductions.answer())?;
    let count = reductions.count();
    let error_of = |index: usize| {
        let expected = judge::moments(&reductions.elements(a, index));
        let [sum, mean, std] = expected;
        // A single element has deviation 0, so an error of its deviation is measured relative to the element.
        let scales = [sum, mean, if std > 0.0 { std } else { mean }];
        let found = found.iter().skip(index).step_by(count);
        let errors = found.zip(expected).zip(scales);
        let errors = errors.map(|((found, expected), scale)| relative((found - expected).abs(), scale));
        errors.fold(0.0, worse)
    };
    let error = (0..count).into_par_iter().map(error_of).reduce(|| 0.0, worse);
    // The numbers arrive as float64, so their digits show the precision they were computed in.
    let in_type = found.iter().any(|&number| T::narrow(number).widen() == number);
    let in_float32 = found.iter().any(|&number| f32::narrow(number).widen() == number);
    let bound = match (case.dtype, in_type) {
        (DType::F64, _) => IN_TYPE.max(2.0 * n) * rounding.sum,
        (DType::Bf16 | DType::F16, true) => IN_HALF * rounding.element,
        _ if in_float32 => IN_FLOAT32 * rounding.sum,
        _ => joined(n).min(IN_TYPE) * rounding.sum,
    };
    Ok(Checked::new(error, bound))
}

/// Returns the larger of two errors, or one that is not a number.
fn worse(worst: f64, error: f64) -> f64 {
    if error > worst || error.is_nan() { error } else { worst }
}

/// Permitted error in unit roundoffs of a float32 answer.
const IN_FLOAT32: f64 = 16.0;
/// Permitted error in unit roundoffs of an answer in a 16-bit type.
const IN_HALF: f64 = 4.0;
/// Permitted error in unit roundoffs of a float64 answer, and at most of a sum that was joined in float64. In float64 it is at least `2 n`: four times what one
/// running sum of `n^2` numbers was seen to err by, and far below what operands or sums of fewer bits would.
const IN_TYPE: f64 = 8.0;
/// Permitted number of elements per running sum in the element type before float64 is required.
const RUN: f64 = 64.0;
/// Concurrent running sums: about the number of threads of a GPU.
const THREADS: f64 = (1 << 18) as f64;

/// Returns the permitted error in unit roundoffs of a sum of `n^2` numbers whose runs are added in the element type
/// and then joined in float64.
///
/// Rounding is independent in each run (Higham and Mary 2019): a run of `b` elements rounds by about `sqrt(b) / 3`
/// roundoffs of its own, and the mean of `n^2 / b` runs by `b / 3 n`. The bound is six times that.
fn joined(n: f64) -> f64 {
    2.0 * RUN.max(n * n / THREADS) / n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;

    /// Returns the case of a shape, its operands and their right answer.
    fn solved(shape: &str, dtype: DType, seed: u64) -> (Case, Vec<Operand>, Vec<f64>) {
        let shape = Some(serde_json::from_str(shape).unwrap());
        let case = Case { shape, ..Case::square("reduction", 1, dtype, seed) };
        let inputs = Reduction.inputs(&case);
        let answer = reference::answer(&case, &inputs).unwrap();
        let numbers = answer[0].dense_slice::<f64>().unwrap().to_vec();
        (case, inputs, numbers)
    }

    fn is_right(case: &Case, inputs: &[Operand], numbers: Vec<f64>) -> bool {
        let answer = [Operand::dense(3, numbers.len() / 3, numbers)];
        let rounding = gpubench_report::Accuracy::Ieee.rounding(case.dtype);
        Reduction.check(case, inputs, &answer, rounding).is_ok_and(|checked| checked.is_right())
    }

    #[test]
    fn a_wrong_result_of_any_row_or_column_is_rejected() {
        for dtype in DType::REAL_AND_HALF.iter().copied() {
            for axis in [0, 1] {
                let shape = format!(r#"{{"rows":40,"cols":40,"axis":{axis}}}"#);
                let (case, inputs, right) = solved(&shape, dtype, 1);
                assert!(is_right(&case, &inputs, right.clone()), "{case}");
                for index in 0..right.len() {
                    let mut wrong = right.clone();
                    wrong[index] *= 1.0 - 1.0 / 40.0;
                    assert!(!is_right(&case, &inputs, wrong), "{case}: number {index}");
                }
                let other_axis = shape.replace(&format!("axis\":{axis}"), &format!("axis\":{}", 1 - axis));
                for (other, seed) in [(&other_axis, 1), (&shape, 2)] {
                    assert!(
                        !is_right(&case, &inputs, solved(other, dtype, seed).2),
                        "{case}: {other} {seed}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_work_of_an_axis_counts_three_numbers_per_result() {
        for (axis, results) in [(0, 5), (1, 7)] {
            let (case, _, numbers) =
                solved(&format!(r#"{{"rows":7,"cols":5,"axis":{axis}}}"#), DType::F32, 1);
            assert_eq!((numbers.len(), Reductions::of(&case).count()), (3 * results, results));
            let bytes = 35 * 4 + 24 * results;
            assert_eq!(
                (Reduction.work(&case).bytes, Reduction.footprint(&case)),
                (bytes as f64, bytes as u128)
            );
        }
    }
}
