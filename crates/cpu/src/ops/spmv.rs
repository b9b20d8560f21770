//! The variants of the product of a sparse matrix (CSR) with a vector on the CPU.

use gpubench_backend::contents::{Contents, Memory, host};
use gpubench_backend::{Job, Lent, Prepared, Shapes};
use gpubench_report::data::{Csr, Operand, Real};
use rayon::prelude::*;
use sprs::{CsMatI, prod};

use super::row_blocks::{BLOCKS_PER_THREAD, balanced, split};
use super::spgemm::{SprsReal, show_sprs, sprs_matrix};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, variant};
use crate::CellResult;
use crate::operands::{HostMatrix, ShowMemory, lend, memory, show_csr};
use crate::threads::wake;

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "parallel",
        Scope::Default,
        "blocks of rows with equal numbers of entries, all threads",
        by_dtype!(parallel),
    )
    .of_shapes(Shapes::Any),
    variant("sprs", Scope::Default, "sprs mul_acc_mat_vec_csr, one thread", by_dtype!(with_sprs))
        .of_shapes(Shapes::Any),
];

/// Below this number of stored entries, threads cost more than they save.
const SERIAL: usize = 1 << 15;
/// Independent partial sums per row.
const LANES: usize = 8;

struct Parallel<T> {
    a: Csr,
    x: HostMatrix<T>,
    y: HostMatrix<T>,
    bounds: Vec<usize>,
}

/// Takes the operands, and makes the result.
fn operands<T: Real>(request: &mut JobRequest<'_>) -> CellResult<(Csr, [HostMatrix<T>; 2])> {
    match request.inputs {
        [a, x] => {
            let a = a.take().into_csr()?;
            let y = HostMatrix::zeros(a.rows, 1);
            Ok((a, [HostMatrix::of(x)?, y]))
        }
        _ => Err(request.wrong_operands(2)),
    }
}

fn parallel<T: Real>(mut request: JobRequest<'_>) -> PreparedJob {
    let (a, [x, y]) = operands::<T>(&mut request)?;
    let blocks = if a.nnz() <= SERIAL { 1 } else { request.threads * BLOCKS_PER_THREAD };
    let bounds = balanced(&a.indptr, blocks);
    Ok(Prepared::new(Parallel { a, x, y, bounds }))
}

impl<T: Real> Job for Parallel<T> {
    fn buffers(&self, show: ShowMemory<'_>) {
        show_csr(&self.a, show);
        show(memory(&self.x));
        show(memory(&self.y));
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        wake::pool(self.bounds.len() - 1);
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        let (values, x) = (Memory::Host(self.a.values.bytes_mut()), host(&mut self.x));
        Contents::new([values, x], [host(&mut self.y)])
            .with_fixed([host(&mut self.a.indptr), host(&mut self.a.indices)])
    }

    fn execute(&mut self) -> CellResult<()> {
        let values = T::slice(&self.a.values)?;
        let product = |(y, &first): (&mut [T], &usize)| {
            for (y, entries) in y.iter_mut().zip(self.a.indptr[first..].windows(2)) {
                let entries = entries[0] as usize..entries[1] as usize;
                *y = dot(&self.a.indices[entries.clone()], &values[entries], &self.x);
            }
        };
        if self.bounds.len() == 2 {
            product((&mut self.y, &0));
        } else {
            let blocks = split(&mut self.y, self.bounds.iter().copied());
            blocks
                .into_par_iter()
                .zip(&self.bounds[..self.bounds.len() - 1])
                .with_max_len(1)
                .for_each(product);
        }
        Ok(())
    }

    fn answer(&mut self) -> CellResult<Vec<Operand>> {
        Ok(vec![self.y.copied()])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> CellResult<()> {
        lend([&mut self.a, &mut self.x], vec![&mut self.y], to)
    }
}

/// Returns the product of one row with `x`.
fn dot<T: Real>(columns: &[i32], values: &[T], x: &[T]) -> T {
    let mut lanes = [T::default(); LANES];
    let (columns, columns_left) = columns.as_chunks::<LANES>();
    let (values, values_left) = values.as_chunks::<LANES>();
    for (columns, values) in columns.iter().zip(values) {
        for lane in 0..LANES {
            lanes[lane] += values[lane] * x[columns[lane] as usize];
        }
    }
    for ((lane, column), value) in lanes.iter_mut().zip(columns_left).zip(values_left) {
        *lane += *value * x[*column as usize];
    }
    lanes.into_iter().fold(T::default(), |sum, lane| sum + lane)
}

struct SprsSpmv<T> {
    a: CsMatI<T, i32>,
    x: HostMatrix<T>,
    y: HostMatrix<T>,
}

fn with_sprs<T: SprsReal>(mut request: JobRequest<'_>) -> PreparedJob {
    let (a, [x, y]) = operands::<T>(&mut request)?;
    Ok(Prepared::new(SprsSpmv { a: sprs_matrix(a)?, x, y }))
}

impl<T: SprsReal> Job for SprsSpmv<T> {
    fn buffers(&self, show: ShowMemory<'_>) {
        show_sprs(&self.a, show);
        show(memory(&self.x));
        show(memory(&self.y));
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(self.a.data_mut()), host(&mut self.x)], [host(&mut self.y)])
    }

    fn execute(&mut self) -> CellResult<()> {
        self.y.fill(T::default());
        prod::mul_acc_mat_vec_csr(self.a.view(), &self.x[..], &mut self.y[..]);
        Ok(())
    }

    fn answer(&mut self) -> CellResult<Vec<Operand>> {
        Ok(vec![self.y.copied()])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> CellResult<()> {
        lend([&mut self.a, &mut self.x], vec![&mut self.y], to)
    }
}
