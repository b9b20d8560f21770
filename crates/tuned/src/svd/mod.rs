//! The op svd: A = U S Vᵀ by eigenvectors of AᵀA, and by one-sided Jacobi rotations of a small matrix in one launch of
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
use gpubench_cuda::ffi::launch::{LaunchShape, fits, read, write};
use gpubench_cuda::ffi::replay::{Launch, Replay};
use gpubench_cuda::ops::svd::check_info;
use gpubench_cuda::ops::{CONVERT, Kernel, Setup, by_dtype, opt_in};
use gpubench_cuda::{ByType, Cuda, DeviceElement, Library, Result, Unavailable, kernel_source_by_type};
use gpubench_report::data::Operand;

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
        opt_in("svd", "jacobi", "own kernel: one-sided Jacobi rotations in one launch, N <= 32"),
        &[&ROTATIONS.f32, &ROTATIONS.f64],
        by_dtype!(by_rotations),
    ),
];

/// The largest side of a matrix.
const MAX_SIDE: usize = 32;

/// A = U S Vᵀ of matrices of up to 32 rows, in one launch.
pub struct JacobiRotations<T> {
    cuda: Cuda,
    function: CudaFunction,
    replay: Replay,
    n: usize,
    /// U, row-major.
    pub left: CudaSlice<T>,
    /// The singular values, which descend.
    pub values: CudaSlice<T>,
    /// Vᵀ, row-major.
    pub right: CudaSlice<T>,
    /// 0 for success, 1 if the rotations did not converge.
    info: CudaSlice<i32>,
}

impl<T: DeviceElement> JacobiRotations<T> {
    /// Loads the kernel for `n` by `n` matrices and allocates the answer.
    ///
    /// # Errors
    /// `n` is 0 or above 32, the kernel cannot be compiled, or the device has too little memory.
    pub fn new(cuda: &Cuda, n: usize) -> Result<Self> {
        if !(1..=MAX_SIDE).contains(&n) {
            let reason = format!("jacobi is for N <= {MAX_SIDE}: the matrix stays in one multiprocessor");
            return Err(Unavailable::new(reason, "use gram").into());
        }
        cuda.count_plan();
        let function = cuda.function(ROTATIONS.of(T::DTYPE), &format!("svd_jacobi_{}", T::DTYPE))?;
        cuda.reserve((3 * n * n + n) as u128 * size_of::<T>() as u128)?;
        Ok(JacobiRotations {
            cuda: cuda.clone(),
            function,
            replay: Replay::default(),
            n,
            left: cuda.alloc(n * n)?,
            values: cuda.alloc(n)?,
            right: cuda.alloc(n * n)?,
            info: cuda.alloc(1)?,
        })
    }

    /// Enqueues the decomposition of the row-major `matrix`, which stays as it is, to `left`, `values` and `right`.
    ///
    /// # Errors
    /// An array is too short, or the device fails. [`JacobiRotations::check`] reports rotations that do not converge.
    pub fn run(&mut self, matrix: &CudaSlice<T>) -> Result<()> {
        let (stream, n) = (&self.cuda.stream, self.n);
        for (what, slice, needed) in [
            ("the matrix", matrix, n * n),
            ("U", &self.left, n * n),
            ("the values", &self.values, n),
            ("V", &self.right, n * n),
        ] {
            fits(what, slice, needed)?;
        }
        fits("info", &self.info, 1)?;
        // A warp for every two columns.
        let threads = 32 * n.div_ceil(2) as u32;
        let shape = LaunchShape::new(1, threads, 0);
        let arguments = [
            read(stream, matrix),
            write(stream, &mut self.left),
            write(stream, &mut self.values),
            write(stream, &mut self.right),
            write(stream, &mut self.info),
            (n as u32).into(),
        ];
        // SAFETY: the entry takes (const T*, T*, T*, T*, int*, int), checked above; n is at most 32, so at most 512 threads.
        unsafe { self.replay.run(&self.cuda, [Launch::new(&self.function, shape, arguments)]) }
    }

    /// Waits for the last decomposition, and checks that it converged.
    ///
    /// # Errors
    /// It did not, or the device fails.
    pub fn check(&self) -> Result<()> {
        check_info(self.cuda.download(&self.info)?[0])
    }
}

struct JacobiJob<T> {
    rotations: JacobiRotations<T>,
    matrix: CudaSlice<T>,
}

fn by_rotations<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let rotations = JacobiRotations::new(setup.cuda, setup.n())?;
    Ok(Prepared::new(JacobiJob::<T> { rotations, matrix: setup.upload::<T>(0)? }))
}

impl<T: DeviceElement> Job for JacobiJob<T> {
    fn contents(&mut self) -> Contents<'_> {
        let JacobiRotations { left, values, right, .. } = &mut self.rotations;
        Contents::new([device(&mut self.matrix)], [device(values), device(right), device(left)])
    }

    fn execute(&mut self) -> Result<()> {
        self.rotations.run(&self.matrix)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        self.rotations.check()?;
        let JacobiRotations { cuda, n, left, values, right, .. } = &self.rotations;
        let (n, [left, values, right]) = (*n, [left, values, right].map(|slice| cuda.download(slice)));
        Ok(vec![Operand::dense(n, n, left?), Operand::dense(n, 1, values?), Operand::dense(n, n, right?)])
    }
}
