//! Jobs on square matrices, computed element by element or as a whole, with their operands and result.

use std::mem::MaybeUninit;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, JobTraits, Lent, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;
use ndarray::Array2;

use crate::memory::memory;
use crate::threads::partition::{Partition, SERIAL};
use crate::threads::wake;

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

    pub(super) fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.inputs.iter().chain([&self.result]).map(|array| memory(slice(array))).for_each(show);
    }

    pub(super) fn contents(&mut self) -> Contents<'_> {
        let operands = self.inputs.each_mut().map(|array| host(slice_mut(array)));
        Contents::new(operands, [host(slice_mut(&mut self.result))])
    }

    pub(super) fn answer(&self) -> Vec<Operand> {
        vec![Operand::dense(self.result.nrows(), self.result.ncols(), slice(&self.result).to_vec())]
    }

    /// Lends the operands and the result.
    pub(super) fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let (operands, answer) = (self.inputs.each_mut().map(operand), operand(&mut self.result));
        to(Lent { operands: Some(&operands), answer: std::slice::from_ref(&answer) });
        self.result = array(answer)?;
        for (input, operand) in self.inputs.iter_mut().zip(operands) {
            *input = array(operand)?;
        }
        Ok(())
    }
}

/// Moves a dense operand into an ndarray matrix.
pub(super) fn array<T: Real>(operand: Operand) -> Result<Array2<T>, CellError> {
    let shape = (operand.as_dense()?.rows, operand.as_dense()?.cols);
    Array2::from_shape_vec(shape, operand.into_dense()?)
        .map_err(|error| CellError::call("ndarray::Array2::from_shape_vec", error))
}

/// Moves an ndarray matrix into an operand.
pub(super) fn operand<T: Real>(array: &mut Array2<T>) -> Operand {
    let (rows, cols) = array.dim();
    Operand::dense(rows, cols, std::mem::take(array).into_raw_vec_and_offset().0)
}

/// Returns the elements of an array; all arrays here are row-major.
pub(super) fn slice<T>(array: &Array2<T>) -> &[T] {
    array.as_slice().unwrap_or_default()
}

pub(super) fn slice_mut<T>(array: &mut Array2<T>) -> &mut [T] {
    array.as_slice_mut().unwrap_or_default()
}

/// Computes the result from the operands.
pub(super) type Evaluate<T, const N: usize> = fn(&[Array2<T>; N], &mut Array2<T>);

/// A job that one function computes.
struct Evaluated<T, const N: usize> {
    matrices: Matrices<T, N>,
    evaluate: Evaluate<T, N>,
    is_on_pool: bool,
}

/// Prepares a job that runs on the calling thread.
pub(super) fn on_one_thread<T: Real, const N: usize>(
    case: &Case,
    inputs: &mut [Operand],
    evaluate: Evaluate<T, N>,
) -> Result<Box<Prepared>, CellError> {
    let matrices = Matrices::new(case, inputs, T::default())?;
    Ok(Prepared::new(Evaluated { matrices, evaluate, is_on_pool: false }))
}

/// Prepares a job that runs on the pool if the result has more than [`SERIAL`] elements.
pub(super) fn on_pool<T: Real, const N: usize>(
    matrices: Matrices<T, N>,
    evaluate: Evaluate<T, N>,
) -> Box<Prepared> {
    Prepared::new(Evaluated { matrices, evaluate, is_on_pool: true })
}

impl<T: Real, const N: usize> Job for Evaluated<T, N> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.matrices.show(show);
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        if self.is_on_pool && self.matrices.result.len() > SERIAL {
            wake::pool();
        }
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        self.matrices.contents()
    }

    fn execute(&mut self) -> Result<(), CellError> {
        (self.evaluate)(&self.matrices.inputs, &mut self.matrices.result);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(self.matrices.answer())
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        self.matrices.lend(to)
    }
}

/// Computes a part of the result from the same parts of the operands, and stores it past the caches or through them.
pub(super) type Compute<T, const N: usize> = fn([&[T]; N], &mut [T], bool);

/// A job whose elements are divided among threads.
struct PartitionedJob<T, const N: usize> {
    matrices: Matrices<T, N>,
    partition: Partition,
    compute: Compute<T, N>,
}

/// Prepares a job that computes element by element on at most `threads` threads.
pub(super) fn partitioned<T: Real, const N: usize>(
    case: &Case,
    inputs: &mut [Operand],
    threads: usize,
    compute: Compute<T, N>,
) -> Result<Box<Prepared>, CellError> {
    let mut matrices = Matrices::new(case, inputs, T::default())?;
    let mut partition = Partition::of::<T>(matrices.result.len(), threads);
    partition.try_stores(|partition| run(partition, &mut matrices, compute));
    let traits = JobTraits { thread_choices: partition.choices(), ..JobTraits::default() };
    Ok(Prepared::with(traits, PartitionedJob { matrices, partition, compute }))
}

fn run<T: Real, const N: usize>(
    partition: &Partition,
    matrices: &mut Matrices<T, N>,
    compute: Compute<T, N>,
) {
    let (inputs, result) = matrices.slices();
    partition.run(result, |part, result, past_caches| {
        compute(inputs.map(|input| &input[part.clone()]), result, past_caches);
    });
}

impl<T: Real, const N: usize> Job for PartitionedJob<T, N> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.matrices.show(show);
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        self.partition.wake_threads();
        Ok(())
    }

    fn use_threads(&mut self, threads: usize) {
        self.partition.use_threads(threads);
    }

    fn contents(&mut self) -> Contents<'_> {
        self.matrices.contents()
    }

    fn execute(&mut self) -> Result<(), CellError> {
        run(&self.partition, &mut self.matrices, self.compute);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(self.matrices.answer())
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        self.matrices.lend(to)
    }
}
