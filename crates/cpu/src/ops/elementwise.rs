//! The variants of `a * b + sin(a) + cos(b)` and of `sin(a)` on the CPU, and those of the loop over all elements without
//! a launch per element (`host-loop`).

use gpubench_backend::Shapes;
use gpubench_report::case::DType;
use gpubench_report::data::{Element, Real};
use half::slice::HalfFloatSliceExt;
use ndarray::Zip;
use rustfft::num_traits::Float;

use super::dense::{on_one_thread, partitioned, view, view_mut};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, by_real_type, variant};
use crate::libs::vml::VmlFunctions;

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "",
        Scope::Mkl,
        "{} (VML): sines and cosines of blocks in float32 or float64, products and sums in a loop, all threads",
        by_real_type!(mkl, mkl_half),
    )
    .of_shapes(Shapes::Any)
    .of_types(DType::REAL_AND_HALF),
    variant(
        "plain",
        Scope::Default,
        "one loop in float32 or float64, libm's sine and cosine, all threads",
        by_real_type!(plain, plain_half),
    )
    .of_shapes(Shapes::Any)
    .of_types(DType::REAL_AND_HALF),
    variant("ndarray", Scope::Further, "ndarray Zip, one pass, libm, one thread", by_dtype!(one_pass)),
    variant(
        "temporaries",
        Scope::Further,
        "ndarray expression with temporaries, one thread",
        by_dtype!(temporaries),
    ),
];

pub(super) const SIN_VARIANTS: &[CpuVariant] = &[
    variant("", Scope::Mkl, "{} (VML), all threads", by_dtype!(mkl_sine)),
    variant("plain", Scope::Default, "one loop, libm's sine, all threads", by_dtype!(sine, usize::MAX)),
    variant("ndarray", Scope::Further, "ndarray Zip, libm, one thread", by_dtype!(zipped_sine)),
];

/// The variants of `host-loop`.
pub(super) const LOOP_VARIANTS: &[CpuVariant] = &[
    variant("parallel", Scope::Default, "one loop, libm's sine, all threads", by_dtype!(sine, usize::MAX)),
    variant("serial", Scope::Further, "one loop, libm's sine, one thread", by_dtype!(sine, 1)),
];

/// Elements whose sines and cosines stay in the first-level cache.
const BLOCK: usize = 1024;
/// Sines per call, whose number has 32 bits.
const SINES_PER_CALL: usize = 1 << 16;

fn mkl<T: Real>(request: JobRequest<'_>) -> PreparedJob {
    let (vml, threads) = (VmlFunctions::<T>::of(request.blas()?.provider()?)?, request.threads);
    partitioned::<T, 2>(request, threads, move |[a, b], y| {
        vml.on_this_thread(|| {
            for ((a, b), y) in a.chunks(BLOCK).zip(b.chunks(BLOCK)).zip(y.chunks_mut(BLOCK)) {
                mkl_expression(&vml, a, b, y);
            }
        });
    })
}

/// Computes a block of at most [`BLOCK`] elements.
fn mkl_expression<T: Real>(vml: &VmlFunctions<T>, a: &[T], b: &[T], y: &mut [T]) {
    let mut cosines = [T::default(); BLOCK];
    vml.sines(a, y);
    vml.cosines(b, &mut cosines);
    for (((y, &a), &b), &cosine) in y.iter_mut().zip(a).zip(b).zip(&cosines) {
        *y = a * b + *y + cosine;
    }
}

fn mkl_half<T: Element>(request: JobRequest<'_>) -> PreparedJob
where
    [T]: HalfFloatSliceExt,
{
    let (vml, threads) = (VmlFunctions::of(request.blas()?.provider()?)?, request.threads);
    partitioned::<T, 2>(request, threads, move |operands, y| {
        vml.on_this_thread(|| widened(operands, y, |a, b, y| mkl_expression(&vml, a, b, y)));
    })
}

fn plain<T: Real + Float>(request: JobRequest<'_>) -> PreparedJob {
    let threads = request.threads;
    partitioned::<T, 2>(request, threads, |[a, b], y| expression(a, b, y))
}

fn expression<T: Float>(a: &[T], b: &[T], y: &mut [T]) {
    for ((y, &a), &b) in y.iter_mut().zip(a).zip(b) {
        *y = a * b + a.sin() + b.cos();
    }
}

fn plain_half<T: Element>(request: JobRequest<'_>) -> PreparedJob
where
    [T]: HalfFloatSliceExt,
{
    let threads = request.threads;
    partitioned::<T, 2>(request, threads, |operands, y| widened(operands, y, expression))
}

/// Widens blocks to float32, computes in it, and rounds the answer.
fn widened<T>([a, b]: [&[T]; 2], y: &mut [T], compute: impl Fn(&[f32], &[f32], &mut [f32]))
where
    [T]: HalfFloatSliceExt,
{
    let [mut wide_a, mut wide_b, mut wide_y] = [[0f32; BLOCK]; 3];
    for ((a, b), y) in a.chunks(BLOCK).zip(b.chunks(BLOCK)).zip(y.chunks_mut(BLOCK)) {
        let len = y.len();
        a.convert_to_f32_slice(&mut wide_a[..len]);
        b.convert_to_f32_slice(&mut wide_b[..len]);
        compute(&wide_a[..len], &wide_b[..len], &mut wide_y[..len]);
        y.convert_from_f32_slice(&wide_y[..len]);
    }
}

fn one_pass<T: Real + Float>(request: JobRequest<'_>) -> PreparedJob {
    on_one_thread::<T, 2>(request, |[a, b], y| {
        let zipped = Zip::from(view_mut(y)?).and(view(a)?).and(view(b)?);
        zipped.for_each(|y, &a, &b| *y = a * b + a.sin() + b.cos());
        Ok(())
    })
}

fn temporaries<T: Real + Float>(request: JobRequest<'_>) -> PreparedJob {
    on_one_thread::<T, 2>(request, |[a, b], y| {
        let (a, b) = (view(a)?, view(b)?);
        y.elements = (&a * &b + a.mapv(T::sin) + b.mapv(T::cos)).into_raw_vec_and_offset().0;
        Ok(())
    })
}

fn mkl_sine<T: Real>(request: JobRequest<'_>) -> PreparedJob {
    let (vml, threads) = (VmlFunctions::<T>::of(request.blas()?.provider()?)?, request.threads);
    partitioned::<T, 1>(request, threads, move |[a], y| {
        vml.on_this_thread(|| {
            for (a, y) in a.chunks(SINES_PER_CALL).zip(y.chunks_mut(SINES_PER_CALL)) {
                vml.sines(a, y);
            }
        });
    })
}

fn sine<T: Real + Float>(request: JobRequest<'_>, max_threads: usize) -> PreparedJob {
    let threads = request.threads.min(max_threads);
    partitioned::<T, 1>(request, threads, |[a], y| sines(a, y))
}

/// Writes the sines of `a`, which is as long as `y`.
pub(super) fn sines<T: Float>(a: &[T], y: &mut [T]) {
    for (y, a) in y.iter_mut().zip(a) {
        *y = a.sin();
    }
}

fn zipped_sine<T: Real + Float>(request: JobRequest<'_>) -> PreparedJob {
    on_one_thread::<T, 1>(request, |[a], y| {
        Zip::from(view_mut(y)?).and(view(a)?).for_each(|y, &a| *y = a.sin());
        Ok(())
    })
}
