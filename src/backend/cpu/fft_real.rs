//! The two-dimensional real FFT that computes half the columns and mirrors the rest; knows no variants.
//!
//! For a real matrix, `F[i][j]` is the conjugate of `F[-i mod n][-j mod n]`. So the rows are transformed to
//! their first `n / 2 + 1` outputs, those columns are transformed tile by tile, and each tile is written
//! back twice: in place, and conjugated to the mirrored columns.

use std::mem::MaybeUninit;
use std::sync::Arc;

use ndarray::{Array2, ArrayViewMut2, Axis};
use rayon::prelude::*;
use realfft::{FftError, RealFftPlanner, RealToComplex};
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftNum, FftPlanner};

use super::fft::{SERIAL, spectrum, zero};
use super::memory::memory;
use super::per_thread::PerThread;
use super::rouse;
use crate::backend::Job;
use crate::data::{Operand, Real};
use crate::error::CellError;

/// Most columns of a tile; the tile of 2048 rows then fits in a second-level cache.
const WIDEST: usize = 32;
/// Fewest columns of a tile: whole cache lines of every row.
const NARROWEST: usize = 8;
/// Rows gathered together, so that their cache misses overlap and the tile is written by whole lines.
const GROUP: usize = 8;
/// Elements between the columns of a tile beyond their length, so that they do not share a cache set.
const PAD: usize = 8;

/// The job.
pub(super) struct RealFft<T: FftNum> {
    input: Vec<T>,
    output: Array2<Complex<T>>,
    transform: Transform<T>,
}

/// The plans for one side, and what they work in.
struct Transform<T: FftNum> {
    side: usize,
    /// Columns of a tile.
    width: usize,
    rows: Arc<dyn RealToComplex<T>>,
    columns: Arc<dyn Fft<T>>,
    scratch: PerThread<Scratch<T>>,
}

struct Scratch<T> {
    /// A row of the input, which the transform destroys.
    row: Vec<T>,
    /// Columns of a tile, one after the other.
    tile: Vec<Complex<T>>,
    work: Vec<Complex<T>>,
}

/// Columns `j..` of a tile, and the columns `n - j` that mirror them, in order of memory.
struct Panel<'a, T> {
    columns: ArrayViewMut2<'a, Complex<T>>,
    mirror: ArrayViewMut2<'a, Complex<T>>,
    /// Leading columns without a mirror: column 0 of the first panel.
    unmirrored: usize,
}

impl<T: Real + FftNum> RealFft<T> {
    /// Plans the transform of a `side` by `side` matrix.
    pub(super) fn new(side: usize, input: &[T]) -> Self {
        // Two tiles for each thread, where the tiles do not get too narrow for that.
        let width =
            (side / 4 / rayon::current_num_threads()).clamp(NARROWEST, WIDEST) / NARROWEST * NARROWEST;
        let rows = RealFftPlanner::new().plan_fft_forward(side);
        let columns = FftPlanner::new().plan_fft_forward(side);
        let work = rows.get_scratch_len().max(columns.get_inplace_scratch_len());
        let scratch = PerThread::new(|| Scratch {
            row: vec![T::zero(); side],
            tile: vec![zero(); width * (side + PAD)],
            work: vec![zero(); work],
        });
        let output = Array2::from_elem((side, side), zero());
        let transform = Transform { side, width, rows, columns, scratch };
        RealFft { input: input.to_vec(), output, transform }
    }
}

impl<T: Real + FftNum> Transform<T> {
    /// Whether threads would cost more than they save.
    fn is_serial(&self) -> bool {
        self.side * self.side <= SERIAL
    }

    /// Transforms one row to the leading half of `output`.
    fn row(&self, input: &[T], output: &mut [Complex<T>]) -> Result<(), FftError> {
        self.scratch.with(|Scratch { row, work, .. }| {
            row.copy_from_slice(input);
            let work = &mut work[..self.rows.get_scratch_len()];
            self.rows.process_with_scratch(row, &mut output[..self.side / 2 + 1], work)
        })
    }

    /// Transforms the columns of one panel, and mirrors them.
    fn panel(&self, panel: &mut Panel<T>) {
        let (n, stride) = (self.side, self.side + PAD);
        self.scratch.with(|Scratch { tile, work, .. }| {
            gather(&panel.columns, tile, stride);
            for column in tile.chunks_exact_mut(stride).take(panel.columns.ncols()) {
                let work = &mut work[..self.columns.get_inplace_scratch_len()];
                self.columns.process_with_scratch(&mut column[..n], work);
            }
            panel.scatter(tile, stride);
        });
    }
}

