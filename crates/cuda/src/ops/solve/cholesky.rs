//! The op solve by an own Cholesky kernel, with or without one step of iterative refinement: launches of
//! `kernels/solve/cholesky.cu`.

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::Operand;
use gpubench_report::error::{CellError, Unavailable};

use super::{NOT_POSITIVE_DEFINITE, check_info};
use crate::context::{Cuda, DeviceElement};
use crate::ffi::contents::device;
use crate::ffi::launch::{Alternating, BLOCK, LaunchShape, Start, allow_shared, fits, read, write};
use crate::ffi::replay::{Launch, Replay};
use crate::ffi::tuning::resident_blocks;
use crate::kernels::{ByType, kernel_source_by_type};
use crate::ops::input;

pub(super) static SOURCE: ByType = kernel_source_by_type!("solve/cholesky", "SOLVE_");
pub(super) static REFINEMENT: ByType = kernel_source_by_type!("solve/cholesky", "REFINE_");

/// Rows and columns of a tile.
const TILE: usize = 64;

/// Rows per block of `residual`.
const ROWS_PER_BLOCK: u32 = BLOCK / 32;

/// Makes a job for one case.
///
/// The refined solution takes the residual b - A x in higher precision: float64 for float32, twice the working
/// precision for float64 (Wilkinson 1963; Higham, "Accuracy and Stability of Numerical Algorithms", chapter 12).
pub(super) fn prepare<T: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    refine: bool,
) -> Result<Box<Prepared>, CellError> {
    cuda.count_plan();
    let operands = (input::<T>(inputs, 0)?, input::<T>(inputs, 1)?);
    Ok(Prepared::new(Cholesky::load(cuda, case.side(), operands, refine)?))
}

/// The distribution of a matrix's tiles over blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CholeskyPlan {
    /// Tiles per row of tiles.
    tiles: usize,
    /// Blocks that process the diagonal tiles.
    chains: u32,
    /// All blocks.
    grid: u32,
}

impl CholeskyPlan {
    /// Makes the plan for a matrix of size `n` on `blocks` blocks, at least two, that can wait for each other. At
    /// most a quarter of them process the diagonal, because the tiles below it are most of the work.
    fn new(n: usize, blocks: u32) -> CholeskyPlan {
        let tiles = n.div_ceil(TILE);
        let at_most = |count: usize, limit: u32| u32::try_from(count).unwrap_or(limit).min(limit);
        let chains = at_most(tiles, (blocks / 4).max(1));
        let below = tiles.saturating_sub(1) * tiles.saturating_sub(2) / 2 + tiles;
        CholeskyPlan { tiles, chains, grid: chains + at_most(below, blocks - chains) }
    }

    /// Elements of a workspace: the tiles of L and those of the right-hand side, then three vectors.
    fn workspace(&self) -> usize {
        (self.tiles * (self.tiles + 1) / 2 + self.tiles) * TILE * TILE + 3 * self.tiles * TILE
    }
}

/// Returns the bytes of shared memory per block: three tiles.
fn shared<T>() -> u32 {
    (3 * TILE * TILE * size_of::<T>()) as u32
}

/// One step of iterative refinement: the residual in higher precision, and the correction.
struct Refinement<T> {
    residual: CudaFunction,
    correct: CudaFunction,
    /// Blocks of `correct`.
    grid: u32,
    r: CudaSlice<T>,
}

/// What a solve computes on the way.
struct Workspace<T> {
    /// The tiles of the factor and vectors, `CholeskyPlan::workspace` elements.
    tiles: CudaSlice<T>,
    /// The failure code.
    info: CudaSlice<i32>,
}

/// A symmetric positive definite system, resident, and the launches that solve it.
struct Cholesky<T> {
    cuda: Cuda,
    solve: CudaFunction,
    refinement: Option<Refinement<T>>,
    plan: CholeskyPlan,
    n: i32,
    a: CudaSlice<T>,
    b: CudaSlice<T>,
    x: CudaSlice<T>,
    work: Alternating<Workspace<T>>,
    replay: Replay,
}

