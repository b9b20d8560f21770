//! The sparse matrix product in CSR form. The judge checks structure and values, without computing the product.

use gpubench_report::case::Case;
use gpubench_report::data::{Csr, Operand, Real};
use gpubench_report::error::CellError;
use rayon::prelude::*;

use super::judge::{self, JUDGE_ROUNDOFF, relative, worst};
use super::matrix::{self, FileMatrix};
use super::volume::{csr_bytes, density, generator_bytes, product, stored};
use super::{About, Checked, Decisive, Given, Op, Work, sparse_matrix};

/// `C = A B` in CSR form, for A of m x k and B of k x n.
pub(crate) struct Spgemm;

/// The dimensions of A and B.
const FACTORS: [[&str; 2]; 2] = [["m", "k"], ["k", "n"]];

/// Largest dimension up to which products are counted to find out whether there are any.
const LARGEST_COUNTED: u64 = 100_000;

const EMPTY: &str = "the product of these matrices has no entries";

/// Returns the entry of A whose largest product with an entry of B is the largest, and twice its value.
fn largest_product<T: Real>(a: &Csr, b: &Csr) -> Option<Decisive> {
    let [values, factors] = [T::slice(&a.values).ok()?, T::slice(&b.values).ok()?];
    let rows = b.indptr.windows(2).map(|ends| &factors[ends[0] as usize..ends[1] as usize]);
    let largest = rows.map(|row| row.iter().map(|value| value.to_f64().abs()).fold(0.0, f64::max));
    let largest: Vec<f64> = largest.collect();
    let entries = a.indices.iter().zip(values);
    let products = entries.map(|(row, value)| value.to_f64().abs() * largest[*row as usize]);
    let element = judge::largest(products)?;
    Some(Decisive { operand: 0, element, value: 2.0 * values[element].to_f64() })
}

/// Expected stored entries of the product: an entry stays empty when all of its `k` products do. Of the matrix of a file, the most
/// that its products can fill.
fn stored_in_product(case: &Case) -> f64 {
    let (entries, p) = (product(case, &["m", "n"]), density(case));
    if let Some(matrix) = matrix::of(case) {
        return matrix.products().min(entries);
    }
    let empty = product(case, &["k"]) * (-p * p).ln_1p();
    entries * -empty.exp_m1()
}

/// Expected multiplications of generated matrices; of the matrix of a file, their number.
fn products(case: &Case) -> f64 {
    let generated = || product(case, &["m", "n", "k"]) * density(case) * density(case);
    matrix::of(case).map_or_else(generated, FileMatrix::products)
}

impl Op for Spgemm {
    fn about(&self) -> About {
        About {
            density: Some(0.01),
            ..About::new(
                "spgemm",
                "sparse matrix product C = A B, all in CSR form",
                &[100, 500, 512, 1024, 2048],
            )
            .shaped(&["m", "n", "k"], &[])
        }
    }

    /// A multiplication and an addition for each product, of generated matrices for each expected one, `2 m n k density^2`; the
    /// bytes of both operands and of the product's expected entries.
    fn work(&self, case: &Case) -> Work {
        let bytes = self.read_bytes(case) + csr_bytes(case, "m", stored_in_product(case));
        Work { flop: 2.0 * products(case), bytes }
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        FACTORS.iter().map(|factor| csr_bytes(case, factor[0], stored(case, *factor))).sum()
    }

    fn expected_entries(&self, case: &Case) -> f64 {
        FACTORS.iter().map(|factor| stored(case, *factor)).fold(0.0, f64::max)
    }

    /// Chooses an entry of A whose column is a non-empty row of B; of the matrix of a file, the one with the largest product, which
    /// doubles.
    fn decisive_element(&self, case: &Case, inputs: &[Operand]) -> Option<Decisive> {
        let [Operand::Csr(a), Operand::Csr(b)] = inputs else { return None };
        if case.matrix.is_some() {
            return for_dtype!(case.dtype, largest_product(a, b));
        }
        let has_entries = |row: &i32| b.indptr[*row as usize] < b.indptr[*row as usize + 1];
        let element = a.indices.iter().position(has_entries)?;
        Some(Decisive { operand: 0, element, value: 2.0 })
    }

    fn footprint(&self, case: &Case) -> u128 {
        self.work(case).bytes.ceil() as u128
    }

