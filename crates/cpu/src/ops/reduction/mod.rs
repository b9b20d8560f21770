//! The variants of sum, mean and population standard deviation on the CPU.

mod moments;

use gpubench_backend::Shapes;
use gpubench_ops::reduction::Reductions;
use gpubench_report::case::DType;
use gpubench_report::data::{Element, Real};
use gpubench_report::error::Unavailable;
use half::slice::HalfFloatSliceExt;
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
            DType::Bf16 => in_parts::<bf16>(request, Functions::of_half(Moments::of, Moments::of_columns)),
            DType::F16 => in_parts::<f16>(request, Functions::of_half(Moments::of, Moments::of_columns)),
            DType::F64 => in_parts::<f64>(request, Functions::of(Moments::of, Moments::of_columns)),
            _ => in_parts::<f32>(request, Functions::of(Moments::of, Moments::of_columns)),
        },
    )
    .of_shapes(Shapes::Any)
    .of_types(DType::REAL_AND_HALF),
    variant("plain", Scope::Default, "sum, then deviations from the mean, all threads", |request| {
        match request.case.dtype {
            DType::Bf16 => {
                in_parts::<bf16>(request, Functions::of_half(Moments::plain, Moments::plain_columns))
            }
            DType::F16 => {
                in_parts::<f16>(request, Functions::of_half(Moments::plain, Moments::plain_columns))
            }
            DType::F64 => in_parts::<f64>(request, Functions::of(Moments::plain, Moments::plain_columns)),
            _ => in_parts::<f32>(request, Functions::of(Moments::plain, Moments::plain_columns)),
        }
    })
    .of_shapes(Shapes::Any)
    .of_types(DType::REAL_AND_HALF),
    variant("ndarray", Scope::Further, "ndarray sum, mean and std, one thread", by_dtype!(three_passes))
        .of_shapes(Shapes::Any),
];

/// Rows and columns of a tile of columns, which stays in the caches. A fixed size, so that results do not depend on the number of
/// threads.
const TILE_ROWS: usize = 1 << 10;
const TILE_COLS: usize = 32;

/// Takes the operand, and makes the results: sums, means and standard deviations.
fn matrices<T: Element>(request: &mut JobRequest<'_>, results: usize) -> CellResult<Matrices<T, f64, 1>> {
    Ok(Matrices { inputs: request.operands()?, copy: vec![], results: vec![HostMatrix::zeros(3, results)] })
}

/// Computes the moments of up to [`TILE_COLS`] columns: from values that begin with the first one, the distance of rows and their
/// number. Returns false where it computed nothing.
type OfColumns<T> = fn(&[T], usize, usize, &mut [Moments]) -> bool;

type ValuesFunction<T> = dyn Fn(&[T]) -> Moments + Send + Sync;
type ColumnsFunction<T> = dyn Fn(&[T], usize, usize, &mut [Moments]) -> bool + Send + Sync;

/// The functions of a variant: the moments of values, and those of columns at the same time.
struct Functions<T> {
    of_values: Box<ValuesFunction<T>>,
    of_columns: Box<ColumnsFunction<T>>,
}

impl<T: Element> Functions<T> {
    fn of(of_values: fn(&[T]) -> Moments, of_columns: OfColumns<T>) -> Self {
        Functions { of_values: Box::new(of_values), of_columns: Box::new(of_columns) }
    }

    /// The functions for 16-bit values, which are converted first.
    fn of_half(of_values: fn(&[f32]) -> Moments, of_columns: OfColumns<f32>) -> Self
    where
        [T]: HalfFloatSliceExt,
    {
        let converted = move |values: &[T], distance: usize, rows: usize, columns: &mut [Moments]| {
            let width = columns.len();
            let mut wide = vec![0f32; rows * width];
            for (line, wide) in values.chunks(distance).zip(wide.chunks_mut(width)) {
                line[..width].convert_to_f32_slice(wide);
            }
            of_columns(&wide, width, rows, columns)
        };
        Functions {
            of_values: Box::new(move |values| Moments::of_half(values, of_values)),
            of_columns: Box::new(converted),
        }
    }

    fn columns(&self, values: &[T], cols: usize, rows: usize, columns: &mut [Moments]) {
        if (self.of_columns)(values, cols, rows, columns) {
            return;
        }
        let mut copied = vec![values[0]; rows * columns.len()];
        for (row, line) in values.chunks(cols).take(rows).enumerate() {
            for (to, value) in copied[row..].iter_mut().step_by(rows).zip(line) {
                *to = *value;
            }
        }
        for (column, values) in columns.iter_mut().zip(copied.chunks(rows)) {
            *column = (self.of_values)(values);
        }
    }
}

