//! The ops' registry and checks, tested op by op in one loop each: right answers pass, wrong ones do not.

mod accepted;
mod formats;
mod matrices;
mod mutations;
mod registry;
mod rejected;
mod shapes;

use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Operand, Values};
use half::{bf16, f16};
use rayon::prelude::*;

use super::reference::{complex_in, computed_in};
use super::{Checked, OPS, Op, Rounding, find};
use gpubench_report::Accuracy;

/// A case of `op` at its default density, or fuller where `n` is too small for that to store anything.
fn case(op: &str, n: u64, dtype: DType) -> Case {
    let density = the(op).default_density().map(|density| density.max(4.0 / n as f64).min(1.0));
    Case { density, ..Case::square(op, n, dtype, 42) }
}

fn the(op: &str) -> &'static dyn Op {
    find(op).unwrap()
}

/// The rounding of arithmetic in the case's own type.
fn ieee(dtype: DType) -> Rounding {
    Accuracy::Ieee.rounding(dtype)
}

fn check(case: &Case, inputs: &[Operand], answer: &[Operand]) -> Checked {
    the(&case.op).check(case, inputs, answer, ieee(case.dtype)).unwrap()
}

/// Operands and the right answer of an op.
fn solved(op: &str, n: u64, dtype: DType) -> (Case, Vec<Operand>, Vec<Operand>) {
    let case = case(op, n, dtype);
    let inputs = the(op).inputs(&case);
    let answer = plain_answer(&case, &inputs);
    (case, inputs, answer)
}

/// Returns the right answer of a case by the simplest algorithms, all arithmetic in its working type.
fn plain_answer(case: &Case, inputs: &[Operand]) -> Vec<Operand> {
    let answer = match case.dtype {
        DType::F32 => computed_in::<f32, f32>(case, inputs),
        DType::F64 => computed_in::<f64, f64>(case, inputs),
        DType::Bf16 => computed_in::<bf16, f32>(case, inputs),
        DType::F16 => computed_in::<f16, f32>(case, inputs),
        DType::C64 => complex_in::<f32, f32>(case, inputs),
        DType::C128 => complex_in::<f64, f64>(case, inputs),
    };
    answer.unwrap()
}

/// Returns the elements, of complex ones the real parts.
fn values_of(operand: &Operand) -> Vec<f64> {
    (0..operand.values().len()).filter_map(|index| operand.values().real_part(index)).collect()
}

fn ops_in_their_types() -> impl Iterator<Item = (&'static dyn Op, DType)> {
    OPS.iter().flat_map(|op| op.about().dtypes.iter().map(move |dtype| (*op, *dtype)))
}

fn types_of(op: &str) -> impl Iterator<Item = DType> {
    the(op).about().dtypes.iter().copied()
}

/// Replaces the (real part of the) element at `index`.
fn alter(operand: &mut Operand, index: usize, change: impl Fn(f64) -> f64) {
    operand.values_mut().change_real_part(index, change);
}

/// Replaces every element, of complex ones both parts, by what `change` makes of its index and itself.
fn change_all(operand: &mut Operand, change: impl Fn(usize, f64) -> f64 + Sync) {
    match operand.values_mut() {
        Values::F32(v) => {
            v.par_iter_mut().enumerate().for_each(|(i, x)| *x = change(i, f64::from(*x)) as f32);
        }
        Values::F64(v) => v.par_iter_mut().enumerate().for_each(|(i, x)| *x = change(i, *x)),
        Values::Bf16(v) => {
            v.par_iter_mut().enumerate().for_each(|(i, x)| *x = bf16::from_f64(change(i, x.to_f64())));
        }
        Values::F16(v) => {
            v.par_iter_mut().enumerate().for_each(|(i, x)| *x = f16::from_f64(change(i, x.to_f64())));
        }
        Values::C64(v) => v.par_iter_mut().enumerate().for_each(|(i, z)| {
            (z.re, z.im) = (change(i, f64::from(z.re)) as f32, change(i, f64::from(z.im)) as f32);
        }),
        Values::C128(v) => v.par_iter_mut().enumerate().for_each(|(i, z)| {
            (z.re, z.im) = (change(i, z.re), change(i, z.im));
        }),
    }
}

/// Swaps rows and columns of a dense matrix.
fn transpose(operand: &mut Operand) {
    fn of<T: Copy>(values: &mut Vec<T>, rows: usize, cols: usize) {
        *values = (0..cols)
            .flat_map(|j| (0..rows).map(move |i| (i, j)))
            .map(|(i, j)| values[i * cols + j])
            .collect();
    }
    let Operand::Dense(dense) = operand else { panic!("dense operands only") };
    let (rows, cols) = (dense.rows, dense.cols);
    match &mut dense.values {
        Values::F32(v) => of(v, rows, cols),
        Values::F64(v) => of(v, rows, cols),
        Values::Bf16(v) => of(v, rows, cols),
        Values::F16(v) => of(v, rows, cols),
        Values::C64(v) => of(v, rows, cols),
        Values::C128(v) => of(v, rows, cols),
    }
}
