//! The variants of the thin singular value decomposition: LAPACK, called directly and through ndarray-linalg, and
//! faer.

use std::mem::MaybeUninit;

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{MatMut, MatRef};
use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Lent, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::{CellError, Unavailable};
use ndarray_linalg::MatrixLayout;

use super::variants::{CpuVariant, LibraryVariant, Scope, by_dtype, variant};
use crate::libs::blas::{Blas, BlasLibrary, BlasThreads, GesddFactors};
use crate::operands::{RestoredInput, Taken, lend, memory, operands};
use crate::threads::{Faer, PooledJob, PooledKernel};

pub(super) const LIBRARY_VARIANTS: &[LibraryVariant] = &[
    LibraryVariant {
        op: "svd",
        suffix: "",
        summary: "divide and conquer, {} (gesdd)",
        scope: Scope::Lapack,
        prepare: by_dtype!(gesdd with library),
    },
    LibraryVariant {
        op: "svd",
        suffix: "-gesvd",
        summary: "QR iteration, ndarray-linalg on {} (gesvd, what its svd() calls)",
        scope: Scope::NdarrayLinalg,
        prepare: by_dtype!(gesvd with library),
    },
];

pub(super) const VARIANTS: &[CpuVariant] =
    &[variant("svd", "faer", "divide and conquer, faer, all threads", true, by_dtype!(faer))];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

/// Returns U, S and Vt as an answer.
fn answer<T: Real>(n: usize, u: &[T], s: &[T], vt: &[T]) -> Vec<Operand> {
    let square = |elements: &[T]| Operand::dense(n, n, elements.to_vec());
    vec![square(u), Operand::dense(n, 1, s.to_vec()), square(vt)]
}

struct DivideAndConquer<T> {
    n: usize,
    matrix: RestoredInput<T>,
    factors: GesddFactors<T>,
}

fn gesdd<T: Blas>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
    library: &BlasLibrary,
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    let pool = BlasThreads::new(threads, library, n, MAX_CHOICE_SIDE)?;
    let factors = GesddFactors::<T>::new(pool.provider(), n)?;
    let [a] = operands(case, inputs)?;
    Ok(PooledJob::prepared(DivideAndConquer { n, matrix: RestoredInput::of(a), factors }, pool))
}

impl<T: Blas> PooledKernel<BlasThreads> for DivideAndConquer<T> {
    const DESTROYS_INPUTS: bool = true;

    fn restore(&mut self) {
        self.matrix.restore();
    }

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.matrix.show(show);
        self.factors.show(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        let GesddFactors { u, s, vt, .. } = &mut self.factors;
        Contents::new([host(&mut self.matrix.given)], [host(u), host(s), host(vt)])
    }

    fn execute(&mut self, pool: &BlasThreads) -> Result<(), CellError> {
        self.factors.decompose(pool.provider(), &mut self.matrix.left)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let GesddFactors { u, s, vt, .. } = &self.factors;
        Ok(answer(self.n, u, s, vt))
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let answer = self.answer()?;
        lend([&mut self.matrix.given], &answer, to)
    }
}

/// Computes what `svd` of ndarray-linalg does, which allocates its results and its workspace.
struct QrIteration<T> {
    n: usize,
    matrix: RestoredInput<T>,
    layout: MatrixLayout,
    /// U, S and Vt of the last execution.
    factors: Option<[Vec<T>; 3]>,
}

fn gesvd<T: Blas>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
    library: &BlasLibrary,
) -> Result<Box<Prepared>, CellError> {
    let side =
        i32::try_from(case.n).ok().filter(|side| side.checked_mul(*side).is_some()).ok_or_else(|| {
            Unavailable::new(
                "LAPACK's 32-bit interface takes matrices of less than 2^31 elements",
                "use faer",
            )
        })?;
    let pool = BlasThreads::new(threads, library, case.side(), MAX_CHOICE_SIDE)?;
    pool.provider().activate()?;
    let layout = MatrixLayout::C { row: side, lda: side };
    let [a] = operands::<T, 1>(case, inputs)?;
    let matrix = RestoredInput::of(a);
    Ok(PooledJob::prepared(QrIteration { n: case.side(), matrix, layout, factors: None }, pool))
}

