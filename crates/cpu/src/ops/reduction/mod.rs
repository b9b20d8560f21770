//! The variants of sum, mean and population standard deviation on the CPU.

mod moments;

use gpubench_backend::Shapes;
use gpubench_ops::reduction::Reductions;
use gpubench_report::case::DType;
use gpubench_report::data::{Element, Real};
use gpubench_report::error::Unavailable;
use half::{bf16, f16};
use ndarray::aview1;
use rustfft::num_traits::{Float, FromPrimitive};

use self::moments::{Moments, TASK};
use super::dense::{Matrices, on_pool};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, variant};
use crate::operands::HostMatrix;
use crate::threads::CallingThread;
use crate::threads::partition::Partition;
use crate::{CellError, CellResult};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "one-pass",
        Scope::Default,
        "one pass, sums of deviations from each block's mean, all threads",
        |request| match request.case.dtype {
            DType::Bf16 => in_parts::<bf16>(request, |values| Moments::of_half(values, Moments::of)),
            DType::F16 => in_parts::<f16>(request, |values| Moments::of_half(values, Moments::of)),
            DType::F64 => in_parts::<f64>(request, Moments::of),
            _ => in_parts::<f32>(request, Moments::of),
        },
    )
    .of_shapes(Shapes::Any)
    .of_types(DType::REAL_AND_HALF),
    variant("plain", Scope::Default, "sum, then deviations from the mean, all threads", |request| {
        match request.case.dtype {
            DType::Bf16 => in_parts::<bf16>(request, |values| Moments::of_half(values, Moments::plain)),
            DType::F16 => in_parts::<f16>(request, |values| Moments::of_half(values, Moments::plain)),
            DType::F64 => in_parts::<f64>(request, Moments::plain),
            _ => in_parts::<f32>(request, Moments::plain),
        }
    })
    .of_shapes(Shapes::Any)
    .of_types(DType::REAL_AND_HALF),
    variant("ndarray", Scope::Further, "ndarray sum, mean and std, one thread", by_dtype!(three_passes))
        .of_shapes(Shapes::Any),
];

/// Rows and columns of a tile of which columns are gathered: few enough for the caches, and whole cache lines wide.
const TILE_ROWS: usize = 1 << 10;
const TILE_COLS: usize = 16;

/// Takes the operand, and makes the result: sum, mean and standard deviation.
fn matrices<T: Element>(request: &mut JobRequest<'_>) -> CellResult<Matrices<T, f64, 1>> {
    Ok(Matrices { inputs: request.operands()?, copy: vec![], results: vec![HostMatrix::zeros(3, 1)] })
}

/// Makes a job of the statistics of each row, or of each column whose elements are gathered by blocks of rows.
fn along_axis<T: Element>(
    mut request: JobRequest<'_>,
    reductions: Reductions,
    moments: fn(&[T]) -> Moments,
) -> PreparedJob {
    let ([rows, cols], count) = (reductions.matrix, reductions.count());
    let results = vec![HostMatrix::zeros(3, count)];
    let matrices = Matrices::<T, f64, 1> { inputs: request.operands()?, copy: vec![], results };
    let of_rows = reductions.axis == Some(1);
    // Rows that are transposed together, so that a tile fits in the cache.
    let block = if of_rows { 1 } else { rows.min(TILE_ROWS) };
    // Of columns: all columns of each block of rows; of rows: one part per row.
    let blocks = if of_rows { rows } else { rows.div_ceil(block) };
    let parts = vec![Moments::default(); if of_rows { rows } else { blocks * cols }];
    let pool = Partition::of_tasks(parts.len(), request.threads);
    on_pool(matrices, pool, parts, None, move |pool, parts, Matrices { inputs: [a], results, .. }| {
        pool.run(parts, |range, parts| {
            let mut gathered = Vec::with_capacity(block * TILE_COLS);
            let mut index = range.start;
            let mut parts = parts;
            while !parts.is_empty() {
                if of_rows {
                    parts[0] = moments(&a[index * cols..][..cols]);
                    (parts, index) = (&mut parts[1..], index + 1);
                    continue;
                }
                let (first_row, col) = (index / cols * block, index % cols);
                let height = block.min(rows - first_row);
                let width = TILE_COLS.min(cols - col).min(parts.len());
                gathered.clear();
                gathered.resize(height * width, a[0]);
                for row in 0..height {
                    let line = &a[(first_row + row) * cols + col..][..width];
                    for (to, value) in gathered[row..].iter_mut().step_by(height).zip(line) {
                        *to = *value;
                    }
                }
                let (now, later) = parts.split_at_mut(width);
                for (part, column) in now.iter_mut().zip(gathered.chunks(height)) {
                    *part = moments(column);
                }
                (parts, index) = (later, index + width);
            }
        });
        for index in 0..count {
            let total = match of_rows {
                true => parts[index],
                false => {
                    (0..blocks).map(|b| parts[b * cols + index]).fold(Moments::default(), Moments::merge)
                }
            };
            for (row, number) in [total.sum(), total.mean(), total.std()].into_iter().enumerate() {
                results[0][row * count + index] = number;
            }
        }
        Ok(())
    })
}

