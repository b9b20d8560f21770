//! Jobs on resident arrays whose work is only kernel launches and library calls, most on dense square matrices of one size.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_report::data::Operand;

use crate::ffi::device;
use crate::{CellError, Cuda, DeviceElement, DeviceValue, Result, Setup};

/// Downloads an answer, given the number of its columns.
type ReadAnswer<S> = fn(&Cuda, usize, &CudaSlice<S>) -> Result<Vec<Operand>>;

/// The operands and the answer of a case of size N, on the device.
pub struct Resident<T: DeviceValue, A: DeviceValue, const INPUTS: usize> {
    cuda: Cuda,
    /// Columns of the answer: N, unless [`Resident::of_cols`] sets them.
    cols: usize,
    /// Dense operands.
    pub operands: [CudaSlice<T::Stored>; INPUTS],
    /// The answer, zero at first.
    pub answer: CudaSlice<A::Stored>,
}

impl<T: DeviceValue, A: DeviceValue, const INPUTS: usize> Resident<T, A, INPUTS> {
    /// Uploads the operands and allocates an answer of `len` elements.
    pub fn new(setup: Setup<'_>, len: usize) -> Result<Self> {
        let answer = setup.cuda.alloc(len * A::PARTS)?;
        let operands =
            (0..INPUTS).map(|index| setup.upload::<T>(index)).collect::<Result<Vec<_>>>()?.try_into();
        let operands = operands.map_err(|_| CellError::Failed("an operand is missing".into()))?;
        Ok(Resident { cuda: setup.cuda.clone(), cols: setup.n(), operands, answer })
    }

    /// Uploads the operands and allocates an answer of the shape of the first of them.
    pub fn like_first(setup: Setup<'_>) -> Result<Self> {
        let first = setup.operand(0)?.as_dense()?;
        Ok(Resident::new(setup, first.values.len())?.of_cols(first.cols))
    }

    /// Sets the number of columns of the answer.
    pub fn of_cols(self, cols: usize) -> Self {
        Resident { cols, ..self }
    }

    /// Makes the job that enqueues its work by `enqueue` and reads its answer by `read`, with the number of its columns.
    pub fn job<F>(self, read: ReadAnswer<A::Stored>, enqueue: F) -> Box<Prepared>
    where
        F: FnMut(&Cuda, &[CudaSlice<T::Stored>; INPUTS], &mut CudaSlice<A::Stored>) -> Result<()> + 'static,
    {
        Prepared::new(ResidentJob { enqueue, arrays: self, read })
    }
}

struct ResidentJob<T: DeviceValue, A: DeviceValue, const INPUTS: usize, F> {
    // First, so that a library's handle is dropped before the memory that its work uses.
    enqueue: F,
    arrays: Resident<T, A, INPUTS>,
    read: ReadAnswer<A::Stored>,
}

impl<T: DeviceValue, A: DeviceValue, const INPUTS: usize, F> Job for ResidentJob<T, A, INPUTS, F>
where
    F: FnMut(&Cuda, &[CudaSlice<T::Stored>; INPUTS], &mut CudaSlice<A::Stored>) -> Result<()>,
{
    fn contents(&mut self) -> Contents<'_> {
        let Resident { operands, answer, .. } = &mut self.arrays;
        Contents::new(operands.each_mut().map(device), [device(answer)])
    }

    fn execute(&mut self) -> Result<()> {
        let Resident { cuda, operands, answer, .. } = &mut self.arrays;
        (self.enqueue)(cuda, operands, answer)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        (self.read)(&self.arrays.cuda, self.arrays.cols, &self.arrays.answer)
    }
}

/// Downloads an answer of rows of `cols` elements.
pub fn matrix<T: DeviceValue>(
    cuda: &Cuda,
    cols: usize,
    answer: &CudaSlice<T::Stored>,
) -> Result<Vec<Operand>> {
    let elements = T::restored(cuda.download(answer)?);
    Ok(vec![Operand::dense(elements.len() / cols, cols, elements)])
}

/// Downloads an answer of one column.
pub fn column<T: DeviceElement>(cuda: &Cuda, _: usize, answer: &CudaSlice<T>) -> Result<Vec<Operand>> {
    Ok(vec![Operand::dense(answer.len(), 1, cuda.download(answer)?)])
}

/// Copies the elements of row-major matrices of rows x cols that follow each other, column after column.
pub fn by_columns<T: Copy>(matrices: &[T], rows: usize, cols: usize) -> Vec<T> {
    let of_one = |matrix: &[T]| -> Vec<T> {
        (0..cols)
            .flat_map(|col| (0..rows).map(move |row| row * cols + col))
            .map(|index| matrix[index])
            .collect()
    };
    matrices.chunks_exact((rows * cols).max(1)).flat_map(of_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_matrix_of_a_batch_is_copied_column_after_column() {
        assert_eq!(by_columns(&[1, 2, 3, 4, 5, 6, 7, 8], 2, 2), [1, 3, 2, 4, 5, 7, 6, 8]);
        assert_eq!(by_columns(&[1, 2, 3, 4, 5, 6], 2, 3), [1, 4, 2, 5, 3, 6]);
        assert_eq!(by_columns(&by_columns(&[1, 2, 3, 4, 5, 6], 2, 3), 3, 2), [1, 2, 3, 4, 5, 6]);
        assert!(by_columns::<f32>(&[], 0, 0).is_empty());
    }
}
