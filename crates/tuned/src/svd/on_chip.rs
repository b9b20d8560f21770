//! The reduction of a symmetric matrix to tridiagonal form within the registers and shared memory of the device: launches of
//! `kernels/svd/tridiagonal.cu`.

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DeviceRepr, ValidAsZeroBits};
use gpubench_cuda::ffi::launch::{
    LaunchShape, Start, allow_shared, enqueue_shaped, fits, read_from, write, write_from,
};
use gpubench_cuda::ffi::tuning::resident_blocks;
use gpubench_cuda::{CellError, Cuda, KernelSource, Result, driver, kernel_source};

/// A symmetric matrix of size `n` as Q T Qᵀ, with T tridiagonal and Q a product of reflectors I - tau v vᵀ.
pub(super) struct Reduced {
    /// The diagonal of T: `n` elements.
    pub(super) diagonal: CudaSlice<f64>,
    /// The subdiagonal of T: `n - 1` elements, at least one.
    pub(super) subdiagonal: CudaSlice<f64>,
    /// One tau per reflector: `n - 1`, at least one.
    pub(super) taus: CudaSlice<f64>,
    /// Column k (of `n` elements) is v of reflector k, zero up to its element k.
    pub(super) reflectors: CudaSlice<f64>,
}

impl Reduced {
    /// Fails if a slice is too short for a matrix of size `n`.
    pub(super) fn fits(&self, n: usize) -> Result<()> {
        fits("the diagonal", &self.diagonal, n)?;
        fits("the subdiagonal", &self.subdiagonal, n - 1)?;
        fits("the factors of reflectors", &self.taus, n - 1)?;
        fits("the reflectors", &self.reflectors, n * (n - 1))
    }
}

/// A kernel that reduces matrices of up to `side` rows.
pub(super) struct OnChipForm {
    pub(super) source: KernelSource,
    entry: &'static str,
    side: usize,
    threads: u32,
    /// Rows per block; rows in registers are not counted in `shared_rows`.
    rows: usize,
    shared_rows: usize,
}

/// The numbers of rows up to which the forms reduce a matrix.
pub(super) const SIDES: [usize; 6] = [64, 128, 256, 512, 1024, 2048];

/// Declares a form by its side, threads, rows and rows in shared memory, and the sizes for which it is the smallest.
macro_rules! form {
    ($side:literal, $threads:literal, $rows:literal, $shared_rows:literal, $sizes:expr) => {
        OnChipForm {
            source: KernelSource {
                sizes: $sizes,
                ..kernel_source!("svd/tridiagonal", concat!("SIDE_", $side))
            },
            entry: concat!("tridiagonalise_", $side),
            side: $side,
            threads: $threads,
            rows: $rows,
            shared_rows: $shared_rows,
        }
    };
}

/// The forms by side. Up to 1024 rows, all rows of a block are in registers, which is faster than shared memory. The last also
/// reduces what the panels of larger matrices leave.
pub(super) static FORMS: [OnChipForm; SIDES.len()] = [
    form!(64, 64, 8, 0, 1..=64),
    form!(128, 128, 4, 0, 65..=128),
    form!(256, 128, 4, 0, 129..=256),
    form!(512, 128, 4, 0, 257..=512),
    form!(1024, 256, 8, 0, 513..=1024),
    form!(2048, 512, 16, 13, 1025..=u64::MAX),
];

/// The largest sizes that the forms for more than 512 rows hold, in descending order.
pub(super) const LARGE_SIDES: [usize; 2] = [SIDES[5], SIDES[4]];

pub(super) struct OnChipReduction {
    function: CudaFunction,
    shape: LaunchShape,
    n: usize,
    /// Messages between blocks.
    mail: CudaSlice<u64>,
}

impl OnChipReduction {
    /// Loads the kernel for matrices of size `n`. Returns `None` if the device cannot hold such a matrix in all its blocks at
    /// the same time.
    pub(super) fn load(cuda: &Cuda, n: usize) -> Result<Option<OnChipReduction>> {
        let Some(form) = FORMS.iter().find(|form| n <= form.side) else { return Ok(None) };
        let Ok(shared) = u32::try_from(form.shared_rows * form.side * size_of::<f64>()) else {
            return Ok(None);
        };
        // The kernels' static shared memory, rounded up.
        const OWN_SHARED: u32 = 10 << 10;
        if shared.saturating_add(OWN_SHARED) > cuda.shared_memory_per_block() {
            return Ok(None);
        }
        let function = cuda.function(&form.source, form.entry)?;
        allow_shared(&function, shared)?;
        let blocks = u32::try_from(n.div_ceil(form.rows)).unwrap_or(u32::MAX);
        if blocks > 1 && blocks > resident_blocks(cuda, &function, form.threads, shared)? {
            return Ok(None);
        }
        let start = if blocks > 1 { Start::Together } else { Start::InOrder };
        let shape = LaunchShape { start, ..LaunchShape::new(blocks, form.threads, shared) };
        Ok(Some(OnChipReduction { function, shape, n, mail: cuda.alloc(4 * n)? }))
    }

    /// Enqueues the reduction of the last `n` rows and columns, of which it reads all elements, of a symmetric matrix with
    /// `stride` elements from one row to the next, whose first `from` columns have been reduced. Elements of `out` before
    /// those stay.
    pub(super) fn run(
        &mut self,
        stream: &CudaStream,
        (matrix, stride, from): (&CudaSlice<f64>, usize, usize),
        out: &mut Reduced,
    ) -> Result<()> {
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
pub(super) fn zero<T: DeviceRepr + ValidAsZeroBits>(slice: &mut CudaSlice<T>) -> Result<()> {
    let stream = slice.stream().clone();
    stream.memset_zeros(slice).map_err(driver("cuMemsetD8Async"))
}
