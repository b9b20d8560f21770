//! The op svd for float32 matrices by cuSOLVER's polar decomposition in float64.
//!
//! In float32, `gesvdp` loses the orthogonality of its factors for ill-conditioned matrices, such as uniform random
//! ones of a few hundred rows or more: errors of order 1, where `gesvd` has 1e-5. In float64 it does not.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::data::Operand;

use super::super::{CONVERT, Setup};
use super::answer::{Oriented, Right, answer};
use crate::ffi::cusolver::{Decomposition, Solver, Vectors, gesvdp};
use crate::ffi::device;
use crate::ffi::map::Map;
use crate::{Cuda, Library, Result};

struct WidenedPolar {
    decompose: Decomposition<f64>,
    cuda: Cuda,
    matrices: Oriented,
    widen: Map<f32, f64, 1>,
    /// For the singular values, U and V.
    narrow: [Map<f64, f32, 1>; 3],
    operand: CudaSlice<f32>,
    a: CudaSlice<f64>,
    wide: Vectors<f64>,
    answer: Vectors<f32>,
    info: CudaSlice<i32>,
}

/// Makes the job. The conversions are timed.
pub(super) fn prepare(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let (cuda, matrices) = (setup.cuda, Oriented::of(setup.case));
    cuda.require(Library::Cusolver)?;
    let elements = matrices.batch.elements();
    // The operand in both types.
    cuda.reserve((elements * (size_of::<f32>() + size_of::<f64>())) as u128)?;
    let (a, wide) = (cuda.alloc(elements)?, Vectors::thin(cuda, matrices.batch)?);
    let narrow = |of: &CudaSlice<f64>| Map::load(cuda, &CONVERT, "f64_to_f32", of.len());
    cuda.count_plan();
    let solver = Solver::new(&cuda.stream)?;
    // As in [`super`].
    let traits = JobTraits { synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(
        traits,
        WidenedPolar {
            widen: Map::load(cuda, &CONVERT, "f32_to_f64", elements)?,
            narrow: [narrow(&wide.s)?, narrow(&wide.u)?, narrow(&wide.v)?],
            operand: matrices.upload::<f32>(setup)?,
            answer: Vectors::thin(cuda, matrices.batch)?,
            decompose: gesvdp::<f64>(cuda, &solver, matrices.batch, &a, &wide)?,
            info: cuda.alloc(matrices.batch.count)?,
            matrices,
            a,
            wide,
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
        let [of_s, of_u, of_v] = &self.narrow;
        of_s.run(stream, [&self.wide.s], &mut self.answer.s)?;
        of_u.run(stream, [&self.wide.u], &mut self.answer.u)?;
        of_v.run(stream, [&self.wide.v], &mut self.answer.v)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        answer::<f32>(&self.cuda, self.matrices, &self.info, (&self.answer, Right::Columns))
    }
}
