//! The op svd: A = U S Vᵀ by eigenvectors of AᵀA, and by one-sided Jacobi rotations of small matrices in one launch of
//! `kernels/svd/jacobi.cu`.

mod eigen;
mod gram;
mod launch;
mod on_chip;
mod panels;

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_cuda::ffi::device;
use gpubench_cuda::ffi::launch::{LaunchShape, allow_shared, fits, read, write};
use gpubench_cuda::ffi::replay::{Launch, Replay};
use gpubench_cuda::ops::svd::check_info;
use gpubench_cuda::ops::{CONVERT, Kernel, Setup, by_dtype, opt_in, shaped_opt_in};
use gpubench_cuda::{
    ByType, CellError, Cuda, DeviceElement, Library, Result, Unavailable, kernel_source_by_type,
};
use gpubench_report::data::Operand;
use gpubench_report::shape::BATCH;

pub use gram::GramSvd;
use gram::prepare as by_gram;

static ROTATIONS: ByType = kernel_source_by_type!("svd/jacobi", "");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: opt_in(
            "svd",
            "gram",
            "eigenvectors of AᵀA in float64, checked; gesvdp or gesvd if that fails",
        ),
        sources: &[
            &launch::SOURCE,
            &on_chip::FORMS[0].source,
            &on_chip::FORMS[1].source,
            &on_chip::FORMS[2].source,
            &on_chip::FORMS[3].source,
            &on_chip::FORMS[4].source,
            &on_chip::FORMS[5].source,
            &panels::SOURCE,
            &eigen::SOURCE,
            &CONVERT,
        ],
        libraries: &[Library::Cusolver, Library::Cublas],
        prepare: by_dtype!(by_gram),
    },
    Kernel::own(
        shaped_opt_in(
            "svd",
            "jacobi",
            "own kernel: one-sided Jacobi rotations of matrices of up to 64 rows and columns, in one launch",
        ),
        &[&ROTATIONS.f32, &ROTATIONS.f64],
        by_dtype!(by_rotations),
    ),
];

/// The sides up to which the entries of the kernel decompose matrices.
const SIDES: [usize; 4] = [8, 16, 32, 64];

/// Threads that rotate two columns: `LANES` of the kernel.
const LANES: usize = 8;

/// A = U S Vᵀ of one or many matrices of m x n, both at most 64, in one launch; k is the smaller of m and n.
pub struct JacobiRotations<T> {
    cuda: Cuda,
    function: CudaFunction,
    shape: LaunchShape,
    replay: Replay,
    /// Rows and columns of a matrix.
    sides: [usize; 2],
    count: usize,
    /// U of m x k, row-major, one after the other.
    pub left: CudaSlice<T>,
    /// The k singular values of each matrix, which descend.
    pub values: CudaSlice<T>,
    /// Vᵀ of k x n, row-major, one after the other.
    pub right: CudaSlice<T>,
    /// 0 for success, 1 if the rotations of a matrix did not converge.
    info: CudaSlice<i32>,
}

