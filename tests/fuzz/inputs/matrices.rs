//! Matrices in the Matrix Market format.

use gpubench::data::{Operand, fingerprint, mtx};

use super::{Formats, accepted};

/// Memory that a matrix may take.
const FREE: u128 = 1 << 28;

/// Reads a matrix, and its fingerprint.
pub fn read(bytes: &[u8], _formats: Formats) {
    let parsed = mtx::parse("matrix.mtx", bytes, Some(FREE)).map_err(anyhow::Error::msg);
    if let Some(matrix) = accepted(parsed) {
        assert!(matrix.indptr.len() == matrix.rows + 1 && matrix.values.are_finite());
        fingerprint(&[Operand::Csr(matrix)]);
    }
}
