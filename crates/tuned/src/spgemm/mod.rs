//! The op spgemm by own kernels: launches of `kernels/spgemm/gustavson.cu`.

mod plan;

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_cuda::ffi::device;
use gpubench_cuda::ffi::launch::{Alternating, Argument, BLOCK, LaunchShape, allow_shared, read, write};
use gpubench_cuda::ffi::replay::{Launch, Replay, enqueue_each};
use gpubench_cuda::kernels::{ByType, KernelSource, kernel_source, kernel_source_by_type};
use gpubench_cuda::ops::spgemm::{download, factors, upload};
use gpubench_cuda::sparse::DeviceCsr;
use gpubench_cuda::{CellError, Cuda, DeviceElement, Kernel, Result, Setup, by_dtype, driver, shaped_opt_in};
use gpubench_report::data::{Csr, Operand};
use gpubench_report::error::Unavailable;

use plan::{RowKernel, SpgemmPlan, unordered_row};

static DENSE: ByType = kernel_source_by_type!("spgemm/gustavson", "DENSE_");
static RANKED: ByType = kernel_source_by_type!("spgemm/gustavson", "RANKED_");
static STARTS: KernelSource = kernel_source!("spgemm/gustavson", "STARTS");

static SOURCES: &[&KernelSource] = &[&DENSE.f32, &DENSE.f64, &RANKED.f32, &RANKED.f64, &STARTS];

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        shaped_opt_in("spgemm", "gustavson", "own kernel: one warp per row, sorted, sums in a fixed order"),
        SOURCES,
        by_dtype!(prepare, false),
    ),
    Kernel::own(
        shaped_opt_in("spgemm", "gustavson-reuse", "the same with a result that exists: its size is known"),
        SOURCES,
        by_dtype!(prepare, true),
    ),
];

/// Makes a job that multiplies two sparse inputs by rows.
fn prepare<T: DeviceElement>(setup: Setup<'_>, reuses: bool) -> Result<Box<Prepared>> {
    let ((a, b), on_device) = (factors(setup)?, upload::<T>(setup)?);
    let product = RowProduct::with(setup.cuda, (a, b), on_device, reuses)?;
    let traits = JobTraits { resets: !reuses, synchronises: !reuses, ..JobTraits::default() };
    Ok(Prepared::with(traits, product))
}

/// C = A B by rows (Gustavson, "Two fast algorithms for sparse matrices: multiplication and permuted transposition",
/// ACM TOMS 4(3), 1978).
pub struct RowProduct<T> {
    cuda: Cuda,
    multiply: CudaFunction,
    plan: SpgemmPlan,
    a: DeviceCsr<T>,
    b: DeviceCsr<T>,
    /// Start of B's rows in each tile, and the kernel that finds them; `None` if B's offsets are enough.
    starts: Option<(CudaFunction, CudaSlice<i32>)>,
    /// Words that blocks exchange, one each.
    state: Alternating<CudaSlice<u64>>,
    offsets: CudaSlice<i32>,
    /// Columns and values of the product, allocated for exactly its entries.
    entries: Option<(CudaSlice<i32>, CudaSlice<T>)>,
    /// `None` for a product whose entries are allocated in each execution.
    replay: Option<Replay>,
}

impl<T: DeviceElement> RowProduct<T> {
    /// Copies both factors to the device, counts the entries of the product and allocates them, so that each [`RowProduct::run`]
    /// computes structure and values again in one launch, or two if rows are cut into tiles of columns. Columns of a row of A may be
    /// unsorted and repeated; those of B must be strictly ascending.
    ///
    /// # Errors
    /// The factors cannot be multiplied, B is not sorted, the product has too many entries for 32-bit offsets, or it does not fit into
    /// memory.
    pub fn new(cuda: &Cuda, a: &Csr, b: &Csr) -> Result<Self> {
        let on_device = [DeviceCsr::upload(cuda, a)?, DeviceCsr::upload(cuda, b)?];
        RowProduct::with(cuda, (a, b), on_device, true)
    }

