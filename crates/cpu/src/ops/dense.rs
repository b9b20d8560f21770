//! Jobs on dense matrices: a kernel computes the results from the operands, on the threads of a pool.

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, JobTraits, Lent, Prepared};
use gpubench_report::data::{Element, Operand};
use ndarray::{ArrayView2, ArrayViewMut2};

use super::variants::{JobRequest, PreparedJob};
use crate::operands::{HostMatrix, Lendable, ShowMemory, memory};
use crate::threads::partition::Partition;
use crate::threads::{CallingThread, ThreadPool};
use crate::{CellError, CellResult};

/// `N` operands of `T`, and results of `R`.
pub(super) struct Matrices<T, R, const N: usize> {
    pub(super) inputs: [HostMatrix<T>; N],
    /// A copy of the first operand, if executions destroy it.
    pub(super) copy: Vec<T>,
    pub(super) results: Vec<HostMatrix<R>>,
}

/// Computes results, and owns the threads, plans and workspaces for it.
pub(super) trait MatrixKernel<T, R, const N: usize> {
    /// Shows the workspace.
    fn show(&self, _show: ShowMemory<'_>) {}

    /// Uses another number of threads for later executions; if that fails, nothing changes.
    fn use_threads(&mut self, threads: usize, matrices: &mut Matrices<T, R, N>) -> CellResult<()> {
        let _ = (threads, matrices);
        Ok(())
    }

    fn wake_threads(&mut self) -> CellResult<()>;

    fn compute(&mut self, matrices: &mut Matrices<T, R, N>) -> CellResult<()>;
}

struct MatrixJob<K, T, R, const N: usize> {
    kernel: K,
    matrices: Matrices<T, R, N>,
    /// Restores what executions destroy.
    restore: Option<fn(&mut Matrices<T, R, N>)>,
    /// The error of the number of threads last asked for.
    problem: Option<CellError>,
}

/// Prepares a job that can choose among `thread_choices`, none if there is no choice.
pub(super) fn prepared<T: Element, R: Element, const N: usize>(
    matrices: Matrices<T, R, N>,
    kernel: impl MatrixKernel<T, R, N> + 'static,
    thread_choices: Vec<usize>,
    restore: Option<fn(&mut Matrices<T, R, N>)>,
) -> PreparedJob {
    let traits = JobTraits { resets: restore.is_some(), thread_choices, ..JobTraits::default() };
    Ok(Prepared::with(traits, MatrixJob { kernel, matrices, restore, problem: None }))
}

impl<T: Element, R: Element, K: MatrixKernel<T, R, N>, const N: usize> Job for MatrixJob<K, T, R, N> {
    fn reset(&mut self) -> CellResult<()> {
        self.restore.into_iter().for_each(|restore| restore(&mut self.matrices));
        Ok(())
    }

    fn use_threads(&mut self, threads: usize) {
        self.problem = self.kernel.use_threads(threads, &mut self.matrices).err();
    }

