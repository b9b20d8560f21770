//! The operands that a job has taken, and its results: lent to judges, and shown as bytes to the code that flushes
//! caches.

use std::mem::{MaybeUninit, take};
use std::ops::{Deref, DerefMut};

use crate::CellResult;
use gpubench_backend::Lent;
use gpubench_report::data::{Csr, Element, Operand, Real, Values};
use rustfft::FftNum;
use rustfft::num_complex::Complex;

/// A function that is shown memory.
pub(crate) type ShowMemory<'a> = &'a mut dyn FnMut(&[MaybeUninit<u8>]);

/// Returns the memory of `numbers` as bytes, whose values are not meant to be read.
pub(crate) fn memory<T: Copy>(numbers: &[T]) -> &[MaybeUninit<u8>] {
    // SAFETY: the bytes are those of the slice, borrowed for as long; a byte that may be uninitialised is a valid
    // view of any memory; types that are `Copy` hold no cell, so that nothing changes the bytes meanwhile.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// Shows the memory of all parts of a sparse matrix.
pub(crate) fn show_csr(matrix: &Csr, show: ShowMemory<'_>) {
    show(memory(&matrix.indptr));
    show(memory(&matrix.indices));
    match &matrix.values {
        Values::F32(values) => show(memory(values)),
        Values::F64(values) => show(memory(values)),
        // Sparse operands have no other elements.
        _ => {}
    }
}

/// An operand or a result that a judge can borrow.
pub(crate) trait Lendable {
    /// Moves it out, and leaves no elements.
    fn lend(&mut self) -> Operand;

    /// Moves back what was lent.
    fn put_back(&mut self, operand: Operand) -> CellResult<()>;
}

/// Lends operands together with an answer.
pub(crate) fn lend<'a, const N: usize>(
    operands: [&'a mut dyn Lendable; N],
    answer: Vec<&'a mut dyn Lendable>,
    to: &mut dyn FnMut(Lent<'_>),
) -> CellResult<()> {
    let mut parts: Vec<&mut dyn Lendable> = operands.into_iter().chain(answer).collect();
    let lent: Vec<Operand> = parts.iter_mut().map(|part| part.lend()).collect();
    to(Lent { operands: Some(&lent[..N]), answer: &lent[N..] });
    parts.into_iter().zip(lent).try_for_each(|(part, operand)| part.put_back(operand))
}

impl Lendable for Csr {
    fn lend(&mut self) -> Operand {
        Operand::Csr(take(self))
    }

    fn put_back(&mut self, operand: Operand) -> CellResult<()> {
        *self = operand.into_csr()?;
        Ok(())
    }
}

/// The elements of arrays that are transformed.
pub(crate) trait ArrayElement: Element + Into<Complex<Self::Part>> {
    /// The real type in which they are transformed.
    type Part: Real + FftNum;
}

impl ArrayElement for f32 {
    type Part = f32;
}

impl ArrayElement for f64 {
    type Part = f64;
}

impl<T: Real + FftNum> ArrayElement for Complex<T> {
    type Part = T;
}

/// Allocates memory for matrices of up to `side` rows or columns. Kernels of OpenBLAS up to 0.3.23 read behind complex matrices
/// (its issues 4013 and 5000): up to a column further there is memory, too.
pub(crate) fn with_readable_end<T>(len: usize, side: usize) -> Vec<T> {
    Vec::with_capacity(len + side + 64)
}

/// A dense operand or result. It dereferences to its elements, row after row.
pub(crate) struct HostMatrix<T> {
    rows: usize,
    cols: usize,
    pub(crate) elements: Vec<T>,
    /// Number of matrices, one below the other, whose elements lie column after column; 0 if all lie row after row.
    pub(crate) by_columns: usize,
}

impl<T: Element> HostMatrix<T> {
    /// Takes an operand. Fails if it is sparse, or has elements of another type.
    pub(crate) fn of(operand: &mut Operand) -> CellResult<Self> {
        let (rows, cols) = (operand.as_dense()?.rows, operand.as_dense()?.cols);
        Ok(HostMatrix::new(rows, cols, operand.take().into_dense()?))
    }

    pub(crate) fn new(rows: usize, cols: usize, elements: Vec<T>) -> Self {
        HostMatrix { rows, cols, elements, by_columns: 0 }
    }

    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        let mut elements = with_readable_end(rows * cols, rows.max(cols));
        elements.resize(rows * cols, T::default());
        HostMatrix::new(rows, cols, elements)
    }

    /// Returns the numbers of rows and columns.
    pub(crate) fn shape(&self) -> [usize; 2] {
        [self.rows, self.cols]
    }

    fn operand(&self, elements: Vec<T>) -> Operand {
        Operand::dense(self.rows, self.cols, elements)
    }

    /// Takes the elements of rows that follow each other.
    pub(crate) fn copy_rows(&mut self, rows: &[T]) {
        if self.by_columns == 0 {
            return self.elements.copy_from_slice(rows);
        }
        let (height, cols) = (self.rows / self.by_columns, self.cols);
        for (index, value) in rows.iter().enumerate() {
            let (row, col) = (index / cols, index % cols);
            self.elements[row / height * height * cols + col * height + row % height] = *value;
        }
    }

    /// Returns a copy, row after row.
    pub(crate) fn copied(&self) -> Operand {
        let (rows, cols) = (self.rows, self.cols);
        if self.by_columns == 0 {
            return self.operand(self.to_vec());
        }
        let height = rows / self.by_columns;
        let by_rows = |index: usize| {
            let (row, col) = (index / cols, index % cols);
            self.elements[row / height * height * cols + col * height + row % height]
        };
        self.operand((0..rows * cols).map(by_rows).collect())
    }
}

impl<T: Element> Lendable for HostMatrix<T> {
    fn lend(&mut self) -> Operand {
        if self.by_columns > 0 {
            return self.copied();
        }
        let elements = take(&mut self.elements);
        self.operand(elements)
    }

    fn put_back(&mut self, operand: Operand) -> CellResult<()> {
        if self.by_columns == 0 {
            self.elements = operand.into_dense()?;
        }
        Ok(())
    }
}

impl<T> Deref for HostMatrix<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.elements
    }
}

impl<T> DerefMut for HostMatrix<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }
}
