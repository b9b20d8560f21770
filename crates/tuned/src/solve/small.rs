//! Many small systems in one launch of `kernels/solve/cholesky_small.cu`, each in the registers of a few threads.

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_cuda::ffi::device;
use gpubench_cuda::ffi::launch::{LaunchShape, fits, read, write};
use gpubench_cuda::ffi::replay::{Launch, Replay};
use gpubench_cuda::ops::Setup;
use gpubench_cuda::ops::dense::matrix;
use gpubench_cuda::ops::solve::{NOT_POSITIVE_DEFINITE, check_info};
use gpubench_cuda::{
    ByType, CellError, Cuda, DeviceElement, KernelSource, Result, Unavailable, kernel_source,
};
use gpubench_report::data::Operand;
use gpubench_report::shape::{BATCH, RHS};

/// The unknowns up to which the entries of the kernel solve systems.
const SIZES: [usize; 4] = [8, 16, 32, 64];

/// The size up to which a single system was measured to be solved faster than by the tiles of [`super::Cholesky`].
pub(super) const FASTER_UP_TO: usize = 32;

/// Threads per block, at least.
const THREADS: usize = 128;

pub(super) static SOURCE: ByType = ByType {
    f32: KernelSource { sizes: 1..=64, ..kernel_source!("solve/cholesky_small", "F32", F32) },
    f64: KernelSource { sizes: 1..=64, ..kernel_source!("solve/cholesky_small", "F64", F64) },
};

/// Solutions of `A X = B` for one or many symmetric positive definite matrices A of n x n, with n at most 64, in one launch.
pub struct SmallCholesky<T> {
    cuda: Cuda,
    function: CudaFunction,
    shape: LaunchShape,
    /// Elements of all matrices, and of all right-hand sides.
    lens: [usize; 2],
    /// `n`, right-hand sides and systems, as the kernel takes them.
    extents: [u32; 3],
    replay: Replay,
    /// For each system the order of the first leading minor that is not positive, or 0.
    info: CudaSlice<i32>,
    element: std::marker::PhantomData<T>,
}

impl<T: DeviceElement> SmallCholesky<T> {
    /// Loads the kernel for `count` systems of `n` unknowns and `rhs` right-hand sides.
    ///
    /// # Errors
    /// `n` is 0 or above 64, the kernel cannot be compiled, or matrices and right-hand sides do not fit into memory.
    pub fn new(cuda: &Cuda, n: usize, rhs: usize, count: usize) -> Result<Self> {
        let Some(size) = SIZES.into_iter().find(|size| n <= *size && n > 0) else {
            let reason =
                format!("cholesky is for batches and right-hand sides of up to {} unknowns", SIZES[3]);
            return Err(Unavailable::new(reason, "use cuSOLVER's: --variants potrf,potrf-batched").into());
        };
        let narrow =
            |extent: usize| u32::try_from(extent).map_err(|error| CellError::call("cholesky_small", error));
        let extents = [narrow(n)?, narrow(rhs)?, narrow(count)?];
        let function = cuda.function(SOURCE.of(T::DTYPE), &format!("cholesky_small_{}_{size}", T::DTYPE))?;
        let lens = [n * n * count, n * rhs * count];
        let bytes = (lens[0] + 2 * lens[1]) * size_of::<T>() + count * size_of::<i32>();
        cuda.reserve(bytes as u128)?;
        // Above the size of a warp, a block has one system.
        let threads = if size > 32 { size } else { THREADS };
        let blocks = narrow(count.div_ceil(threads / size))?;
        Ok(SmallCholesky {
            cuda: cuda.clone(),
            function,
            shape: LaunchShape::new(blocks, threads as u32, 0),
            lens,
            extents,
            replay: Replay::default(),
            info: cuda.alloc(count)?,
            element: std::marker::PhantomData,
        })
    }

    /// Enqueues the solutions `x` of all systems. The matrices `a`, and the `b` and `x` of `n` x `rhs`, are row-major and one after the
    /// other; `a` and `b` are not changed.
    ///
    /// # Errors
    /// An array is too short, or the device fails. [`SmallCholesky::check`] reports a matrix that is not positive definite.
    pub fn run(&mut self, a: &CudaSlice<T>, b: &CudaSlice<T>, x: &mut CudaSlice<T>) -> Result<()> {
        fits("the matrices", a, self.lens[0])?;
        fits("b", b, self.lens[1])?;
        fits("x", x, self.lens[1])?;
        let stream = &self.cuda.stream;
        let [n, rhs, count] = self.extents.map(Into::into);
        let (a, b, x, info) =
            (read(stream, a), read(stream, b), write(stream, x), write(stream, &mut self.info));
        let launch = Launch::new(&self.function, self.shape, [a, b, x, info, n, rhs, count]);
        // SAFETY: the entry takes (const T*, const T*, T*, int*, int, int, int), of the lengths checked above; `info` has an element
        // for each system.
        unsafe { self.replay.run(&self.cuda, [launch]) }
    }

    /// Waits for the last solutions, and checks that all exist.
    ///
    /// # Errors
    /// A matrix was not positive definite in this arithmetic, or the device fails.
    pub fn check(&self) -> Result<()> {
        let failed = self.cuda.download(&self.info)?;
        failed.into_iter().try_for_each(|info| check_info(info, NOT_POSITIVE_DEFINITE, T::DTYPE))
    }
}

/// Systems on the device, with their solutions.
struct SmallJob<T> {
    systems: SmallCholesky<T>,
    columns: usize,
    a: CudaSlice<T>,
    b: CudaSlice<T>,
    x: CudaSlice<T>,
}

/// Makes the job of a case with a shape.
pub(super) fn prepare<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let [n, columns, count] = setup.case.extents(["n", RHS, BATCH]);
    let systems = SmallCholesky::<T>::new(setup.cuda, n, columns, count)?;
    let (a, b, x) = (setup.upload::<T>(0)?, setup.upload::<T>(1)?, setup.cuda.alloc(systems.lens[1])?);
    Ok(Prepared::new(SmallJob { systems, columns, a, b, x }))
}

impl<T: DeviceElement> Job for SmallJob<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a), device(&mut self.b)], [device(&mut self.x)])
    }

    fn execute(&mut self) -> Result<()> {
        self.systems.run(&self.a, &self.b, &mut self.x)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        self.systems.check()?;
        matrix::<T>(&self.systems.cuda, self.columns, &self.x)
    }
}