    /// Makes a product as [`RowProduct::new`] does. Without `reuses`, each execution counts and allocates the entries of C.
    fn with(cuda: &Cuda, (a, b): (&Csr, &Csr), on_device: [DeviceCsr<T>; 2], reuses: bool) -> Result<Self> {
        if let Some(row) = unordered_row(b) {
            let reason = format!("the columns of row {row} of B are not strictly ascending");
            return Err(Unavailable::new(reason, "sort the operands, or use --variants cusparse").into());
        }
        cuda.count_plan();
        let plan = SpgemmPlan::new(a, b, size_of::<T>(), cuda.shared_memory_per_block())?;
        let mut product = RowProduct::load(cuda, plan, on_device, reuses)?;
        // Without reuse too: a product that does not fit is refused before anything is timed.
        product.make_room()?;
        Ok(product)
    }

    fn load(cuda: &Cuda, plan: SpgemmPlan, [a, b]: [DeviceCsr<T>; 2], reuses: bool) -> Result<Self> {
        let covers = plan.tiles as usize * plan.width as usize >= b.cols()
            && plan.blocks as usize * plan.warps as usize >= a.rows() * plan.tiles as usize;
        if a.cols() != b.rows() || !covers {
            return Err(CellError::Failed("the product was planned for other operands".into()));
        }
        let (source, kernel) =
            if plan.method == RowKernel::Dense { (&DENSE, "dense") } else { (&RANKED, "ranked") };
        let multiply = cuda.function(source.of(T::DTYPE), &format!("spgemm_{kernel}_{}", T::DTYPE))?;
        allow_shared(&multiply, plan.shared)?;
        let starts = (plan.tiles > 1).then_some(b.rows() * plan.tiles as usize + 1);
        cuda.reserve(4 * starts.unwrap_or(0) as u128 + 16 * u128::from(plan.blocks) + 4 * a.rows() as u128)?;
        let starts = match starts {
            Some(len) => Some((cuda.function(&STARTS, "spgemm_starts")?, cuda.alloc(len)?)),
            None => None,
        };
        let words = || cuda.alloc(plan.blocks as usize);
        Ok(RowProduct {
            cuda: cuda.clone(),
            multiply,
            plan,
            starts,
            state: Alternating::new([words()?, words()?]),
            offsets: cuda.alloc(a.rows() + 1)?,
            entries: None,
            a,
            b,
            replay: reuses.then(Replay::default),
        })
    }

    /// Computes only the offsets of the product and returns the number of entries, which may exceed 32-bit offsets.
    fn count(&mut self) -> Result<u64> {
        self.entries = None;
        self.run()?;
        let offsets = self.cuda.download(&self.offsets)?;
        // Offsets wrap around; no row has so many entries that their difference does.
        let rows = offsets.windows(2).map(|ends| u64::from(ends[1].wrapping_sub(ends[0]).cast_unsigned()));
        Ok(rows.sum())
    }

    /// Counts the entries of the product and allocates their columns and values for [`RowProduct::run`]. Fails if they do
    /// not fit, or exceed 32-bit offsets.
    fn make_room(&mut self) -> Result<()> {
        let entries = self.count()?;
        let len = i32::try_from(entries).map_err(|_| {
            let reason = format!("the product has {entries} entries, too many for 32-bit offsets");
            Unavailable::new(reason, "choose a smaller size or density")
        })? as usize;
        self.cuda.reserve(len as u128 * (size_of::<i32>() + size_of::<T>()) as u128)?;
        self.entries = Some((self.cuda.alloc(len)?, self.cuda.alloc(len)?));
        Ok(())
    }

    /// Computes a product of unknown structure: finds the number of its entries, allocates them, and computes them.
    /// [`RowProduct::make_room`] has checked before that offsets have 32 bits. Fails if the entries do not fit.
    fn call(&mut self) -> Result<()> {
        self.entries = None;
        self.run()?;
        let (mut entries, stream) = ([0i32], &self.cuda.stream);
        let end = self.offsets.slice(self.a.rows()..);
        stream.memcpy_dtoh(&end, &mut entries).map_err(driver("cuMemcpyDtoHAsync"))?;
        self.cuda.synchronize()?;
        // `make_room` has found that the offsets do not exceed 31 bits; values do not change them.
        let len = entries[0].unsigned_abs() as usize;
        self.entries = Some((self.cuda.alloc_unset(len)?, self.cuda.alloc_unset(len)?));
        self.run()
    }

