//! The svd variant `jacobi`: one-sided Jacobi rotations of a small matrix in one launch.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::{CellError, Unavailable};

use super::super::input;
use super::answer::check_info;
use crate::context::{Cuda, Element};
use crate::ffi::contents::device;
use crate::ffi::svd_jacobi::{Factors, JacobiSvd, MAX_SIDE};
use crate::kernels::{ByType, kernel_source_by_type};

pub(super) static SOURCE: ByType = kernel_source_by_type!("svd_jacobi", "");

struct Jacobi<T> {
    cuda: Cuda,
    kernel: JacobiSvd<T>,
    n: usize,
    matrix: CudaSlice<T>,
    out: Factors<T>,
}

/// Makes a job for one case.
pub(super) fn prepare<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    if n > MAX_SIDE {
        let reason = format!("jacobi is for N <= {MAX_SIDE}: the matrix stays in one multiprocessor");
        return Err(Unavailable::new(reason, "use gram").into());
    }
    cuda.count_plan();
    let kernel = JacobiSvd::load(cuda, SOURCE.of(T::DTYPE), n)?;
    cuda.reserve((3 * n * n + n) as u128 * size_of::<T>() as u128)?;
    let matrix = cuda.upload(input::<T>(inputs, 0)?)?;
    let out = Factors {
        left: cuda.alloc(n * n)?,
        values: cuda.alloc(n)?,
        right: cuda.alloc(n * n)?,
        info: cuda.alloc(1)?,
    };
    Ok(Prepared::new(Jacobi { cuda: cuda.clone(), kernel, n, matrix, out }))
}

impl<T: Element> Job for Jacobi<T> {
    fn contents(&mut self) -> Contents<'_> {
        let Factors { left, values, right, .. } = &mut self.out;
        Contents::new([device(&mut self.matrix)], [device(values), device(right), device(left)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.kernel.run(&self.cuda, &self.matrix, &mut self.out)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let (cuda, n, out) = (&self.cuda, self.n, &self.out);
        check_info(cuda.download(&out.info)?[0])?;
        let [left, values, right] = [&out.left, &out.values, &out.right].map(|slice| cuda.download(slice));
        Ok(vec![Operand::dense(n, n, left?), Operand::dense(n, 1, values?), Operand::dense(n, n, right?)])
    }
}
