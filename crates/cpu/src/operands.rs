//! The operands that a job has taken: lent to judges, and shown as bytes to the code that flushes caches.

use std::mem::{MaybeUninit, take};
use std::ops::{Deref, DerefMut};

use gpubench_backend::Lent;
use gpubench_report::case::Case;
use gpubench_report::data::{Csr, Operand, Real, Values};
use gpubench_report::error::CellError;

/// Returns the memory of `numbers` as bytes, whose values are not meant to be read.
pub(crate) fn memory<T: Copy>(numbers: &[T]) -> &[MaybeUninit<u8>] {
    // SAFETY: the bytes are those of the slice, borrowed for as long; a byte that may be uninitialised is a valid
    // view of any memory; types that are `Copy` hold no cell, so that nothing changes the bytes meanwhile.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// Shows the memory of all parts of a sparse matrix.
pub(crate) fn show_csr(matrix: &Csr, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
    show(memory(&matrix.indptr));
    show(memory(&matrix.indices));
    show(match &matrix.values {
        Values::F32(values) => memory(values),
        Values::F64(values) => memory(values),
        Values::C32(values) => memory(values),
        Values::C64(values) => memory(values),
    });
}

/// A dense operand that a job has taken. It dereferences to its elements, row after row.
pub(crate) struct Taken<T> {
    rows: usize,
    cols: usize,
    elements: Vec<T>,
}

impl<T: Real> Taken<T> {
    /// Takes an operand.
    ///
    /// # Errors
    /// It is sparse, or has elements of another type.
    pub(crate) fn of(operand: &mut Operand) -> Result<Self, CellError> {
        let (rows, cols) = (operand.as_dense()?.rows, operand.as_dense()?.cols);
        Ok(Taken { rows, cols, elements: operand.take().into_dense()? })
    }

    /// Returns the operand, and leaves no elements.
    pub(crate) fn lend(&mut self) -> Operand {
        Operand::dense(self.rows, self.cols, take(&mut self.elements))
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
/// The number of operands is not `N`, or one of them is sparse or has elements of another type.
pub(crate) fn operands<T: Real, const N: usize>(
    case: &Case,
    inputs: &mut [Operand],
) -> Result<[Taken<T>; N], CellError> {
    let found = inputs.len();
    let taken = inputs.iter_mut().map(Taken::of).collect::<Result<Vec<_>, _>>()?;
    taken.try_into().map_err(|_| CellError::Failed(format!("{} got {found} operands, not {N}", case.op)))
}

/// Lends operands together with an answer.
pub(crate) fn lend<T: Real, const N: usize>(
    mut taken: [&mut Taken<T>; N],
    answer: &[Operand],
    to: &mut dyn FnMut(Lent<'_>),
) -> Result<(), CellError> {
    let operands = taken.each_mut().map(|taken| taken.lend());
    to(Lent { operands: Some(&operands), answer });
    for (taken, operand) in taken.into_iter().zip(operands) {
        taken.elements = operand.into_dense()?;
    }
    Ok(())
}

/// An operand that executions overwrite, with a copy to restore it from.
pub(crate) struct RestoredInput<T> {
    /// The operand, which no execution changes.
    pub(crate) given: Taken<T>,
    /// The elements that an execution reads and writes.
    pub(crate) left: Vec<T>,
}

impl<T: Real> RestoredInput<T> {
    pub(crate) fn of(given: Taken<T>) -> Self {
        let left = given.to_vec();
        RestoredInput { given, left }
    }

    pub(crate) fn restore(&mut self) {
        self.left.copy_from_slice(&self.given);
    }

    pub(crate) fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.given));
        show(memory(&self.left));
    }
}
