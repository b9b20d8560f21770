//! Solutions of symmetric positive definite systems: LAPACK through ndarray-linalg, and faer.
//!
//! The matrix equals its transpose, so its rows are handed to the column-major libraries as they lie:
//! ndarray-linalg's `factorizec` would transpose the whole matrix twice.

use std::mem::MaybeUninit;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{MatMut, MatRef};
use ndarray_linalg::{MatrixLayout, Transpose, UPLO};

use super::blas::{Blas, Provider, Rouser, Vendor};
use super::entry::{by_dtype, kernel};
use super::memory::memory;
use super::{Cpu, Kernel, rouse};
use crate::backend::Job;
use crate::case::Case;
use crate::data::{Operand, Real};
use crate::error::CellError;

/// The kernels.
pub const KERNELS: &[Kernel] = &[
    kernel(
        "solve",
        "openblas",
        "Cholesky, ndarray-linalg on OpenBLAS (potrf + potrs)",
        true,
        by_dtype!(lapack, Vendor::OpenBlas, Method::Cholesky),
    ),
    kernel(
        "solve",
        "mkl",
        "Cholesky, ndarray-linalg on MKL (potrf + potrs)",
        true,
        by_dtype!(lapack, Vendor::Mkl, Method::Cholesky),
    ),
    kernel("solve", "faer", "Cholesky, faer, all threads", true, by_dtype!(faer)),
    kernel(
        "solve",
        "openblas-lu",
        "LU, ndarray-linalg on OpenBLAS (getrf + getrs)",
        false,
        by_dtype!(lapack, Vendor::OpenBlas, Method::Lu),
    ),
    kernel(
        "solve",
        "mkl-lu",
        "LU, ndarray-linalg on MKL (getrf + getrs)",
        false,
        by_dtype!(lapack, Vendor::Mkl, Method::Lu),
    ),
];

#[derive(Clone, Copy)]
enum Method {
    Cholesky,
    Lu,
}

/// `a x = b`; the libraries write factors over `a` and the solution over `b`.
struct System<T> {
    n: usize,
    given_a: Vec<T>,
    given_b: Vec<T>,
    a: Vec<T>,
    b: Vec<T>,
}

impl<T: Real> System<T> {
    fn new(case: &Case, inputs: &[Operand]) -> Result<Self, CellError> {
        let [a, b] = inputs else { return Err(CellError::call("solve", "needs two operands")) };
        let (a, b) = (a.dense_slice::<T>()?.to_vec(), b.dense_slice::<T>()?.to_vec());
        Ok(System { n: case.side(), given_a: a.clone(), given_b: b.clone(), a, b })
    }

    fn restore(&mut self) {
        self.a.copy_from_slice(&self.given_a);
        self.b.copy_from_slice(&self.given_b);
    }

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.given_a[..], &self.given_b, &self.a, &self.b].map(memory).into_iter().for_each(show);
    }

    fn answer(&self) -> Vec<Operand> {
        vec![Operand::dense(self.n, 1, self.b.clone())]
    }
}

struct LapackSolve<T> {
    system: System<T>,
    method: Method,
    layout: MatrixLayout,
    provider: &'static Provider,
    rouser: Rouser,
}

fn lapack<T: Blas>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
    vendor: Vendor,
    method: Method,
) -> Result<Box<dyn Job>, CellError> {
    let provider = cpu.blas(vendor)?;
    let side = i32::try_from(case.n).map_err(|_| CellError::call("solve", "the side exceeds 2^31 - 1"))?;
    let layout = MatrixLayout::F { col: side, lda: side };
    let (system, rouser) = (System::<T>::new(case, inputs)?, Rouser::new(provider, case.side()));
    Ok(Box::new(LapackSolve { system, method, layout, provider, rouser }))
}

impl<T: Blas> Job for LapackSolve<T> {
    fn resets(&self) -> bool {
        true
    }

    fn reset(&mut self) -> Result<(), CellError> {
        self.system.restore();
        Ok(())
    }

    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.system.show(show);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        self.rouser.rouse()
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.provider.activate();
        let System { a, b, .. } = &mut self.system;
        let done = match self.method {
            Method::Cholesky => T::cholesky(self.layout, UPLO::Lower, a)
                .and_then(|()| T::solve_cholesky(self.layout, UPLO::Lower, a, b)),
            Method::Lu => {
                T::lu(self.layout, a).and_then(|pivots| T::solve(self.layout, Transpose::No, a, &pivots, b))
            }
        };
        done.map_err(|e| CellError::call("LAPACK solve", e))
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(self.system.answer())
    }
}

struct FaerSolve<T> {
    system: System<T>,
    workspace: MemBuffer,
    par: faer::Par,
}

fn faer<T: Real + faer::traits::RealField>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<dyn Job>, CellError> {
    let (n, par) = (case.side(), cpu.faer());
    let factor = llt::factor::cholesky_in_place_scratch::<T>(n, par, Default::default());
    let workspace = MemBuffer::new(factor.or(llt::solve::solve_in_place_scratch::<T>(n, 1, par)));
    Ok(Box::new(FaerSolve { system: System::<T>::new(case, inputs)?, workspace, par }))
}

impl<T: Real + faer::traits::RealField> Job for FaerSolve<T> {
    fn resets(&self) -> bool {
        true
    }

    fn reset(&mut self) -> Result<(), CellError> {
        self.system.restore();
        Ok(())
    }

    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.system.show(show);
        show(&self.workspace);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        rouse::faer(self.par);
        Ok(())
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let System { n, a, b, .. } = &mut self.system;
        let (n, par, stack) = (*n, self.par, MemStack::new(&mut self.workspace));
        let matrix = MatMut::from_column_major_slice_mut(a, n, n);
        llt::factor::cholesky_in_place(matrix, Default::default(), par, stack, Default::default())
            .map_err(|e| CellError::call("faer Cholesky", e))?;
        let factor = MatRef::from_column_major_slice(a, n, n);
        llt::solve::solve_in_place(factor, MatMut::from_column_major_slice_mut(b, n, 1), par, stack);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(self.system.answer())
    }
}
