//! Launches of `kernels/spmv_csr.cu` as safe functions that check the length of every slice.

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_model::data::Csr;
use gpubench_model::error::CellError;

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::super::ops::spmv::parts::cut;
use super::super::sparse::DeviceCsr;
use super::launch::{Argument, BLOCK, Shape, fits, read, write};
use super::replay::{Launch, Replay};

/// A kernel that multiplies its own sparse matrix by a vector.
pub(crate) trait Multiply<T> {
    /// Enqueues `y = A x`.
    fn run(&mut self, cuda: &Cuda, x: &CudaSlice<T>, y: &mut CudaSlice<T>) -> Result<(), CellError>;
}

/// A product's operands and sizes.
struct Operands {
    /// The first five arguments of every kernel here: `(const i32*, const i32*, const T*, const T*, T*`.
    arrays: [Argument; 5],
    rows: u32,
    entries: u32,
}

impl Operands {
    /// Returns the addresses, after checking that x has an element per column and y one per row.
    fn new<T: Element>(
        stream: &CudaStream,
        a: &DeviceCsr<T>,
        x: &CudaSlice<T>,
        y: &mut CudaSlice<T>,
    ) -> Result<Self, CellError> {
        fits("x", x, a.cols())?;
        fits("y", y, a.rows())?;
        let count = |count: usize| u32::try_from(count).map_err(|error| CellError::call("spmv", error));
        Ok(Operands {
            arrays: [
                read(stream, a.indptr()),
                read(stream, a.indices()),
                read(stream, a.values()),
                read(stream, x),
                write(stream, y),
            ],
            rows: count(a.rows())?,
            entries: count(a.nnz())?,
        })
    }
}

/// The product of a sparse matrix and a vector with one thread per row.
pub(crate) struct RowPerThread<T> {
    function: CudaFunction,
    replay: Replay,
    a: DeviceCsr<T>,
}

impl<T: Element> RowPerThread<T> {
    /// Loads the kernel from `kernels/spmv_csr.cu` and copies `a` to the device.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, a: &Csr) -> Result<Self, CellError> {
        let function = cuda.function(source, &format!("spmv_row_per_thread_{}", T::DTYPE))?;
        Ok(RowPerThread { function, replay: Replay::default(), a: DeviceCsr::upload(cuda, a)? })
    }
}

impl<T: Element> Multiply<T> for RowPerThread<T> {
    fn run(&mut self, cuda: &Cuda, x: &CudaSlice<T>, y: &mut CudaSlice<T>) -> Result<(), CellError> {
        let Operands { arrays, rows, .. } = Operands::new(&cuda.stream, &self.a, x, y)?;
        let grid = rows.div_ceil(BLOCK).max(1);
        let [indptr, indices, values, x, y] = arrays;
        let arguments = [indptr, indices, values, x, y, rows.into()];
        // SAFETY: the entry takes (const i32*, const i32*, const T*, const T*, T*, u32). Offsets and columns lie within
        // the matrix (`DeviceCsr` checked them), x has an element for every column and y one for every row.
        unsafe {
            self.replay.run(cuda, [Launch::new(&self.function, Shape::of_blocks((grid, 1)), arguments)])
        }
    }
}

/// The product of a sparse matrix and a vector with several threads per row, after Bell and Garland, "Implementing
/// sparse matrix-vector multiplication on throughput-oriented processors" (SC 2009).
pub(crate) struct Vector<T> {
    function: CudaFunction,
    replay: Replay,
    width: u32,
    a: DeviceCsr<T>,
}

impl<T: Element> Vector<T> {
    /// Loads the kernel from `kernels/spmv_csr.cu` and copies `a` to the device. The mean row length decides the
    /// threads per row; whether the matrix stays in the L2 cache between products decides the kind of loads.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, a: &Csr) -> Result<Self, CellError> {
        let bytes = a.nnz() * (size_of::<i32>() + size_of::<T>());
        let way = if bytes > cuda.l2_bytes().unwrap_or(0) / 5 * 4 { "_streamed" } else { "" };
        let function = cuda.function(source, &format!("spmv_vector{way}_{}", T::DTYPE))?;
        let width = width(a.nnz() / a.rows.max(1));
        Ok(Vector { function, replay: Replay::default(), width, a: DeviceCsr::upload(cuda, a)? })
    }
}

