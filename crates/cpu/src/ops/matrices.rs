//! Jobs that compute one square matrix from others, element by element or as a whole.

use std::mem::MaybeUninit;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Lent, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;
use ndarray::Array2;

use crate::operands::memory;
use crate::threads::partition::Partition;
use crate::threads::{PooledJob, PooledKernel};

/// `N` operands and a result, all row-major n x n.
pub(super) struct Matrices<T, const N: usize> {
    pub(super) inputs: [Array2<T>; N],
    pub(super) result: Array2<T>,
}

impl<T: Real, const N: usize> Matrices<T, N> {
    /// Takes the operands of a case, and fills a result with one value, so that its pages exist.
    pub(super) fn new(case: &Case, inputs: &mut [Operand], fill: T) -> Result<Self, CellError> {
        let found = inputs.len();
        let arrays = inputs.iter_mut().map(|operand| array(operand.take()));
        let arrays: Vec<Array2<T>> = arrays.collect::<Result<_, _>>()?;
        let wrong = |_| CellError::Failed(format!("{} got {found} operands, not {N}", case.op));
        let inputs = arrays.try_into().map_err(wrong)?;
        Ok(Matrices { inputs, result: Array2::from_elem((case.side(), case.side()), fill) })
    }

    /// Returns the elements of the operands and of the result.
    pub(super) fn slices(&mut self) -> ([&[T]; N], &mut [T]) {
        (self.inputs.each_ref().map(slice), slice_mut(&mut self.result))
    }
}

/// Moves a dense operand into an ndarray matrix.
fn array<T: Real>(operand: Operand) -> Result<Array2<T>, CellError> {
    let shape = (operand.as_dense()?.rows, operand.as_dense()?.cols);
    Array2::from_shape_vec(shape, operand.into_dense()?)
        .map_err(|error| CellError::call("ndarray::Array2::from_shape_vec", error))
}

/// Moves an ndarray matrix into an operand.
fn operand<T: Real>(array: &mut Array2<T>) -> Operand {
    let (rows, cols) = array.dim();
    Operand::dense(rows, cols, std::mem::take(array).into_raw_vec_and_offset().0)
}

/// Returns the elements of an array; all arrays here are row-major.
fn slice<T>(array: &Array2<T>) -> &[T] {
    array.as_slice().unwrap_or_default()
}

fn slice_mut<T>(array: &mut Array2<T>) -> &mut [T] {
    array.as_slice_mut().unwrap_or_default()
}

/// A function that computes the result from the operands, and the thread pool `C` that runs it.
pub(super) struct MatrixKernel<T, const N: usize, F> {
    pub(super) matrices: Matrices<T, N>,
    pub(super) compute: F,
}

impl<T, C, F, const N: usize> PooledKernel<C> for MatrixKernel<T, N, F>
where
    T: Real,
    F: Fn(&C, &mut Matrices<T, N>) -> Result<(), CellError>,
{
    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        let Matrices { inputs, result } = &self.matrices;
        inputs.iter().chain([result]).map(|array| memory(slice(array))).for_each(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        let Matrices { inputs, result } = &mut self.matrices;
        Contents::new(inputs.each_mut().map(|array| host(slice_mut(array))), [host(slice_mut(result))])
    }

    fn execute(&mut self, pool: &C) -> Result<(), CellError> {
        (self.compute)(pool, &mut self.matrices)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let result = &self.matrices.result;
        Ok(vec![Operand::dense(result.nrows(), result.ncols(), slice(result).to_vec())])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let Matrices { inputs, result } = &mut self.matrices;
        let (operands, answer) = (inputs.each_mut().map(operand), operand(result));
        to(Lent { operands: Some(&operands), answer: std::slice::from_ref(&answer) });
        *result = array(answer)?;
        for (input, operand) in inputs.iter_mut().zip(operands) {
            *input = array(operand)?;
        }
        Ok(())
    }
}

/// Prepares a job that runs on the calling thread.
pub(super) fn on_one_thread<T: Real, const N: usize>(
    case: &Case,
    inputs: &mut [Operand],
    evaluate: fn(&[Array2<T>; N], &mut Array2<T>),
) -> Result<Box<Prepared>, CellError> {
    let matrices = Matrices::new(case, inputs, T::default())?;
    let compute = move |_: &Partition, Matrices { inputs, result }: &mut Matrices<T, N>| {
        evaluate(inputs, result);
        Ok(())
    };
    let pool = Partition::of(matrices.result.len(), 1);
    Ok(Prepared::new(PooledJob { kernel: MatrixKernel { matrices, compute }, pool }))
}

/// Prepares a job that runs on all threads of the pool if the result is large enough.
pub(super) fn on_pool<T: Real, const N: usize>(
    matrices: Matrices<T, N>,
    evaluate: fn(&Partition, [&[T]; N], &mut [T]),
) -> Box<Prepared> {
    let pool = Partition::of(matrices.result.len(), rayon::current_num_threads());
    let compute = move |partition: &Partition, matrices: &mut Matrices<T, N>| {
        let (inputs, result) = matrices.slices();
        evaluate(partition, inputs, result);
        Ok(())
    };
    Prepared::new(PooledJob { kernel: MatrixKernel { matrices, compute }, pool })
}

/// Prepares a job on at most `threads` threads: `compute` writes a part of the result from the same parts of the
/// operands.
pub(super) fn partitioned<T: Real, const N: usize>(
    case: &Case,
    inputs: &mut [Operand],
    threads: usize,
    compute: impl Fn([&[T]; N], &mut [T]) + Sync + 'static,
) -> Result<Box<Prepared>, CellError> {
    let matrices = Matrices::new(case, inputs, T::default())?;
    let pool = Partition::of(matrices.result.len(), threads);
    let compute = move |partition: &Partition, matrices: &mut Matrices<T, N>| {
        let (inputs, result) = matrices.slices();
        partition.run(result, |part, result| compute(inputs.map(|input| &input[part.clone()]), result));
        Ok(())
    };
    Ok(PooledJob::prepared(MatrixKernel { matrices, compute }, pool))
}
