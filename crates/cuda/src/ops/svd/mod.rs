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
use gpubench_model::case::{Case, DType};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::{Kernel, by_dtype, input, opt_in, single, variant};
use crate::context::{Cuda, Element, Library};
use crate::ffi::contents::device;
use crate::ffi::cusolver::{ApproximateReal, Jacobi, JacobiReal, Solver, Vectors, Workspace};
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
            DType::F64 => svd::<f64>(cuda, case, inputs, Routine::Polar),
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
            &on_chip::SOURCES[0],
            &on_chip::SOURCES[1],
            &on_chip::SOURCES[2],
            &on_chip::SOURCES[3],
            &on_chip::SOURCES[4],
            &on_chip::SOURCES[5],
            &panels::SOURCE,
            &eigen::SOURCE,
            &CONVERT,
        ],
        libraries: &[Library::Cusolver, Library::Cublas],
        prepare: by_dtype!(by_gram),
    },
    Kernel {
        variant: opt_in("svd", "jacobi", "own kernel: one-sided Jacobi rotations in one launch, N <= 32"),
        sources: &[&jacobi::SOURCE.f32, &jacobi::SOURCE.f64],
        libraries: &[],
        prepare: by_dtype!(by_rotations),
    },
    Kernel {
        variant: variant("svd", "gesvdj", "cuSOLVER Jacobi, tolerance epsilon, at most 100 sweeps"),
        sources: &[],
        libraries: &[Library::Cusolver],
        prepare: by_dtype!(svd, Routine::Jacobi),
    },
    Kernel {
        variant: variant("svd", "gesvd", "cuSOLVER bidiagonalisation and QR iteration"),
        sources: &[],
        libraries: &[Library::Cusolver],
        prepare: by_dtype!(svd, Routine::Qr),
    },
    Kernel {
        variant: single("svd", "gesvda", "cuSOLVER's approximate decomposition by eigenvectors of AᵀA"),
        sources: &[],
        libraries: &[Library::Cusolver],
        prepare: by_dtype!(svd, Routine::Approximate),
    },
];

/// A routine of cuSOLVER.
enum Routine {
    Polar,
    Jacobi,
    Qr,
    Approximate,
}

/// A routine with its workspace.
enum Method<T> {
    Polar { work: Workspace },
    Jacobi { jacobi: Jacobi, work: CudaSlice<T> },
    Qr { work: Workspace },
    Approximate { work: CudaSlice<T>, len: usize },
}

struct Svd<T> {
    cuda: Cuda,
    solver: Solver,
    method: Method<T>,
    n: usize,
    /// The original operand, because a decomposition overwrites its own.
    operand: CudaSlice<T>,
    a: CudaSlice<T>,
    out: Vectors<T>,
    info: CudaSlice<i32>,
}

fn svd<T: Element + JacobiReal + ApproximateReal>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    routine: Routine,
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
        Routine::Polar => {
            Method::Polar { work: Workspace::alloc(cuda, solver.gesvdp_workspace(n, &a, &out)?)? }
        }
        Routine::Jacobi => {
            let mut jacobi = Jacobi::new::<T>()?;
            let len = jacobi.workspace_len(&solver, n, &a, &out)?;
            cuda.reserve(len as u128 * size_of::<T>() as u128)?;
            Method::Jacobi { jacobi, work: cuda.alloc(len)? }
        }
        Routine::Approximate => {
            let len = solver.gesvda_workspace(n, &a, &out)?;
            cuda.reserve(len as u128 * size_of::<T>() as u128)?;
            Method::Approximate { work: cuda.alloc(len.max(1))?, len }
        }
        Routine::Qr => Method::Qr { work: Workspace::alloc(cuda, solver.gesvd_workspace(n, &a, &out)?)? },
    };
    let (info, cuda) = (cuda.alloc(1)?, cuda.clone());
    // The routines read intermediate results on the host to decide how to continue.
    let traits = JobTraits { resets: true, synchronises: true, ..JobTraits::default() };
    Ok(Prepared::with(traits, Svd { cuda, solver, method, n, operand, a, out, info }))
}

impl<T: Element + JacobiReal + ApproximateReal> Job for Svd<T> {
    fn reset(&mut self) -> Result<(), CellError> {
        self.cuda.copy(&self.operand, &mut self.a)
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.operand)], self.out.memory())
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let Svd { solver, n, a, out, info, .. } = self;
        match &mut self.method {
            Method::Polar { work } => solver.gesvdp(*n, a, out, work, info),
            Method::Jacobi { jacobi, work } => solver.gesvdj(*n, a, out, (jacobi, work), info),
            Method::Qr { work } => solver.gesvd(*n, a, out, work, info),
            Method::Approximate { work, len } => solver.gesvda(*n, a, out, (work, *len), info),
        }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let right = match self.method {
            Method::Polar { .. } | Method::Jacobi { .. } | Method::Approximate { .. } => Right::Columns,
            Method::Qr { .. } => Right::Rows,
        };
        answer(&self.cuda, self.n, &self.info, (&self.out, right))
    }
}
