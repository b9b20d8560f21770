//! The two-dimensional real FFT that transforms pairs of real columns as complex columns.
//!
//! In memory, two neighbouring real columns are the real and the imaginary part of a complex column. One complex
//! transform gives the spectra of both, and rows `k` of it determine rows `n - k`. So rows `0..=n / 2` of the column
//! spectra are written to the result, tile by tile, and transformed there. Row `n - k` of the result is row `k`
//! reversed and conjugated, and is written as soon as row `k` is known. For any `n`, half of the columns and half of
//! the rows are transformed, and everything in the result except the column tiles is written by whole rows.

use std::ops::Range;

use gpubench_report::data::Real;
use ndarray::{ArrayViewMut2, Axis};
use rayon::prelude::*;
use rustfft::FftNum;
use rustfft::num_complex::Complex;

use super::{LineFft, SERIAL, Spectrum, spectrum, tile};
use crate::CellResult;
use crate::operands::{ArrayElement, ShowMemory, memory};
use crate::ops::dense::{Matrices, MatrixKernel, prepared};
use crate::ops::variants::{JobRequest, PreparedJob};
use crate::threads::{choices_up_to, wake};

/// Maximum pairs of columns per tile; a tile of 2048 rows then fits in a second-level cache.
const WIDEST: usize = 32;
/// Granularity of tiles in pairs of columns: whole cache lines of every row, in the input and in the result.
const UNIT: usize = 8;
/// Blocks of rows per thread when all threads work.
const BLOCKS: usize = 4;
/// Range of sides in which fewer than all threads may be faster.
const CHOICE: Range<usize> = 32..1025;

/// The plan for one side; the workspace is the columns of a tile, one after another.
struct RealFft<T: FftNum> {
    side: usize,
    lines: LineFft<T, Vec<Complex<T>>>,
    cut: Cut,
    /// Number of threads in the pool.
    threads: usize,
}

/// Prepares the transform of a real matrix.
pub(super) fn realfft<T: ArrayElement<Part = T> + Real + FftNum>(mut request: JobRequest<'_>) -> PreparedJob {
    let (side, threads) = (request.side(), rayon::current_num_threads());
    let tile = WIDEST.min(units(side) * UNIT) * tile::stride(side);
    let lines = LineFft::new(side, || vec![Complex::new(T::zero(), T::zero()); tile]);
    let cut = Cut::new(side, if side * side <= SERIAL { 1 } else { threads }, threads);
    let choices = if CHOICE.contains(&side) { choices_up_to(threads) } else { vec![] };
    prepared(spectrum(&mut request)?, RealFft { side, lines, cut, threads }, choices, None)
}

/// The division of the work among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// Initial number of tasks for the tiles; 1 if the calling thread works alone.
    tasks: usize,
    /// Tiles of columns.
    tiles: usize,
    /// Rows of a block.
    rows: usize,
}

/// Pairs of columns, in units.
fn units(side: usize) -> usize {
    side.div_ceil(2).div_ceil(UNIT)
}

impl Cut {
    /// Divides the work for `threads` of `all` threads: the same number of tiles for each as far as possible. If all
    /// threads work, row blocks are small enough to be rebalanced.
    fn new(side: usize, threads: usize, all: usize) -> Cut {
        let units = units(side);
        let tiles = units.div_ceil(WIDEST / UNIT).next_multiple_of(threads).min(units);
        let blocks = if threads > 1 && threads == all { BLOCKS * threads } else { threads };
        let tasks = if threads > 1 && threads == all { tiles } else { threads.min(tiles) };
        Cut { tasks, tiles, rows: (side / 2).div_ceil(blocks).max(1) }
    }

    fn first_column(&self, side: usize, tile: usize) -> usize {
        (2 * UNIT * (units(side) * tile / self.tiles)).min(side)
    }
}

impl<T: Real + FftNum> RealFft<T> {
    /// Transforms the columns of the input to the leading half of the output's rows.
    fn columns(&self, input: &[T], output: &mut [Complex<T>]) {
        let half = self.side / 2 + 1;
        if let Ok(half) = ArrayViewMut2::from_shape((half, self.side), &mut output[..half * self.side]) {
            self.tiles(input, half, 0..self.cut.tiles, self.cut.tasks);
        }
    }

