//! An operand that executions write over, and what brings it back; knows no op.

use std::mem::MaybeUninit;

use crate::memory::memory;

/// The elements as given, and those that an execution is handed.
pub(super) struct RestoredInput<T> {
    /// The operand, which no execution changes.
    pub(super) given: Vec<T>,
    /// What an execution reads and writes.
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
