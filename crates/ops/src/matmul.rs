//! The dense matrix product. The judge checks `C = A B` by projections, without computing the product.

use std::borrow::Cow;

use faer::{Accum, MatMut, MatRef, Par};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Element, Operand, Values, Wide};
use gpubench_report::error::CellError;
use gpubench_report::shape::{BATCH, LAYOUT, Shape};
use half::{bf16, f16};
use rayon::prelude::*;

use super::judge::{self, JUDGE_ROUNDOFF, relative, worst};
use super::volume::{bytes_of, element, product};
use super::{About, Checked, Given, Op, Rounding, Work, uniform};

/// `C = A B` for A of m x k and B of k x n, or for a batch of them; the layout says which of the two is stored transposed.
pub(crate) struct Matmul;

/// The dimensions of A, B and C.
const MATRICES: [[&str; 3]; 3] = [[BATCH, "m", "k"], [BATCH, "k", "n"], [BATCH, "m", "n"]];

/// The layouts: each letter is `t` if that operand is stored transposed.
const LAYOUTS: [&str; 4] = ["nn", "nt", "tn", "tt"];

/// The products of a case: row-major matrices, those of a batch one after another.
#[derive(Clone, Copy, Debug)]
pub struct Products {
    /// m, n and k.
    pub sides: [usize; 3],
    /// Whether A and B are stored transposed.
    pub transposed: [bool; 2],
    /// Rows and columns of one stored matrix of A and of B.
    pub stored: [[usize; 2]; 2],
    /// Number of products.
    pub batch: usize,
}

impl Products {
    /// Returns one product of square matrices.
    pub fn square(n: usize) -> Products {
        Products { sides: [n; 3], transposed: [false; 2], stored: [[n; 2]; 2], batch: 1 }
    }

    /// Returns the products of a case.
    pub fn of(case: &Case) -> Products {
        let [m, n, k, batch] = case.extents(["m", "n", "k", BATCH]);
        let layout = case.shape.as_ref().and_then(|shape| shape.word(LAYOUT)).unwrap_or("nn");
        let transposed = [layout.starts_with('t'), layout.ends_with('t')];
        let [a, b] = transposed;
        let stored = [if a { [k, m] } else { [m, k] }, if b { [n, k] } else { [k, n] }];
        Products { sides: [m, n, k], transposed, stored, batch }
    }

    /// Returns the side of a square product of as much work as one of these.
    pub fn side(&self) -> usize {
        self.sides.iter().map(|side| *side as f64).product::<f64>().cbrt().round() as usize
    }

    /// Returns the number of elements of one matrix of A, of B and of C.
    pub fn lens(&self) -> [usize; 3] {
        let [m, n, k] = self.sides;
        [m * k, k * n, m * n]
    }

    /// Returns the factors of number `index` of the batch.
    pub fn factors<'a, T>(&self, index: usize, [a, b]: [&'a [T]; 2]) -> [&'a [T]; 2] {
        let [a_len, b_len, _] = self.lens();
        [&a[index * a_len..][..a_len], &b[index * b_len..][..b_len]]
    }
}

impl Op for Matmul {
    fn about(&self) -> About {
        About::new("matmul", "dense matrix product C = A B", &[100, 500, 1000, 5000, 10000])
            .shaped(&["m", "n", "k"], &[BATCH, LAYOUT])
            .of_types(DType::ALL)
    }

    /// `2 m n k`: a multiplication and an addition for each term; of complex numbers four times as much.
    fn work(&self, case: &Case) -> Work {
        let elements: f64 = MATRICES.iter().map(|matrix| product(case, matrix)).sum();
        let of_term = if case.dtype.is_complex() { 8.0 } else { 2.0 };
        Work { flop: of_term * product(case, &[BATCH, "m", "n", "k"]), bytes: elements * element(case.dtype) }
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        MATRICES[..2].iter().map(|matrix| product(case, matrix)).sum::<f64>() * element(case.dtype)
    }

    fn footprint(&self, case: &Case) -> u128 {
        bytes_of(case, &MATRICES.each_ref().map(|matrix| &matrix[..]))
    }

    /// Of 16-bit types, what [`entry_error`] makes.
    fn scratch(&self, case: &Case) -> u128 {
        if case.dtype.bytes() > 2 {
            0
        } else {
            bytes_of(case, &MATRICES.each_ref().map(|matrix| &matrix[1..])).saturating_mul(2)
        }
    }

    fn refuse_shape(&self, shape: &Shape) -> Option<String> {
        let layout = shape.word(LAYOUT).filter(|layout| !LAYOUTS.contains(layout))?;
        Some(format!("layout {layout} is none of {}", LAYOUTS.join(", ")))
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        let Products { batch, stored: [[a_rows, a_cols], [b_rows, b_cols]], .. } = Products::of(case);
        vec![uniform(case, 0, [batch * a_rows, a_cols]), uniform(case, 1, [batch * b_rows, b_cols])]
    }