impl<T: DeviceElement> Cholesky<T> {
    /// Uploads `a`, of `n * n` elements with n at least one, and `b`, of n elements, and allocates the workspaces,
    /// which together are as large as one matrix.
    ///
    /// # Errors
    /// A block has too little shared memory, the device cannot run two blocks at the same time, the operands have
    /// other lengths, or they do not fit into memory.
    fn load(cuda: &Cuda, n: usize, (a, b): (&[T], &[T]), refine: bool) -> Result<Self, CellError> {
        let order = i32::try_from(n).ok().filter(|n| *n > 0 && a.len() as u128 == (*n as u128).pow(2));
        let Some(order) = order.filter(|_| b.len() == n) else {
            let lengths = format!("{} and {}", a.len(), b.len());
            return Err(CellError::Failed(format!(
                "a system of {n} unknowns cannot have operands of {lengths} elements"
            )));
        };
        let solve = cooperative::<T>(cuda, &SOURCE, "cholesky")?;
        let plan = CholeskyPlan::new(n, blocks_at_once::<T>(cuda, &solve)?);
        let vectors = 2 + usize::from(refine);
        cuda.reserve((a.len() + vectors * n + 2 * plan.workspace()) as u128 * size_of::<T>() as u128)?;
        let refinement = refine.then(|| Refinement::load(cuda, plan, n)).transpose()?;
        let workspace = || -> Result<_, CellError> {
            Ok(Workspace { tiles: cuda.alloc(plan.workspace())?, info: cuda.alloc(1)? })
        };
        Ok(Cholesky {
            cuda: cuda.clone(),
            solve,
            refinement,
            plan,
            n: order,
            a: cuda.upload(a)?,
            b: cuda.upload(b)?,
            x: cuda.alloc(n)?,
            work: Alternating::new([workspace()?, workspace()?]),
            replay: Replay::default(),
        })
    }
}

impl<T: DeviceElement> Job for Cholesky<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a), device(&mut self.b)], [device(&mut self.x)])
    }

    /// Enqueues a solve, and its refinement if enabled. A and b are not changed.
    fn execute(&mut self) -> Result<(), CellError> {
        let stream = &self.cuda.stream;
        let [used, other] = self.work.take();
        let work = [&mut used.tiles, &mut other.tiles].map(|tiles| write(stream, tiles));
        let info = [&mut used.info, &mut other.info].map(|info| write(stream, info));
        let CholeskyPlan { grid, chains, .. } = self.plan;
        let (a, b, x) = (read(stream, &self.a), read(stream, &self.b), write(stream, &mut self.x));
        let arguments = [a, b, x, work[0], work[1], info[0], info[1], self.n.into(), chains.into()];
        let resident = |grid| LaunchShape {
            grid: (grid, 1),
            threads: BLOCK,
            shared: shared::<T>(),
            start: Start::Together,
        };
        let solve = Launch::new(&self.solve, resident(grid), arguments);
        let Some(Refinement { residual, correct, grid, r }) = &mut self.refinement else {
            // SAFETY: the entry takes (const T*, const T*, T*, T*, T*, i32*, i32*, i32, i32). A has n * n elements, b and
            // x have n, both workspaces `CholeskyPlan::workspace`, and the one used is zero: it was allocated so, or the launch
            // before cleared it. `load` made the grid no larger than what is resident as a whole.
            return unsafe { self.replay.run(&self.cuda, [solve]) };
        };
        fits("the residual", r, self.b.len())?;
        let (r, n) = (write(stream, r), self.n.into());
        let blocks = self.n.unsigned_abs().div_ceil(ROWS_PER_BLOCK);
        let residual = Launch::new(residual, LaunchShape::of_blocks((blocks, 1)), [a, b, x, r, n]);
        let correct = Launch::new(correct, resident(*grid), [work[0], r, x, n]);
        // SAFETY: the first as above. The second takes (const T*, const T*, const T*, T*, i32), where r has n elements.
        // The third takes (T*, const T*, T*, i32); the workspace holds the factor and its last two vectors are zero; its
        // grid is resident as a whole.
        unsafe { self.replay.run(&self.cuda, [solve, residual, correct]) }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let code = self.cuda.download(&self.work.last().info)?;
        check_info(failed_minor(code.first().copied().unwrap_or(0)), NOT_POSITIVE_DEFINITE, T::DTYPE)?;
        let x = self.cuda.download(&self.x)?;
        Ok(vec![Operand::dense(x.len(), 1, x)])
    }
}

