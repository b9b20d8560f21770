//! Matrices of the user's own, from files in the Matrix Market format: loaded once per process, and found by their identity.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Csr, Element, Operand, Real, Values, fingerprint, mtx};

/// The ops that take the matrix of a file, in the order in which a run without `--ops` has them.
pub const OPS: [&str; 3] = ["spmv", "spgemm", "solve"];

/// Most characters of the name in an identity.
const LONGEST_NAME: usize = 60;

/// A square matrix of a file.
#[derive(Debug)]
pub struct FileMatrix {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// Name of the file and fingerprint of its matrix: `bcsstk13@1f3a5c7e90b2d4f6`.
    pub identity: String,
    /// Whether the matrix equals its transpose.
    pub is_symmetric: bool,
    csr: Csr,
    /// Largest magnitude of a value.
    largest: f64,
    /// Multiplications of the product of the matrix with itself.
    products: f64,
}

static LOADED: RwLock<Vec<&'static FileMatrix>> = RwLock::new(Vec::new());

/// Returns the matrix of a file, which is read only once per process. `free` is the memory that it may take.
///
/// # Errors
/// In one line: the file contains no real square matrix, or it needs more memory.
pub fn load(path: &Path, free: Option<u128>) -> Result<&'static FileMatrix, String> {
    if let Some(matrix) = loaded().into_iter().find(|matrix| matrix.path == path) {
        return Ok(matrix);
    }
    let csr = mtx::read(path, free)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if csr.rows != csr.cols || csr.rows == 0 {
        return Err(format!(
            "{file}: a matrix of {} x {} has nothing to measure: it must be square",
            csr.rows, csr.cols
        ));
    }
    let matrix: &'static FileMatrix = Box::leak(Box::new(FileMatrix::new(path, &file, csr)));
    LOADED.write().unwrap_or_else(PoisonError::into_inner).push(matrix);
    Ok(matrix)
}

/// Reads the matrix of a case from its file in `files`, which has identities as keys, unless this process has read it. `free` is the
/// memory that it may take.
///
/// # Errors
/// In one line: the file is missing, has changed, or cannot be read.
pub fn load_for(case: &Case, files: &BTreeMap<String, PathBuf>, free: Option<u128>) -> Result<(), String> {
    let Some(identity) = case.matrix.as_ref().filter(|identity| find(identity).is_none()) else {
        return Ok(());
    };
    let path = files.get(identity).ok_or_else(|| format!("no file of this run has the matrix {identity}"))?;
    match load(path, free)?.identity == *identity {
        true => Ok(()),
        false => Err(format!("the file of the matrix {identity} has changed since the run started")),
    }
}

fn loaded() -> Vec<&'static FileMatrix> {
    LOADED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns the matrix of that identity.
pub fn find(identity: &str) -> Option<&'static FileMatrix> {
    loaded().into_iter().find(|matrix| matrix.identity == identity)
}

/// Returns the matrix of a case on one; `None` for generated operands, and for a matrix that this process has not loaded.
pub(crate) fn of(case: &Case) -> Option<&'static FileMatrix> {
    find(case.matrix.as_deref()?)
}

/// Returns why the matrix of a case cannot be rounded to the element type: a value would be infinite.
pub(crate) fn beyond_type(case: &Case) -> Option<&'static str> {
    let is_beyond = case.dtype == DType::F32 && of(case)?.largest > f64::from(f32::MAX);
    is_beyond.then_some("the matrix has values that float32 lacks (--dtypes f64)")
}

impl FileMatrix {
    fn new(path: &Path, file: &str, csr: Csr) -> FileMatrix {
        let stem = file.strip_suffix(".gz").unwrap_or(file);
        let is_kept = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name = stem.strip_suffix(".mtx").unwrap_or(stem).chars().take(LONGEST_NAME);
        let name: String = name.map(|c| if is_kept(c) { c } else { '_' }).collect();
        let length = |row: i32| f64::from(csr.indptr[row as usize + 1] - csr.indptr[row as usize]);
        let products = csr.indices.iter().map(|row| length(*row)).sum();
        let is_symmetric = is_symmetric(&csr);
        let values = f64::slice(&csr.values).unwrap_or_default();
        let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let operand = Operand::Csr(csr);
        let identity = format!("{name}@{:016x}", fingerprint(std::slice::from_ref(&operand)));
        let csr = operand.into_csr().unwrap_or_default();
        FileMatrix { path: path.to_owned(), identity, is_symmetric, csr, largest, products }
    }

    /// Returns the rows.
    pub fn n(&self) -> u64 {
        self.csr.rows as u64
    }

    /// Returns the share of stored entries.
    pub fn density(&self) -> f64 {
        self.csr.nnz() as f64 / (self.csr.rows as f64).powi(2)
    }

    /// Returns the number of multiplications of the product of the matrix with itself.
    pub(crate) fn products(&self) -> f64 {
        self.products
    }

    /// Returns the number of stored entries.
    pub(crate) fn stored(&self) -> usize {
        self.csr.nnz()
    }

    /// Returns the matrix with values rounded to an element type.
    pub(crate) fn rounded(&self, dtype: DType) -> Csr {
        fn of<T: Real>(values: &[f64]) -> Values {
            T::into_values(values.iter().map(|value| T::from_f64(*value)).collect())
        }
        let Csr { rows, cols, ref indptr, ref indices, ref values } = self.csr;
        let Values::F64(values) = values else { return Csr::default() };
        let values = for_dtype!(dtype, of(values));
        Csr { rows, cols, indptr: indptr.clone(), indices: indices.clone(), values }
    }
}

/// Returns the matrix with all elements, row after row, in the element type `T`.
pub(crate) fn dense<T: Real>(csr: &Csr) -> Vec<T> {
    let mut elements = vec![T::default(); csr.rows * csr.cols];
    let values = T::slice(&csr.values).unwrap_or_default();
    for (row, ends) in csr.indptr.windows(2).enumerate() {
        for entry in ends[0] as usize..ends[1] as usize {
            elements[row * csr.cols + csr.indices[entry] as usize] = values[entry];
        }
    }
    elements
}

/// Returns whether a square matrix with sorted rows stores the same value on both sides of its diagonal.
fn is_symmetric(csr: &Csr) -> bool {
    let Values::F64(values) = &csr.values else { return false };
    let row = |row: usize| csr.indptr[row] as usize..csr.indptr[row + 1] as usize;
    (0..csr.rows).all(|i| {
        row(i).all(|entry| {
            let mirrored = row(csr.indices[entry] as usize);
            let found = csr.indices[mirrored.clone()].binary_search(&(i as i32));
            found.is_ok_and(|index| values[mirrored.start + index] == values[entry])
        })
    })
}