    fn buffers(&self, show: ShowMemory<'_>) {
        let Matrices { inputs, copy, results } = &self.matrices;
        inputs.iter().for_each(|input| show(memory(input)));
        show(memory(copy));
        results.iter().for_each(|result| show(memory(result)));
        self.kernel.show(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        let Matrices { inputs, results, .. } = &mut self.matrices;
        // A job that restores a second operand does so in its result.
        let in_place = self.restore.is_some() && N > 1;
        let answer = results.iter_mut().map(|result| host(result)).collect();
        Contents { answer, in_place, ..Contents::new(inputs.each_mut().map(|input| host(input)), []) }
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        self.kernel.wake_threads()
    }

    fn execute(&mut self) -> CellResult<()> {
        match &self.problem {
            Some(problem) => Err(problem.clone()),
            None => self.kernel.compute(&mut self.matrices),
        }
    }

    fn answer(&mut self) -> CellResult<Vec<Operand>> {
        Ok(self.matrices.results.iter().map(HostMatrix::copied).collect())
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> CellResult<()> {
        let Matrices { inputs, results, .. } = &mut self.matrices;
        let operands = inputs.each_mut().map(|input| input as &mut dyn Lendable);
        crate::operands::lend(operands, results.iter_mut().map(|result| result as _).collect(), to)
    }
}

/// Memory that a kernel works in, next to operands and results.
pub(super) trait KernelWorkspace {
    fn show(&self, show: ShowMemory<'_>);
}

impl KernelWorkspace for () {
    fn show(&self, _: ShowMemory<'_>) {}
}

impl<T: Copy> KernelWorkspace for Vec<T> {
    fn show(&self, show: ShowMemory<'_>) {
        show(memory(self));
    }
}

impl<W: KernelWorkspace> KernelWorkspace for [W; 2] {
    fn show(&self, show: ShowMemory<'_>) {
        self.iter().for_each(|part| part.show(show));
    }
}

impl KernelWorkspace for faer::dyn_stack::MemBuffer {
    fn show(&self, show: ShowMemory<'_>) {
        show(self);
    }
}

/// A function that computes in a workspace on a pool of threads.
pub(super) struct PooledKernel<C, W, F> {
    pub(super) pool: C,
    pub(super) workspace: W,
    pub(super) compute: F,
}

impl<T, R, C, W, F, const N: usize> MatrixKernel<T, R, N> for PooledKernel<C, W, F>
where
    C: ThreadPool,
    W: KernelWorkspace,
    F: Fn(&C, &mut W, &mut Matrices<T, R, N>) -> CellResult<()>,
{
    fn show(&self, show: ShowMemory<'_>) {
        self.workspace.show(show);
    }

    fn use_threads(&mut self, threads: usize, _: &mut Matrices<T, R, N>) -> CellResult<()> {
        self.pool.choose(threads);
        Ok(())
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        self.pool.wake_threads()
    }

    fn compute(&mut self, matrices: &mut Matrices<T, R, N>) -> CellResult<()> {
        (self.compute)(&self.pool, &mut self.workspace, matrices)
    }
}

/// Prepares a job that computes on a pool of threads, with the choices of the pool.
pub(super) fn on_pool<T: Element, R: Element, C, W, const N: usize>(
    matrices: Matrices<T, R, N>,
    pool: C,
    workspace: W,
    restore: Option<fn(&mut Matrices<T, R, N>)>,
    compute: impl Fn(&C, &mut W, &mut Matrices<T, R, N>) -> CellResult<()> + 'static,
) -> PreparedJob
where
    C: ThreadPool + 'static,
    W: KernelWorkspace + 'static,
{
    let choices = pool.choices();
    prepared(matrices, PooledKernel { pool, workspace, compute }, choices, restore)
}

/// Takes the operands of a case, and fills a result of the shape of the first with one value, so that its pages exist.
pub(super) fn like_first<T: Element, const N: usize>(
    request: &mut JobRequest<'_>,
    fill: T,
) -> CellResult<Matrices<T, T, N>> {
    let inputs: [HostMatrix<T>; N] = request.operands()?;
    let [rows, cols] = inputs.first().map_or([0; 2], HostMatrix::shape);
    Ok(Matrices { inputs, copy: vec![], results: vec![HostMatrix::new(rows, cols, vec![fill; rows * cols])] })
}

/// Returns a square matrix as ndarray shows it.
pub(super) fn view<T>(matrix: &[T]) -> CellResult<ArrayView2<'_, T>> {
    let n = matrix.len().isqrt();
    ArrayView2::from_shape((n, n), matrix).map_err(|error| CellError::call("ndarray", error))
}

/// Returns a square matrix as ndarray shows it, to be written.
pub(super) fn view_mut<T>(matrix: &mut [T]) -> CellResult<ArrayViewMut2<'_, T>> {
    let n = matrix.len().isqrt();
    ArrayViewMut2::from_shape((n, n), matrix).map_err(|error| CellError::call("ndarray", error))
}

/// Computes a square result from operands.
type SquareFunction<T, const N: usize> = fn(&[HostMatrix<T>; N], &mut HostMatrix<T>) -> CellResult<()>;

/// Prepares a job that computes its square result on the calling thread.
pub(super) fn on_one_thread<T: Element, const N: usize>(
    mut request: JobRequest<'_>,
    compute: SquareFunction<T, N>,
) -> PreparedJob {
    let matrices = like_first(&mut request, T::default())?;
    on_pool(matrices, CallingThread, (), None, move |_, (), Matrices { inputs, results, .. }| {
        compute(inputs, &mut results[0])
    })
}

/// Prepares a job on at most `threads` threads: `compute` writes a part of the result from the same parts of the
/// operands.
pub(super) fn partitioned<T: Element, const N: usize>(
    mut request: JobRequest<'_>,
    threads: usize,
    compute: impl Fn([&[T]; N], &mut [T]) + Sync + 'static,
) -> PreparedJob {
    let matrices = like_first::<T, N>(&mut request, T::default())?;
    let pool = Partition::of(matrices.results[0].len(), threads);
    on_pool(matrices, pool, (), None, move |pool, (), Matrices { inputs, results, .. }| {
        let inputs = inputs.each_ref().map(|input| &input[..]);
        pool.run(&mut results[0], |part, result| compute(inputs.map(|input| &input[part.clone()]), result));
        Ok(())
    })
}