impl<T: DeviceElement> Refinement<T> {
    fn load(cuda: &Cuda, plan: CholeskyPlan, n: usize) -> Result<Self, CellError> {
        let correct = cooperative::<T>(cuda, &REFINEMENT, "correct")?;
        let blocks = blocks_at_once::<T>(cuda, &correct)?;
        Ok(Refinement {
            residual: cuda.function(REFINEMENT.of(T::DTYPE), &format!("residual_{}", T::DTYPE))?,
            grid: u32::try_from(plan.tiles).unwrap_or(blocks).min(blocks),
            correct,
            r: cuda.alloc(n)?,
        })
    }
}

/// Loads the entry of that name for T and allows its blocks the shared memory that they need.
fn cooperative<T: DeviceElement>(
    cuda: &Cuda,
    source: &'static ByType,
    name: &str,
) -> Result<CudaFunction, CellError> {
    let (needed, there) = (shared::<T>() >> 10, cuda.shared_memory_per_block() >> 10);
    if needed > there {
        let reason = format!(
            "the kernel needs {needed} KiB of shared memory per block in {}; the device has {there} KiB",
            T::DTYPE
        );
        return Err(Unavailable::new(reason, "use cuSOLVER's Cholesky: --variants potrf").into());
    }
    let function = cuda.function(source.of(T::DTYPE), &format!("{name}_{}", T::DTYPE))?;
    allow_shared(&function, shared::<T>())?;
    Ok(function)
}

/// Returns the number of blocks that can wait for each other, one per multiprocessor, so that diagonal blocks share
/// none.
fn blocks_at_once<T: DeviceElement>(cuda: &Cuda, function: &CudaFunction) -> Result<u32, CellError> {
    let resident = resident_blocks(cuda, function, BLOCK, shared::<T>())?;
    if resident < 2 {
        let reason = "the device cannot run two blocks of the kernel at the same time";
        return Err(Unavailable::new(reason, "use cuSOLVER's Cholesky: --variants potrf").into());
    }
    Ok(resident.min(cuda.multiprocessors().max(2)))
}

/// Converts the kernel's failure code, which is larger for earlier columns and 0 without a failure.
fn failed_minor(code: i32) -> i32 {
    if code == 0 { 0 } else { i32::MAX - code + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_shared_out_among_no_more_blocks_than_there_are() {
        assert_eq!(CholeskyPlan::new(1, 132), CholeskyPlan { tiles: 1, chains: 1, grid: 2 });
        assert_eq!(CholeskyPlan::new(64, 2), CholeskyPlan { tiles: 1, chains: 1, grid: 2 });
        assert_eq!(CholeskyPlan::new(65, 132), CholeskyPlan { tiles: 2, chains: 2, grid: 4 });
        assert_eq!(CholeskyPlan::new(512, 132), CholeskyPlan { tiles: 8, chains: 8, grid: 37 });
        assert_eq!(CholeskyPlan::new(2048, 132), CholeskyPlan { tiles: 32, chains: 32, grid: 132 });
        for (n, blocks) in [(1, 2), (100, 2), (100, 3), (4096, 40), (100_000, 132)] {
            let CholeskyPlan { chains, grid, .. } = CholeskyPlan::new(n, blocks);
            assert!(chains >= 1 && grid > chains && grid <= blocks, "{n} {blocks}");
        }
    }

    #[test]
    fn a_workspace_holds_a_triangle_of_tiles_the_right_hand_side_and_three_vectors() {
        assert_eq!(CholeskyPlan::new(64, 132).workspace(), 2 * 4096 + 3 * 64);
        assert_eq!(CholeskyPlan::new(100, 132).workspace(), 5 * 4096 + 6 * 64);
    }

    #[test]
    fn the_earliest_failure_is_reported() {
        assert_eq!(failed_minor(0), 0);
        assert_eq!(failed_minor(i32::MAX), 1);
        assert_eq!(failed_minor(i32::MAX - 41), 42);
    }
}