/// Returns the threads per row for rows of `mean` entries, a power of two. Each thread takes four entries at a time.
/// Two rounds, and at most 16 threads, were measured best.
fn width(mean: usize) -> u32 {
    match mean / 2 {
        0..4 => 2,
        4..8 => 4,
        8..16 => 8,
        _ => 16,
    }
}

impl<T: Element> Multiply<T> for Vector<T> {
    fn run(&mut self, cuda: &Cuda, x: &CudaSlice<T>, y: &mut CudaSlice<T>) -> Result<(), CellError> {
        let Operands { arrays, rows, entries } = Operands::new(&cuda.stream, &self.a, x, y)?;
        let grid = rows.div_ceil(BLOCK / self.width).max(1);
        let [indptr, indices, values, x, y] = arrays;
        let arguments = [indptr, indices, values, x, y, rows.into(), entries.into(), self.width.into()];
        // SAFETY: the entry takes (const i32*, const i32*, const T*, const T*, T*, u32, u32, u32) and as many threads
        // as `Shape::of_blocks` gives a block. Offsets and columns lie within the matrix (`DeviceCsr` checked them), x has an
        // element for every column and y one for every row; loads of four entries start at multiples of four from
        // the start of an allocation and end before `entries`.
        unsafe {
            self.replay.run(cuda, [Launch::new(&self.function, Shape::of_blocks((grid, 1)), arguments)])
        }
    }
}

/// The product of a sparse matrix and a vector in parts of about equal work for rows of any length, after Greathouse
/// and Daga, "Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format" (SC 2014).
pub(crate) struct Adaptive<T> {
    function: CudaFunction,
    replay: Replay,
    blocks: u32,
    a: DeviceCsr<T>,
    parts: CudaSlice<i32>,
    longs: CudaSlice<i32>,
    sums: CudaSlice<T>,
    tickets: CudaSlice<u32>,
}

impl<T: Element> Adaptive<T> {
    /// Loads the kernel from `kernels/spmv_csr.cu`, copies `a` to the device and cuts it into parts, which is
    /// planning.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, a: &Csr) -> Result<Self, CellError> {
        let on_device = DeviceCsr::upload(cuda, a)?;
        cuda.count_plan();
        let plan = cut(&a.indptr);
        Ok(Adaptive {
            function: cuda.function(source, &format!("spmv_adaptive_{}", T::DTYPE))?,
            replay: Replay::default(),
            blocks: u32::try_from(plan.parts.len()).map_err(|error| CellError::call("spmv", error))?,
            a: on_device,
            parts: cuda.upload(plan.parts.as_flattened())?,
            longs: cuda.upload(plan.longs.as_flattened())?,
            sums: cuda.alloc(plan.parts.len())?,
            tickets: cuda.alloc(plan.longs.len())?,
        })
    }
}

impl<T: Element> Multiply<T> for Adaptive<T> {
    fn run(&mut self, cuda: &Cuda, x: &CudaSlice<T>, y: &mut CudaSlice<T>) -> Result<(), CellError> {
        if self.blocks == 0 {
            return Ok(());
        }
        let Operands { arrays, entries, .. } = Operands::new(&cuda.stream, &self.a, x, y)?;
        let [indptr, indices, values, x, y] = arrays;
        let stream = &cuda.stream;
        let (parts, longs) = (read(stream, &self.parts), read(stream, &self.longs));
        let (sums, tickets) = (write(stream, &mut self.sums), write(stream, &mut self.tickets));
        let arguments = [indptr, indices, values, x, y, entries.into(), parts, longs, sums, tickets];
        // SAFETY: the entry takes (const i32*, const i32*, const T*, const T*, T*, u32, const int4*, const int2*, T*,
        // u32*). Offsets and columns lie within the matrix (`DeviceCsr` checked them), x has an element for every
        // column and y one for every row. The parts were cut from this matrix; there is a sum for every part and a
        // ticket for every long row, zero now and after every launch.
        unsafe {
            self.replay
                .run(cuda, [Launch::new(&self.function, Shape::of_blocks((self.blocks, 1)), arguments)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::width;

    #[test]
    fn threads_a_row_grow_with_its_length() {
        let lengths = [0, 5, 7, 8, 16, 25, 102, 500, 1 << 20];
        assert_eq!(lengths.map(width), [2, 2, 2, 4, 8, 8, 16, 16, 16]);
    }
}
