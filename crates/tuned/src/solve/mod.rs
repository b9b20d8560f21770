//! The op solve by own Cholesky kernels: one system by launches of `kernels/solve/cholesky.cu`, with or without one step of iterative
//! refinement, and many small ones.

mod small;

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_cuda::ffi::device;
use gpubench_cuda::ffi::launch::{Alternating, BLOCK, LaunchShape, Start, allow_shared, fits, read, write};
use gpubench_cuda::ffi::replay::{Launch, Replay};
use gpubench_cuda::ffi::tuning::resident_blocks;
use gpubench_cuda::ops::dense::column;
use gpubench_cuda::ops::solve::{NOT_POSITIVE_DEFINITE, check_info};
use gpubench_cuda::ops::{Kernel, Setup, by_dtype, opt_in, shaped_opt_in};
use gpubench_cuda::{ByType, CellError, Cuda, DeviceElement, Result, Unavailable, kernel_source_by_type};
use gpubench_report::data::Operand;
pub use small::SmallCholesky;

static SOURCE: ByType = kernel_source_by_type!("solve/cholesky", "SOLVE_");
static REFINEMENT: ByType = kernel_source_by_type!("solve/cholesky", "REFINE_");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        shaped_opt_in("solve", "cholesky", "own Cholesky: factorisation and substitution in one launch"),
        &[&SOURCE.f32, &SOURCE.f64, &small::SOURCE.f32, &small::SOURCE.f64],
        by_dtype!(prepare, false),
    ),
    Kernel::own(
        opt_in("solve", "cholesky-refined", "own Cholesky, then one step of iterative refinement"),
        &[&SOURCE.f32, &SOURCE.f64, &REFINEMENT.f32, &REFINEMENT.f64],
        by_dtype!(prepare, true),
    ),
];

/// Rows and columns of a tile.
const TILE: usize = 64;

/// Rows per block of `residual`.
const ROWS_PER_BLOCK: u32 = BLOCK / 32;

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

/// Solutions of `A x = b` for symmetric positive definite matrices A of one size, in one launch, or three with refinement.
pub struct Cholesky<T> {
    cuda: Cuda,
    solve: CudaFunction,
    refinement: Option<Refinement<T>>,
    plan: CholeskyPlan,
    n: i32,
    work: Alternating<Workspace<T>>,
    replay: Replay,
}

impl<T: DeviceElement> Cholesky<T> {
    /// Loads the kernels for `n` unknowns, at least one, and allocates the workspaces, which together are as large as one matrix.
    ///
    /// With `refine`, the residual b - A x is taken in higher precision and its solution added to x: in float64 for float32, in twice
    /// the working precision for float64 (Wilkinson 1963; Higham, "Accuracy and Stability of Numerical Algorithms", chapter 12).
    ///
    /// # Errors
    /// A block has too little shared memory, the device cannot run two blocks at the same time, or matrix and workspaces do not fit
    /// into memory.
    pub fn new(cuda: &Cuda, n: usize, refine: bool) -> Result<Self> {
        let order = i32::try_from(n).ok().filter(|n| *n > 0);
        let order = order.ok_or_else(|| CellError::Failed(format!("a system cannot have {n} unknowns")))?;
        let solve = cooperative::<T>(cuda, &SOURCE, "cholesky")?;
        let plan = CholeskyPlan::new(n, blocks_at_once::<T>(cuda, &solve)?);
        let vectors = 2 + usize::from(refine);
        cuda.reserve((n * n + vectors * n + 2 * plan.workspace()) as u128 * size_of::<T>() as u128)?;
        let refinement = refine.then(|| Refinement::load(cuda, plan, n)).transpose()?;
        let workspace =
            || -> Result<_> { Ok(Workspace { tiles: cuda.alloc(plan.workspace())?, info: cuda.alloc(1)? }) };
        let (work, replay) = (Alternating::new([workspace()?, workspace()?]), Replay::default());
        Ok(Cholesky { cuda: cuda.clone(), solve, refinement, plan, n: order, work, replay })
    }

