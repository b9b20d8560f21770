//! Computes count, sum and squared deviations of a slice, and merges those of two slices.
//!
//! The deviation of a value from a number near the mean of its block is small, and so is the rounding error of its
//! sums: one pass over a block computes them in the element type (shifted data: Chan, Golub and LeVeque, "Algorithms
//! for computing the sample variance", The American Statistician 37, 1983). If that number is far from the mean, or a
//! square leaves the range of the type, the block is computed again in float64 by plain loops. Blocks merge by the
//! formula of the same authors, slices as a tree.

use gpubench_report::data::{Element, Plain, Real};
use half::slice::HalfFloatSliceExt;

use crate::simd::{Vectorized, vectorize};

/// Elements per task: a fixed number, so that the result does not depend on the number of threads.
pub(super) const TASK: usize = 1 << 15;
/// Elements per block: few enough to fit in the second-level cache, and enough that its start and end cost little,
/// when the CPU waits for memory and for dependent additions.
const BLOCK: usize = 1 << 13;
/// Bytes of independent partial sums: together with the sums of squares they fill the sixteen registers of AVX2.
const ABREAST: usize = 128;
/// Additions to a partial sum before it is added to a float64 sum. Once the sum is large, squares of coarse numbers
/// all round in one direction.
const RUN: usize = 16;
/// Values of which the sum comes first and then the squares, both in float64: the start and end of a block would cost more.
const FEW: usize = 128;
/// Independent sums of few values.
const FEW_LANES: usize = 8;
/// Values at each end of a block whose mean approximates the mean of the block.
const SAMPLE: usize = 32;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(super) struct Moments {
    /// Number of values.
    count: f64,
    /// Sum of the values.
    sum: f64,
    /// Rounding error of the sum.
    lost: f64,
    /// Sum of the squared deviations of the values from the mean.
    squares: f64,
}

// SAFETY: four numbers of one type in C's layout, with nothing between them.
unsafe impl Plain for Moments {}

impl Moments {
    pub(super) fn of<T: Real>(values: &[T]) -> Self {
        if values.len() < 2 * FEW_LANES { Moments::plain(values) } else { vectorize(Blocks(values)) }
    }

    /// Computes the moments of neighbouring columns of `rows` rows at a distance of `distance`, the first of which begins with `values`.
    /// Returns false if the columns are not whole groups, or one of them would not be accurate enough.
    pub(super) fn of_columns<T: Real>(
        values: &[T],
        distance: usize,
        rows: usize,
        columns: &mut [Moments],
    ) -> bool {
        vectorize(Columns { values, distance, rows, columns })
    }

    /// Computes the same as [`Moments::of`] by loops without vectors: the sum, then the squares of the deviations from the mean.
    pub(super) fn plain<T: Real>(values: &[T]) -> Self {
        let count = values.len() as f64;
        let sum: f64 = values.iter().map(|value| value.to_f64()).sum();
        let mean = sum / count;
        let squares = values.iter().map(|value| (value.to_f64() - mean) * (value.to_f64() - mean)).sum();
        Moments { count, sum, lost: 0.0, squares }
    }

    /// Computes the moments of neighbouring columns row by row, as [`Moments::plain`] does those of values. Returns true.
    pub(super) fn plain_columns<T: Real>(
        values: &[T],
        distance: usize,
        rows: usize,
        columns: &mut [Moments],
    ) -> bool {
        let (count, mut sums) = (rows as f64, vec![0.0; columns.len()]);
        for line in values.chunks(distance).take(rows) {
            sums.iter_mut().zip(line).for_each(|(sum, value)| *sum += value.to_f64());
        }
        let means: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
        let mut squares = vec![0.0; columns.len()];
        for line in values.chunks(distance).take(rows) {
            for ((square, mean), value) in squares.iter_mut().zip(&means).zip(line) {
                *square += (value.to_f64() - mean) * (value.to_f64() - mean);
            }
        }
        for ((column, sum), squares) in columns.iter_mut().zip(sums).zip(squares) {
            *column = Moments { count, sum, lost: 0.0, squares };
        }
        true
    }

    /// Computes the moments of 16-bit values block by block, by a function of float32 values.
    pub(super) fn of_half<T: Element>(values: &[T], of: fn(&[f32]) -> Moments) -> Self
    where
        [T]: HalfFloatSliceExt,
    {
        // Of short rows, setting a whole block to zero would take most of the time.
        if values.len() <= FEW {
            Moments::of_converted::<T, FEW>(values, of)
        } else {
            Moments::of_converted::<T, BLOCK>(values, of)
        }
    }

