//! The variants of the product of two sparse matrices (CSR) on the CPU.

mod gustavson;

use std::mem::MaybeUninit;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, Lent, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::{Csr, Operand, Real};
use gpubench_report::error::CellError;
use rustfft::num_traits::Zero;
use sprs::smmp::{ThreadingStrategy, set_thread_threading_strategy};
use sprs::{CsMatI, MulAcc};

use self::gustavson::{Gustavson, too_many};
use super::variants::{CpuVariant, by_dtype, variant};
use crate::operands::memory;
use crate::threads::wake;

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "spgemm",
        "gustavson",
        "Gustavson's algorithm, dense accumulator, sorted rows, all threads",
        true,
        by_dtype!(gustavson, false),
    ),
    variant(
        "spgemm",
        "gustavson-reuse",
        "the same with a result that exists: its size is known",
        false,
        by_dtype!(gustavson, true),
    ),
    variant("spgemm", "sprs", "sprs SMMP, all threads", true, by_dtype!(sprs, usize::MAX)),
    variant("spgemm", "sprs-serial", "sprs SMMP, one thread", false, by_dtype!(sprs, 1)),
];

/// Prepares the product by our own kernel, which `reuses` the memory of the first result or allocates.
fn gustavson<T: Real>(
    threads: usize,
    _: &Case,
    inputs: &mut [Operand],
    reuses: bool,
) -> Result<Box<Prepared>, CellError> {
    let (a, b) = operands(inputs)?;
    Ok(Gustavson::<T>::new(a, b, threads, reuses)?.prepared())
}

struct Sprs<T> {
    a: CsMatI<T, i32>,
    b: CsMatI<T, i32>,
    product: Option<CsMatI<T, i32>>,
    threads: usize,
}

/// The traits that sprs requires of the elements of a product.
pub(super) trait SprsReal: Real + MulAcc + Zero {}
impl<T: Real + MulAcc + Zero> SprsReal for T {}

fn sprs<T: SprsReal>(
    threads: usize,
    _: &Case,
    inputs: &mut [Operand],
    max_threads: usize,
) -> Result<Box<Prepared>, CellError> {
    let threads = threads.min(max_threads);
    let (a, b) = operands(inputs)?;
    // sprs panics if 32-bit offsets overflow; this bound on the entries prevents it.
    let products: i64 =
        a.indices.iter().map(|&k| i64::from(b.indptr[k as usize + 1] - b.indptr[k as usize])).sum();
    let most = products.min((a.rows as i64).saturating_mul(b.cols as i64));
    if most > i64::from(i32::MAX) {
        return Err(too_many(most));
    }
    Ok(Prepared::new(Sprs::<T> { a: sprs_matrix(a)?, b: sprs_matrix(b)?, product: None, threads }))
}

impl<T: SprsReal> Job for Sprs<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show_sprs(&self.a, show);
        show_sprs(&self.b, show);
        if let Some(product) = &self.product {
            show_sprs(product, show);
        }
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        wake::pool(self.threads);
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        // sprs allocates a matrix in every execution; the structure must stay valid until then.
        let answer = self.product.as_mut().map(|product| host(product.data_mut()));
        let operands = [host(self.a.data_mut()), host(self.b.data_mut())];
        Contents { answer: answer.into_iter().collect(), ..Contents::new(operands, []) }
    }

    fn execute(&mut self) -> Result<(), CellError> {
        set_thread_threading_strategy(ThreadingStrategy::Fixed(self.threads));
        self.product = Some(&self.a * &self.b);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let product =
            self.product.as_ref().ok_or_else(|| CellError::Failed("sprs: asked before execution".into()))?;
        Ok(vec![Operand::Csr(Csr {
            rows: product.rows(),
            cols: product.cols(),
            indptr: product.proper_indptr().into_owned(),
            indices: product.indices().to_vec(),
            values: T::into_values(product.data().to_vec()),
        })])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let answer = self.answer()?;
        let mut operands = [&mut self.a, &mut self.b].map(|matrix| Operand::Csr(csr_of(matrix)));
        to(Lent { operands: Some(&operands), answer: &answer });
        let (a, b) = self::operands(&mut operands)?;
        (self.a, self.b) = (sprs_matrix(a)?, sprs_matrix(b)?);
        Ok(())
    }
}

/// Moves a matrix into the type of sprs.
pub(super) fn sprs_matrix<T: Real>(matrix: Csr) -> Result<CsMatI<T, i32>, CellError> {
    let Csr { rows, cols, indptr, indices, values } = matrix;
    CsMatI::try_new((rows, cols), indptr, indices, T::from_values(values)?)
        .map_err(|(.., error)| CellError::call("sprs::CsMatI::try_new", error))
}

/// Moves a matrix out of the type of sprs, and leaves an empty one in its place.
pub(super) fn csr_of<T: Real + Zero>(matrix: &mut CsMatI<T, i32>) -> Csr {
    let (rows, cols) = matrix.shape();
    let (indptr, indices, values) = std::mem::replace(matrix, CsMatI::zero((0, 0))).into_raw_storage();
    Csr { rows, cols, indptr, indices, values: T::into_values(values) }
}

/// Shows the memory of all parts of an sprs matrix.
pub(super) fn show_sprs<T: Real>(matrix: &CsMatI<T, i32>, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
    show(memory(matrix.indptr().raw_storage()));
    show(memory(matrix.indices()));
    show(memory(matrix.data()));
}

/// Takes the operands.
fn operands(inputs: &mut [Operand]) -> Result<(Csr, Csr), CellError> {
    match inputs {
        [a, b] => Ok((a.take().into_csr()?, b.take().into_csr()?)),
        _ => Err(CellError::Failed(format!("spgemm takes 2 operands, got {}", inputs.len()))),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{TEST_SIDES, answer_of, assert_right_at};
    use gpubench_report::case::DType;
    use gpubench_report::data::generator::sparse;

    use super::*;

    #[test]
    fn every_variant_is_right_for_sparse_and_crowded_rows() {
        assert_right_at("spgemm", &TEST_SIDES, &[Some(0.01), Some(0.3)]);
    }

    #[test]
    fn rows_of_our_kernel_are_sorted_and_full_matrices_have_all_entries() {
        for (n, density) in TEST_SIDES.map(|n| (n, 0.3)).into_iter().chain([(65, 1.0)]) {
            let operands = [0, 1].map(|number| Operand::Csr(sparse::<f64>(1, number, n, n, density)));
            for variant in ["gustavson", "gustavson-reuse"] {
                let answer = answer_of("spgemm", variant, n, DType::F64, &operands);
                let product = answer[0].as_csr().unwrap();
                let mut rows = product.indptr.windows(2).map(|row| row[0] as usize..row[1] as usize);
                assert!(rows.all(|row| product.indices[row].is_sorted()));
                assert!(density < 1.0 || product.nnz() == n * n);
            }
        }
    }
}
