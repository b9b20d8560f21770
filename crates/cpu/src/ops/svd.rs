//! Thin singular value decompositions: LAPACK, called straight and through ndarray-linalg, and faer.

use std::mem::MaybeUninit;

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{MatMut, MatRef};
use gpubench_backend::Prepared;
use gpubench_backend::contents::{Contents, host};
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::{CellError, Unavailable};
use ndarray_linalg::MatrixLayout;

use super::destroyed::Destroyed;
use super::entry::{by_dtype, kernel};
use super::kernel::Kernel;
use super::library_kernel::{LibraryKernel, Scope};
use super::matrices::operands;
use crate::context::Cpu;
use crate::libs::blas::{Blas, Library, ProviderCrew, Svd};
use crate::memory::memory;
use crate::threads::crew::{Crewed, Work};
use crate::threads::faer::Faer;

pub(crate) const LIBRARY_KERNELS: &[LibraryKernel] = &[
    LibraryKernel {
        op: "svd",
        suffix: "",
        summary: "divide and conquer, {} (gesdd)",
        scope: Scope::Lapack,
        prepare: by_dtype!(gesdd with library),
    },
    LibraryKernel {
        op: "svd",
        suffix: "-gesvd",
        summary: "QR iteration, ndarray-linalg on {} (gesvd, what its svd() calls)",
        scope: Scope::NdarrayLinalg,
        prepare: by_dtype!(gesvd with library),
    },
];

pub(crate) const KERNELS: &[Kernel] =
    &[kernel("svd", "faer", "divide and conquer, faer, all threads", true, by_dtype!(faer))];

/// The largest side at which fewer threads than all may be faster.
const MOST_CHOICE: usize = 1024;

/// U, S and Vt as an answer.
fn answer<T: Real>(n: usize, u: &[T], s: &[T], vt: &[T]) -> Vec<Operand> {
    let square = |elements: &[T]| Operand::dense(n, n, elements.to_vec());
    vec![square(u), Operand::dense(n, 1, s.to_vec()), square(vt)]
}

struct DivideAndConquer<T> {
    n: usize,
    matrix: Destroyed<T>,
    svd: Svd<T>,
}

fn gesdd<T: Blas>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
    library: &Library,
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    let crew = ProviderCrew::new(cpu, library, n, MOST_CHOICE)?;
    let svd = Svd::<T>::new(crew.provider(), n)?;
    let [a] = operands(case, inputs)?;
    Ok(Crewed::prepared(DivideAndConquer { n, matrix: Destroyed::of(a), svd }, crew))
}

impl<T: Blas> Work for DivideAndConquer<T> {
    type Crew = ProviderCrew;
    const DESTROYS: bool = true;

    fn restore(&mut self) {
        self.matrix.restore();
    }

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.matrix.show(show);
        self.svd.show(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        let Svd { u, s, vt, .. } = &mut self.svd;
        Contents::new([host(&mut self.matrix.given)], [host(u), host(s), host(vt)])
    }

    fn execute(&mut self, crew: &ProviderCrew) -> Result<(), CellError> {
        self.svd.decompose(crew.provider(), &mut self.matrix.left)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(answer(self.n, &self.svd.u, &self.svd.s, &self.svd.vt))
    }
}

/// What ndarray-linalg's `svd` does, which allocates its results and its workspace.
struct QrIteration<T> {
    n: usize,
    matrix: Destroyed<T>,
    layout: MatrixLayout,
    /// U, S and Vt of the last execution.
    factors: Option<[Vec<T>; 3]>,
}

fn gesvd<T: Blas>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
    library: &Library,
) -> Result<Box<Prepared>, CellError> {
    let side =
        i32::try_from(case.n).ok().filter(|side| side.checked_mul(*side).is_some()).ok_or_else(|| {
            Unavailable::new(
                "LAPACK's 32-bit interface takes matrices of less than 2^31 elements",
                "use faer",
            )
        })?;
    let crew = ProviderCrew::new(cpu, library, case.side(), MOST_CHOICE)?;
    crew.provider().activate()?;
    let layout = MatrixLayout::C { row: side, lda: side };
    let [a] = operands::<T, 1>(case, inputs)?;
    let matrix = Destroyed::of(a);
    Ok(Crewed::prepared(QrIteration { n: case.side(), matrix, layout, factors: None }, crew))
}

impl<T: Blas> Work for QrIteration<T> {
    type Crew = ProviderCrew;
    const DESTROYS: bool = true;

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

    fn execute(&mut self, crew: &ProviderCrew) -> Result<(), CellError> {
        crew.provider().activate()?;
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
}

/// faer decomposes the transpose, whose columns are the rows of A: its U is V of A, its V is U of A.
struct FaerSvd<T> {
    n: usize,
    a: Vec<T>,
    u_columns: Vec<T>,
    s: Vec<T>,
    vt: Vec<T>,
    workspace: MemBuffer,
}

fn faer<T: Real + faer::traits::RealField>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let (n, [a], thin) = (case.side(), operands::<T, 1>(case, inputs)?, ComputeSvdVectors::Thin);
    let crew = Faer::new(cpu, n, MOST_CHOICE);
    let workspace = crew.workspace(|par| svd_scratch::<T>(n, n, thin, thin, par, Default::default()));
    let zeros = |len| vec![T::default(); len];
    let (u_columns, s, vt) = (zeros(n * n), zeros(n), zeros(n * n));
    Ok(Crewed::prepared(FaerSvd { n, a: a.to_vec(), u_columns, s, vt, workspace }, crew))
}

impl<T: Real + faer::traits::RealField> Work for FaerSvd<T> {
    type Crew = Faer;

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        let parts = [&self.a[..], &self.u_columns, &self.s, &self.vt];
        parts.map(memory).into_iter().for_each(&mut *show);
        show(&self.workspace);
    }

    fn contents(&mut self) -> Contents<'_> {
        let answer = [host(&mut self.u_columns), host(&mut self.s), host(&mut self.vt)];
        Contents::new([host(&mut self.a)], answer)
    }

    fn execute(&mut self, crew: &Faer) -> Result<(), CellError> {
        let n = self.n;
        svd(
            MatRef::from_column_major_slice(&self.a, n, n),
            DiagMut::from_slice_mut(&mut self.s),
            Some(MatMut::from_column_major_slice_mut(&mut self.vt, n, n)),
            Some(MatMut::from_column_major_slice_mut(&mut self.u_columns, n, n)),
            crew.par,
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
}