    fn of_converted<T: Element, const LENGTH: usize>(values: &[T], of: fn(&[f32]) -> Moments) -> Self
    where
        [T]: HalfFloatSliceExt,
    {
        let mut wide = [0f32; LENGTH];
        let of_block = |block: &[T]| {
            let wide = &mut wide[..block.len()];
            block.convert_to_f32_slice(wide);
            of(wide)
        };
        values.chunks(LENGTH).map(of_block).fold(Moments::default(), Moments::merge)
    }

    /// Merges all moments, as a tree whose shape depends only on their number.
    pub(super) fn merged(parts: &[Moments]) -> Moments {
        match parts {
            [] => Moments::default(),
            [part] => *part,
            _ => {
                let (first, second) = parts.split_at(parts.len() / 2);
                Moments::merged(first).merge(Moments::merged(second))
            }
        }
    }

    #[inline(always)]
    pub(super) fn merge(self, other: Moments) -> Moments {
        if self.count == 0.0 {
            return other;
        }
        let count = self.count + other.count;
        let apart = other.mean() - self.mean();
        let between = apart * apart * (self.count * other.count / count);
        let (sum, lost) = add(self.sum, other.sum);
        let (lost, squares) = (self.lost + other.lost + lost, self.squares + other.squares + between);
        Moments { count, sum, lost, squares }
    }

    #[inline(always)]
    pub(super) fn sum(self) -> f64 {
        self.sum + self.lost
    }

    #[inline(always)]
    pub(super) fn mean(self) -> f64 {
        self.sum() / self.count
    }

    pub(super) fn std(self) -> f64 {
        (self.squares / self.count).sqrt()
    }
}

struct Blocks<'a, T>(&'a [T]);

impl<T: Real> Vectorized for Blocks<'_, T> {
    type Output = Moments;

    #[inline(always)]
    fn run(self) -> Moments {
        // A loop, because the compiler would generate the narrowest vectors for a closure passed to `fold`.
        if self.0.len() <= FEW {
            return of_few(self.0);
        }
        let mut moments = Moments::default();
        for block in self.0.chunks(BLOCK) {
            let found = match size_of::<T>() {
                4 => shifted::<T, { ABREAST / 4 }>(block),
                _ => shifted::<T, { ABREAST / 8 }>(block),
            };
            moments = moments.merge(match found {
                Some(found) => found,
                None => Moments::plain(block),
            });
        }
        moments
    }

    fn run_portable(self) -> Moments {
        Moments::plain(self.0)
    }
}

/// Computes the moments of few values by two passes over them.
#[inline(always)]
fn of_few<T: Real>(values: &[T]) -> Moments {
    const LANES: usize = FEW_LANES;
    let (groups, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for group in groups {
        for lane in 0..LANES {
            sums[lane] += group[lane].to_f64();
        }
    }
    for (sum, value) in sums.iter_mut().zip(rest) {
        *sum += value.to_f64();
    }
    let (count, sum) = (values.len() as f64, total(sums));
    let mean = sum / count;
    let mut squares = [0.0; LANES];
    for group in groups {
        for lane in 0..LANES {
            let apart = group[lane].to_f64() - mean;
            squares[lane] = apart.mul_add(apart, squares[lane]);
        }
    }
    for (square, value) in squares.iter_mut().zip(rest) {
        let apart = value.to_f64() - mean;
        *square = apart.mul_add(apart, *square);
    }
    Moments { count, sum, lost: 0.0, squares: total(squares) }
}

/// Computes the moments of a block from its deviations from about its mean; `None` if they would not be accurate
/// enough.
#[inline(always)]
fn shifted<T: Real, const LANES: usize>(block: &[T]) -> Option<Moments> {
    let center = center_of(block);
    let (mut sums, mut squares) = ([T::default(); LANES], [0.0; LANES]);
    let (groups, rest) = block.as_chunks::<LANES>();
    for run in groups.chunks(RUN) {
        let (of_run, squares_of_run) = deviations(run, center);
        for lane in 0..LANES {
            sums[lane] += of_run[lane];
            squares[lane] += squares_of_run[lane].to_f64();
        }
    }
    for (lane, x) in rest.iter().enumerate() {
        let apart = *x - center;
        sums[lane] += apart;
        squares[lane] += apart.fused(apart, T::default()).to_f64();
    }
    of_deviations(block.len(), center, total(sums.map(T::to_f64)), total(squares))
}

/// Returns the moments of `count` values from the sums of their deviations from `center` and of their squares; `None` if they
/// would not be accurate enough.
#[inline(always)]
fn of_deviations<T: Real>(count: usize, center: T, sum: f64, square: f64) -> Option<Moments> {
    let (count, center) = (count as f64, center.to_f64());
    let between = sum * sum / count;
    let least = count * if size_of::<T>() == 4 { 1e-30 } else { 1e-290 };
    if !(square >= least && square < f64::INFINITY && between <= 0.5 * square) {
        return None;
    }
    let whole = count * center;
    let (sum, lost) = add(whole, sum);
    Some(Moments { count, sum, lost: lost + count.mul_add(center, -whole), squares: square - between })
}

struct Columns<'a, T> {
    values: &'a [T],
    distance: usize,
    rows: usize,
    columns: &'a mut [Moments],
}

