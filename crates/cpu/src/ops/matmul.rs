//! Matrix products: BLAS gemm, faer, and ndarray's own kernel.

use std::mem::MaybeUninit;

use faer::{Accum, MatMut, MatRef};
use gpubench_backend::Prepared;
use gpubench_backend::contents::Contents;
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;
use ndarray::{LinalgScalar, linalg};

use super::entry::{by_dtype, kernel};
use super::kernel::Kernel;
use super::library_kernel::{LibraryKernel, Scope};
use super::matrices::{Matrices, on_one_thread};
use crate::context::Cpu;
use crate::libs::blas::{Blas, Library, ProviderCrew};
use crate::threads::crew::{Crew, Crewed, Work};
use crate::threads::faer::Faer;

pub(crate) const LIBRARY_KERNELS: &[LibraryKernel] = &[LibraryKernel {
    op: "matmul",
    suffix: "",
    summary: "{} gemm on ndarray's arrays",
    scope: Scope::Blas,
    prepare: by_dtype!(blas with library),
}];

pub(crate) const KERNELS: &[Kernel] = &[
    kernel("matmul", "faer", "faer, all threads", true, by_dtype!(faer)),
    kernel(
        "matmul",
        "ndarray",
        "ndarray's own kernel (matrixmultiply), one thread",
        false,
        by_dtype!(ndarray),
    ),
];

/// The largest side at which fewer threads than all may be faster.
const MOST_CHOICE: usize = 1024;

/// `c = a b`, by the library that is the crew.
struct Product<T, C> {
    matrices: Matrices<T, 2>,
    multiply: fn(&C, &mut Matrices<T, 2>) -> Result<(), CellError>,
}

impl<T: Real, C: Crew> Work for Product<T, C> {
    type Crew = C;

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.matrices.show(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        self.matrices.contents()
    }

    fn execute(&mut self, crew: &C) -> Result<(), CellError> {
        (self.multiply)(crew, &mut self.matrices)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(self.matrices.answer())
    }
}

fn blas<T: Blas>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
    library: &Library,
) -> Result<Box<Prepared>, CellError> {
    let crew = ProviderCrew::new(cpu, library, case.side(), MOST_CHOICE)?;
    let matrices = Matrices::<T, 2>::new(case, inputs, T::default())?;
    let work = Product {
        matrices,
        multiply: |crew: &ProviderCrew, Matrices { inputs: [a, b], result }| {
            crew.provider().gemm(a, b, result)
        },
    };
    Ok(Crewed::prepared(work, crew))
}

fn faer<T: Real + faer::traits::ComplexField>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    let matrices = Matrices::<T, 2>::new(case, inputs, T::default())?;
    let multiply = |crew: &Faer, matrices: &mut Matrices<T, 2>| {
        let n = matrices.result.nrows();
        let ([a, b], c) = matrices.slices();
        let [a, b] = [a, b].map(|slice| MatRef::from_row_major_slice(slice, n, n));
        let c = MatMut::from_row_major_slice_mut(c, n, n);
        faer::linalg::matmul::matmul(c, Accum::Replace, a, b, <T as Real>::from_f64(1.0), crew.par);
        Ok(())
    };
    Ok(Crewed::prepared(Product { matrices, multiply }, Faer::new(cpu, n, MOST_CHOICE)))
}

fn ndarray<T: Real + LinalgScalar>(
    _: &Cpu,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 2>(case, inputs, |[a, b], c| linalg::general_mat_mul(T::one(), a, b, T::zero(), c))
}
