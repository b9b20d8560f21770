//! Dense operands that a job has taken, and lends to judges.

use std::mem::{MaybeUninit, take};
use std::ops::{Deref, DerefMut};

use gpubench_backend::Lent;
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;

use crate::memory::memory;

/// A dense operand that a job has taken. It dereferences to its elements, row after row.
pub(super) struct Taken<T> {
    rows: usize,
    cols: usize,
    elements: Vec<T>,
}

impl<T: Real> Taken<T> {
    /// Takes an operand.
    ///
    /// # Errors
    /// It is sparse, or has elements of another type.
    pub(super) fn of(operand: &mut Operand) -> Result<Self, CellError> {
        let (rows, cols) = (operand.as_dense()?.rows, operand.as_dense()?.cols);
        Ok(Taken { rows, cols, elements: operand.take().into_dense()? })
    }

    /// Returns the operand, and leaves no elements until [`Taken::take_back`].
    pub(super) fn lend(&mut self) -> Operand {
        Operand::dense(self.rows, self.cols, take(&mut self.elements))
    }

    /// Takes back the operand that was lent.
    pub(super) fn take_back(&mut self, lent: Operand) -> Result<(), CellError> {
        self.elements = lent.into_dense()?;
        Ok(())
    }
}

impl<T> Deref for Taken<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.elements
    }
}

impl<T> DerefMut for Taken<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }
}

/// Takes the operands of a case, all dense.
///
/// # Errors
/// Their number is another one, or one of them is sparse or has elements of another type.
pub(super) fn operands<T: Real, const N: usize>(
    case: &Case,
    inputs: &mut [Operand],
) -> Result<[Taken<T>; N], CellError> {
    let found = inputs.len();
    let taken = inputs.iter_mut().map(Taken::of).collect::<Result<Vec<_>, _>>()?;
    taken.try_into().map_err(|_| CellError::Failed(format!("{} got {found} operands, not {N}", case.op)))
}

/// Lends operands together with an answer.
pub(super) fn lend<T: Real, const N: usize>(
    mut taken: [&mut Taken<T>; N],
    answer: &[Operand],
    to: &mut dyn FnMut(Lent<'_>),
) -> Result<(), CellError> {
    let operands = taken.each_mut().map(|taken| taken.lend());
    to(Lent { operands: Some(&operands), answer });
    taken.into_iter().zip(operands).try_for_each(|(taken, operand)| taken.take_back(operand))
}

/// An operand that executions overwrite, with a copy to restore it from.
pub(super) struct RestoredInput<T> {
    /// The operand, which no execution changes.
    pub(super) given: Taken<T>,
    /// The elements that an execution reads and writes.
    pub(super) left: Vec<T>,
}

impl<T: Real> RestoredInput<T> {
    pub(super) fn of(given: Taken<T>) -> Self {
        let left = given.to_vec();
        RestoredInput { given, left }
    }

    pub(super) fn restore(&mut self) {
        self.left.copy_from_slice(&self.given);
    }

    pub(super) fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.given));
        show(memory(&self.left));
    }
}