impl<T: Real> Vectorized for Columns<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        match size_of::<T>() {
            4 => self.groups::<{ ABREAST / 4 }>(),
            _ => self.groups::<{ ABREAST / 8 }>(),
        }
    }

    fn run_portable(self) -> bool {
        false
    }
}

impl<T: Real> Columns<'_, T> {
    #[inline(always)]
    fn groups<const LANES: usize>(self) -> bool {
        let Columns { values, distance, rows, columns } = self;
        let (groups, rest) = columns.as_chunks_mut::<LANES>();
        if !rest.is_empty() {
            return false;
        }
        for (index, group) in groups.iter_mut().enumerate() {
            match shifted_columns(&values[index * LANES..], distance, rows) {
                Some(found) => *group = found,
                None => return false,
            }
        }
        true
    }
}

/// Computes the moments of a group of columns as [`shifted`] does those of a block.
#[inline(always)]
fn shifted_columns<T: Real, const LANES: usize>(
    values: &[T],
    distance: usize,
    rows: usize,
) -> Option<[Moments; LANES]> {
    let line = |row: usize| values[row * distance..].first_chunk::<LANES>();
    let (samples, mut ends) = (rows.min(SAMPLE), [0.0; LANES]);
    for row in (0..samples).chain(rows - samples..rows) {
        let line = line(row)?;
        for lane in 0..LANES {
            ends[lane] += line[lane].to_f64();
        }
    }
    let center = ends.map(|sum| T::from_f64(sum / (2 * samples) as f64));
    let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
    for first in (0..rows).step_by(RUN) {
        let (mut of_run, mut squares_of_run) = ([T::default(); LANES], [T::default(); LANES]);
        for row in first..rows.min(first + RUN) {
            let line = line(row)?;
            for lane in 0..LANES {
                let apart = line[lane] - center[lane];
                of_run[lane] += apart;
                squares_of_run[lane] = apart.fused(apart, squares_of_run[lane]);
            }
        }
        for lane in 0..LANES {
            sums[lane] += of_run[lane].to_f64();
            squares[lane] += squares_of_run[lane].to_f64();
        }
    }
    let mut columns = [Moments::default(); LANES];
    for (lane, column) in columns.iter_mut().enumerate() {
        *column = of_deviations(rows, center[lane], sums[lane], squares[lane])?;
    }
    Some(columns)
}

/// Returns the sums of the deviations from `center` and of their squares.
#[inline(always)]
fn deviations<T: Real, const LANES: usize>(groups: &[[T; LANES]], center: T) -> ([T; LANES], [T; LANES]) {
    let (mut sums, mut squares) = ([T::default(); LANES], [T::default(); LANES]);
    for group in groups {
        for lane in 0..LANES {
            let apart = group[lane] - center;
            sums[lane] += apart;
            squares[lane] = apart.fused(apart, squares[lane]);
        }
    }
    (sums, squares)
}

/// Approximates the mean of a block by values at both ends, which also works for sorted values.
#[inline(always)]
fn center_of<T: Real>(block: &[T]) -> T {
    let samples = block.len().min(SAMPLE);
    let ends = block[..samples].iter().zip(&block[block.len() - samples..]);
    let mut sums = [0.0; SAMPLE];
    for (sum, (first, last)) in sums.iter_mut().zip(ends) {
        *sum = first.to_f64() + last.to_f64();
    }
    T::from_f64(total(sums) / (2 * samples) as f64)
}

/// Sums all elements by adding one half to the other half repeatedly, since dependent additions would wait for each
/// other. The length must be a power of two.
#[inline(always)]
fn total<const LANES: usize>(mut lanes: [f64; LANES]) -> f64 {
    let mut left = LANES;
    while left > 1 {
        left /= 2;
        for lane in 0..left {
            lanes[lane] += lanes[lane + left];
        }
    }
    lanes[0]
}

/// A sum and its rounding error.
#[inline(always)]
fn add(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}