    /// Computes three errors and returns the one nearest to its bound, on the scale of the first:
    ///
    /// - of a row under balanced random weights `x`: the largest `(C x - A (B x))_i` relative to the 2-norm of row `i`,
    ///   which is the relative error of a typical entry. It finds one wrong entry, even at half precision, as balanced
    ///   weights cancel what the rounding of operands adds to all entries of a row alike.
    /// - of the sum of a row, relative to it, and of the sums of some columns. An operand's rounding stays in a sum of
    ///   `C`, since it is multiplied by the other operand's mean; the rounding of the `n` entries averages out.
    ///
    /// A running sum of `n` numbers of one sign rounds by `sqrt(n) / 3` unit roundoffs, not by `n`, as errors of both
    /// signs add up (Higham and Mary 2019; Connolly, Higham and Mary 2021), and the mean of `n` of them by a third of
    /// one: the bounds are about six times as much, for the largest of many. Measured, with one running sum for each
    /// entry up to `n = 10000`: `0.26 sqrt(n)`, and 0.2 to 0.7 for the sums. Operands rounded to 11 bits move the sums by
    /// about `3400 / sqrt(n)` float32 roundoffs.
    ///
    /// Operands of 16 bits are exact, and their products are added up in float32. The answer may have the sums themselves. If it has their
    /// type, the rounding of each entry adds six roundoffs to a row under weights and hides a wrong entry in a long one. So the entries of as
    /// many rows as [`CHECKED_FLOP`] allow, all of N <= 1600, are compared with a product in float32: the bound is four roundoffs, as libraries
    /// also round partial sums to 16 bits.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        match (given.case.dtype, given.answer.first().map(Operand::values)) {
            (DType::Bf16, Some(Values::F32(_))) => check::<bf16, f32>(given),
            (DType::F16, Some(Values::F32(_))) => check::<f16, f32>(given),
            (dtype, _) => for_dtype!(any dtype, check_in_type(given)),
        }
    }
}

fn check_in_type<T: Element>(given: &Given) -> Result<Checked, CellError> {
    check::<T, T>(given)
}

/// Checks an answer with elements `C` to operands with elements `T`.
fn check<T: Element, C: Element<Wide = T::Wide>>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let products = Products::of(case);
    let Products { sides: [m, n, k], batch, stored: [[a_rows, a_cols], [b_rows, b_cols]], .. } = products;
    let a = judge::dense::<T>(inputs, 0, "A", (batch * a_rows, a_cols))?;
    let b = judge::dense::<T>(inputs, 1, "B", (batch * b_rows, b_cols))?;
    let c = judge::dense::<C>(answer, 0, "C", (batch * m, n))?;
    let [a_len, b_len, c_len] = products.lens();
    let of_batch = a.par_chunks(a_len).zip(b.par_chunks(b_len)).zip(c.par_chunks(c_len));
    let [a_is_transposed, b_is_transposed] = products.transposed;
    let checked = of_batch.map(|((a, b), c)| {
        let a = if a_is_transposed { Cow::Owned(transpose(a, m)) } else { Cow::Borrowed(a) };
        let b = if b_is_transposed { Cow::Owned(transpose(b, k)) } else { Cow::Borrowed(b) };
        check_one([m, n, k], [&a, &b], c, (case.seed, batch), rounding)
    });
    let worst = checked.reduce_with(|worst, one| worst.worse(one));
    worst.ok_or_else(|| CellError::Failed("the batch has no matrix".into()))
}

/// Returns the transpose of a row-major matrix of `cols` columns.
fn transpose<T: Element>(matrix: &[T], cols: usize) -> Vec<T> {
    let rows = matrix.len() / cols;
    let mut transposed = vec![T::default(); matrix.len()];
    transposed.par_chunks_mut(rows).enumerate().for_each(|(col, line)| {
        line.iter_mut().enumerate().for_each(|(row, entry)| *entry = matrix[row * cols + col]);
    });
    transposed
}

