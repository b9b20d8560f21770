//! Counts entries and bytes of dense and sparse matrices.

use gpubench_report::case::{Case, DType};

use super::matrix;

/// Bytes of a row offset or column index of a sparse matrix.
const INDEX: u64 = 4;

/// Returns the side as a real number.
pub(super) fn side(case: &Case) -> f64 {
    case.n as f64
}

/// Returns the product of dimensions as a real number.
pub(super) fn product(case: &Case, dimensions: &[&str]) -> f64 {
    dimensions.iter().map(|name| case.extent(name) as f64).product()
}

/// Returns the bytes of dense operands, each with the dimensions of its elements, saturating.
pub(super) fn bytes_of(case: &Case, operands: &[&[&str]]) -> u128 {
    let elements = |dimensions: &&[&str]| {
        dimensions.iter().fold(1u128, |product, name| product.saturating_mul(case.extent(name).into()))
    };
    let all = operands.iter().map(elements).fold(0, u128::saturating_add);
    all.saturating_mul(case.dtype.bytes().into())
}

/// Returns the bytes of one element as a real number.
pub(super) fn element(dtype: DType) -> f64 {
    dtype.bytes() as f64
}

/// Returns the density of stored entries; 1 if the case has none.
pub(super) fn density(case: &Case) -> f64 {
    case.density.unwrap_or(1.0)
}

/// Returns the expected number of stored entries of a generated sparse matrix of those dimensions; of the matrix of a file, their
/// number.
pub(super) fn stored(case: &Case, dimensions: [&str; 2]) -> f64 {
    if let Some(matrix) = matrix::of(case) {
        return matrix.stored() as f64;
    }
    product(case, &dimensions) * density(case)
}

/// Returns the bytes that the generator of a sparse matrix of those dimensions needs besides it: its rows, one by one.
pub(super) fn generator_bytes(case: &Case, dimensions: [&str; 2]) -> u128 {
    let entries = stored(case, dimensions) * (INDEX + case.dtype.bytes()) as f64;
    let rows = case.extent(dimensions[0]) as f64 * (2 * size_of::<Vec<i32>>()) as f64;
    if case.matrix.is_some() { 0 } else { (entries + rows).ceil() as u128 }
}

/// Returns the bytes of a CSR matrix with `stored` entries, whose number of rows is the dimension `rows`.
pub(super) fn csr_bytes(case: &Case, rows: &str, stored: f64) -> f64 {
    stored * (INDEX + case.dtype.bytes()) as f64 + (case.extent(rows) as f64 + 1.0) * INDEX as f64
}
