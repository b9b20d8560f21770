//! The variants of the matrix product: BLAS gemm, faer, and the kernel of ndarray.

use faer::{Accum, MatMut, MatRef};
use gpubench_backend::Shapes;
use gpubench_ops::matmul::Products;
use gpubench_report::case::DType;
use gpubench_report::data::{Element, Real};
use half::slice::HalfFloatSliceExt;
use ndarray::{LinalgScalar, linalg};
use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::dense::{Matrices, on_one_thread, on_pool, view, view_mut};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, by_half, by_type, variant};
use crate::CellResult;
use crate::libs::blas::{BlasElement, BlasThreads};
use crate::operands::HostMatrix;
use crate::threads::Faer;
use crate::threads::partition::Partition;

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("", Scope::Blas, "{} gemm", by_type!(blas)).general(),
    variant("-half", Scope::Mkl, "{} gemm of 16-bit operands, float32 answer", by_half!(blas))
        .of_shapes(Shapes::Any)
        .of_types(HALF),
    variant(
        "-widened",
        Scope::Blas,
        "16-bit operands widened to float32, then {} gemm, float32 answer",
        by_half!(widened),
    )
    .of_shapes(Shapes::Any)
    .of_types(HALF),
    variant(
        "-spread",
        Scope::Blas,
        "{} gemm on one thread for each product, the products of a batch spread over the cores",
        by_type!(spread),
    )
    .of_batches(),
    variant("-batch", Scope::Mkl, "{} gemm_batch_strided, one call for a batch", by_type!(batch))
        .of_batches(),
    variant("faer", Scope::Default, "faer, all threads", by_type!(faer)).general(),
    variant(
        "ndarray",
        Scope::Further,
        "ndarray's own kernel (matrixmultiply), one thread",
        by_dtype!(ndarray),
    ),
];

/// The types of 16 bits.
const HALF: &[DType] = &[DType::Bf16, DType::F16];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

/// Takes the operands, and fills the results with zeros, so that their pages exist.
fn matrices<T: Element, C: Element>(
    products: &Products,
    request: &mut JobRequest<'_>,
) -> CellResult<Matrices<T, C, 2>> {
    let results = vec![HostMatrix::zeros(products.batch * products.sides[0], products.sides[1])];
    Ok(Matrices { inputs: request.operands()?, copy: vec![], results })
}

fn slices<T>(inputs: &[HostMatrix<T>; 2]) -> [&[T]; 2] {
    inputs.each_ref().map(|input| &input[..])
}

fn blas<T: BlasElement>(mut request: JobRequest<'_>) -> PreparedJob {
    let products = Products::of(request.case);
    let [.., c_len] = products.lens();
    let pool = BlasThreads::new(request.threads, request.blas()?, products.side(), MAX_CHOICE_SIDE)?;
    let matrices = matrices::<T, _>(&products, &mut request)?;
    on_pool(matrices, pool, (), None, move |pool, (), Matrices { inputs, results, .. }| {
        let provider = pool.provider();
        let mut results = results[0].chunks_mut(c_len).enumerate();
        results.try_for_each(|(index, c)| {
            let [a, b] = products.factors(index, slices(inputs));
            provider.gemm(products.sides, products.transposed, a, b, c)
        })
    })
}

/// Elements that a task widens.
const WIDENED_AT_ONCE: usize = 1 << 14;

/// Widens both operands of all products, then multiplies.
fn widened<T: Element>(mut request: JobRequest<'_>) -> PreparedJob
where
    [T]: HalfFloatSliceExt,
{
    let products = Products::of(request.case);
    let [a_len, b_len, c_len] = products.lens();
    let pool = BlasThreads::new(request.threads, request.blas()?, products.side(), MAX_CHOICE_SIDE)?;
    let matrices = matrices::<T, f32>(&products, &mut request)?;
    let wide = [a_len, b_len].map(|len| vec![0.0; products.batch * len]);
    on_pool(matrices, pool, wide, None, move |pool, wide, Matrices { inputs, results, .. }| {
        let provider = pool.provider();
        for (to, from) in wide.iter_mut().zip(inputs) {
            let chunks = to.par_chunks_mut(WIDENED_AT_ONCE).zip(from.par_chunks(WIDENED_AT_ONCE));
            chunks.for_each(|(to, from)| from.convert_to_f32_slice(to));
        }
        let mut results = results[0].chunks_mut(c_len).enumerate();
        results.try_for_each(|(index, c)| {
            let [a, b] = products.factors(index, wide.each_ref().map(|wide| &wide[..]));
            provider.gemm(products.sides, products.transposed, a, b, c)
        })
    })
}

fn batch<T: BlasElement>(mut request: JobRequest<'_>) -> PreparedJob {
    let products = Products::of(request.case);
    let side_of_all = (products.side() as f64 * (products.batch as f64).cbrt()) as usize;
    let pool = BlasThreads::new(request.threads, request.blas()?, side_of_all, MAX_CHOICE_SIDE)?;
    let matrices = matrices::<T, _>(&products, &mut request)?;
    on_pool(matrices, pool, (), None, move |pool, (), Matrices { inputs, results, .. }| {
        let Products { sides, transposed, batch, .. } = products;
        pool.provider().gemm_batch(batch, sides, transposed, slices(inputs), &mut results[0])
    })
}

fn spread<T: BlasElement>(mut request: JobRequest<'_>) -> PreparedJob {
    let products = Products::of(request.case);
    let [.., c_len] = products.lens();
    let single = BlasThreads::new(1, request.blas()?, products.side(), 0)?;
    let matrices = matrices::<T, _>(&products, &mut request)?;
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

fn faer<T: Element + faer::traits::ComplexField>(mut request: JobRequest<'_>) -> PreparedJob {
    let products = Products::of(request.case);
    let [.., c_len] = products.lens();
    let pool = Faer::new(request.threads, products.side(), MAX_CHOICE_SIDE);
    let matrices = matrices::<T, _>(&products, &mut request)?;
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
            faer::linalg::matmul::matmul(c, Accum::Replace, a, b, T::narrow(1f64.into()), pool.par);
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
