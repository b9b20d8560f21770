//! Counts entries and bytes of dense and sparse square matrices.

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

/// Returns the bytes of `matrices` dense `n` by `n` matrices and `vectors` vectors of `n`, saturating.
pub(super) fn dense_bytes(case: &Case, matrices: u128, vectors: u128) -> u128 {
    let n = u128::from(case.n);
    let elements = n.saturating_mul(n).saturating_mul(matrices).saturating_add(n.saturating_mul(vectors));
    elements.saturating_mul(u128::from(case.dtype.bytes()))
}

/// Returns the density of stored entries; 1 if the case has none.
pub(super) fn density(case: &Case) -> f64 {
    case.density.unwrap_or(1.0)
}

/// Returns the expected number of stored entries of a generated sparse matrix; of the matrix of a file, their number.
pub(super) fn stored(case: &Case) -> f64 {
    if let Some(matrix) = matrix::of(case) {
        return matrix.stored() as f64;
    }
    side(case) * side(case) * density(case)
}

/// Returns the bytes of a CSR matrix with `stored` entries.
pub(super) fn csr_bytes(case: &Case, stored: f64) -> f64 {
    stored * (INDEX + case.dtype.bytes()) as f64 + (side(case) + 1.0) * INDEX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_side_do_not_overflow() {
        let mut case = Case {
            op: "matmul".into(),
            n: 3,
            dtype: DType::F64,
            density: None,
            shape: None,
            matrix: None,
            seed: 0,
        };
        assert_eq!(dense_bytes(&case, 2, 1), 168);
        case.n = u64::MAX;
        assert_eq!(dense_bytes(&case, 3, 0), u128::MAX);
    }
}
