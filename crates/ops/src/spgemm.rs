//! The sparse matrix product in CSR form. The judge checks structure and values, without computing the product.

use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;
use rayon::prelude::*;

use super::judge::{self, JUDGE_ROUNDOFF, relative, worst};
use super::volume::{csr_bytes, density, side, stored};
use super::{About, Checked, Decisive, Given, Op, Work, sparse_square};

/// `C = A B` in CSR form.
pub(crate) struct Spgemm;

/// Largest size at which products are counted to find out whether there are any.
const LARGEST_COUNTED: u64 = 100_000;

/// Expected stored entries of the product: an entry stays empty when all of its `n` products do.
fn stored_in_product(case: &Case) -> f64 {
    let (n, p) = (side(case), density(case));
    let empty = n * (-p * p).ln_1p();
    n * n * -empty.exp_m1()
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
        }
    }

    /// A multiplication and an addition for each expected product, `2 n^3 density^2`; the bytes of both
    /// operands and of the product's expected entries.
    fn work(&self, case: &Case) -> Work {
        let (n, p) = (side(case), density(case));
        let bytes = 2.0 * csr_bytes(case, stored(case)) + csr_bytes(case, stored_in_product(case));
        Work { flop: 2.0 * n * n * n * p * p, bytes }
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        2.0 * csr_bytes(case, stored(case))
    }

    /// Chooses an entry of A whose column is a non-empty row of B.
    fn decisive_element(&self, _case: &Case, inputs: &[Operand]) -> Option<Decisive> {
        let [Operand::Csr(a), Operand::Csr(b)] = inputs else { return None };
        let has_entries = |row: &i32| b.indptr[*row as usize] < b.indptr[*row as usize + 1];
        let element = a.indices.iter().position(has_entries)?;
        Some(Decisive { operand: 0, element, value: 2.0 })
    }

    fn footprint(&self, case: &Case) -> u128 {
        self.work(case).bytes.ceil() as u128
    }

    fn nothing_to_compute(&self, case: &Case) -> Option<&'static str> {
        let (n, p) = (side(case), density(case));
        // With more than 100 expected products, the chance that there are none is below 1e-40. Larger operands are not generated for
        // this, since nothing has checked yet that they fit the memory.
        if n * n * n * p * p > 100.0 || case.n > LARGEST_COUNTED {
            return None;
        }
        let inputs = self.inputs(case);
        self.decisive_element(case, &inputs)
            .is_none()
            .then_some("the product of these matrices has no entries")
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![sparse_square(case, 0), sparse_square(case, 1)]
    }

    /// Structure first: offsets, columns in range, none twice in a row. Then, as for matmul, the largest
    /// error of a row under a projection on random weights and one on ones, relative to the row's 2-norm.
    ///
    /// An entry sums at most as many products as the fullest row of A holds; the judge's own sums are as
    /// long as the fullest row of A, B or C.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, check(given))
    }
}

fn check<T: Real>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let n = case.side();
    let (a, a_values) = judge::csr::<T>(inputs, 0, "A", n)?;
    let (b, b_values) = judge::csr::<T>(inputs, 1, "B", n)?;
    let (c, c_values) = judge::csr::<T>(answer, 0, "C", n)?;
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
    let lengths = c.indptr.par_windows(2).map(|ends| f64::from((ends[1] - ends[0]).max(1)));
    let rows = found.par_iter().zip(&expected).zip(lengths);
    let error = worst(rows.map(|((found, expected), length)| {
        let norm = expected[1] / length.sqrt();
        let [weighted, sums] = [0, 1].map(|k| (found[k] - expected[k]).abs());
        relative(weighted, norm) + relative(sums, expected[1])
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
            let case = Case { op: "spgemm".into(), n, dtype: DType::F32, density: Some(density), seed: 1 };
            let [Operand::Csr(a), Operand::Csr(b)] = &Spgemm.inputs(&case)[..] else { panic!("{n}") };
            let length = |row: &i32| b.indptr[*row as usize + 1] - b.indptr[*row as usize];
            let products: i32 = a.indices.iter().map(length).sum();
            assert_eq!(Spgemm.nothing_to_compute(&case).is_some(), products == 0, "{n} {density}");
            products == 0
        };
        let empty = (1..=40).filter(|n| is_empty(*n, 0.01)).count();
        assert!((20..40).contains(&empty), "{empty} of 40");
        assert!(!is_empty(100, 0.01) && !is_empty(2, 1.0));
        let huge = Case { op: "spgemm".into(), n: 1 << 40, dtype: DType::F32, density: Some(1e-30), seed: 1 };
        assert_eq!(Spgemm.nothing_to_compute(&huge), None, "and no memory is taken");
    }
}