    /// Transforms the columns of a range of tiles, divided among `tasks` tasks; `half` begins with the first tile's
    /// column.
    fn tiles(&self, input: &[T], half: ArrayViewMut2<Complex<T>>, tiles: Range<usize>, tasks: usize) {
        let first = self.cut.first_column(self.side, tiles.start);
        if tiles.len() == 1 {
            return self.tile(input, half, first);
        }
        let fewer = (tasks / 2).max(1);
        let middle = tiles.start + (tiles.len() * fewer / tasks.max(2)).max(1);
        let (left, right) = half.split_at(Axis(1), self.cut.first_column(self.side, middle) - first);
        let left = || self.tiles(input, left, tiles.start..middle, fewer);
        let right = || self.tiles(input, right, middle..tiles.end, (tasks - fewer).max(1));
        if tasks > 1 {
            rayon::join(left, right);
        } else {
            left();
            right();
        }
    }

    fn tile(&self, input: &[T], mut half: ArrayViewMut2<Complex<T>>, first: usize) {
        let (n, stride, columns) = (self.side, tile::stride(self.side), half.ncols());
        self.lines.scratch.with(|(work, tile)| {
            let tile = &mut tile[..columns.div_ceil(2) * stride];
            tile::gather(input, n, first..first + columns, tile);
            for column in tile.chunks_exact_mut(stride) {
                self.lines.plan.process_with_scratch(&mut column[..n], work);
            }
            for (k, row) in half.outer_iter_mut().enumerate() {
                if let Some(row) = row.into_slice() {
                    tile::separate(tile, n, k, row);
                }
            }
        });
    }

    /// Transforms the leading half of the rows and writes their mirror images to the other rows.
    fn rows(&self, output: &mut [Complex<T>]) {
        let n = self.side;
        let (first, others) = output.split_at_mut(n);
        let (upper, lower) = others.split_at_mut(n / 2 * n);
        // Row 0 is its own mirror image, and so is row n / 2 of an even side.
        let (paired, middle) = upper.split_at_mut(lower.len());
        let mut alone = || {
            self.lines.transform(first);
            self.lines.transform(middle);
        };
        let block = |(rows, images): (&mut [Complex<T>], &mut [Complex<T>])| {
            for (row, image) in rows.chunks_exact_mut(n).zip(images.chunks_exact_mut(n).rev()) {
                self.lines.transform(row);
                tile::reflect(row, image);
            }
        };
        if self.cut.tasks == 1 {
            alone();
            block((paired, lower));
        } else {
            let size = self.cut.rows * n;
            let blocks = paired.par_chunks_mut(size).zip_eq(lower.par_rchunks_mut(size)).with_max_len(1);
            rayon::join(alone, || blocks.for_each(block));
        }
    }
}

impl<T: ArrayElement<Part = T> + Real + FftNum> MatrixKernel<T, Complex<T>, 1> for RealFft<T> {
    fn show(&self, show: ShowMemory<'_>) {
        self.lines.scratch.each(|(work, tile)| {
            show(memory(tile));
            show(memory(work));
        });
    }

    fn use_threads(&mut self, threads: usize, _: &mut Spectrum<T>) -> CellResult<()> {
        self.cut = Cut::new(self.side, threads.clamp(1, self.threads), self.threads);
        Ok(())
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        wake::pool(self.cut.tasks);
        Ok(())
    }

    fn compute(&mut self, Matrices { inputs: [input], results, .. }: &mut Spectrum<T>) -> CellResult<()> {
        self.columns(input, &mut results[0]);
        self.rows(&mut results[0]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_every_column_once_and_none_is_wider_than_its_scratch() {
        for side in (1..70).chain([100, 333, 500, 512, 1000, 1024, 2047, 2048, 5000]) {
            for (threads, all) in [(1, 1), (1, 16), (2, 2), (3, 5), (16, 16), (64, 64)] {
                let cut = Cut::new(side, threads, all);
                let edges: Vec<usize> = (0..=cut.tiles).map(|tile| cut.first_column(side, tile)).collect();
                assert_eq!((edges[0], edges[cut.tiles]), (0, side), "{side} {threads}");
                let widths = edges.windows(2).map(|edge| edge[1] - edge[0]);
                assert!(widths.clone().all(|width| (1..=2 * WIDEST).contains(&width)), "{side} {threads}");
                assert!(cut.tasks >= 1 && cut.tasks <= cut.tiles && cut.rows >= 1);
            }
        }
    }
}
