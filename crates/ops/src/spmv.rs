//! The product of a sparse matrix and a vector, judged entry by entry.

use std::borrow::Cow;

use gpubench_report::case::Case;
use gpubench_report::data::{Csr, Operand, Real};
use gpubench_report::error::CellError;
use rayon::prelude::*;

use super::judge::{self, relative, worst};
use super::volume::{csr_bytes, element, generator_bytes, product, stored};
use super::{About, Checked, Decisive, Given, Limit, Op, Work, matrix, sparse_matrix, uniform};

/// `y = A x` with A of m x n in CSR form.
pub(crate) struct Spmv;

/// The dimensions of A.
const A: [&str; 2] = ["m", "n"];

impl Op for Spmv {
    fn about(&self) -> About {
        About {
            density: Some(0.05),
            limit: Limit::Read,
            ..About::new(
                "spmv",
                "sparse matrix times vector y = A x, A in CSR form",
                &[100, 500, 512, 1024, 2048],
            )
            .shaped(&A, &[])
        }
    }

    /// A multiplication and an addition for each expected entry.
    fn work(&self, case: &Case) -> Work {
        let y = product(case, &["m"]) * element(case.dtype);
        Work { flop: 2.0 * stored(case, A), bytes: self.read_bytes(case) + y }
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        csr_bytes(case, "m", stored(case, A)) + product(case, &["n"]) * element(case.dtype)
    }

    fn expected_entries(&self, case: &Case) -> f64 {
        stored(case, A)
    }

    fn nothing_to_compute(&self, case: &Case) -> Option<&'static str> {
        let is_empty = matrix::of(case).is_some_and(|matrix| matrix.stored() == 0);
        is_empty.then_some("the matrix has no entries").or_else(|| matrix::beyond_type(case))
    }

    /// Chooses an element of the vector whose column has entries; of the matrix of a file, that of the largest entry, which no
    /// rounding of the others in its row hides.
    fn decisive_element(&self, case: &Case, inputs: &[Operand]) -> Option<Decisive> {
        let Some(Operand::Csr(a)) = inputs.first() else { return None };
        let entry = if case.matrix.is_some() { for_dtype!(case.dtype, largest(a))? } else { 0 };
        let element = *a.indices.get(entry)? as usize;
        Some(Decisive { operand: 1, element, value: 2.0 })
    }

    fn footprint(&self, case: &Case) -> u128 {
        self.work(case).bytes.ceil() as u128
    }

    fn scratch(&self, case: &Case) -> u128 {
        generator_bytes(case, A)
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        let [m, n] = case.extents(A);
        vec![sparse_matrix(case, 0, [m, n]), uniform(case, 2, [n, 1])]
    }

    /// The largest error of an entry relative to `(|A| |x|)_i`, which is the entry itself where nothing is
    /// negative. The plainest sum of `t` terms rounds by about `sqrt(t)` unit roundoffs.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        for_dtype!(given.case.dtype, check(given))
    }
}

fn largest<T: Real>(a: &Csr) -> Option<usize> {
    judge::largest(T::slice(&a.values).ok()?.iter().map(|value| value.to_f64().abs()))
}

fn check<T: Real>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let [m, n] = case.extents(A);
    let (a, values) = judge::csr::<T>(inputs, 0, "A", (m, n))?;
    let x = judge::dense::<T>(inputs, 1, "x", (n, 1))?;
    let y = judge::dense::<T>(answer, 0, "y", (m, 1))?;
    let x: Vec<[f64; 1]> = x.iter().map(|value| [value.to_f64()]).collect();
    let expected = judge::csr_times(a, values, &x);
    let magnitudes = match judge::magnitudes(values) {
        Cow::Borrowed(_) => None,
        Cow::Owned(magnitudes) => Some(judge::csr_times(a, &magnitudes, &x)),
    };
    let rows = y.par_iter().zip(&expected).zip(magnitudes.as_ref().unwrap_or(&expected));
    let error = worst(rows.map(|((found, [expected]), [scale])| relative(found.to_f64() - expected, *scale)));
    let terms = judge::widest_row(a) as f64;
    Ok(Checked::new(error, 8.0 * rounding.input + 4.0 * terms.sqrt() * rounding.sum))
}
