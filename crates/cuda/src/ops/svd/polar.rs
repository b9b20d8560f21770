//! The op svd for a float32 matrix by cuSOLVER's polar decomposition in float64.
//!
//! In float32, `gesvdp` loses the orthogonality of its factors for ill-conditioned matrices, such as uniform random
//! ones of a few hundred rows or more: errors of order 1, where `gesvd` has 1e-5. In float64 it does not.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::data::Operand;

use super::super::{CONVERT, Setup};
use super::answer::{Right, answer};
use crate::ffi::cusolver::{Decomposition, Solver, Vectors, gesvdp};
use crate::ffi::device;
use crate::ffi::map::Map;
use crate::{Cuda, Library, Result};

struct WidenedPolar {
    decompose: Decomposition<f64>,
    cuda: Cuda,
    n: usize,
    widen: Map<f32, f64, 1>,
    narrow_matrix: Map<f64, f32, 1>,
    narrow_vector: Map<f64, f32, 1>,
    operand: CudaSlice<f32>,
    a: CudaSlice<f64>,
    wide: Vectors<f64>,
    answer: Vectors<f32>,
    info: CudaSlice<i32>,
}

/// Makes the job. The conversions are timed.
pub(super) fn prepare(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let (cuda, n) = (setup.cuda, setup.n());
    cuda.require(Library::Cusolver)?;
    let area = n as u128 * n as u128;
    cuda.reserve((4 + 3 * 8 + 2 * 4) * area + 12 * n as u128)?;
    let (a, wide) = (cuda.alloc(n * n)?, Vectors::alloc(cuda, n)?);
    cuda.count_plan();
    let solver = Solver::new(&cuda.stream)?;
    // As in [`super`].
    let traits = JobTraits { synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(
        traits,
        WidenedPolar {
            widen: Map::load(cuda, &CONVERT, "f32_to_f64", n * n)?,
            narrow_matrix: Map::load(cuda, &CONVERT, "f64_to_f32", n * n)?,
            narrow_vector: Map::load(cuda, &CONVERT, "f64_to_f32", n)?,
            operand: setup.upload(0)?,
            answer: Vectors::alloc(cuda, n)?,
            decompose: gesvdp(cuda, &solver, n, &a, &wide)?,
            n,
            a,
            wide,
            info: cuda.alloc(1)?,
            cuda: cuda.clone(),
        },
    ))
}

impl Job for WidenedPolar {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.operand)], self.answer.memory())
    }

    fn execute(&mut self) -> Result<()> {
        let stream = &self.cuda.stream;
        self.widen.run(stream, [&self.operand], &mut self.a)?;
        (self.decompose)(&mut self.a, &mut self.wide, &mut self.info)?;
        self.narrow_vector.run(stream, [&self.wide.s], &mut self.answer.s)?;
        self.narrow_matrix.run(stream, [&self.wide.u], &mut self.answer.u)?;
        self.narrow_matrix.run(stream, [&self.wide.v], &mut self.answer.v)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        answer(&self.cuda, self.n, &self.info, (&self.answer, Right::Columns))
    }
}