impl<T: DeviceElement> JacobiRotations<T> {
    /// Loads the kernel for `count` matrices of `rows` by `cols` and allocates the answer.
    ///
    /// # Errors
    /// A side is 0 or above 64, the kernel cannot be compiled, or the device has too little memory.
    pub fn new(cuda: &Cuda, [rows, cols]: [usize; 2], count: usize) -> Result<Self> {
        let (short, long) = (rows.min(cols), rows.max(cols));
        let Some(side) = SIDES.into_iter().find(|side| long <= *side && short > 0) else {
            let reason = format!("jacobi is for matrices of up to {} rows and columns", SIDES[3]);
            return Err(Unavailable::new(reason, "use gesvdj").into());
        };
        let blocks = u32::try_from(count).map_err(|error| CellError::call("svd_jacobi", error))?;
        cuda.count_plan();
        let function = cuda.function(ROTATIONS.of(T::DTYPE), &format!("svd_jacobi_{}_{side}", T::DTYPE))?;
        let pairs = short.div_ceil(2);
        // Columns of A and of V, an odd multiple of LANES apart.
        let shared = (4 * pairs * (side | LANES) * size_of::<f64>()) as u32;
        allow_shared(&function, shared)?;
        let lens = [rows * short, short, short * cols].map(|len| len * count);
        let elements = lens.iter().sum::<usize>() + rows * cols * count;
        cuda.reserve((elements * size_of::<T>() + count * size_of::<i32>()) as u128)?;
        Ok(JacobiRotations {
            cuda: cuda.clone(),
            function,
            shape: LaunchShape::new(blocks, (pairs * LANES).next_multiple_of(32) as u32, shared),
            replay: Replay::default(),
            sides: [rows, cols],
            count,
            left: cuda.alloc(lens[0])?,
            values: cuda.alloc(lens[1])?,
            right: cuda.alloc(lens[2])?,
            info: cuda.alloc(count)?,
        })
    }

    /// Enqueues the decompositions of the row-major `matrices`, which stay as they are, to `left`, `values` and `right`.
    ///
    /// # Errors
    /// An array is too short, or the device fails. [`JacobiRotations::check`] reports rotations that do not converge.
    pub fn run(&mut self, matrices: &CudaSlice<T>) -> Result<()> {
        let (stream, [rows, cols], count) = (&self.cuda.stream, self.sides, self.count);
        let short = rows.min(cols);
        for (what, slice, needed) in [
            ("the matrices", matrices, rows * cols),
            ("U", &self.left, rows * short),
            ("the values", &self.values, short),
            ("V", &self.right, short * cols),
        ] {
            fits(what, slice, needed * count)?;
        }
        fits("info", &self.info, count)?;
        let arguments = [
            read(stream, matrices),
            write(stream, &mut self.left),
            write(stream, &mut self.values),
            write(stream, &mut self.right),
            write(stream, &mut self.info),
            (rows as u32).into(),
            (cols as u32).into(),
        ];
        // SAFETY: the entry takes (const T*, T*, T*, T*, int*, int, int), of the lengths checked above for as many matrices as
        // blocks; `new` chose threads and shared memory for these sides.
        unsafe { self.replay.run(&self.cuda, [Launch::new(&self.function, self.shape, arguments)]) }
    }

    /// Waits for the last decompositions, and checks that all converged.
    ///
    /// # Errors
    /// One did not, or the device fails.
    pub fn check(&self) -> Result<()> {
        self.cuda.download(&self.info)?.into_iter().try_for_each(check_info)
    }
}

struct JacobiJob<T> {
    rotations: JacobiRotations<T>,
    operand: CudaSlice<T>,
}

fn by_rotations<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let [rows, cols, count] = setup.case.extents(["m", "n", BATCH]);
    let rotations = JacobiRotations::new(setup.cuda, [rows, cols], count)?;
    Ok(Prepared::new(JacobiJob::<T> { rotations, operand: setup.upload::<T>(0)? }))
}

impl<T: DeviceElement> Job for JacobiJob<T> {
    fn contents(&mut self) -> Contents<'_> {
        let JacobiRotations { left, values, right, .. } = &mut self.rotations;
        Contents::new([device(&mut self.operand)], [device(values), device(right), device(left)])
    }

    fn execute(&mut self) -> Result<()> {
        self.rotations.run(&self.operand)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        self.rotations.check()?;
        let JacobiRotations { cuda, sides: [rows, cols], count, left, values, right, .. } = &self.rotations;
        let short = *rows.min(cols);
        let [left, values, right] = [left, values, right].map(|array| cuda.download(array));
        Ok(vec![
            Operand::dense(count * rows, short, left?),
            Operand::dense(count * short, 1, values?),
            Operand::dense(count * short, *cols, right?),
        ])
    }
}