/// Makes a job of the statistics of each row, of which long ones are divided.
fn of_rows<T: Element>(
    mut request: JobRequest<'_>,
    [rows, cols]: [usize; 2],
    of: Functions<T>,
) -> PreparedJob {
    let matrices = matrices::<T>(&mut request, rows)?;
    let pieces = cols.div_ceil(TASK);
    // Without a division, there is nothing to merge.
    let parts = vec![Moments::default(); if pieces > 1 { rows * pieces } else { 0 }];
    let pool = Partition::of_tasks(rows * pieces, request.threads);
    on_pool(matrices, pool, parts, None, move |pool, parts, Matrices { inputs: [a], results, .. }| {
        if pieces == 1 {
            write_statistics(pool, &mut results[0], |row| (of.of_values)(&a[row * cols..][..cols]));
            return Ok(());
        }
        pool.run(parts, |range, parts| {
            for (part, index) in parts.iter_mut().zip(range) {
                let row = &a[index / pieces * cols..][..cols];
                *part = row.chunks(TASK).nth(index % pieces).map(&of.of_values).unwrap_or_default();
            }
        });
        write_statistics(pool, &mut results[0], |row| Moments::merged(&parts[row * pieces..][..pieces]));
        Ok(())
    })
}

/// Makes a job of the statistics of each column, by tiles.
fn of_columns<T: Element>(
    mut request: JobRequest<'_>,
    [rows, cols]: [usize; 2],
    of: Functions<T>,
) -> PreparedJob {
    let matrices = matrices::<T>(&mut request, cols)?;
    let across = cols.div_ceil(TILE_COLS);
    let tiles = vec![[Moments::default(); TILE_COLS]; across * rows.div_ceil(TILE_ROWS)];
    let pool = Partition::of_tasks(tiles.len(), request.threads);
    on_pool(matrices, pool, tiles, None, move |pool, tiles, Matrices { inputs: [a], results, .. }| {
        pool.run(tiles, |range, tiles| {
            for (tile, index) in tiles.iter_mut().zip(range) {
                let (row, col) = (index / across * TILE_ROWS, index % across * TILE_COLS);
                let width = TILE_COLS.min(cols - col);
                of.columns(&a[row * cols + col..], cols, TILE_ROWS.min(rows - row), &mut tile[..width]);
            }
        });
        write_statistics(pool, &mut results[0], |col| {
            let parts = tiles[col / TILE_COLS..].iter().step_by(across).map(|tile| tile[col % TILE_COLS]);
            parts.fold(Moments::default(), Moments::merge)
        });
        Ok(())
    })
}

/// Writes the rows of sums, means and deviations of results, of which `total` returns the moments.
fn write_statistics(pool: &Partition, out: &mut [f64], total: impl Fn(usize) -> Moments + Sync) {
    let count = out.len() / 3;
    let (sums, rest) = out.split_at_mut(count);
    let (means, deviations) = rest.split_at_mut(count);
    pool.run_rows([sums, means, deviations], |range, [sums, means, deviations]| {
        for (place, result) in range.enumerate() {
            let total = total(result);
            (sums[place], means[place], deviations[place]) = (total.sum(), total.mean(), total.std());
        }
    });
}

fn in_parts<T: Element>(mut request: JobRequest<'_>, of: Functions<T>) -> PreparedJob {
    let reductions = Reductions::of(request.case);
    match reductions.axis {
        Some(0) => return of_columns(request, reductions.matrix, of),
        Some(_) => return of_rows(request, reductions.matrix, of),
        None => {}
    }
    let matrices = matrices::<T>(&mut request, 1)?;
    let parts = vec![Moments::default(); matrices.inputs[0].len().div_ceil(TASK)];
    let pool = Partition::of_tasks(parts.len(), request.threads);
    on_pool(matrices, pool, parts, None, move |pool, parts, Matrices { inputs: [a], results, .. }| {
        pool.run(parts, |range, parts| {
            for (part, values) in parts.iter_mut().zip(a[range.start * TASK..].chunks(TASK)) {
                *part = (of.of_values)(values);
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
    let matrices = matrices::<T>(&mut request, 1)?;
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