    /// Enqueues a solution of `A x = b`, of which `a` holds the `n * n` elements, `b` and `x` n each. A and b are not changed.
    ///
    /// # Errors
    /// An array is shorter, or the device fails. [`Cholesky::check`] reports a matrix that is not positive definite.
    pub fn run(&mut self, a: &CudaSlice<T>, b: &CudaSlice<T>, x: &mut CudaSlice<T>) -> Result<()> {
        let n = self.n.unsigned_abs() as usize;
        fits("the matrix", a, n * n)?;
        fits("b", b, n)?;
        fits("x", x, n)?;
        let stream = &self.cuda.stream;
        let [used, other] = self.work.take();
        let work = [&mut used.tiles, &mut other.tiles].map(|tiles| write(stream, tiles));
        let info = [&mut used.info, &mut other.info].map(|info| write(stream, info));
        let CholeskyPlan { grid, chains, .. } = self.plan;
        let (a, b, x) = (read(stream, a), read(stream, b), write(stream, x));
        let arguments = [a, b, x, work[0], work[1], info[0], info[1], self.n.into(), chains.into()];
        let resident =
            |grid| LaunchShape { start: Start::Together, ..LaunchShape::new(grid, BLOCK, shared::<T>()) };
        let solve = Launch::new(&self.solve, resident(grid), arguments);
        let Some(Refinement { residual, correct, grid, r }) = &mut self.refinement else {
            // SAFETY: the entry takes (const T*, const T*, T*, T*, T*, i32*, i32*, i32, i32). A has n * n elements, b and
            // x have n, both workspaces `CholeskyPlan::workspace`, and the one used is zero: it was allocated so, or the launch
            // before cleared it. `new` made the grid no larger than what is resident as a whole.
            return unsafe { self.replay.run(&self.cuda, [solve]) };
        };
        fits("the residual", r, n)?;
        let (r, n) = (write(stream, r), self.n.into());
        let blocks = self.n.unsigned_abs().div_ceil(ROWS_PER_BLOCK);
        let residual = Launch::new(residual, LaunchShape::of_blocks((blocks, 1)), [a, b, x, r, n]);
        let correct = Launch::new(correct, resident(*grid), [work[0], r, x, n]);
        // SAFETY: the first as above. The second takes (const T*, const T*, const T*, T*, i32), where r has n elements.
        // The third takes (T*, const T*, T*, i32); the workspace holds the factor and its last two vectors are zero; its
        // grid is resident as a whole.
        unsafe { self.replay.run(&self.cuda, [solve, residual, correct]) }
    }

    /// Waits for the last solution, and checks that it exists.
    ///
    /// # Errors
    /// The matrix was not positive definite in this arithmetic, or the device fails.
    pub fn check(&self) -> Result<()> {
        let code = self.cuda.download(&self.work.last().info)?;
        check_info(failed_minor(code.first().copied().unwrap_or(0)), NOT_POSITIVE_DEFINITE, T::DTYPE)
    }
}

/// A system on the device, with its solution.
struct CholeskyJob<T> {
    cholesky: Cholesky<T>,
    a: CudaSlice<T>,
    b: CudaSlice<T>,
    x: CudaSlice<T>,
}

fn prepare<T: DeviceElement>(setup: Setup<'_>, refine: bool) -> Result<Box<Prepared>> {
    let cuda = setup.cuda;
    cuda.count_plan();
    if !refine && (setup.case.shape.is_some() || setup.n() <= small::FASTER_UP_TO) {
        return small::prepare::<T>(setup);
    }
    let cholesky = Cholesky::<T>::new(cuda, setup.n(), refine)?;
    let (a, b, x) = (setup.upload::<T>(0)?, setup.upload::<T>(1)?, cuda.alloc(setup.n())?);
    Ok(Prepared::new(CholeskyJob { cholesky, a, b, x }))
}

impl<T: DeviceElement> Job for CholeskyJob<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a), device(&mut self.b)], [device(&mut self.x)])
    }

    fn execute(&mut self) -> Result<()> {
        self.cholesky.run(&self.a, &self.b, &mut self.x)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        self.cholesky.check()?;
        column(&self.cholesky.cuda, 0, &self.x)
    }
}

impl<T: DeviceElement> Refinement<T> {
    fn load(cuda: &Cuda, plan: CholeskyPlan, n: usize) -> Result<Self> {
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
fn cooperative<T: DeviceElement>(cuda: &Cuda, source: &'static ByType, name: &str) -> Result<CudaFunction> {
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
fn blocks_at_once<T: DeviceElement>(cuda: &Cuda, function: &CudaFunction) -> Result<u32> {
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
