//! Returns the parts of an answer or of the operands, after checking their shapes and types.

use gpubench_report::data::{Csr, Dense, Element, Operand, Real};
use gpubench_report::error::CellError;

fn part<'a>(operands: &'a [Operand], index: usize, name: &str) -> Result<&'a Operand, CellError> {
    operands.get(index).ok_or_else(|| {
        let found = operands.len();
        CellError::Failed(format!(
            "part {index} ({name}) is missing, {found} came: return the answer's parts as docs/worker-protocol.md lists them"
        ))
    })
}

fn shaped<'a>(
    operands: &'a [Operand],
    index: usize,
    name: &str,
    (rows, cols): (usize, usize),
) -> Result<&'a Dense, CellError> {
    let dense = part(operands, index, name)?.as_dense()?;
    let held = dense.values.len();
    if (dense.rows, dense.cols, held) == (rows, cols, rows * cols) {
        return Ok(dense);
    }
    Err(CellError::Failed(format!(
        "{name} is {} x {} with {held} elements: it must be {rows} x {cols}, row-major",
        dense.rows, dense.cols
    )))
}

/// Returns part `index`, called `name` in messages, as a row-major matrix of `T` of that shape.
pub(crate) fn dense<'a, T: Element>(
    operands: &'a [Operand],
    index: usize,
    name: &str,
    shape: (usize, usize),
) -> Result<&'a [T], CellError> {
    T::slice(&shaped(operands, index, name, shape)?.values)
}

/// Returns part `index` as a sparse matrix of that shape, with its stored values. Does not check its structure.
pub(crate) fn csr<'a, T: Real>(
    operands: &'a [Operand],
    index: usize,
    name: &str,
    (rows, cols): (usize, usize),
) -> Result<(&'a Csr, &'a [T]), CellError> {
    let csr = part(operands, index, name)?.as_csr()?;
    if (csr.rows, csr.cols) != (rows, cols) {
        return Err(CellError::Failed(format!(
            "{name} is {} x {}: it must be {rows} x {cols}, in CSR form",
            csr.rows, csr.cols
        )));
    }
    Ok((csr, T::slice(&csr.values)?))
}

#[cfg(test)]
mod tests {
    use rustfft::num_complex::Complex;

    use super::*;

    #[test]
    fn a_wrong_shape_a_wrong_type_and_a_missing_part_are_errors() {
        let parts = [Operand::dense(2, 3, vec![0f32; 6])];
        assert!(dense::<f32>(&parts, 0, "C", (2, 3)).is_ok());
        assert!(dense::<f32>(&parts, 0, "C", (3, 2)).is_err());
        assert!(dense::<f64>(&parts, 0, "C", (2, 3)).is_err());
        assert!(dense::<Complex<f32>>(&parts, 0, "C", (2, 3)).is_err());
        assert!(dense::<f32>(&parts, 1, "C", (2, 3)).is_err());
        assert!(csr::<f32>(&parts, 0, "C", (2, 3)).is_err());
    }
}
