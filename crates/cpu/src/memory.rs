//! The memory of slices as bytes, for the code that flushes caches.

use std::mem::MaybeUninit;

use gpubench_model::data::{Csr, Values};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_show_all_their_bytes() {
        let numbers = [1.0f64, 2.0, 3.0];
        let bytes = memory(&numbers);
        assert_eq!((bytes.len(), bytes.as_ptr().addr()), (24, numbers.as_ptr().addr()));
        assert_eq!(memory(&[0i32; 5]).len(), 20);
        assert!(memory::<f32>(&[]).is_empty());
    }
}
