//! Operands, dense and in compressed sparse row form, with the generator that makes the same ones on every backend.

pub mod fingerprint;
pub mod generator;
pub mod mtx;
#[expect(unsafe_code, reason = "numbers are read as bytes")]
mod values;

pub use fingerprint::fingerprint;
pub use values::{Element, Plain, Real, Values, Wide, bytes_mut};

use crate::error::CellError;

/// Hashes names and keys to values that are the same on every machine and in every release of Rust.
pub mod hash {
    /// FNV-1a (Fowler, Noll and Vo) of `bytes`, with a start that depends on `seed`; 0 gives the usual one.
    pub fn fnv1a(seed: u64, bytes: &[u8]) -> u64 {
        let start = 0xCBF2_9CE4_8422_2325 ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bytes.iter().fold(start, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3))
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
    /// Returns a dense matrix.
    pub fn dense<T: Element>(rows: usize, cols: usize, values: Vec<T>) -> Self {
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
    pub fn dense_slice<T: Element>(&self) -> Result<&[T], CellError> {
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
    pub fn into_dense<T: Element>(self) -> Result<Vec<T>, CellError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(hash::fnv1a(0, b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(hash::fnv1a(0, b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(hash::fnv1a(0, b"foobar"), 0x8594_4171_F739_67E8);
        assert_ne!(hash::fnv1a(1, b"a"), hash::fnv1a(0, b"a"));
    }
}
