//! cuBLASLt: products of floating point, and exact sums of products of 8-bit integers, by whichever of its algorithms is the fastest
//! for the shape. This file has the handle, and the descriptions that the library needs of a product: its operation, its matrices,
//! and the algorithms for them.

mod calls;
mod dense;
mod residues;

pub(crate) use dense::{DenseProduct, ProductReal};
pub(crate) use residues::ResidueProducts;

use std::ffi::c_int;

use cudarc::cublas::sys::{cublasComputeType_t, cudaDataType_t};
use cudarc::driver::CudaSlice;
use gpubench_model::error::{CellError, Unavailable};

use super::tuning;
use crate::context::{Cuda, Library};
use crate::loader;
use calls::{Algorithm, Calls, Owned, check};

const WORKSPACE_BYTES: usize = 32 << 20;
/// Algorithms that are asked for and tried.
const ALGORITHMS: usize = 16;

/// Value of `cublasLtMatmulPreferenceAttributes_t`: the most workspace.
const MAX_WORKSPACE: c_int = 1;
/// Value of `cublasLtMatmulPreferenceAttributes_t`: the alignment of the first operand in bytes on which algorithms may rely.
const MIN_ALIGNMENT_A: (c_int, u32) = (5, 16);
/// Value of `cublasLtMatrixLayoutAttribute_t`: the number of matrices in a batch.
const BATCH_COUNT: c_int = 5;
/// Value of `cublasLtMatrixLayoutAttribute_t`: elements from one matrix of a batch to the next.
const BATCH_STRIDE: c_int = 6;

/// Describes a matrix of `rows` by `columns` elements, or a batch of them one after the other. Columns begin `ld`
/// elements apart.
fn layout(
    calls: Calls,
    kind: cudaDataType_t,
    (rows, columns, ld): (usize, usize, usize),
    batch: i32,
) -> Result<Owned, CellError> {
    // SAFETY: the place is writable.
    let layout = Owned::new("cublasLtMatrixLayoutCreate", calls.destroy_layout, |raw| unsafe {
        (calls.layout)(raw, kind, rows as u64, columns as u64, ld as i64)
    })?;
    let stride = (columns * ld) as i64;
    for (attribute, value, bytes) in [
        (BATCH_COUNT, (&raw const batch).cast(), size_of_val(&batch)),
        (BATCH_STRIDE, (&raw const stride).cast(), size_of_val(&stride)),
    ] {
        // SAFETY: the layout is alive; the attribute is read from a value of its type before the call returns.
        check("cublasLtMatrixLayoutSetAttribute", unsafe {
            (calls.set_layout)(layout.raw, attribute, value, bytes)
        })?;
    }
    Ok(layout)
}

fn none() -> CellError {
    let reason = "cuBLASLt has no such product for this device and size";
    Unavailable::new(reason, "use --variants cublas").into()
}

/// Describes sums of products in that arithmetic of operands that are read as they are.
fn operation(calls: Calls, compute: cublasComputeType_t, sums: cudaDataType_t) -> Result<Owned, CellError> {
    // SAFETY: the place is writable.
    Owned::new("cublasLtMatmulDescCreate", calls.destroy_operation, |raw| unsafe {
        (calls.operation)(raw, compute, sums)
    })
}

/// Returns the algorithms that the library proposes, the one that it expects to be fastest first. Both operands have
/// the same layout.
///
/// # Errors
/// It proposes none.
fn algorithms(
    calls: Calls,
    handle: &Owned,
    operation: &Owned,
    (operand, sums): (&Owned, &Owned),
) -> Result<Vec<Algorithm>, CellError> {
    // SAFETY: the place is writable.
    let preference = Owned::new("cublasLtMatmulPreferenceCreate", calls.destroy_preference, |raw| unsafe {
        (calls.preference)(raw)
    })?;
    let bytes = WORKSPACE_BYTES;
    let value = (&raw const bytes).cast();
    // SAFETY: the preference is alive; the attribute is read from a value of its type before the call returns.
    check("cublasLtMatmulPreferenceSetAttribute", unsafe {
        (calls.set_preference)(preference.raw, MAX_WORKSPACE, value, size_of_val(&bytes))
    })?;
    let (attribute, alignment) = MIN_ALIGNMENT_A;
    let value = (&raw const alignment).cast();
    // SAFETY: as above.
    check("cublasLtMatmulPreferenceSetAttribute", unsafe {
        (calls.set_preference)(preference.raw, attribute, value, size_of_val(&alignment))
    })?;
    let (mut algorithms, mut found) = (vec![Algorithm::default(); ALGORITHMS], 0);
    let (operand, sums) = (operand.raw, sums.raw);
    // SAFETY: handle and descriptors are alive; there is room for the algorithms asked for, and for their count.
    let status = unsafe {
        (calls.algorithms)(
            handle.raw,
            operation.raw,
            operand,
            operand,
            sums,
            sums,
            preference.raw,
            ALGORITHMS as c_int,
            algorithms.as_mut_ptr(),
            &raw mut found,
        )
    };
    algorithms.truncate(usize::try_from(found).unwrap_or(0));
    algorithms.retain(|algorithm| algorithm.state == 0);
    if status == 0 && !algorithms.is_empty() {
        return Ok(algorithms);
    }
    Err(none())
}

/// Up to this size, a run is short compared with the wait for it, so a timing takes several runs.
const SHORT: usize = 4096;

/// The library's handle and workspace, which the products of a job share.
struct CublasLt {
    cuda: Cuda,
    calls: Calls,
    handle: Owned,
    workspace: CudaSlice<u8>,
}

impl CublasLt {
    /// Loads cuBLASLt.
    ///
    /// # Errors
    /// It is missing or too old.
    fn load(cuda: &Cuda) -> Result<CublasLt, CellError> {
        cuda.require(Library::CublasLt)?;
        let calls = loader::open_by_stem(Library::CublasLt.stem())
            .as_ref()
            .and_then(Calls::find)
            .ok_or_else(|| {
                Unavailable::new(
                    "cuBLASLt is too old: it lacks functions that gpubench needs",
                    "use --variants cublas",
                )
            })?;
        // SAFETY: the place is writable and the context is current.
        let handle = Owned::new("cublasLtCreate", calls.destroy, |raw| unsafe { (calls.create)(raw) })?;
        cuda.count_plan();
        Ok(CublasLt { cuda: cuda.clone(), calls, handle, workspace: cuda.alloc(WORKSPACE_BYTES)? })
    }
}

/// Returns the index of the fastest algorithm for matrices of that side. `enqueue` enqueues a product by an algorithm.
///
/// # Errors
/// The library refuses every algorithm, or the device fails.
fn fastest(
    cuda: &Cuda,
    side: usize,
    algorithms: &[Algorithm],
    enqueue: impl FnMut(&Algorithm) -> Result<(), CellError>,
) -> Result<usize, CellError> {
    let runs = if side <= SHORT { 8 } else { 1 };
    tuning::fastest(cuda, runs, algorithms, enqueue)?.ok_or_else(none)
}