    fn scratch(&self, case: &Case) -> u128 {
        FACTORS.map(|factor| generator_bytes(case, factor)).into_iter().max().unwrap_or(0)
    }

    fn nothing_to_compute(&self, case: &Case) -> Option<&'static str> {
        if let Some(matrix) = matrix::of(case) {
            return (matrix.products() == 0.0).then_some(EMPTY).or_else(|| matrix::beyond_type(case));
        }
        // With more than 100 expected products, the chance that there are none is below 1e-40. Larger operands are not generated for
        // this, since nothing has checked yet that they fit the memory.
        if products(case) > 100.0 || ["m", "n", "k"].iter().any(|name| case.extent(name) > LARGEST_COUNTED) {
            return None;
        }
        let inputs = self.inputs(case);
        self.decisive_element(case, &inputs).is_none().then_some(EMPTY)
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        let [m, n, k] = case.extents(["m", "n", "k"]);
        vec![sparse_matrix(case, 0, [m, k]), sparse_matrix(case, 1, [k, n])]
    }

    /// Structure first: offsets, columns in range, none twice in a row. Then, as for matmul, the largest
    /// error of a row under a projection on random weights and one on ones, relative to the row's 2-norm. The entries of a file
    /// may cancel and differ in size, so for these the norms are those of `|A| |B|`, the 2-norm estimated from above.
    ///
    /// An entry sums at most as many products as the fullest row of A holds; the judge's own sums are as
    /// long as the fullest row of A, B or C.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, check(given))
    }
}

fn check<T: Real>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let [m, n, k] = case.extents(["m", "n", "k"]);
    let (a, a_values) = judge::csr::<T>(inputs, 0, "A", (m, k))?;
    let (b, b_values) = judge::csr::<T>(inputs, 1, "B", (k, n))?;
    let (c, c_values) = judge::csr::<T>(answer, 0, "C", (m, n))?;
    let terms = judge::widest_row(a);
    let bound = 4.0 * (rounding.input + (terms as f64).sqrt() * rounding.sum);
    if let Some(fault) = judge::structural_fault(c) {
        return Ok(Checked::invalid(fault, bound));
    }
    let widest = terms.max(judge::widest_row(b)).max(judge::widest_row(c));
    let bound = bound + 8.0 * (widest as f64).sqrt() * JUDGE_ROUNDOFF;
    let probes = judge::balanced_and_ones(case.seed, n);
    let expected = judge::csr_times(a, a_values, &judge::csr_times(b, b_values, &probes));
    let found = judge::csr_times(c, c_values, &probes);
    let lengths = c.indptr.windows(2).map(|ends| f64::from((ends[1] - ends[0]).max(1)));
    let norms = match case.matrix {
        Some(_) => judge::csr_times(a, &judge::magnitudes(a_values), &judge::row_norms(b, b_values)),
        None => expected.iter().zip(lengths).map(|(row, length)| [row[1] / length.sqrt(), row[1]]).collect(),
    };
    let rows = found.par_iter().zip(&expected).zip(&norms);
    let error = worst(rows.map(|((found, expected), norms)| {
        let [weighted, sums] = [0, 1].map(|k| relative((found[k] - expected[k]).abs(), norms[k]));
        weighted + sums
    }));
    Ok(Checked::new(error, bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::case::DType;

    #[test]
    fn only_products_without_entries_have_nothing_to_compute() {
        let is_empty = |n: u64, density: f64| {
            let case = Case { density: Some(density), ..Case::square("spgemm", n, DType::F32, 1) };
            let [Operand::Csr(a), Operand::Csr(b)] = &Spgemm.inputs(&case)[..] else { panic!("{n}") };
            let length = |row: &i32| b.indptr[*row as usize + 1] - b.indptr[*row as usize];
            let products: i32 = a.indices.iter().map(length).sum();
            assert_eq!(Spgemm.nothing_to_compute(&case).is_some(), products == 0, "{n} {density}");
            products == 0
        };
        let empty = (1..=40).filter(|n| is_empty(*n, 0.01)).count();
        assert!((20..40).contains(&empty), "{empty} of 40");
        assert!(!is_empty(100, 0.01) && !is_empty(2, 1.0));
        let huge = Case { density: Some(1e-30), ..Case::square("spgemm", 1 << 40, DType::F32, 1) };
        assert_eq!(Spgemm.nothing_to_compute(&huge), None, "and no memory is taken");
    }
}
