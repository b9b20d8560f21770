//! The op svd by cuSOLVER's polar, Jacobi and QR routines: A = U S Vᵀ.

mod answer;
mod polar;

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::case::DType;
use gpubench_report::data::Operand;

use super::{CONVERT, Kernel, Setup, by_dtype, single, variant};
use crate::ffi::cusolver::{Decomposition, Solver, SvdRoutine, Vectors, gesvd, gesvda, gesvdj, gesvdp};
use crate::ffi::device;
use crate::{Cuda, DeviceElement, Library, Result};
pub use answer::{Right, answer, check_info};

pub(super) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: variant(
            "svd",
            "gesvdp",
            "cuSOLVER polar decomposition and eigensolver, in float64 throughout",
        ),
        sources: &[&CONVERT],
        libraries: &[Library::Cusolver],
        prepare: |setup| match setup.case.dtype {
            DType::F32 => polar::prepare(setup),
            DType::F64 => svd::<f64>(setup, gesvdp, Right::Columns),
        },
    },
    Kernel::by_library(
        variant("svd", "gesvdj", "cuSOLVER Jacobi, tolerance epsilon, at most 100 sweeps"),
        &[Library::Cusolver],
        by_dtype!(svd, gesvdj, Right::Columns),
    ),
    Kernel::by_library(
        variant("svd", "gesvd", "cuSOLVER bidiagonalisation and QR iteration"),
        &[Library::Cusolver],
        by_dtype!(svd, gesvd, Right::Rows),
    ),
    Kernel::by_library(
        single("svd", "gesvda", "cuSOLVER's approximate decomposition by eigenvectors of AᵀA"),
        &[Library::Cusolver],
        by_dtype!(svd, gesvda, Right::Columns),
    ),
];

struct LibrarySvd<T> {
    decompose: Decomposition<T>,
    cuda: Cuda,
    n: usize,
    /// The original operand, because a decomposition overwrites its own.
    operand: CudaSlice<T>,
    a: CudaSlice<T>,
    out: Vectors<T>,
    info: CudaSlice<i32>,
    right: Right,
}

fn svd<T: DeviceElement>(setup: Setup<'_>, routine: SvdRoutine<T>, right: Right) -> Result<Box<Prepared>> {
    let (cuda, n) = (setup.cuda, setup.n());
    cuda.require(Library::Cusolver)?;
    cuda.reserve((4 * n as u128 * n as u128 + n as u128) * size_of::<T>() as u128)?;
    let operand = setup.upload(0)?;
    let (a, out) = (cuda.alloc(n * n)?, Vectors::alloc(cuda, n)?);
    cuda.count_plan();
    let decompose = routine(cuda, &Solver::new(&cuda.stream)?, n, &a, &out)?;
    let (info, cuda) = (cuda.alloc(1)?, cuda.clone());
    // The routines read intermediate results on the host to decide how to continue.
    let traits = JobTraits { resets: true, synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(traits, LibrarySvd { decompose, cuda, n, operand, a, out, info, right }))
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
        answer(&self.cuda, self.n, &self.info, (&self.out, self.right))
    }
}