/// Copies columns to a tile, one after the other, `stride` elements apart.
fn gather<T: Copy>(columns: &ArrayViewMut2<Complex<T>>, tile: &mut [Complex<T>], stride: usize) {
    let mut rows = columns.outer_iter().filter_map(|row| row.to_slice());
    for first in (0..columns.nrows()).step_by(GROUP) {
        let mut group: [&[Complex<T>]; GROUP] = [&[]; GROUP];
        let present = group.iter_mut().zip(rows.by_ref()).map(|(slot, row)| *slot = row).count();
        for (t, column) in tile.chunks_exact_mut(stride).take(columns.ncols()).enumerate() {
            let column = &mut column[first..first + present];
            if let Ok(column) = <&mut [Complex<T>; GROUP]>::try_from(&mut *column) {
                *column = group.map(|row| row[t]);
            } else {
                column.iter_mut().zip(group).for_each(|(z, row)| *z = row[t]);
            }
        }
    }
}

impl<T: Real + FftNum> Panel<'_, T> {
    /// Copies a tile back to its columns, and its conjugate to the mirrored ones.
    fn scatter(&mut self, tile: &[Complex<T>], stride: usize) {
        let mut mirrored = self.mirror.outer_iter_mut();
        // Row i mirrors row n - i, and row 0 itself.
        let mirrored = mirrored.next().into_iter().chain(mirrored.rev()).filter_map(|row| row.into_slice());
        let rows = self.columns.outer_iter_mut().filter_map(|row| row.into_slice());
        for (i, (row, mirrored)) in rows.zip(mirrored).enumerate() {
            for (column, z) in tile.chunks_exact(stride).zip(row) {
                *z = column[i];
            }
            let columns = tile.chunks_exact(stride).skip(self.unmirrored);
            for (column, z) in columns.zip(mirrored.iter_mut().rev()) {
                *z = column[i].conj();
            }
        }
    }
}

/// Cuts a matrix, whose leading `n / 2 + 1` columns are to be transformed, into panels of `widest` columns.
fn panels<T>(matrix: &mut Array2<Complex<T>>, widest: usize) -> Vec<Panel<'_, T>> {
    let n = matrix.ncols();
    let (mut columns, mut mirror) = matrix.view_mut().split_at(Axis(1), n / 2 + 1);
    let mut panels = Vec::with_capacity(columns.ncols().div_ceil(widest));
    while columns.ncols() > 0 {
        let unmirrored = usize::from(panels.is_empty());
        let width = columns.ncols().min(widest);
        let mirrored = mirror.ncols().min(width - unmirrored);
        let at = mirror.ncols() - mirrored;
        let (present, rest) = columns.split_at(Axis(1), width);
        let (unused, last) = mirror.split_at(Axis(1), at);
        panels.push(Panel { columns: present, mirror: last, unmirrored });
        (columns, mirror) = (rest, unused);
    }
    panels
}

impl<T: Real + FftNum> Job for RealFft<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.input));
        show(memory(self.output.as_slice().unwrap_or_default()));
        self.transform.scratch.each(|scratch| {
            show(memory(&scratch.row));
            show(memory(&scratch.tile));
            show(memory(&scratch.work));
        });
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        if !self.transform.is_serial() {
            rouse::pool();
        }
        Ok(())
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let (transform, n) = (&self.transform, self.transform.side);
        let serial = transform.is_serial();
        let output = self.output.as_slice_mut().unwrap_or_default();
        let transformed = if serial {
            let mut rows = output.chunks_mut(n).zip(self.input.chunks(n));
            rows.try_for_each(|(output, input)| transform.row(input, output))
        } else {
            let rows = output.par_chunks_mut(n).zip(self.input.par_chunks(n));
            rows.try_for_each(|(output, input)| transform.row(input, output))
        };
        transformed.map_err(|error| CellError::call("realfft", error))?;
        let mut panels = panels(&mut self.output, transform.width);
        if serial {
            panels.iter_mut().for_each(|panel| transform.panel(panel));
        } else {
            panels.par_iter_mut().with_max_len(1).for_each(|panel| transform.panel(panel));
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![spectrum(self.transform.side, self.output.iter().copied().collect())])
    }
}
