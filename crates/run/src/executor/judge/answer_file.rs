//! Reads the answer of an external worker from the file that it has written.

use std::fs::File;
use std::io::{ErrorKind, Read, Result as IoResult};
use std::os::unix::fs::FileExt;
use std::path::Path;

use gpubench_backend::host::regular;
use gpubench_backend::protocol::{Array, ElementType};
use gpubench_report::data::{Csr, Dense, Operand, Plain, Values, bytes_mut};
use num_complex::Complex;
use rayon::prelude::*;

/// Bytes that a thread reads at once: one thread alone would take longer for the pages of new memory than for the copy.
const AT_ONCE: usize = 4 << 20;

/// A file that several threads read.
struct Shared {
    file: File,
    at: u64,
}

impl Read for Shared {
    fn read(&mut self, bytes: &mut [u8]) -> IoResult<usize> {
        let count = self.file.read_at(bytes, self.at)?;
        self.at += count as u64;
        Ok(count)
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> IoResult<()> {
        let length = bytes.len() as u64;
        bytes.par_chunks_mut(AT_ONCE).enumerate().try_for_each(|(index, part)| {
            self.file.read_exact_at(part, self.at + (index * AT_ONCE) as u64)
        })?;
        self.at += length;
        Ok(())
    }
}

/// Reads `arrays` from the file, whose sparse matrices have `columns` columns. The answer may have `most_bytes`.
///
/// # Errors
/// In one line: the arrays are not those of an answer, too many, or not what the file holds.
pub(super) fn read(
    path: &Path,
    arrays: &[Array],
    columns: u64,
    most_bytes: u128,
) -> Result<Vec<Operand>, String> {
    let file = regular::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => "it wrote no answer".to_owned(),
        _ => format!("the file of the answer cannot be read ({error})"),
    })?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    parse(&mut Shared { file, at: 0 }, length, arrays, columns, most_bytes)
}

/// Reads `arrays` from `file`, which has `length` bytes.
///
/// # Errors
/// The text says what is wrong: the length of the file, or the shape or type of an array.
pub fn parse(
    file: &mut impl Read,
    length: u64,
    arrays: &[Array],
    columns: u64,
    most_bytes: u128,
) -> Result<Vec<Operand>, String> {
    let bytes = arrays.iter().try_fold(0u128, |sum, array| sum.checked_add(bytes_of(array)?));
    let bytes = bytes.ok_or("an array has no or too many elements")?;
    if bytes > most_bytes {
        return Err(format!("the answer has {bytes} bytes, where at most {most_bytes} can be right"));
    }
    if u128::from(length) != bytes {
        return Err(format!("the file of the answer has {length} bytes, its arrays {bytes}"));
    }
    let mut left = arrays.iter();
    let mut operands = vec![];
    while let Some(array) = left.next() {
        operands.push(match array.dtype {
            ElementType::I32 => sparse(file, array, [left.next(), left.next()], columns)?,
            _ => dense(file, array)?,
        });
    }
    Ok(operands)
}

/// Returns the bytes of an array; `None` for a shape that no array of an answer has.
fn bytes_of(array: &Array) -> Option<u128> {
    let elements = match array.shape[..] {
        [rows] => u128::from(rows),
        [rows, columns] => u128::from(rows) * u128::from(columns),
        _ => return None,
    };
    elements.checked_mul(u128::from(array.dtype.bytes()))
}

fn dense(file: &mut impl Read, array: &Array) -> Result<Operand, String> {
    let (rows, cols) = (array.shape[0], array.shape.get(1).copied().unwrap_or(1));
    Ok(Operand::Dense(Dense { rows: rows as usize, cols: cols as usize, values: values(file, array)? }))
}

/// Reads a sparse matrix: `offsets` of its rows, columns of its entries, and their values.
fn sparse(
    file: &mut impl Read,
    offsets: &Array,
    [column_array, entries]: [Option<&Array>; 2],
    columns: u64,
) -> Result<Operand, String> {
    let (Some(column_array), Some(entries)) = (column_array, entries) else { return Err(NO_SPARSE.into()) };
    let same_length = column_array.shape == entries.shape && column_array.shape.len() == 1;
    if column_array.dtype != ElementType::I32
        || !same_length
        || offsets.shape.len() != 1
        || offsets.shape[0] == 0
    {
        return Err(NO_SPARSE.into());
    }
    let indptr = numbers(file, offsets.shape[0], 0i32)?;
    let indices = numbers(file, column_array.shape[0], 0i32)?;
    let values = values(file, entries)?;
    let ascend = indptr.first() == Some(&0) && indptr.is_sorted();
    let in_range = |column: &i32| u64::try_from(*column).is_ok_and(|column| column < columns);
    if !ascend || indptr.last().copied() != i32::try_from(indices.len()).ok() || !indices.iter().all(in_range)
    {
        return Err("the offsets or columns of its sparse answer are out of range".into());
    }
    Ok(Operand::Csr(Csr { rows: indptr.len() - 1, cols: columns as usize, indptr, indices, values }))
}

