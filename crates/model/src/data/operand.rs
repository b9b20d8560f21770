//! Dense and compressed-sparse-row operands with run-time element types.

use rustfft::num_complex::Complex;

use super::Real;
use crate::error::CellError;

/// The elements of an operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Real, binary32.
    F32(Vec<f32>),
    /// Real, binary64.
    F64(Vec<f64>),
    /// Complex, binary32 parts.
    C32(Vec<Complex<f32>>),
    /// Complex, binary64 parts.
    C64(Vec<Complex<f64>>),
}

impl Values {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
            Values::C32(v) => v.len(),
            Values::C64(v) => v.len(),
        }
    }

    /// Returns whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether no element is a NaN or an infinity.
    pub fn are_finite(&self) -> bool {
        match self {
            Values::F32(v) => v.iter().all(|x| x.is_finite()),
            Values::F64(v) => v.iter().all(|x| x.is_finite()),
            Values::C32(v) => v.iter().all(|z| z.is_finite()),
            Values::C64(v) => v.iter().all(|z| z.is_finite()),
        }
    }

    /// Returns the number of bytes of the elements.
    pub fn bytes(&self) -> u64 {
        let element = match self {
            Values::F32(_) => 4,
            Values::F64(_) | Values::C32(_) => 8,
            Values::C64(_) => 16,
        };
        element * self.len() as u64
    }
}

impl Default for Values {
    fn default() -> Self {
        Values::F32(Vec::new())
    }
}

/// A row-major matrix; a vector is a matrix of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dense {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// `rows * cols` elements, row after row.
    pub values: Values,
}

/// A matrix in compressed sparse row form, zero-based.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Csr {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// `rows + 1` offsets into `indices` and `values`.
    pub indptr: Vec<i32>,
    /// Column of each stored entry.
    pub indices: Vec<i32>,
    /// Value of each stored entry; real.
    pub values: Values,
}

impl Csr {
    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }
}

/// An input of an op, or a part of its answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A dense matrix or vector.
    Dense(Dense),
    /// A sparse matrix.
    Csr(Csr),
}

impl Operand {
    /// Returns a dense matrix of real elements.
    pub fn dense<T: Real>(rows: usize, cols: usize, values: Vec<T>) -> Self {
        debug_assert_eq!(values.len(), rows * cols);
        Operand::Dense(Dense { rows, cols, values: T::into_values(values) })
    }

    /// Returns the dense matrix, or an error that names what was found instead.
    pub fn as_dense(&self) -> Result<&Dense, CellError> {
        match self {
            Operand::Dense(dense) => Ok(dense),
            Operand::Csr(_) => Err(CellError::Failed("expected a dense operand, found a sparse one".into())),
        }
    }

    /// Returns the sparse matrix, or an error that names what was found instead.
    pub fn as_csr(&self) -> Result<&Csr, CellError> {
        match self {
            Operand::Csr(csr) => Ok(csr),
            Operand::Dense(_) => {
                Err(CellError::Failed("expected a sparse operand, found a dense one".into()))
            }
        }
    }

    /// Returns the elements of a dense operand as `T`.
    pub fn dense_slice<T: Real>(&self) -> Result<&[T], CellError> {
        T::slice(&self.as_dense()?.values)
    }

    /// Moves the operand out and leaves one without rows in its place.
    pub fn take(&mut self) -> Operand {
        std::mem::replace(self, Operand::Dense(Dense::default()))
    }

    /// Returns whether the operand was [taken](Operand::take).
    pub fn is_taken(&self) -> bool {
        matches!(self, Operand::Dense(Dense { rows: 0, .. }))
    }

    /// Returns the elements of a dense operand as `T`, moved out of it.
    pub fn into_dense<T: Real>(self) -> Result<Vec<T>, CellError> {
        self.as_dense()?;
        T::from_values(self.into_values())
    }

    /// Returns the sparse matrix, or an error that names what was found instead.
    pub fn into_csr(self) -> Result<Csr, CellError> {
        match self {
            Operand::Csr(csr) => Ok(csr),
            dense @ Operand::Dense(_) => dense.as_csr().cloned(),
        }
    }

    /// Returns the elements, dense or stored, moved out of the operand.
    pub fn into_values(self) -> Values {
        match self {
            Operand::Dense(dense) => dense.values,
            Operand::Csr(csr) => csr.values,
        }
    }

    /// Returns the bytes of the elements and of their indices.
    pub fn bytes(&self) -> u64 {
        let structure = match self {
            Operand::Dense(_) => 0,
            Operand::Csr(csr) => 4 * (csr.indptr.len() + csr.indices.len()) as u64,
        };
        self.values().bytes() + structure
    }

    /// Returns the elements, dense or stored.
    pub fn values(&self) -> &Values {
        match self {
            Operand::Dense(dense) => &dense.values,
            Operand::Csr(csr) => &csr.values,
        }
    }

    /// Returns the elements, dense or stored, to be changed.
    pub fn values_mut(&mut self) -> &mut Values {
        match self {
            Operand::Dense(dense) => &mut dense.values,
            Operand::Csr(csr) => &mut csr.values,
        }
    }
}
