//! The variants of the matrix product: BLAS gemm, faer, and the kernel of ndarray.

use faer::{Accum, MatMut, MatRef};
use gpubench_backend::Shapes;
use gpubench_ops::matmul::Products;
use gpubench_report::data::Real;
use ndarray::{LinalgScalar, linalg};
use rayon::prelude::*;

use super::dense::{Matrices, on_one_thread, on_pool, view, view_mut};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, variant};
use crate::CellResult;
use crate::libs::blas::{Blas, BlasThreads};
use crate::operands::HostMatrix;
use crate::threads::Faer;
use crate::threads::partition::Partition;

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("", Scope::Blas, "{} gemm", by_dtype!(blas)).of_shapes(Shapes::Any),
    variant(
        "-spread",
        Scope::Blas,
        "{} gemm on one thread for each product, the products of a batch spread over the cores",
        by_dtype!(spread),
    )
    .of_shapes(Shapes::Batches),
    variant("-batch", Scope::Mkl, "{} gemm_batch_strided, one call for a batch", by_dtype!(batch))
        .of_shapes(Shapes::Batches),
    variant("faer", Scope::Default, "faer, all threads", by_dtype!(faer)).of_shapes(Shapes::Any),
    variant(
        "ndarray",
        Scope::Further,
        "ndarray's own kernel (matrixmultiply), one thread",
        by_dtype!(ndarray),
    ),
];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

/// Takes the operands, and fills the results with zeros, so that their pages exist.
fn matrices<T: Real>(products: &Products, request: &mut JobRequest<'_>) -> CellResult<Matrices<T, T, 2>> {
    let (rows, cols) = (products.batch * products.sides[0], products.sides[1]);
    let results = vec![HostMatrix::real(rows, cols, vec![T::default(); rows * cols])];
    Ok(Matrices { inputs: request.operands()?, copy: vec![], results })
}

fn slices<T>(inputs: &[HostMatrix<T>; 2]) -> [&[T]; 2] {
    inputs.each_ref().map(|input| &input[..])
}

fn blas<T: Blas>(mut request: JobRequest<'_>) -> PreparedJob {
    let products = Products::of(request.case);
    let [.., c_len] = products.lens();
    let pool = BlasThreads::new(request.threads, request.blas()?, products.side(), MAX_CHOICE_SIDE)?;
    let matrices = matrices::<T>(&products, &mut request)?;
    on_pool(matrices, pool, (), None, move |pool, (), Matrices { inputs, results, .. }| {
        let provider = pool.provider();
        let mut results = results[0].chunks_mut(c_len).enumerate();
        results.try_for_each(|(index, c)| {
            let [a, b] = products.factors(index, slices(inputs));
            provider.gemm(products.sides, products.transposed, a, b, c)
        })
    })
}

fn batch<T: Blas>(mut request: JobRequest<'_>) -> PreparedJob {
    let products = Products::of(request.case);
    let side_of_all = (products.side() as f64 * (products.batch as f64).cbrt()) as usize;
    let pool = BlasThreads::new(request.threads, request.blas()?, side_of_all, MAX_CHOICE_SIDE)?;
    let matrices = matrices::<T>(&products, &mut request)?;
    on_pool(matrices, pool, (), None, move |pool, (), Matrices { inputs, results, .. }| {
        let Products { sides, transposed, batch, .. } = products;
        pool.provider().gemm_batch(batch, sides, transposed, slices(inputs), &mut results[0])
    })
}

fn spread<T: Blas>(mut request: JobRequest<'_>) -> PreparedJob {
    let products = Products::of(request.case);
    let [.., c_len] = products.lens();
    let single = BlasThreads::new(1, request.blas()?, products.side(), 0)?;
    let matrices = matrices::<T>(&products, &mut request)?;
    let pool = Partition::of_tasks(products.batch, request.threads);
    on_pool(matrices, pool, (), None, move |pool, (), Matrices { inputs, results, .. }| {
        let (provider, factors) = (single.provider(), slices(inputs));
        let results = results[0].par_chunks_mut(c_len).with_min_len(pool.part(products.batch)).enumerate();
        results.try_for_each(|(index, c)| {
            let [a, b] = products.factors(index, factors);
            provider.gemm(products.sides, products.transposed, a, b, c)
        })
    })
}

fn faer<T: Real + faer::traits::ComplexField>(mut request: JobRequest<'_>) -> PreparedJob {
    let products = Products::of(request.case);
    let [.., c_len] = products.lens();
    let pool = Faer::new(request.threads, products.side(), MAX_CHOICE_SIDE);
    let matrices = matrices::<T>(&products, &mut request)?;
    on_pool(matrices, pool, (), None, move |pool, (), Matrices { inputs, results, .. }| {
        let [m, n, _] = products.sides;
        for (index, c) in results[0].chunks_mut(c_len).enumerate() {
            let factors = products.factors(index, slices(inputs));
            let [a, b] = std::array::from_fn(|factor| {
                let [rows, cols] = products.stored[factor];
                let matrix = MatRef::from_row_major_slice(factors[factor], rows, cols);
                if products.transposed[factor] { matrix.transpose() } else { matrix }
            });
            let c = MatMut::from_row_major_slice_mut(c, m, n);
            faer::linalg::matmul::matmul(c, Accum::Replace, a, b, <T as Real>::from_f64(1.0), pool.par);
        }
        Ok(())
    })
}

fn ndarray<T: Real + LinalgScalar>(request: JobRequest<'_>) -> PreparedJob {
    on_one_thread::<T, 2>(request, |[a, b], c| {
        linalg::general_mat_mul(T::one(), &view(a)?, &view(b)?, T::zero(), &mut view_mut(c)?);
        Ok(())
    })
}
