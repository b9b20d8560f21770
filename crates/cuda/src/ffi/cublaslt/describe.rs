//! Descriptions that the library needs of a product: its operation, its matrices, and the algorithms for them.

use std::ffi::c_int;

use cudarc::cublas::sys::{cublasComputeType_t, cublasOperation_t, cudaDataType_t};
use gpubench_model::error::{CellError, Unavailable};

use super::calls::{Algorithm, Calls, Owned, check};

pub(super) const WORKSPACE_BYTES: usize = 32 << 20;
/// Algorithms that are asked for and tried.
const ALGORITHMS: usize = 16;

/// Value of `cublasLtMatmulDescAttributes_t`: how the first operand is read.
const TRANSA: c_int = 3;
/// Value of `cublasLtMatmulPreferenceAttributes_t`: the most workspace.
const MAX_WORKSPACE: c_int = 1;
/// Value of `cublasLtMatmulPreferenceAttributes_t`: the alignment of the first operand in bytes. Slices can start
/// inside a row, which guarantees no more than this; the other operands start at allocations.
const MIN_ALIGNMENT_A: (c_int, u32) = (5, 16);
/// Value of `cublasLtMatrixLayoutAttribute_t`: the number of matrices in a batch.
const BATCH_COUNT: c_int = 5;
/// Value of `cublasLtMatrixLayoutAttribute_t`: elements from one matrix of a batch to the next.
const BATCH_STRIDE: c_int = 6;

/// Describes a matrix of `rows` by `columns` elements, or a batch of them one after the other. Columns begin `ld`
/// elements apart.
pub(super) fn layout(
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

pub(super) fn none() -> CellError {
    let reason = "cuBLASLt has no such product for this device and size";
    Unavailable::new(reason, "use --variants cublas").into()
}

/// Describes 32-bit sums of products of integers; the first operand is read transposed.
pub(super) fn operation(calls: Calls) -> Result<Owned, CellError> {
    use cublasComputeType_t::CUBLAS_COMPUTE_32I;
    let sums = cudaDataType_t::CUDA_R_32I;
    // SAFETY: the place is writable.
    let operation = Owned::new("cublasLtMatmulDescCreate", calls.destroy_operation, |raw| unsafe {
        (calls.operation)(raw, CUBLAS_COMPUTE_32I, sums)
    })?;
    let transposed = cublasOperation_t::CUBLAS_OP_T;
    let value = (&raw const transposed).cast();
    // SAFETY: the descriptor is alive; the attribute is read from a value of its type before the call returns.
    check("cublasLtMatmulDescSetAttribute", unsafe {
        (calls.set_operation)(operation.raw, TRANSA, value, size_of_val(&transposed))
    })?;
    Ok(operation)
}

/// Describes sums of products in that arithmetic of operands that are read as they are.
pub(super) fn plain_operation(
    calls: Calls,
    compute: cublasComputeType_t,
    sums: cudaDataType_t,
) -> Result<Owned, CellError> {
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
pub(super) fn algorithms(
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
