//! The op svd: A = U S Vᵀ by cuSOLVER's polar, Jacobi and QR routines, by eigenvectors of AᵀA, and by own Jacobi rotations.

mod answer;
mod eigen;
mod gram;
mod jacobi;
mod launch;
mod on_chip;
mod panels;
mod polar;
mod reduction;

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::{Kernel, by_dtype, input, opt_in, single, variant};
use crate::context::{Cuda, DeviceElement, Library};
use crate::ffi::contents::device;
use crate::ffi::cusolver::{Jacobi, Solver, SolverReal, SolverWorkspace, Vectors};
use crate::ffi::padded::CONVERT;
use answer::{Right, answer};
use gram::prepare as by_gram;
use jacobi::prepare as by_rotations;

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: variant(
            "svd",
            "gesvdp",
            "cuSOLVER polar decomposition and eigensolver, in float64 throughout",
        ),
        sources: &[&CONVERT],
        libraries: &[Library::Cusolver],
        prepare: |cuda, case, inputs| match case.dtype {
            DType::F32 => polar::prepare(cuda, case, inputs),
            DType::F64 => svd::<f64>(cuda, case, inputs, SvdRoutine::Polar),
        },
    },
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
        &[&jacobi::SOURCE.f32, &jacobi::SOURCE.f64],
        by_dtype!(by_rotations),
    ),
    Kernel::by_library(
        variant("svd", "gesvdj", "cuSOLVER Jacobi, tolerance epsilon, at most 100 sweeps"),
        &[Library::Cusolver],
        by_dtype!(svd, SvdRoutine::Jacobi),
    ),
    Kernel::by_library(
        variant("svd", "gesvd", "cuSOLVER bidiagonalisation and QR iteration"),
        &[Library::Cusolver],
        by_dtype!(svd, SvdRoutine::Qr),
    ),
    Kernel::by_library(
        single("svd", "gesvda", "cuSOLVER's approximate decomposition by eigenvectors of AᵀA"),
        &[Library::Cusolver],
        by_dtype!(svd, SvdRoutine::Approximate),
    ),
];

/// A routine of cuSOLVER.
enum SvdRoutine {
    Polar,
    Jacobi,
    Qr,
    Approximate,
}

/// A routine with its workspace.
enum SvdWorkspace<T> {
    Polar { work: SolverWorkspace },
    Jacobi { jacobi: Jacobi, work: CudaSlice<T> },
    Qr { work: SolverWorkspace },
    Approximate { work: CudaSlice<T>, len: usize },
}

struct LibrarySvd<T> {
    cuda: Cuda,
    solver: Solver,
    method: SvdWorkspace<T>,
    n: usize,
    /// The original operand, because a decomposition overwrites its own.
    operand: CudaSlice<T>,
    a: CudaSlice<T>,
    out: Vectors<T>,
    info: CudaSlice<i32>,
}

fn svd<T: DeviceElement + SolverReal>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    routine: SvdRoutine,
) -> Result<Box<Prepared>, CellError> {
    cuda.require(Library::Cusolver)?;
    let n = case.side();
    let area = n as u128 * n as u128;
    cuda.reserve((4 * area + n as u128) * size_of::<T>() as u128)?;
    let operand = cuda.upload(input::<T>(inputs, 0)?)?;
    let a = cuda.alloc(n * n)?;
    let out = Vectors::alloc(cuda, n)?;
    cuda.count_plan();
    let solver = Solver::new(&cuda.stream)?;
    let method = match routine {
        SvdRoutine::Polar => {
            SvdWorkspace::Polar { work: SolverWorkspace::alloc(cuda, solver.gesvdp_workspace(n, &a, &out)?)? }
        }
        SvdRoutine::Jacobi => {
            let mut jacobi = Jacobi::new::<T>()?;
            let len = jacobi.workspace_len(&solver, n, &a, &out)?;
            cuda.reserve(len as u128 * size_of::<T>() as u128)?;
            SvdWorkspace::Jacobi { jacobi, work: cuda.alloc(len)? }
        }
        SvdRoutine::Approximate => {
            let len = solver.gesvda_workspace(n, &a, &out)?;
            cuda.reserve(len as u128 * size_of::<T>() as u128)?;
            SvdWorkspace::Approximate { work: cuda.alloc(len.max(1))?, len }
        }
        SvdRoutine::Qr => {
            SvdWorkspace::Qr { work: SolverWorkspace::alloc(cuda, solver.gesvd_workspace(n, &a, &out)?)? }
        }
    };
    let (info, cuda) = (cuda.alloc(1)?, cuda.clone());
    // The routines read intermediate results on the host to decide how to continue.
    let traits = JobTraits { resets: true, synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(traits, LibrarySvd { cuda, solver, method, n, operand, a, out, info }))
}

impl<T: DeviceElement + SolverReal> Job for LibrarySvd<T> {
    fn reset(&mut self) -> Result<(), CellError> {
        self.cuda.copy(&self.operand, &mut self.a)
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.operand)], self.out.memory())
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let LibrarySvd { solver, n, a, out, info, .. } = self;
        match &mut self.method {
            SvdWorkspace::Polar { work } => solver.gesvdp(*n, a, out, work, info),
            SvdWorkspace::Jacobi { jacobi, work } => solver.gesvdj(*n, a, out, (jacobi, work), info),
            SvdWorkspace::Qr { work } => solver.gesvd(*n, a, out, work, info),
            SvdWorkspace::Approximate { work, len } => solver.gesvda(*n, a, out, (work, *len), info),
        }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let right = match self.method {
            SvdWorkspace::Polar { .. } | SvdWorkspace::Jacobi { .. } | SvdWorkspace::Approximate { .. } => {
                Right::Columns
            }
            SvdWorkspace::Qr { .. } => Right::Rows,
        };
        answer(&self.cuda, self.n, &self.info, (&self.out, right))
    }
}
