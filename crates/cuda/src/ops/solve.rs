//! The op solve by cuSOLVER: A x = b for symmetric positive definite A, by Cholesky or LU factorisation and triangular solves.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::case::DType;
use gpubench_report::data::Operand;
use gpubench_report::shape::{BATCH, RHS};

use super::dense::by_columns;
use super::{batched, by_type, shaped_of_types};
use crate::ffi::cusolver::{Solution, SolutionRoutine, Solver, Systems, cholesky, cholesky_batched, lu};
use crate::ffi::device;
use crate::{CellError, Cuda, DeviceValue, Kernel, Library, Result, Setup, by_dtype, opt_in};

pub(super) static KERNELS: &[Kernel] = &[
    Kernel::by_library(
        shaped_of_types(
            "solve",
            "potrf",
            "cuSOLVER Cholesky factorisation and solve",
            DType::REAL_AND_COMPLEX,
        ),
        &[Library::Cusolver],
        by_type!(one_by_one),
    ),
    Kernel::by_library(
        batched(
            "solve",
            "potrf-batched",
            "cuSOLVER Cholesky factorisation and solve of a batch in one call each (cuBLAS trsm for several right-hand sides)",
            DType::REAL_AND_COMPLEX,
        ),
        &[Library::Cusolver],
        by_type!(as_batch),
    ),
    Kernel::by_library(
        opt_in("solve", "getrf", "cuSOLVER LU factorisation and solve, as in a general solver"),
        &[Library::Cusolver],
        by_dtype!(by_lu),
    ),
];

/// The words before the order of the leading minor in the error of [`check_info`].
pub const NOT_POSITIVE_DEFINITE: &str = "not positive definite in this arithmetic: leading minor";

/// The words before the number of the pivot in the error of [`check_info`].
const SINGULAR: &str = "singular in this arithmetic: pivot";

fn one_by_one<T: DeviceValue>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    prepare::<T>(setup, cholesky::<T>, NOT_POSITIVE_DEFINITE)
}

fn as_batch<T: DeviceValue>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    prepare::<T>(setup, cholesky_batched::<T>, NOT_POSITIVE_DEFINITE)
}

fn by_lu<T: DeviceValue>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    prepare::<T>(setup, lu::<T>, SINGULAR)
}

struct LibrarySolve<T: DeviceValue> {
    solve: Solution<T>,
    cuda: Cuda,
    systems: Systems,
    /// The original operands, because a solve overwrites its own; right-hand sides column after column.
    operands: (CudaSlice<T::Stored>, CudaSlice<T::Stored>),
    /// A, then its factors.
    a: CudaSlice<T::Stored>,
    /// b, then x.
    x: CudaSlice<T::Stored>,
    /// Whether the factorisation and the solution succeeded.
    infos: [CudaSlice<i32>; 2],
    /// What the matrix is if the factorisation fails.
    flaw: &'static str,
}

/// Makes a job for one case. A is symmetric, so its rows are its columns and no transposition is needed; a Hermitian one is conjugated.
fn prepare<T: DeviceValue>(
    setup: Setup<'_>,
    routine: SolutionRoutine<T>,
    flaw: &'static str,
) -> Result<Box<Prepared>> {
    let (cuda, [side, columns, count]) = (setup.cuda, setup.case.extents(["n", RHS, BATCH]));
    let systems = Systems { side, columns, count, parts: T::PARTS };
    cuda.require(Library::Cusolver)?;
    let [of_a, of_b] = systems.lens().map(|len| len * count);
    cuda.reserve(2 * ((of_a + of_b) * size_of::<T::Stored>() + count * size_of::<i32>()) as u128)?;
    let b = setup.input::<T>(1)?;
    let a = match T::DTYPE.is_complex() {
        true => {
            let conjugated: Vec<T> = setup.input::<T>(0)?.iter().map(|entry| entry.conjugate()).collect();
            cuda.upload(T::stored(&conjugated))?
        }
        false => setup.upload::<T>(0)?,
    };
    let operands = (a, cuda.upload(T::stored(&by_columns(b, side, columns)))?);
    let (a, x) = (cuda.alloc(of_a)?, cuda.alloc(of_b)?);
    cuda.count_plan();
    let solve = routine(cuda, Solver::new(&cuda.stream)?, systems, [&a, &x])?;
    let infos = [cuda.alloc(count)?, cuda.alloc(count)?];
    let traits = JobTraits { resets: true, ..JobTraits::default() };
    let cuda = cuda.clone();
    Ok(Prepared::with(traits, LibrarySolve::<T> { solve, cuda, systems, operands, a, x, infos, flaw }))
}

impl<T: DeviceValue> Job for LibrarySolve<T> {
    fn reset(&mut self) -> Result<()> {
        self.cuda.copy(&self.operands.0, &mut self.a)?;
        self.cuda.copy(&self.operands.1, &mut self.x)
    }

    fn contents(&mut self) -> Contents<'_> {
        let (a, b) = (device(&mut self.operands.0), device(&mut self.operands.1));
        Contents { in_place: true, ..Contents::new([a, b], [device(&mut self.x)]) }
    }

    fn execute(&mut self) -> Result<()> {
        (self.solve)(&mut self.a, &mut self.x, self.infos.each_mut())
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        let [factor, solve] = self.infos.each_ref().map(|info| self.cuda.download(info));
        factor?.into_iter().try_for_each(|info| check_info(info, self.flaw, T::DTYPE))?;
        solve?.into_iter().try_for_each(|info| check_info(info, "rejected by the solve: step", T::DTYPE))?;
        let Systems { side, columns, count, .. } = self.systems;
        let x = by_columns(&T::restored(self.cuda.download(&self.x)?), columns, side);
        Ok(vec![Operand::dense(count * side, columns, x)])
    }
}

/// Converts a factorisation's `info`: 0 is success, a positive value the leading minor or pivot that failed.
///
/// # Errors
/// `info` is not 0.
pub fn check_info(info: i32, positive: &str, dtype: DType) -> Result<()> {
    let next =
        if dtype.working() == DType::F32 { "; try float64" } else { "; scale it, or shift its diagonal" };
    match info {
        0 => Ok(()),
        1.. => Err(CellError::Failed(format!("the matrix is {positive} {info}{next}"))),
        _ => Err(CellError::Failed(format!(
            "cuSOLVER rejected argument {}; please report this bug",
            info.unsigned_abs()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_is_converted_to_words() {
        check_info(0, "singular", DType::F32).unwrap();
        let text =
            |dtype| check_info(3, "not positive definite: leading minor", dtype).unwrap_err().to_string();
        assert_eq!(text(DType::F32), "the matrix is not positive definite: leading minor 3; try float64");
        assert!(text(DType::F64).ends_with("leading minor 3; scale it, or shift its diagonal"));
        assert!(check_info(-2, "", DType::F32).unwrap_err().to_string().contains("argument 2"));
    }
}
