//! Matrix products: BLAS gemm, faer, and ndarray's own kernel.

use std::mem::MaybeUninit;

use faer::{Accum, MatMut, MatRef};
use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;
use ndarray::{Array2, LinalgScalar, linalg};

use super::entry::{by_dtype, kernel};
use super::kernel::Kernel;
use super::library_kernel::{LibraryKernel, Scope};
use crate::context::Cpu;
use crate::libs::blas::{Blas, Library, ProviderCrew};
use crate::memory::memory;
use crate::threads::crew::{Crewed, Work};
use crate::threads::faer::Faer;

/// The kernels of BLAS libraries.
pub(crate) const LIBRARY_KERNELS: &[LibraryKernel] = &[LibraryKernel {
    op: "matmul",
    suffix: "",
    summary: "{} gemm on ndarray's arrays",
    scope: Scope::Blas,
    prepare: by_dtype!(blas with library),
}];

/// The other kernels.
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

/// `c = a b`, all row-major n x n.
struct Product<T> {
    a: Array2<T>,
    b: Array2<T>,
    c: Array2<T>,
}

impl<T: Real> Product<T> {
    fn new(case: &Case, inputs: &[Operand]) -> Result<Self, CellError> {
        let shape = (case.side(), case.side());
        let [a, b] = inputs else { return Err(CellError::call("matmul", "needs two operands")) };
        let array = |operand: &Operand| {
            let values = operand.dense_slice::<T>()?.to_vec();
            Array2::from_shape_vec(shape, values).map_err(|e| CellError::call("matmul", e))
        };
        Ok(Product { a: array(a)?, b: array(b)?, c: Array2::from_elem(shape, T::default()) })
    }

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a, &self.b, &self.c]
            .into_iter()
            .filter_map(|array| array.as_slice())
            .map(memory)
            .for_each(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        let [a, b, c] =
            [&mut self.a, &mut self.b, &mut self.c].map(|array| array.as_slice_mut().unwrap_or_default());
        Contents::new([host(a), host(b)], [host(c)])
    }

    fn answer(&self) -> Vec<Operand> {
        vec![Operand::dense(self.c.nrows(), self.c.ncols(), self.c.iter().copied().collect())]
    }
}

struct BlasProduct<T>(Product<T>);

fn blas<T: Blas>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
    library: &Library,
) -> Result<Box<Prepared>, CellError> {
    let crew = ProviderCrew::new(cpu, library, case.side(), MOST_CHOICE)?;
    Ok(Crewed::prepared(BlasProduct(Product::<T>::new(case, inputs)?), crew))
}

impl<T: Blas> Work for BlasProduct<T> {
    type Crew = ProviderCrew;

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.0.show(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        self.0.contents()
    }

    fn execute(&mut self, crew: &ProviderCrew) -> Result<(), CellError> {
        let Product { a, b, c } = &mut self.0;
        crew.provider().gemm(a, b, c)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(self.0.answer())
    }
}

struct FaerProduct<T> {
    n: usize,
    a: Vec<T>,
    b: Vec<T>,
    c: Vec<T>,
}

fn faer<T: Real + faer::traits::ComplexField>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let Product { a, b, c } = Product::<T>::new(case, inputs)?;
    let flat = |array: Array2<T>| array.into_raw_vec_and_offset().0;
    let work = FaerProduct { n: case.side(), a: flat(a), b: flat(b), c: flat(c) };
    Ok(Crewed::prepared(work, Faer::new(cpu, case.side(), MOST_CHOICE)))
}

impl<T: Real + faer::traits::ComplexField> Work for FaerProduct<T> {
    type Crew = Faer;

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a[..], &self.b, &self.c].map(memory).into_iter().for_each(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(&mut self.a), host(&mut self.b)], [host(&mut self.c)])
    }

    fn execute(&mut self, crew: &Faer) -> Result<(), CellError> {
        let n = self.n;
        let a = MatRef::from_row_major_slice(&self.a, n, n);
        let b = MatRef::from_row_major_slice(&self.b, n, n);
        let c = MatMut::from_row_major_slice_mut(&mut self.c, n, n);
        faer::linalg::matmul::matmul(c, Accum::Replace, a, b, <T as Real>::from_f64(1.0), crew.par);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.n, self.n, self.c.clone())])
    }
}

struct NdarrayProduct<T>(Product<T>);

fn ndarray<T: Real + LinalgScalar>(
    _: &Cpu,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    Ok(Prepared::new(NdarrayProduct(Product::<T>::new(case, inputs)?)))
}

impl<T: Real + LinalgScalar> Job for NdarrayProduct<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.0.show(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        self.0.contents()
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let Product { a, b, c } = &mut self.0;
        linalg::general_mat_mul(T::one(), a, b, T::zero(), c);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(self.0.answer())
    }
}
