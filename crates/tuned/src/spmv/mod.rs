//! The op spmv by own kernels: launches of `kernels/spmv/csr.cu`.

mod parts;

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_cuda::ffi::launch::{Argument, BLOCK, LaunchShape, fits, read, write};
use gpubench_cuda::ffi::replay::{Launch, Replay};
use gpubench_cuda::ops::dense::column;
use gpubench_cuda::ops::spmv::{operands, vector_contents};
use gpubench_cuda::ops::{Kernel, Setup, by_dtype, shaped_opt_in};
use gpubench_cuda::sparse::DeviceCsr;
use gpubench_cuda::{CellError, Cuda, DeviceElement, KernelSource, Result, kernel_source};
use gpubench_report::data::{Csr, Operand};

use parts::cut;

static SOURCE: KernelSource = kernel_source!("spmv/csr");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        shaped_opt_in("spmv", "vector", "own kernel: threads per row chosen by the mean row length"),
        &[&SOURCE],
        by_dtype!(prepare, RowsPer::Group),
    ),
    Kernel::own(
        shaped_opt_in("spmv", "adaptive", "own kernel: equal numbers of entries per block, for uneven rows"),
        &[&SOURCE],
        by_dtype!(prepare, RowsPer::Block),
    ),
    Kernel::own(
        shaped_opt_in("spmv", "row-per-thread", "own kernel: one thread per row"),
        &[&SOURCE],
        by_dtype!(prepare, RowsPer::Thread),
    ),
];

/// The distribution of a matrix over threads.
#[derive(Clone, Copy)]
pub enum RowsPer {
    /// One thread per row.
    Thread,
    /// Several threads per row, after Bell and Garland, "Implementing sparse matrix-vector multiplication on
    /// throughput-oriented processors" (SC 2009).
    Group,
    /// Blocks of about equal work for rows of any length, after Greathouse and Daga, "Efficient sparse matrix-vector
    /// multiplication on GPUs using the CSR storage format" (SC 2014).
    Block,
}

/// What a distribution needs.
#[expect(clippy::large_enum_variant, reason = "a job has one, and it is never copied")]
enum Distribution<T> {
    Thread,
    /// Threads per row.
    Group(u32),
    Block {
        blocks: u32,
        parts: CudaSlice<i32>,
        longs: CudaSlice<i32>,
        sums: CudaSlice<T>,
        tickets: CudaSlice<u32>,
    },
}

/// `y = A x` for a sparse matrix A on the device, in one launch.
pub struct SparseVectorProduct<T> {
    cuda: Cuda,
    function: CudaFunction,
    replay: Replay,
    distribution: Distribution<T>,
    a: DeviceCsr<T>,
}

impl<T: DeviceElement> SparseVectorProduct<T> {
    /// Copies `a` to the device, loads the kernel and distributes the matrix over its threads.
    ///
    /// # Errors
    /// The matrix is no valid CSR matrix, the kernel cannot be compiled, or the device has too little memory.
    pub fn new(cuda: &Cuda, a: &Csr, rows_per: RowsPer) -> Result<Self> {
        let entry = |name: &str| cuda.function(&SOURCE, &format!("spmv_{name}_{}", T::DTYPE));
        let (function, on_device, distribution) = match rows_per {
            RowsPer::Thread => (entry("row_per_thread")?, DeviceCsr::upload(cuda, a)?, Distribution::Thread),
            RowsPer::Group => {
                // The kind of loads depends on whether the matrix stays in the L2 cache between products.
                let bytes = a.nnz() * (size_of::<i32>() + size_of::<T>());
                let streams = bytes > cuda.l2_bytes().unwrap_or(0) / 5 * 4;
                let function = entry(if streams { "vector_streamed" } else { "vector" })?;
                let width = width(a.nnz() / a.rows.max(1));
                (function, DeviceCsr::upload(cuda, a)?, Distribution::Group(width))
            }
            RowsPer::Block => {
                let on_device = DeviceCsr::upload(cuda, a)?;
                cuda.count_plan();
                let plan = cut(&a.indptr);
                let function = entry("adaptive")?;
                let distribution = Distribution::Block {
                    blocks: u32::try_from(plan.parts.len())
                        .map_err(|error| CellError::call("spmv", error))?,
                    parts: cuda.upload(plan.parts.as_flattened())?,
                    longs: cuda.upload(plan.longs.as_flattened())?,
                    sums: cuda.alloc(plan.parts.len())?,
                    tickets: cuda.alloc(plan.longs.len())?,
                };
                (function, on_device, distribution)
            }
        };
        let replay = Replay::default();
        Ok(SparseVectorProduct { cuda: cuda.clone(), function, replay, distribution, a: on_device })
    }

