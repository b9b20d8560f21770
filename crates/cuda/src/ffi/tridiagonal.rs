//! Launches of `kernels/tridiagonal.cu` and `kernels/tridiagonal_eigen.cu` as safe functions that check every slice.

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DeviceRepr, ValidAsZeroBits};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, driver};
use super::super::kernels::KernelSource;
use super::launch::{
    Shape, Start, allow_shared, enqueue_shaped, fits, read, read_from, resident_blocks, write, write_from,
};

/// A symmetric matrix of size `n` as Q T Qᵀ, with T tridiagonal and Q a product of reflectors I - tau v vᵀ.
pub(crate) struct Reduced {
    /// The diagonal of T: `n` elements.
    pub diagonal: CudaSlice<f64>,
    /// The subdiagonal of T: `n - 1` elements, at least one.
    pub subdiagonal: CudaSlice<f64>,
    /// One tau per reflector: `n - 1`, at least one.
    pub(crate) taus: CudaSlice<f64>,
    /// Column k (of `n` elements) is v of reflector k, zero up to its element k.
    pub(crate) reflectors: CudaSlice<f64>,
}

impl Reduced {
    /// Fails if a slice is too short for a matrix of size `n`.
    pub(super) fn fits(&self, n: usize) -> Result<(), CellError> {
        fits("the diagonal", &self.diagonal, n)?;
        fits("the subdiagonal", &self.subdiagonal, n - 1)?;
        fits("the factors of reflectors", &self.taus, n - 1)?;
        fits("the reflectors", &self.reflectors, n * (n - 1))
    }
}

/// A kernel that reduces matrices of up to `side` rows.
struct Form {
    entry: &'static str,
    side: usize,
    threads: u32,
    /// Rows per block; rows in registers are not counted in `shared_rows`.
    rows: usize,
    shared_rows: usize,
}

/// The numbers of rows up to which the forms reduce a matrix.
pub(crate) const SIDES: [usize; 6] = [64, 128, 256, 512, 1024, 2048];

/// Up to 1024 rows, all rows of a block are in registers, which is faster than shared memory.
const FORMS: [Form; 6] = [
    Form { entry: "tridiagonalise_64", side: SIDES[0], threads: 64, rows: 8, shared_rows: 0 },
    Form { entry: "tridiagonalise_128", side: SIDES[1], threads: 128, rows: 4, shared_rows: 0 },
    Form { entry: "tridiagonalise_256", side: SIDES[2], threads: 128, rows: 4, shared_rows: 0 },
    Form { entry: "tridiagonalise_512", side: SIDES[3], threads: 128, rows: 4, shared_rows: 0 },
    Form { entry: "tridiagonalise_1024", side: SIDES[4], threads: 256, rows: 8, shared_rows: 0 },
    Form { entry: "tridiagonalise_2048", side: SIDES[5], threads: 512, rows: 16, shared_rows: 13 },
];

/// The largest sizes that the forms for more than 512 rows hold, in descending order.
pub(crate) const LARGE_SIDES: [usize; 2] = [SIDES[5], SIDES[4]];

/// The part of a symmetric matrix that is left when its first columns have been reduced.
#[derive(Clone, Copy)]
pub(crate) struct Rest<'a> {
    pub(crate) matrix: &'a CudaSlice<f64>,
    /// Elements from one row of the matrix to the next.
    pub(crate) stride: usize,
    /// Columns that have been reduced.
    pub(crate) from: usize,
}

/// The reduction of matrices of one size.
pub(crate) struct OnChipReduction {
    function: CudaFunction,
    shape: Shape,
    n: usize,
    /// Messages between blocks.
    mail: CudaSlice<u64>,
}

impl OnChipReduction {
    /// Loads the kernel for matrices of size `n` from one of `sources`, which have those for up to [`SIDES`]
    /// rows. Returns `None` if the device cannot hold such a matrix in all its blocks at the same time.
    pub(crate) fn load(
        cuda: &Cuda,
        sources: &'static [KernelSource; 6],
        n: usize,
    ) -> Result<Option<OnChipReduction>, CellError> {
        let Some((form, source)) = FORMS.iter().zip(sources).find(|(form, _)| n <= form.side) else {
            return Ok(None);
        };
        let Ok(shared) = u32::try_from(form.shared_rows * form.side * size_of::<f64>()) else {
            return Ok(None);
        };
        // The kernels' static shared memory, rounded up.
        const OWN_SHARED: u32 = 10 << 10;
        if shared.saturating_add(OWN_SHARED) > cuda.shared_memory_per_block() {
            return Ok(None);
        }
        let function = cuda.function(source, form.entry)?;
        allow_shared(&function, shared)?;
        let blocks = u32::try_from(n.div_ceil(form.rows)).unwrap_or(u32::MAX);
        if blocks > 1 && blocks > resident_blocks(cuda, &function, form.threads, shared)? {
            return Ok(None);
        }
        let shape = Shape {
            grid: (blocks, 1),
            threads: form.threads,
            shared,
            start: if blocks > 1 { Start::Together } else { Start::InOrder },
        };
        Ok(Some(OnChipReduction { function, shape, n, mail: cuda.alloc(4 * n)? }))
    }