fn check_one<T: Element, C: Element<Wide = T::Wide>>(
    [m, n, k]: [usize; 3],
    [a, b]: [&[T]; 2],
    c: &[C],
    (seed, batch): (u64, usize),
    rounding: Rounding,
) -> Checked {
    let probes = judge::as_wide(&judge::balanced_and_ones(seed, n));
    let expected = judge::rows_times(a, &judge::rows_times(b, &probes));
    let found = judge::rows_times(c, &probes);
    let rows = found.par_iter().zip(&expected);
    let (root, width) = ((k as f64).sqrt(), (n as f64).sqrt());
    let weighted =
        worst(rows.clone().map(|(found, expected)| error(found[0], expected[0], expected[1] / width)));
    let sums = worst(rows.map(|(found, expected)| error(found[1], expected[1], expected[1])));
    // The judge's sums round too, if they are short at least a few times.
    let own = 4.0 * (root.max(width) + 1.0) * JUDGE_ROUNDOFF;
    // What the rounding of entries to fewer bits than the sums have adds.
    let entry = if C::DTYPE.bytes() == 2 { 6.0 * rounding.element } else { 0.0 };
    let weighted =
        Checked::new(weighted, 16.0 * rounding.input / root + 4.0 * root * rounding.sum + entry + own);
    // Tensor cores truncate, in one direction, what they add up (Fasi, Higham, Mikaitis and Pranesh 2021): 4e-5 of a sum of 5000 terms.
    let truncated = if entry > 0.0 { 0.5 * k as f64 * rounding.sum } else { 0.0 };
    // The rounding of fewer entries averages out less.
    let mean_of = |entries: usize| {
        let width = (entries as f64).sqrt();
        4.0 * (rounding.input + (root / width).max(1.0) * rounding.sum) + entry / width + truncated + own
    };
    let sums = Checked::new(sums, mean_of(n));
    // Enough rows to make the rounding of sums small.
    let height = m.min(COLUMN_HEIGHT);
    let columns = Checked::new(column_error([n, k], [a, b], c, height), mean_of(height));
    let checked =
        [sums, columns].into_iter().fold(weighted, |worst, sum| worst.worse(sum.on_scale_of(worst.bound)));
    if C::DTYPE.bytes() > 2 {
        return checked;
    }
    let rows = CHECKED_FLOP / (2 * n * k * batch);
    let error = entry_error([m, n, k], [a, b], c, (seed, rows.clamp(1, m)));
    let entries = Checked::new(error, 4.0 * rounding.element + 4.0 * root * rounding.sum);
    entries.worse(checked.on_scale_of(entries.bound))
}

/// Operations by which entries of an answer of 16 bits are checked.
const CHECKED_FLOP: usize = 1 << 33;

/// Returns the largest relative error of the entries of about `rows` rows, evenly spaced, against a product in float32.
fn entry_error<T: Element, C: Element>(
    [m, n, k]: [usize; 3],
    [a, b]: [&[T]; 2],
    c: &[C],
    (seed, rows): (u64, usize),
) -> f64 {
    let step = m.div_ceil(rows);
    let chosen: Vec<usize> = (seed as usize % step..m).step_by(step).collect();
    let single = |x: &T| f32::narrow(x.widen().complex().re);
    let a: Vec<f32> = chosen.iter().flat_map(|row| a[row * k..][..k].iter().map(single)).collect();
    let b: Vec<f32> = b.par_iter().map(single).collect();
    let mut expected = vec![0f32; chosen.len() * n];
    let (a, b) = (MatRef::from_row_major_slice(&a, chosen.len(), k), MatRef::from_row_major_slice(&b, k, n));
    let product = MatMut::from_row_major_slice_mut(&mut expected, chosen.len(), n);
    faer::linalg::matmul::matmul(product, Accum::Replace, a, b, 1.0, Par::rayon(0));
    let rows = chosen.par_iter().map(|row| &c[row * n..][..n]).zip(expected.par_chunks(n));
    worst(rows.flat_map_iter(|(found, expected)| {
        found.iter().zip(expected).map(|(found, expected)| {
            let expected = f64::from(*expected);
            relative(found.widen().complex().re - expected, expected)
        })
    }))
}

/// Number of leading rows in the sum by which a column is judged.
const COLUMN_HEIGHT: usize = 1024;
/// Number of leading columns that are judged: enough to see the rounding of B, which moves each column differently.
const COLUMNS: usize = 64;

/// Returns the largest relative error of the sums of the leading `height` entries of the leading columns.
fn column_error<T: Element, C: Element<Wide = T::Wide>>(
    [n, k]: [usize; 2],
    [a, b]: [&[T]; 2],
    c: &[C],
    height: usize,
) -> f64 {
    let ones = vec![[T::Wide::from(1.0)]; height];
    let found = judge::columns_times(&leading_columns(&c[..height * n], n), &ones);
    let weights = judge::columns_times(&a[..height * k], &ones);
    let expected = judge::columns_times(&leading_columns(b, n), &weights);
    worst(found.par_iter().zip(&expected).map(|([found], [expected])| error(*found, *expected, *expected)))
}

/// Returns the leading columns of a row-major matrix of `cols` columns.
fn leading_columns<T: Element>(matrix: &[T], cols: usize) -> Vec<T> {
    matrix.chunks(cols).flat_map(|row| &row[..cols.min(COLUMNS)]).copied().collect()
}

/// Returns the magnitude of an error relative to that of `scale`.
fn error<W: Wide>(found: W, expected: W, scale: W) -> f64 {
    relative((found - expected).magnitude(), scale.magnitude())
}
