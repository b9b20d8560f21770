//! The variants of the product of two sparse matrices (CSR) on the CPU.

mod gustavson;

use std::mem::MaybeUninit;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, Lent, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::{Csr, Operand, Real};
use gpubench_model::error::CellError;
use rustfft::num_traits::Zero;
use sprs::smmp::{ThreadingStrategy, set_thread_threading_strategy};
use sprs::{CsMatI, MulAcc};

use self::gustavson::{Gustavson, too_many};
use super::cpu_variant::CpuVariant;
use super::entry::{by_dtype, variant};
use crate::context::Cpu;
use crate::memory::memory;
use crate::threads::wake;

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "spgemm",
        "gustavson",
        "Gustavson's algorithm, dense accumulator, sorted rows, all threads",
        true,
        by_dtype!(called),
    ),
    variant(
        "spgemm",
        "gustavson-reuse",
        "the same with a result that exists: its size is known",
        false,
        by_dtype!(reused),
    ),
    variant("spgemm", "sprs", "sprs SMMP, all threads", true, by_dtype!(sprs_threads)),
    variant("spgemm", "sprs-serial", "sprs SMMP, one thread", false, by_dtype!(sprs_serial)),
];

fn called<T: Real>(cpu: &Cpu, _: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    let (a, b) = operands(inputs)?;
    Ok(Gustavson::<T>::new(a, b, cpu.threads, false)?.prepared())
}

fn reused<T: Real>(cpu: &Cpu, _: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    let (a, b) = operands(inputs)?;
    Ok(Gustavson::<T>::new(a, b, cpu.threads, true)?.prepared())
}

struct Sprs<T> {
    a: CsMatI<T, i32>,
    b: CsMatI<T, i32>,
    product: Option<CsMatI<T, i32>>,
    threads: usize,
}

fn sprs_threads<T: Element>(cpu: &Cpu, _: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    with_sprs::<T>(cpu.threads, inputs)
}

fn sprs_serial<T: Element>(_: &Cpu, _: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    with_sprs::<T>(1, inputs)
}

/// The traits that sprs requires of the elements of a product.
pub(super) trait Element: Real + MulAcc + Zero {}
impl<T: Real + MulAcc + Zero> Element for T {}

fn with_sprs<T: Element>(threads: usize, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
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

impl<T: Element> Job for Sprs<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show_sprs(&self.a, show);
        show_sprs(&self.b, show);
        if let Some(product) = &self.product {
            show_sprs(product, show);
        }
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        if self.threads > 1 {
            wake::pool();
        }
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
    use crate::tests::{TEST_SIDES, answer_of};
    use gpubench_model::data::generator::sparse;

    use super::*;

    /// Returns the matrix with every entry written out; fails on an entry stored twice.
    fn dense<T: Real>(matrix: &Csr) -> Vec<Option<f64>> {
        let mut all = vec![None; matrix.rows * matrix.cols];
        assert_eq!(matrix.indptr.len(), matrix.rows + 1);
        for row in 0..matrix.rows {
            for entry in matrix.indptr[row] as usize..matrix.indptr[row + 1] as usize {
                let value = T::slice(&matrix.values).unwrap()[entry].to_f64();
                let before = all[row * matrix.cols + matrix.indices[entry] as usize].replace(value);
                assert!(before.is_none(), "row {row} has a column twice");
            }
        }
        all
    }

    fn agrees<T: Real>(variant: &str, n: usize, density: f64) {
        let (a, b) = (sparse::<T>(1, 0, n, n, density), sparse::<T>(1, 1, n, n, density));
        let (dense_a, dense_b) = (dense::<T>(&a), dense::<T>(&b));
        let answer = answer_of("spgemm", variant, n, T::DTYPE, &[Operand::Csr(a), Operand::Csr(b)]);
        let found = answer[0].as_csr().unwrap();
        for (at, found) in dense::<T>(found).into_iter().enumerate() {
            let (row, column) = (at / n, at % n);
            let products = (0..n)
                .filter_map(|k| Some(dense_a[row * n + k]? * dense_b[k * n + column]?))
                .collect::<Vec<_>>();
            assert_eq!(found.is_some(), !products.is_empty(), "{variant} {n} at {row}, {column}");
            let exact: f64 = products.iter().sum();
            let error = (found.unwrap_or(0.0) - exact).abs();
            let bound = 4.0 * T::DTYPE.unit_roundoff() * (n as f64).sqrt() * exact;
            assert!(error <= bound, "{variant} {n} at {row}, {column}: {error} > {bound}");
        }
        if variant.starts_with("gustavson") {
            let rows = found.indptr.windows(2).map(|row| &found.indices[row[0] as usize..row[1] as usize]);
            assert!(rows.into_iter().all(|columns| columns.is_sorted()));
        }
    }

    #[test]
    fn every_variant_agrees_with_plain_sums_in_float64() {
        for kernel in VARIANTS {
            for (n, density) in TEST_SIDES.into_iter().flat_map(|n| [(n, 0.01), (n, 0.3)]) {
                agrees::<f32>(&kernel.variant.name, n, density);
                agrees::<f64>(&kernel.variant.name, n, density);
            }
        }
    }

    #[test]
    fn full_matrices_multiply_too() {
        agrees::<f64>("gustavson", 65, 1.0);
        agrees::<f64>("gustavson-reuse", 65, 1.0);
    }
}
