//! The variants of the matrix product: BLAS gemm, faer, and the kernel of ndarray.

use std::mem::MaybeUninit;

use faer::{Accum, MatMut, MatRef};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Lent, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;
use ndarray::{LinalgScalar, linalg};

use super::cpu_variant::CpuVariant;
use super::entry::{by_dtype, variant};
use super::library_variant::{LibraryVariant, Scope};
use super::matrices::{Matrices, on_one_thread};
use crate::context::Cpu;
use crate::libs::blas::{Blas, BlasThreads, Library};
use crate::threads::faer::Faer;
use crate::threads::pooled_job::{Kernel, PooledJob, ThreadPool};

pub(crate) const LIBRARY_VARIANTS: &[LibraryVariant] = &[LibraryVariant {
    op: "matmul",
    suffix: "",
    summary: "{} gemm on ndarray's arrays",
    scope: Scope::Blas,
    prepare: by_dtype!(blas with library),
}];

pub(crate) const VARIANTS: &[CpuVariant] = &[
    variant("matmul", "faer", "faer, all threads", true, by_dtype!(faer)),
    variant(
        "matmul",
        "ndarray",
        "ndarray's own kernel (matrixmultiply), one thread",
        false,
        by_dtype!(ndarray),
    ),
];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

/// Computes `c = a b` with the library of the pool.
struct Product<T, C> {
    matrices: Matrices<T, 2>,
    multiply: fn(&C, &mut Matrices<T, 2>) -> Result<(), CellError>,
}

impl<T: Real, C: ThreadPool> Kernel for Product<T, C> {
    type Pool = C;

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.matrices.show(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        self.matrices.contents()
    }

    fn execute(&mut self, pool: &C) -> Result<(), CellError> {
        (self.multiply)(pool, &mut self.matrices)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(self.matrices.answer())
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        self.matrices.lend(to)
    }
}

fn blas<T: Blas>(
    cpu: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
    library: &Library,
) -> Result<Box<Prepared>, CellError> {
    let pool = BlasThreads::new(cpu, library, case.side(), MAX_CHOICE_SIDE)?;
    let matrices = Matrices::<T, 2>::new(case, inputs, T::default())?;
    let kernel = Product {
        matrices,
        multiply: |pool: &BlasThreads, Matrices { inputs: [a, b], result }| {
            pool.provider().gemm(a, b, result)
        },
    };
    Ok(PooledJob::prepared(kernel, pool))
}

fn faer<T: Real + faer::traits::ComplexField>(
    cpu: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    let matrices = Matrices::<T, 2>::new(case, inputs, T::default())?;
    let multiply = |pool: &Faer, matrices: &mut Matrices<T, 2>| {
        let n = matrices.result.nrows();
        let ([a, b], c) = matrices.slices();
        let [a, b] = [a, b].map(|slice| MatRef::from_row_major_slice(slice, n, n));
        let c = MatMut::from_row_major_slice_mut(c, n, n);
        faer::linalg::matmul::matmul(c, Accum::Replace, a, b, <T as Real>::from_f64(1.0), pool.par);
        Ok(())
    };
    Ok(PooledJob::prepared(Product { matrices, multiply }, Faer::new(cpu, n, MAX_CHOICE_SIDE)?))
}

fn ndarray<T: Real + LinalgScalar>(
    _: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 2>(case, inputs, |[a, b], c| linalg::general_mat_mul(T::one(), a, b, T::zero(), c))
}
