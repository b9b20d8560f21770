//! The op svd by cuSOLVER's polar, Jacobi and QR routines: A = U S Vᵀ.

mod answer;
mod polar;

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::case::DType;
use gpubench_report::data::Operand;

use super::{CONVERT, Kernel, Setup, by_type, shaped, shaped_of_types};
use crate::ffi::cusolver::{
    Decomposition, MatrixBatch, Solver, SvdRoutine, Vectors, gesvd, gesvda, gesvdj, gesvdp,
};
use crate::ffi::device;
use crate::{Cuda, DeviceValue, Library, Result};
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
            DType::F64 => svd::<f64>(setup, gesvdp::<f64>, Vectors::thin, Right::Columns),
            _ => polar::prepare(setup),
        },
    },
    Kernel::by_library(
        shaped_of_types(
            "svd",
            "gesvdj",
            "cuSOLVER Jacobi, tolerance epsilon, at most 100 sweeps",
            DType::REAL_AND_COMPLEX,
        ),
        &[Library::Cusolver],
        by_type!(jacobi),
    ),
    Kernel::by_library(
        shaped_of_types(
            "svd",
            "gesvd",
            "cuSOLVER bidiagonalisation and QR iteration",
            DType::REAL_AND_COMPLEX,
        ),
        &[Library::Cusolver],
        by_type!(qr_iteration),
    ),
    Kernel::by_library(
        shaped_of_types(
            "svd",
            "gesvda",
            "cuSOLVER's approximate decomposition by eigenvectors of AᵀA",
            &[DType::F32],
        ),
        &[Library::Cusolver],
        |setup| svd::<f32>(setup, gesvda::<f32>, Vectors::thin, Right::Columns),
    ),
];

fn jacobi<T: DeviceValue>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    svd::<T>(setup, gesvdj::<T>, Vectors::full, Right::Columns)
}

fn qr_iteration<T: DeviceValue>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    svd::<T>(setup, gesvd::<T>, Vectors::thin, Right::Rows)
}

struct LibrarySvd<T: DeviceValue> {
    decompose: Decomposition<T::Stored>,
    cuda: Cuda,
    matrices: Oriented,
    /// The original operand, because a decomposition overwrites its own.
    operand: CudaSlice<T::Stored>,
    a: CudaSlice<T::Stored>,
    out: Vectors<T::Stored>,
    info: CudaSlice<i32>,
    right: Right,
}

fn svd<T: DeviceValue>(
    setup: Setup<'_>,
    routine: SvdRoutine<T::Stored>,
    outputs: fn(&Cuda, MatrixBatch) -> Result<Vectors<T::Stored>>,
    right: Right,
) -> Result<Box<Prepared>> {
    let (cuda, matrices) = (setup.cuda, Oriented::of(setup.case));
    cuda.require(Library::Cusolver)?;
    let batch = matrices.batch;
    cuda.reserve((2 * batch.elements() * size_of::<T::Stored>() + batch.count * size_of::<i32>()) as u128)?;
    let operand = matrices.upload::<T>(setup)?;
    let (a, out) = (cuda.alloc(batch.elements())?, outputs(cuda, batch)?);
    cuda.count_plan();
    let decompose = routine(cuda, &Solver::new(&cuda.stream)?, batch, &a, &out)?;
    let (info, cuda) = (cuda.alloc(batch.count)?, cuda.clone());
    // The routines read intermediate results on the host to decide how to continue.
    let traits = JobTraits { resets: true, synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(traits, LibrarySvd::<T> { decompose, cuda, matrices, operand, a, out, info, right }))
}

impl<T: DeviceValue> Job for LibrarySvd<T> {
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
        answer::<T>(&self.cuda, self.matrices, &self.info, (&self.out, self.right))
    }
}
