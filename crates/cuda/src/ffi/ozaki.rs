//! Launches of `kernels/ozaki.cu`: they cut float32 matrices into 8-bit slices and combine the products of slices.

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_model::error::CellError;

use super::super::context::Cuda;
use super::super::kernels::KernelSource;
use super::cublaslt::{SLICES, SliceProducts};
use super::launch::{BLOCK, enqueue, fits, read, write};

/// Parts of B's rows in which the maxima of its columns are computed: `CHUNKS` in the kernel.
const CHUNKS: usize = 64;
/// Columns and rows of B per block when cutting: `WARP` and `TILE_K` in the kernel.
const TILE: (u32, u32) = (32, 128);
/// Columns of C per block when combining.
const COMBINED: u32 = 4 * BLOCK;

/// The kernels and intermediate arrays of a product of `n` by `n` matrices.
pub(crate) struct Slices {
    cuda: Cuda,
    n: u32,
    pitch: u32,
    rows: CudaFunction,
    columns: CudaFunction,
    combine: CudaFunction,
    a: CudaSlice<i8>,
    b: CudaSlice<i8>,
    sums: CudaSlice<i32>,
    of_rows: CudaSlice<f64>,
    of_columns: CudaSlice<f64>,
    maxima: CudaSlice<u32>,
}

impl Slices {
    /// Loads the kernels and allocates slices and sums with rows of `pitch`, at least `n` and a multiple of 16.
    pub(crate) fn load(
        cuda: &Cuda,
        source: &'static KernelSource,
        n: u32,
        pitch: u32,
    ) -> Result<Self, CellError> {
        if pitch < n || !pitch.is_multiple_of(16) {
            return Err(CellError::Failed(format!("slices of {n} elements do not fit into rows of {pitch}")));
        }
        let (side, area) = (n as usize, pitch as usize * pitch as usize);
        Ok(Slices {
            cuda: cuda.clone(),
            n,
            pitch,
            rows: cuda.function(source, "ozaki_rows")?,
            columns: cuda.function(source, "ozaki_columns")?,
            combine: cuda.function(source, "ozaki_combine")?,
            // Zero, and never written outside the n rows and columns in use.
            a: cuda.alloc(SLICES * area)?,
            b: cuda.alloc(SLICES * area)?,
            sums: cuda.alloc(SLICES * area)?,
            of_rows: cuda.alloc(side)?,
            of_columns: cuda.alloc(side)?,
            maxima: cuda.alloc(CHUNKS * side)?,
        })
    }

    /// Enqueues the kernels that cut both operands.
    pub(crate) fn cut(&mut self, a: &CudaSlice<f32>, b: &CudaSlice<f32>) -> Result<(), CellError> {
        self.operands_fit(a, b)?;
        let stream = &self.cuda.stream;
        let (b, maxima) = (read(stream, b), write(stream, &mut self.maxima));
        let (n, pitch) = (self.n.into(), self.pitch.into());
        let (slices, inverses) = (write(stream, &mut self.a), write(stream, &mut self.of_rows));
        let blocks = self.n + self.n.div_ceil(BLOCK) * CHUNKS as u32;
        let arguments = [read(stream, a), b, slices, inverses, maxima, n, pitch];
        // SAFETY: the entry takes (const float*, const float*, u32*, double*, u32*, u32, u32); operands, slices, scales
        // and maxima hold what `load` and the check above say, and the blocks are one per row, and one per strip and chunk.
        unsafe { enqueue(stream, &self.rows, (blocks, 1), arguments) }?;
        let (slices, inverses) = (write(stream, &mut self.b), write(stream, &mut self.of_columns));
        let arguments = [b, maxima, slices, inverses, n, pitch];
        let tiles = (self.n.div_ceil(TILE.0), self.n.div_ceil(TILE.1));
        // SAFETY: the entry takes (const float*, const u32*, u32*, double*, u32, u32), of the lengths above.
        unsafe { enqueue(stream, &self.columns, tiles, arguments) }
    }

    pub(crate) fn multiply(&mut self, products: &SliceProducts) -> Result<(), CellError> {
        products.enqueue(&self.a, &self.b, &mut self.sums)
    }

    /// Times the algorithms of each product on the present slices, and keeps the fastest.
    pub(crate) fn choose(&mut self, products: &mut SliceProducts) -> Result<(), CellError> {
        products.choose(&self.a, &self.b, &mut self.sums)
    }

    /// Enqueues the kernel that combines the products of slices: `c = a * b`.
    pub(crate) fn combine(
        &self,
        a: &CudaSlice<f32>,
        b: &CudaSlice<f32>,
        c: &mut CudaSlice<f32>,
    ) -> Result<(), CellError> {
        self.operands_fit(a, b)?;
        fits("C", c, self.n as usize * self.n as usize)?;
        let stream = &self.cuda.stream;
        let arguments = [
            read(stream, &self.sums),
            read(stream, &self.of_rows),
            read(stream, &self.of_columns),
            read(stream, a),
            read(stream, b),
            write(stream, c),
            self.n.into(),
            self.pitch.into(),
        ];
        let grid = (self.n.div_ceil(COMBINED), self.n);
        // SAFETY: the entry takes (const int*, const double*, const double*, const float*, const float*, float*, u32,
        // u32); sums and scales are `load`'s, the matrices hold n * n elements (checked above).
        unsafe { enqueue(stream, &self.combine, grid, arguments) }
    }

    fn operands_fit(&self, a: &CudaSlice<f32>, b: &CudaSlice<f32>) -> Result<(), CellError> {
        let needed = self.n as usize * self.n as usize;
        fits("A", a, needed)?;
        fits("B", b, needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{HEADERS, kernel_source};

    #[test]
    fn the_kernel_has_the_same_constants() {
        let own = kernel_source!("ozaki").text;
        let constants = [
            (own, "CHUNKS", CHUNKS),
            (HEADERS[0].text, "WARP", TILE.0 as usize),
            (own, "TILE_K", TILE.1 as usize),
        ];
        for (text, name, value) in constants {
            assert!(text.contains(&format!("{name} = {value};")), "{name}");
        }
    }
}