    /// Enqueues the product into the entries that were allocated, or only its offsets without them.
    ///
    /// # Errors
    /// The device fails.
    pub fn run(&mut self) -> Result<()> {
        let stream = &self.cuda.stream;
        let [a_offsets, a_columns, a_values] = self.a.addresses(stream);
        let [b_offsets, b_columns, b_values] = self.b.addresses(stream);
        let (columns, values) = match &mut self.entries {
            Some((columns, values)) => (write(stream, columns), write(stream, values)),
            None => (0u64.into(), 0u64.into()),
        };
        let [state, next] = self.state.take().map(|words| write(stream, words));
        let SpgemmPlan { method, tiles, width, warps, shared, blocks } = self.plan;
        let room = if let RowKernel::Ranked { room } = method { room } else { 0 };
        let arguments = [
            a_offsets,
            a_columns,
            a_values,
            self.starts.as_ref().map_or(b_offsets, |(_, starts)| read(stream, starts)),
            b_columns,
            b_values,
            write(stream, &mut self.offsets),
            columns,
            values,
            state,
            next,
            (self.a.rows() as u32).into(),
            tiles.into(),
            width.into(),
            // Only the ranked kernel has this argument.
            room.into(),
        ];
        let shape = LaunchShape::new(blocks, 32 * warps, shared);
        let multiply = Launch::new(&self.multiply, shape, arguments);
        let Some((find_starts, starts)) = &mut self.starts else {
            // SAFETY: the entries take (const i32*, const i32*, const T*, const i32*, const i32*, const T*, i32*, i32*,
            // T*, u64*, u64*, u32, u32, u32[, u32]). `DeviceCsr` checked offsets and columns, `load` that the shapes fit each
            // other and that tiles and blocks cover them; there are words for every block, zero where the launch
            // uses them, an offset for every row and one more, and columns and values are null or hold the entries that a run without them counted,
            // which depends on nothing else.
            return unsafe { enqueue(&mut self.replay, &self.cuda, [multiply]) };
        };
        let blocks = starts.len().div_ceil(BLOCK as usize);
        let blocks = u32::try_from(blocks).map_err(|error| CellError::call("spgemm", error))?;
        let sizes = [self.b.rows() as u32, tiles, width].map(Argument::from);
        let arguments = [b_offsets, b_columns, write(stream, starts), sizes[0], sizes[1], sizes[2]];
        let find_starts = Launch::new(find_starts, LaunchShape::of_blocks((blocks, 1)), arguments);
        // SAFETY: the first takes (const i32*, const i32*, i32*, u32, u32, u32); there is a start for every row in every
        // tile and one more. The second as above.
        unsafe { enqueue(&mut self.replay, &self.cuda, [find_starts, multiply]) }
    }
}

impl<T> RowProduct<T> {
    /// Returns offsets, columns and values of the product: `rows + 1` offsets, the last of which is the number of entries. Columns ascend
    /// in each row. They are valid after the work on the stream.
    ///
    /// # Errors
    /// There is no product yet.
    pub fn parts(&self) -> Result<(&CudaSlice<i32>, &CudaSlice<i32>, &CudaSlice<T>)> {
        let entries = self.entries.as_ref();
        let (columns, values) =
            entries.ok_or_else(|| CellError::call("spgemm", "there is no product yet"))?;
        Ok((&self.offsets, columns, values))
    }
}

impl<T: DeviceElement> Job for RowProduct<T> {
    fn reset(&mut self) -> Result<()> {
        if self.replay.is_none() {
            self.entries = None;
        }
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        let mut answer = vec![device(&mut self.offsets)];
        if let Some((columns, values)) = &mut self.entries {
            answer.extend([device(columns), device(values)]);
        }
        let ([a0, a1, a2], [b0, b1, b2]) = (self.a.memory(), self.b.memory());
        Contents { answer, ..Contents::new([a2, b2], []).with_fixed([a0, a1, b0, b1]) }
    }

    fn execute(&mut self) -> Result<()> {
        if self.replay.is_some() { self.run() } else { self.call() }
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        download(&self.cuda, [self.a.rows(), self.b.cols()], self.parts()?)
    }
}

/// Enqueues launches, as a graph where there is a replay.
///
/// # Safety
///
/// As for [`Replay::run`].
unsafe fn enqueue<const N: usize>(
    replay: &mut Option<Replay>,
    cuda: &Cuda,
    launches: [Launch<'_>; N],
) -> Result<()> {
    match replay {
        // SAFETY: the caller vouches for the launches.
        Some(replay) => unsafe { replay.run(cuda, launches) },
        // SAFETY: as above.
        None => unsafe { enqueue_each(&cuda.stream, &launches) },
    }
}