    /// Enqueues `y = A x`. `x` has an element for every column of A, and `y` one for every row.
    ///
    /// # Errors
    /// A vector is shorter, or the device fails.
    pub fn run(&mut self, x: &CudaSlice<T>, y: &mut CudaSlice<T>) -> Result<()> {
        let SparseVectorProduct { cuda, function, replay, distribution, a } = self;
        if matches!(distribution, Distribution::Block { blocks: 0, .. }) {
            return Ok(());
        }
        fits("x", x, a.cols())?;
        fits("y", y, a.rows())?;
        let count = |count: usize| u32::try_from(count).map_err(|error| CellError::call("spmv", error));
        let (stream, rows, entries) = (&cuda.stream, count(a.rows())?, count(a.nnz())?);
        let mut arguments = [Argument::from(0u32); 10];
        let [none, ..] = arguments;
        let (blocks, own) = match distribution {
            Distribution::Thread => (rows.div_ceil(BLOCK).max(1), [rows.into(), none, none, none, none]),
            Distribution::Group(width) => {
                let own = [rows.into(), entries.into(), (*width).into(), none, none];
                (rows.div_ceil(BLOCK / *width).max(1), own)
            }
            Distribution::Block { blocks, parts, longs, sums, tickets } => {
                let (parts, longs) = (read(stream, parts), read(stream, longs));
                (*blocks, [entries.into(), parts, longs, write(stream, sums), write(stream, tickets)])
            }
        };
        let [indptr, indices, values] = a.addresses(stream);
        let common = [indptr, indices, values, read(stream, x), write(stream, y)];
        arguments[..5].copy_from_slice(&common);
        arguments[5..].copy_from_slice(&own);
        // SAFETY: all entries begin with (const i32*, const i32*, const T*, const T*, T*). Then follow u32; or u32, u32, u32,
        // with as many threads as `LaunchShape::of_blocks` gives a block; or u32, const int4*, const int2*, T*, u32*. Offsets and
        // columns lie within the matrix (`DeviceCsr` checked them), x has an element for every column and y one for every row.
        // Loads of four entries start at multiples of four from the start of an allocation and end before `entries`. The parts
        // were cut from this matrix; there is a sum for every part and a ticket for every long row, zero now and after every
        // launch.
        unsafe { replay.run(cuda, [Launch::new(function, LaunchShape::of_blocks((blocks, 1)), arguments)]) }
    }
}

/// A product with its vectors.
struct SparseVectorJob<T> {
    product: SparseVectorProduct<T>,
    x: CudaSlice<T>,
    y: CudaSlice<T>,
}

/// Makes a job of one of our kernels. Cutting a matrix into parts is planning.
fn prepare<T: DeviceElement>(setup: Setup<'_>, rows_per: RowsPer) -> Result<Box<Prepared>> {
    let (a, x) = operands::<T>(setup)?;
    let product = SparseVectorProduct::new(setup.cuda, a, rows_per)?;
    let (x, y) = (setup.cuda.upload(x)?, setup.cuda.alloc(a.rows)?);
    Ok(Prepared::new(SparseVectorJob { product, x, y }))
}

impl<T: DeviceElement> Job for SparseVectorJob<T> {
    fn contents(&mut self) -> Contents<'_> {
        vector_contents([&mut self.x, &mut self.y])
    }

    fn execute(&mut self) -> Result<()> {
        self.product.run(&self.x, &mut self.y)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        column(&self.product.cuda, 0, &self.y)
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

#[cfg(test)]
mod tests {
    use super::width;

    #[test]
    fn threads_per_row_grow_with_its_length() {
        let lengths = [0, 5, 7, 8, 16, 25, 102, 500, 1 << 20];
        assert_eq!(lengths.map(width), [2, 2, 2, 4, 8, 8, 16, 16, 16]);
    }
}