impl<T: Blas> PooledKernel<BlasThreads> for QrIteration<T> {
    const DESTROYS_INPUTS: bool = true;

    fn restore(&mut self) {
        self.matrix.restore();
    }

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.matrix.show(show);
        self.factors.iter().flatten().for_each(|part| show(memory(part)));
    }

    fn contents(&mut self) -> Contents<'_> {
        let answer = self.factors.iter_mut().flatten().map(|part| host(part)).collect();
        Contents { answer, ..Contents::new([host(&mut self.matrix.given)], []) }
    }

    fn execute(&mut self, pool: &BlasThreads) -> Result<(), CellError> {
        pool.provider().activate()?;
        let found = T::svd(self.layout, true, true, &mut self.matrix.left)
            .map_err(|e| CellError::call("LAPACK svd", e))?;
        let (Some(u), Some(vt)) = (found.u, found.vt) else {
            return Err(CellError::call("LAPACK svd", "it returned no singular vectors"));
        };
        self.factors = Some([u, found.s, vt]);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let Some([u, s, vt]) = &self.factors else {
            return Err(CellError::call("svd", "asked for its answer before it was executed"));
        };
        Ok(answer(self.n, u, s, vt))
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let answer = self.answer()?;
        lend([&mut self.matrix.given], &answer, to)
    }
}

/// Decomposes the transpose with faer, whose columns are the rows of A: its U is V of A, and its V is U of A.
struct FaerSvd<T> {
    n: usize,
    a: Taken<T>,
    u_columns: Vec<T>,
    s: Vec<T>,
    vt: Vec<T>,
    workspace: MemBuffer,
}

fn faer<T: Real + faer::traits::RealField>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    let (n, [a], thin) = (case.side(), operands::<T, 1>(case, inputs)?, ComputeSvdVectors::Thin);
    let pool = Faer::new(threads, n, MAX_CHOICE_SIDE)?;
    let workspace = pool.workspace(|par| svd_scratch::<T>(n, n, thin, thin, par, Default::default()));
    let zeros = |len| vec![T::default(); len];
    let (u_columns, s, vt) = (zeros(n * n), zeros(n), zeros(n * n));
    Ok(PooledJob::prepared(FaerSvd { n, a, u_columns, s, vt, workspace }, pool))
}

impl<T: Real + faer::traits::RealField> PooledKernel<Faer> for FaerSvd<T> {
    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        let parts = [&self.a[..], &self.u_columns, &self.s, &self.vt];
        parts.map(memory).into_iter().for_each(&mut *show);
        show(&self.workspace);
    }

    fn contents(&mut self) -> Contents<'_> {
        let answer = [host(&mut self.u_columns), host(&mut self.s), host(&mut self.vt)];
        Contents::new([host(&mut self.a)], answer)
    }

    fn execute(&mut self, pool: &Faer) -> Result<(), CellError> {
        let n = self.n;
        svd(
            MatRef::from_column_major_slice(&self.a, n, n),
            DiagMut::from_slice_mut(&mut self.s),
            Some(MatMut::from_column_major_slice_mut(&mut self.vt, n, n)),
            Some(MatMut::from_column_major_slice_mut(&mut self.u_columns, n, n)),
            pool.par,
            MemStack::new(&mut self.workspace),
            Default::default(),
        )
        .map_err(|e| CellError::call("faer svd", format!("{e:?}")))
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let n = self.n;
        let u: Vec<T> = (0..n * n).map(|index| self.u_columns[index % n * n + index / n]).collect();
        Ok(answer(n, &u, &self.s, &self.vt))
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let answer = self.answer()?;
        lend([&mut self.a], &answer, to)
    }
}
