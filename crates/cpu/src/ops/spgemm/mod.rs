//! The variants of the product of two sparse matrices (CSR) on the CPU.

mod gustavson;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, Lent, Prepared, Shapes};
use gpubench_report::data::{Csr, Operand, Real};
use rustfft::num_traits::Zero;
use sprs::smmp::{ThreadingStrategy, set_thread_threading_strategy};
use sprs::{CsMatI, MulAcc};

use self::gustavson::{Gustavson, too_many};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, variant};
use crate::operands::{Lendable, ShowMemory, lend, memory};
use crate::threads::wake;
use crate::{CellError, CellResult};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "gustavson",
        Scope::Default,
        "Gustavson's algorithm, dense accumulator, sorted rows, all threads",
        by_dtype!(gustavson, false),
    )
    .of_shapes(Shapes::Any),
    variant(
        "gustavson-reuse",
        Scope::Further,
        "the same with a result that exists: its size is known",
        by_dtype!(gustavson, true),
    )
    .of_shapes(Shapes::Any),
    variant("sprs", Scope::Default, "sprs SMMP, all threads", by_dtype!(sprs, usize::MAX))
        .of_shapes(Shapes::Any),
    variant("sprs-serial", Scope::Further, "sprs SMMP, one thread", by_dtype!(sprs, 1))
        .of_shapes(Shapes::Any),
];

fn operands(request: &mut JobRequest<'_>) -> CellResult<[Csr; 2]> {
    match request.inputs {
        [a, b] => Ok([a.take().into_csr()?, b.take().into_csr()?]),
        _ => Err(request.wrong_operands(2)),
    }
}

/// Prepares the product by our own kernel, which `reuses` the memory of the first result or allocates.
fn gustavson<T: Real>(mut request: JobRequest<'_>, reuses: bool) -> PreparedJob {
    let [a, b] = operands(&mut request)?;
    Ok(Gustavson::<T>::new(a, b, request.threads, reuses)?.prepared())
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

fn sprs<T: SprsReal>(mut request: JobRequest<'_>, max_threads: usize) -> PreparedJob {
    let (threads, [a, b]) = (request.threads.min(max_threads), operands(&mut request)?);
    // sprs panics if 32-bit offsets overflow; this bound on the entries prevents it.
    let products: i64 =
        a.indices.iter().map(|&k| i64::from(b.indptr[k as usize + 1] - b.indptr[k as usize])).sum();
    let most = products.min((a.rows as i64).saturating_mul(b.cols as i64));
    if most > i64::from(i32::MAX) {
        return Err(too_many(most));
    }
    Ok(Prepared::new(Sprs::<T> { a: sprs_matrix(a)?, b: sprs_matrix(b)?, product: None, threads }))
}

impl<T: SprsReal> Sprs<T> {
    fn copied(&self) -> CellResult<Csr> {
        let unknown = || CellError::Failed("sprs: asked before execution".into());
        let product = self.product.as_ref().ok_or_else(unknown)?;
        Ok(Csr {
            rows: product.rows(),
            cols: product.cols(),
            indptr: product.proper_indptr().into_owned(),
            indices: product.indices().to_vec(),
            values: T::into_values(product.data().to_vec()),
        })
    }
}

impl<T: SprsReal> Job for Sprs<T> {
    fn buffers(&self, show: ShowMemory<'_>) {
        [&self.a, &self.b].into_iter().chain(&self.product).for_each(|matrix| show_sprs(matrix, show));
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        wake::pool(self.threads);
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        // sprs allocates a matrix in every execution; the structure must stay valid until then.
        let answer = self.product.as_mut().map(|product| host(product.data_mut()));
        let operands = [host(self.a.data_mut()), host(self.b.data_mut())];
        Contents { answer: answer.into_iter().collect(), ..Contents::new(operands, []) }
    }

    fn execute(&mut self) -> CellResult<()> {
        set_thread_threading_strategy(ThreadingStrategy::Fixed(self.threads));
        self.product = Some(&self.a * &self.b);
        Ok(())
    }

    fn answer(&mut self) -> CellResult<Vec<Operand>> {
        Ok(vec![Operand::Csr(self.copied()?)])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> CellResult<()> {
        let mut answer = self.copied()?;
        lend([&mut self.a, &mut self.b], vec![&mut answer], to)
    }
}

/// Moves a matrix into the type of sprs.
pub(super) fn sprs_matrix<T: Real>(matrix: Csr) -> CellResult<CsMatI<T, i32>> {
    let Csr { rows, cols, indptr, indices, values } = matrix;
    CsMatI::try_new((rows, cols), indptr, indices, T::from_values(values)?)
        .map_err(|(.., error)| CellError::call("sprs::CsMatI::try_new", error))
}

impl<T: SprsReal> Lendable for CsMatI<T, i32> {
    fn lend(&mut self) -> Operand {
        let (rows, cols) = self.shape();
        let (indptr, indices, values) = std::mem::replace(self, CsMatI::zero((0, 0))).into_raw_storage();
        Operand::Csr(Csr { rows, cols, indptr, indices, values: T::into_values(values) })
    }

    fn put_back(&mut self, operand: Operand) -> CellResult<()> {
        *self = sprs_matrix(operand.into_csr()?)?;
        Ok(())
    }
}

pub(super) fn show_sprs<T: Real>(matrix: &CsMatI<T, i32>, show: ShowMemory<'_>) {
    show(memory(matrix.indptr().raw_storage()));
    show(memory(matrix.indices()));
    show(memory(matrix.data()));
}

#[cfg(test)]
mod tests {
    use crate::tests::{TEST_SIDES, answer_of};
    use gpubench_report::case::DType;
    use gpubench_report::data::generator::sparse;

    use super::*;

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
