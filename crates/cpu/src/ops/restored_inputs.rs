//! An operand that executions overwrite, with a copy to restore it from.

use std::mem::MaybeUninit;

use crate::memory::memory;

/// The original elements, and the copy that executions overwrite.
pub(super) struct RestoredInput<T> {
    /// The operand, which no execution changes.
    pub(super) given: Vec<T>,
    /// The elements that an execution reads and writes.
    pub(super) left: Vec<T>,
}

impl<T: Copy> RestoredInput<T> {
    pub(super) fn of(given: &[T]) -> Self {
        RestoredInput { given: given.to_vec(), left: given.to_vec() }
    }

    pub(super) fn restore(&mut self) {
        self.left.copy_from_slice(&self.given);
    }

    pub(super) fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.given));
        show(memory(&self.left));
    }
}
