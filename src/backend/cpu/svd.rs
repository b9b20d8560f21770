//! Thin singular value decompositions: LAPACK through ndarray-linalg, and faer.

use std::mem::MaybeUninit;

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{MatMut, MatRef};
use ndarray_linalg::{JobSvd, MatrixLayout};

use super::blas::{Blas, Provider, Rouser, Vendor};
use super::entry::{by_dtype, kernel};
use super::memory::memory;
use super::{Cpu, Kernel, rouse};
use crate::backend::Job;
use crate::case::Case;
use crate::data::{Operand, Real};
use crate::error::{CellError, Unavailable};

/// The kernels.
pub const KERNELS: &[Kernel] = &[
    kernel(
        "svd",
        "openblas",
        "divide and conquer, ndarray-linalg on OpenBLAS (gesdd)",
        true,
        by_dtype!(lapack, Vendor::OpenBlas, Method::DivideAndConquer),
    ),
    kernel(
        "svd",
        "mkl",
        "divide and conquer, ndarray-linalg on MKL (gesdd)",
        true,
        by_dtype!(lapack, Vendor::Mkl, Method::DivideAndConquer),
    ),
    kernel("svd", "faer", "divide and conquer, faer, all threads", true, by_dtype!(faer)),
    kernel(
        "svd",
        "openblas-gesvd",
        "QR iteration, ndarray-linalg on OpenBLAS (gesvd, what its svd() calls)",
        false,
        by_dtype!(lapack, Vendor::OpenBlas, Method::QrIteration),
    ),
    kernel(
        "svd",
        "mkl-gesvd",
        "QR iteration, ndarray-linalg on MKL (gesvd, what its svd() calls)",
        false,
        by_dtype!(lapack, Vendor::Mkl, Method::QrIteration),
    ),
];

#[derive(Clone, Copy)]
enum Method {
    DivideAndConquer,
    QrIteration,
}

fn only<T: Real>(inputs: &[Operand]) -> Result<Vec<T>, CellError> {
    match inputs {
        [a] => Ok(a.dense_slice::<T>()?.to_vec()),
        _ => Err(CellError::call("svd", "needs one operand")),
    }
}

/// U, S and Vt; each `None` until the first execution.
struct LapackSvd<T> {
    n: usize,
    given: Vec<T>,
    a: Vec<T>,
    factors: Option<[Vec<T>; 3]>,
    method: Method,
    layout: MatrixLayout,
    provider: &'static Provider,
    rouser: Rouser,
}

fn lapack<T: Blas<Real = T>>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
    vendor: Vendor,
    method: Method,
) -> Result<Box<dyn Job>, CellError> {
    let provider = cpu.blas(vendor)?;
    let side =
        i32::try_from(case.n).ok().filter(|side| side.checked_mul(*side).is_some()).ok_or_else(|| {
            Unavailable::new(
                "LAPACK's 32-bit interface takes matrices of less than 2^31 elements",
                "use faer",
            )
        })?;
    let given = only::<T>(inputs)?;
    let (a, layout) = (given.clone(), MatrixLayout::C { row: side, lda: side });
    Ok(Box::new(LapackSvd {
        n: case.side(),
        given,
        a,
        factors: None,
        method,
        layout,
        provider,
        rouser: Rouser::new(provider, case.side()),
    }))
}

impl<T: Blas<Real = T>> Job for LapackSvd<T> {
    fn resets(&self) -> bool {
        true
    }

    fn reset(&mut self) -> Result<(), CellError> {
        self.a.copy_from_slice(&self.given);
        Ok(())
    }

    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        let factors = self.factors.iter().flatten();
        [&self.given, &self.a].into_iter().chain(factors).map(|part| memory(part)).for_each(show);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        self.rouser.rouse()
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.provider.activate();
        let found = match self.method {
            Method::DivideAndConquer => T::svddc(self.layout, JobSvd::Some, &mut self.a),
            Method::QrIteration => T::svd(self.layout, true, true, &mut self.a),
        };
        let found = found.map_err(|e| CellError::call("LAPACK svd", e))?;
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
        let n = self.n;
        Ok(vec![
            Operand::dense(n, n, u.clone()),
            Operand::dense(n, 1, s.clone()),
            Operand::dense(n, n, vt.clone()),
        ])
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
    par: faer::Par,
}

fn faer<T: Real + faer::traits::RealField>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<dyn Job>, CellError> {
    let (n, par, a) = (case.side(), cpu.faer(), only::<T>(inputs)?);
    let thin = ComputeSvdVectors::Thin;
    let workspace = MemBuffer::new(svd_scratch::<T>(n, n, thin, thin, par, Default::default()));
    let zeros = |len| vec![T::default(); len];
    let (u_columns, s, vt) = (zeros(n * n), zeros(n), zeros(n * n));
    Ok(Box::new(FaerSvd { n, a, u_columns, s, vt, workspace, par }))
}

impl<T: Real + faer::traits::RealField> Job for FaerSvd<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        let parts = [&self.a[..], &self.u_columns, &self.s, &self.vt];
        parts.map(memory).into_iter().for_each(&mut *show);
        show(&self.workspace);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        rouse::faer(self.par);
        Ok(())
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let n = self.n;
        svd(
            MatRef::from_column_major_slice(&self.a, n, n),
            DiagMut::from_slice_mut(&mut self.s),
            Some(MatMut::from_column_major_slice_mut(&mut self.vt, n, n)),
            Some(MatMut::from_column_major_slice_mut(&mut self.u_columns, n, n)),
            self.par,
            MemStack::new(&mut self.workspace),
            Default::default(),
        )
        .map_err(|e| CellError::call("faer svd", format!("{e:?}")))
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let n = self.n;
        let u = (0..n * n).map(|index| self.u_columns[index % n * n + index / n]).collect();
        Ok(vec![
            Operand::dense::<T>(n, n, u),
            Operand::dense(n, 1, self.s.clone()),
            Operand::dense(n, n, self.vt.clone()),
        ])
    }
}