fn in_parts<T: Element>(mut request: JobRequest<'_>, moments: fn(&[T]) -> Moments) -> PreparedJob {
    let reductions = Reductions::of(request.case);
    if reductions.axis.is_some() {
        return along_axis(request, reductions, moments);
    }
    let matrices = matrices::<T>(&mut request)?;
    let parts = vec![Moments::default(); matrices.inputs[0].len().div_ceil(TASK)];
    let pool = Partition::of_tasks(parts.len(), request.threads);
    on_pool(matrices, pool, parts, None, move |pool, parts, Matrices { inputs: [a], results, .. }| {
        pool.run(parts, |range, parts| {
            for (part, values) in parts.iter_mut().zip(a[range.start * TASK..].chunks(TASK)) {
                *part = moments(values);
            }
        });
        let total = Moments::merged(parts);
        results[0].copy_from_slice(&[total.sum(), total.mean(), total.std()]);
        Ok(())
    })
}

fn three_passes<T: Real + Float + FromPrimitive>(mut request: JobRequest<'_>) -> PreparedJob {
    if Reductions::of(request.case).axis.is_some() {
        return Err(Unavailable::without_fix("ndarray reduces all elements here: it takes no axis").into());
    }
    let matrices = matrices::<T>(&mut request)?;
    on_pool(matrices, CallingThread, (), None, |_, (), Matrices { inputs: [a], results, .. }| {
        let a = aview1(a);
        let mean = a.mean().ok_or_else(|| CellError::call("ndarray mean", "no elements"))?;
        results[0].copy_from_slice(&[a.sum(), mean, a.std(T::zero())].map(Real::to_f64));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::{TEST_SIDES, answer_of};
    use gpubench_report::data::Operand;
    use gpubench_report::data::generator::Stream;

    use super::*;

    /// Sum, mean and standard deviation by two passes in float64; the sum is exact for multiples of 2^-53.
    fn exactly<T: Real>(a: &[T]) -> [f64; 3] {
        let (count, unit) = (a.len() as f64, 53f64.exp2());
        let whole: i128 = a.iter().map(|x| (x.to_f64() * unit) as i128).sum();
        // Two float64 parts that together hold all digits.
        let (high, low) =
            ((whole >> 40) as f64 * 40f64.exp2() / unit, (whole & ((1 << 40) - 1)) as f64 / unit);
        let mean = (high + low) / count;
        let squares = a.chunks(64).map(|a| a.iter().map(|x| (x.to_f64() - mean).powi(2)).sum::<f64>());
        [high + low, mean, (squares.sum::<f64>() / count).sqrt()]
    }

    /// Asserts that numbers from `offset` upward are reduced with a relative error of at most `tolerances`.
    fn agrees<T: Real>(variant: &str, n: usize, offset: f64, tolerances: [f64; 3]) {
        let uniforms: Vec<T> = Stream::new(3, 0).uniforms(n * n);
        let a: Vec<T> = uniforms.iter().map(|x| T::from_f64(x.to_f64() + offset)).collect();
        let answer = answer_of("reduction", variant, n, T::DTYPE, &[Operand::dense(n, n, a.clone())]);
        let found = answer[0].dense_slice::<f64>().unwrap();
        for ((found, exact), tolerance) in found.iter().zip(exactly(&a)).zip(tolerances) {
            assert!((found - exact).abs() <= tolerance * exact.abs(), "{variant} {n}: {found} {exact}");
        }
    }

    #[test]
    fn every_variant_agrees_with_two_passes_in_float64() {
        for n in TEST_SIDES {
            agrees::<f32>("plain", n, 0.0, [1e-12; 3]);
            agrees::<f64>("plain", n, 0.0, [1e-12; 3]);
            agrees::<f32>("ndarray", n, 0.0, [1e-3; 3]);
            agrees::<f64>("ndarray", n, 0.0, [1e-10; 3]);
        }
    }

    #[test]
    fn one_pass_loses_few_digits_even_with_a_large_mean() {
        let place = 1.5 * f64::EPSILON;
        for n in [1, 2, 31, 100, 101, 333, 500, 2000] {
            agrees::<f32>("one-pass", n, 0.0, [5e-8; 3]);
            agrees::<f64>("one-pass", n, 0.0, [place, 2.0 * place, 1e-12]);
        }
        // A large mean costs the deviation no digits.
        for n in [31, 101, 333] {
            agrees::<f32>("one-pass", n, 1e4, [5e-8; 3]);
            agrees::<f64>("one-pass", n, 1e4, [1e-10; 3]);
        }
    }

    #[test]
    fn any_number_of_threads_finds_the_same() {
        let a = Stream::new(1, 0).uniforms::<f32>(400_001);
        let merged = |threads: usize| {
            let mut parts = vec![Moments::default(); a.len().div_ceil(TASK)];
            Partition::of_tasks(parts.len(), threads).run(&mut parts, |range, parts| {
                for (part, index) in parts.iter_mut().zip(range) {
                    *part = Moments::of(&a[index * TASK..a.len().min((index + 1) * TASK)]);
                }
            });
            Moments::merged(&parts)
        };
        assert!([2, 3, 4].map(merged).iter().all(|total| *total == merged(1)));
    }
}