    /// Enqueues the reduction of the last `n` rows and columns, of which it reads all elements. Elements of `out` before
    /// those stay.
    pub(crate) fn run(
        &mut self,
        stream: &CudaStream,
        rest: Rest<'_>,
        out: &mut Reduced,
    ) -> Result<(), CellError> {
        let Rest { matrix, stride, from } = rest;
        let total = from + self.n;
        let whole =
            |size: usize| i32::try_from(size).map_err(|error| CellError::call("tridiagonalise", error));
        fits("the matrix", matrix, (total - 1) * stride + total)?;
        out.fits(total)?;
        // A flag of an earlier run would be mistaken for one of this run.
        zero(&mut self.mail)?;
        let arguments = [
            read_from(stream, matrix, from * stride + from),
            whole(stride)?.into(),
            whole(self.n)?.into(),
            write_from(stream, &mut out.diagonal, from),
            write_from(stream, &mut out.subdiagonal, from),
            write_from(stream, &mut out.taus, from),
            write_from(stream, &mut out.reflectors, from * total + from),
            whole(total)?.into(),
            write(stream, &mut self.mail),
        ];
        // SAFETY: the entries take (const double*, int, int, double*, double*, double*, double*, int, u64*); all slices
        // hold what a matrix of this size needs, and the grid fits the device, so that the blocks may wait for each other.
        unsafe { enqueue_shaped(stream, &self.function, self.shape, arguments) }
    }
}

/// Enqueues zeros on the stream of the slice.
pub(super) fn zero<T: DeviceRepr + ValidAsZeroBits>(slice: &mut CudaSlice<T>) -> Result<(), CellError> {
    let stream = slice.stream().clone();
    stream.memset_zeros(slice).map_err(driver("cuMemsetD8Async"))
}

/// Threads per block, and eigenvalues or eigenvectors per block.
const BISECTION: (u32, usize) = (128, 4);
const FACTORISATION: (u32, usize) = (256, 32);
/// Rows between two scalings in both kernels, which round the size up to a multiple of this.
const STRIDE: usize = 16;

/// Eigenvalues and eigenvectors of tridiagonal matrices of one size.
pub(crate) struct TridiagonalEigen {
    bisect: CudaFunction,
    vectors: CudaFunction,
    n: usize,
    shared: u32,
    scratch: CudaSlice<f64>,
}

impl TridiagonalEigen {
    /// Loads the kernels for matrices of size `n` from `kernels/tridiagonal_eigen.cu`. Returns `None` if a matrix
    /// does not fit into a block.
    pub(crate) fn load(
        cuda: &Cuda,
        source: &'static KernelSource,
        n: usize,
    ) -> Result<Option<Self>, CellError> {
        // The kernels' static shared memory, rounded up.
        const OWN_SHARED: u32 = 40 << 10;
        let entries = n.div_ceil(STRIDE) * STRIDE;
        let Ok(shared) = u32::try_from(entries * 2 * size_of::<f64>()) else { return Ok(None) };
        if shared.saturating_add(OWN_SHARED) > cuda.shared_memory_per_block() {
            return Ok(None);
        }
        let (bisect, vectors) = (cuda.function(source, "bisect")?, cuda.function(source, "twisted_vectors")?);
        // All that there is, because the limit is shared by jobs of every size.
        let max_shared = cuda.shared_memory_per_block() - OWN_SHARED;
        allow_shared(&bisect, max_shared)?;
        allow_shared(&vectors, max_shared)?;
        Ok(Some(TridiagonalEigen { bisect, vectors, n, shared, scratch: cuda.alloc(3 * n * n)? }))
    }

    /// Enqueues both kernels: `values` in descending order, and their vectors in the columns of `vectors`. The
    /// vectors of close values are not quite orthogonal.
    pub(crate) fn run(
        &mut self,
        stream: &CudaStream,
        reduced: &Reduced,
        values: &mut CudaSlice<f64>,
        vectors: &mut CudaSlice<f64>,
    ) -> Result<(), CellError> {
        let n = self.n;
        let side = i32::try_from(n).map_err(|error| CellError::call("bisect", error))?.into();
        fits("the diagonal", &reduced.diagonal, n)?;
        fits("the subdiagonal", &reduced.subdiagonal, n - 1)?;
        fits("the eigenvalues", values, n)?;
        fits("the eigenvectors", vectors, n * n)?;
        fits("the scratch", &self.scratch, 3 * n * n)?;
        let (diagonal, subdiagonal) = (read(stream, &reduced.diagonal), read(stream, &reduced.subdiagonal));
        let (values, vectors) = (write(stream, values), write(stream, vectors));
        let shape = |(threads, each): (u32, usize)| Shape {
            grid: (u32::try_from(n.div_ceil(each)).unwrap_or(u32::MAX), 1),
            threads,
            shared: self.shared,
            start: Start::InOrder,
        };
        let arguments = [diagonal, subdiagonal, side, values];
        // SAFETY: the entry takes (const double*, const double*, int, double*); it reads and writes what was checked above.
        unsafe { enqueue_shaped(stream, &self.bisect, shape(BISECTION), arguments) }?;
        let arguments = [diagonal, subdiagonal, values, side, vectors, write(stream, &mut self.scratch)];
        // SAFETY: the entry takes (const double*, const double*, const double*, int, double*, double*), likewise.
        unsafe { enqueue_shaped(stream, &self.vectors, shape(FACTORISATION), arguments) }
    }
}
