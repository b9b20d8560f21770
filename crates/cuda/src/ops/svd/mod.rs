//! The op svd by cuSOLVER's polar, Jacobi and QR routines: A = U S Vᵀ.

mod answer;
mod polar;

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::case::DType;
use gpubench_report::data::Operand;

use super::{CONVERT, Kernel, Setup, by_dtype, shaped, shaped_of_types};
use crate::ffi::cusolver::{
    Decomposition, MatrixBatch, Solver, SvdRoutine, Vectors, gesvd, gesvda, gesvdj, gesvdp,
};
use crate::ffi::device;
use crate::{Cuda, DeviceElement, Library, Result};
pub use answer::{Oriented, Right, answer, check_info};

pub(super) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: shaped(
            "svd",
            "gesvdp",
            "cuSOLVER polar decomposition and eigensolver, in float64 throughout",
        ),
        sources: &[&CONVERT],
        libraries: &[Library::Cusolver],
        prepare: |setup| match setup.case.dtype {
            DType::F64 => svd::<f64>(setup, gesvdp, Vectors::thin, Right::Columns),
            _ => polar::prepare(setup),
        },
    },
    Kernel::by_library(
        shaped("svd", "gesvdj", "cuSOLVER Jacobi, tolerance epsilon, at most 100 sweeps"),
        &[Library::Cusolver],
        by_dtype!(svd, gesvdj, Vectors::full, Right::Columns),
    ),
    Kernel::by_library(
        shaped("svd", "gesvd", "cuSOLVER bidiagonalisation and QR iteration"),
        &[Library::Cusolver],
        by_dtype!(svd, gesvd, Vectors::thin, Right::Rows),
    ),
    Kernel::by_library(
        shaped_of_types(
            "svd",
            "gesvda",
            "cuSOLVER's approximate decomposition by eigenvectors of AᵀA",
            &[DType::F32],
        ),
        &[Library::Cusolver],
        by_dtype!(svd, gesvda, Vectors::thin, Right::Columns),
    ),
];

struct LibrarySvd<T> {
    decompose: Decomposition<T>,
    cuda: Cuda,
    matrices: Oriented,
    /// The original operand, because a decomposition overwrites its own.
    operand: CudaSlice<T>,
    a: CudaSlice<T>,
    out: Vectors<T>,
    info: CudaSlice<i32>,
    right: Right,
}

fn svd<T: DeviceElement>(
    setup: Setup<'_>,
    routine: SvdRoutine<T>,
    outputs: fn(&Cuda, MatrixBatch) -> Result<Vectors<T>>,
    right: Right,
) -> Result<Box<Prepared>> {
    let (cuda, matrices) = (setup.cuda, Oriented::of(setup.case));
    cuda.require(Library::Cusolver)?;
    let batch = matrices.batch;
    cuda.reserve((2 * batch.elements() * size_of::<T>() + batch.count * size_of::<i32>()) as u128)?;
    let operand = matrices.upload(setup)?;
    let (a, out) = (cuda.alloc(batch.elements())?, outputs(cuda, batch)?);
    cuda.count_plan();
    let decompose = routine(cuda, &Solver::new(&cuda.stream)?, batch, &a, &out)?;
    let (info, cuda) = (cuda.alloc(batch.count)?, cuda.clone());
    // The routines read intermediate results on the host to decide how to continue.
    let traits = JobTraits { resets: true, synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(traits, LibrarySvd { decompose, cuda, matrices, operand, a, out, info, right }))
}

impl<T: DeviceElement> Job for LibrarySvd<T> {
    fn reset(&mut self) -> Result<()> {
        self.cuda.copy(&self.operand, &mut self.a)
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.operand)], self.out.memory())
    }

    fn execute(&mut self) -> Result<()> {
        (self.decompose)(&mut self.a, &mut self.out, &mut self.info)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        answer(&self.cuda, self.matrices, &self.info, (&self.out, self.right))
    }
}
