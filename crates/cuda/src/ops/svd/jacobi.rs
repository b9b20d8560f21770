//! The svd variant `jacobi`: one-sided Jacobi rotations of a small matrix in one launch of `kernels/svd/jacobi.cu`.

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::Operand;
use gpubench_report::error::{CellError, Unavailable};

use super::answer::check_info;
use crate::context::{Cuda, DeviceElement};
use crate::ffi::contents::device;
use crate::ffi::launch::{LaunchShape, Start, fits, read, write};
use crate::ffi::replay::{Launch, Replay};
use crate::kernels::{ByType, kernel_source_by_type};
use crate::ops::input;

pub(super) static SOURCE: ByType = kernel_source_by_type!("svd/jacobi", "");

/// The largest side of a matrix.
const MAX_SIDE: usize = 32;

struct JacobiRotations<T> {
    cuda: Cuda,
    function: CudaFunction,
    replay: Replay,
    n: usize,
    matrix: CudaSlice<T>,
    /// U and Vᵀ, row-major, with the values, which descend, between them.
    left: CudaSlice<T>,
    values: CudaSlice<T>,
    right: CudaSlice<T>,
    /// 0 for success, 1 if the rotations did not converge.
    info: CudaSlice<i32>,
}

/// Makes a job for one case.
pub(super) fn prepare<T: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    if !(1..=MAX_SIDE).contains(&n) {
        let reason = format!("jacobi is for N <= {MAX_SIDE}: the matrix stays in one multiprocessor");
        return Err(Unavailable::new(reason, "use gram").into());
    }
    cuda.count_plan();
    let function = cuda.function(SOURCE.of(T::DTYPE), &format!("svd_jacobi_{}", T::DTYPE))?;
    cuda.reserve((3 * n * n + n) as u128 * size_of::<T>() as u128)?;
    Ok(Prepared::new(JacobiRotations {
        cuda: cuda.clone(),
        function,
        replay: Replay::default(),
        n,
        matrix: cuda.upload(input::<T>(inputs, 0)?)?,
        left: cuda.alloc(n * n)?,
        values: cuda.alloc(n)?,
        right: cuda.alloc(n * n)?,
        info: cuda.alloc(1)?,
    }))
}

impl<T: DeviceElement> Job for JacobiRotations<T> {
    fn contents(&mut self) -> Contents<'_> {
        let answer = [&mut self.values, &mut self.right, &mut self.left].map(device);
        Contents::new([device(&mut self.matrix)], answer)
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let (stream, n) = (&self.cuda.stream, self.n);
        for (what, slice, needed) in [
            ("the matrix", &self.matrix, n * n),
            ("U", &self.left, n * n),
            ("the values", &self.values, n),
            ("V", &self.right, n * n),
        ] {
            fits(what, slice, needed)?;
        }
        fits("info", &self.info, 1)?;
        // A warp for every two columns.
        let threads = 32 * n.div_ceil(2) as u32;
        let shape = LaunchShape { grid: (1, 1), threads, shared: 0, start: Start::InOrder };
        let arguments = [
            read(stream, &self.matrix),
            write(stream, &mut self.left),
            write(stream, &mut self.values),
            write(stream, &mut self.right),
            write(stream, &mut self.info),
            (n as u32).into(),
        ];
        // SAFETY: the entry takes (const T*, T*, T*, T*, int*, int), checked above; n is at most 32, so at most 512 threads.
        unsafe { self.replay.run(&self.cuda, [Launch::new(&self.function, shape, arguments)]) }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let (cuda, n) = (&self.cuda, self.n);
        check_info(cuda.download(&self.info)?[0])?;
        let [left, values, right] = [&self.left, &self.values, &self.right].map(|slice| cuda.download(slice));
        Ok(vec![Operand::dense(n, n, left?), Operand::dense(n, 1, values?), Operand::dense(n, n, right?)])
    }
}