fn values(file: &mut impl Read, array: &Array) -> Result<Values, String> {
    let count = array.shape.iter().product();
    Ok(match array.dtype {
        ElementType::F32 => Values::F32(numbers(file, count, 0.0)?),
        ElementType::F64 => Values::F64(numbers(file, count, 0.0)?),
        ElementType::Bf16 => Values::Bf16(numbers(file, count, Default::default())?),
        ElementType::F16 => Values::F16(numbers(file, count, Default::default())?),
        ElementType::C64 => Values::C64(numbers(file, count, Complex::default())?),
        ElementType::C128 => Values::C128(numbers(file, count, Complex::default())?),
        ElementType::I32 => return Err(NO_SPARSE.into()),
    })
}

fn numbers<T: Plain + Clone>(file: &mut impl Read, count: u64, zero: T) -> Result<Vec<T>, String> {
    let mut numbers = vec![zero; count as usize];
    file.read_exact(bytes_mut(&mut numbers))
        .map_err(|error| format!("the file of the answer ends early ({error})"))?;
    Ok(numbers)
}

const NO_SPARSE: &str =
    "a sparse answer needs three arrays: offsets (i32), columns (i32), and as many values";

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn array(dtype: ElementType, shape: &[u64]) -> Array {
        Array { dtype, shape: shape.to_vec() }
    }

    fn found(bytes: &[u8], arrays: &[Array]) -> Result<Vec<Operand>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer");
        fs::write(&path, bytes).unwrap();
        read(&path, arrays, 3, 1000)
    }

    #[test]
    fn arrays_follow_each_other_without_padding() {
        let bytes: Vec<u8> =
            [1f32, 2.0].iter().flat_map(|x| x.to_le_bytes()).chain(3f64.to_le_bytes()).collect();
        let arrays = [array(ElementType::F32, &[1, 2]), array(ElementType::F64, &[1])];
        let expected = [Operand::dense(1, 2, vec![1f32, 2.0]), Operand::dense(1, 1, vec![3f64])];
        assert_eq!(found(&bytes, &arrays).unwrap(), expected);
        assert!(found(&bytes[..15], &arrays).unwrap_err().contains("15 bytes, its arrays 16"));
        assert!(found(&[], &[array(ElementType::F64, &[1000])]).unwrap_err().contains("at most 1000"));
        let huge = array(ElementType::C128, &[u64::MAX, u64::MAX]);
        assert!(found(&[], &[huge.clone(), huge]).is_err());
        assert!(found(&[], &[array(ElementType::F32, &[])]).is_err());
        // Their bytes add up to 2 to the power of 128.
        let half = array(ElementType::F32, &[1 << 62, 1 << 63]);
        assert!(found(&[], &[half.clone(), half]).is_err());
    }

    #[test]
    fn a_sparse_answer_must_have_offsets_and_columns_in_range() {
        let arrays =
            [array(ElementType::I32, &[3]), array(ElementType::I32, &[2]), array(ElementType::F32, &[2])];
        let bytes = |structure: [i32; 5]| -> Vec<u8> {
            let values = [1f32, 2.0].into_iter().flat_map(f32::to_le_bytes);
            structure.into_iter().flat_map(i32::to_le_bytes).chain(values).collect()
        };
        let Operand::Csr(csr) = &found(&bytes([0, 1, 2, 2, 0]), &arrays).unwrap()[0] else { panic!() };
        assert_eq!(
            (csr.rows, csr.cols, &csr.indptr[..], &csr.indices[..]),
            (2, 3, &[0, 1, 2][..], &[2, 0][..])
        );
        for wrong in [[0, 1, 2, 3, 0], [0, 1, 2, -1, 0], [0, 2, 1, 0, 0], [1, 1, 2, 0, 0], [0, 1, 3, 0, 0]] {
            assert!(found(&bytes(wrong), &arrays).unwrap_err().contains("out of range"), "{wrong:?}");
        }
        assert!(found(&bytes([0, 1, 2, 2, 0]), &arrays[..2]).is_err());
    }
}
