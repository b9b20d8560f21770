//! cuBLASLt: products of floating point, and exact sums of products of 8-bit integers, by whichever of its algorithms is the fastest
//! for the shape. This file has the handle, and the descriptions that the library needs of a product: its operation, its matrices,
//! and the algorithms for them.

mod calls;
mod product;

pub use product::LtProduct;

use std::ffi::c_int;

use cudarc::cublas::sys::{cublasComputeType_t, cudaDataType_t};
use cudarc::driver::CudaSlice;

use crate::{CellError, Cuda, Library, Result, Unavailable, loader};
use calls::{Algorithm, CublasLtCalls, Owned, check};

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

fn none() -> CellError {
    let reason = "cuBLASLt has no such product for this device and size";
    Unavailable::new(reason, "use --variants cublas").into()
}

/// Up to this size, a run is short compared with the wait for it, so a timing takes several runs.
const SHORT: usize = 4096;

/// The library's handle and workspace, which the products of a job share.
struct CublasLt {
    cuda: Cuda,
    calls: CublasLtCalls,
    handle: Owned,
    workspace: CudaSlice<u8>,
}

impl CublasLt {
    /// Loads cuBLASLt. Fails if it is missing or too old.
    fn load(cuda: &Cuda) -> Result<CublasLt> {
        cuda.require(Library::CublasLt)?;
        let calls = loader::open_by_stem(Library::CublasLt.stem())
            .as_ref()
            .and_then(CublasLtCalls::find)
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

    /// Describes sums of products in that arithmetic of operands that are read as they are.
    fn operation(&self, compute: cublasComputeType_t, sums: cudaDataType_t) -> Result<Owned> {
        // SAFETY: the place is writable.
        Owned::new("cublasLtMatmulDescCreate", self.calls.destroy_operation, |raw| unsafe {
            (self.calls.operation)(raw, compute, sums)
        })
    }

    /// Describes a row-major matrix of rows and columns, or a batch of them one after the other.
    fn layout(&self, kind: cudaDataType_t, [rows, cols]: [usize; 2], batch: i32) -> Result<Owned> {
        // SAFETY: the place is writable. To cuBLASLt, rows are columns.
        let layout = Owned::new("cublasLtMatrixLayoutCreate", self.calls.destroy_layout, |raw| unsafe {
            (self.calls.layout)(raw, kind, cols as u64, rows as u64, cols as i64)
        })?;
        let stride = (rows * cols) as i64;
        for (attribute, value, bytes) in [
            (BATCH_COUNT, (&raw const batch).cast(), size_of_val(&batch)),
            (BATCH_STRIDE, (&raw const stride).cast(), size_of_val(&stride)),
        ] {
            // SAFETY: the layout is alive; the attribute is read from a value of its type before the call returns.
            check("cublasLtMatrixLayoutSetAttribute", unsafe {
                (self.calls.set_layout)(layout.raw, attribute, value, bytes)
            })?;
        }
        Ok(layout)
    }

    /// Returns the algorithms that the library proposes for those layouts of A, B and C, the one that it expects to be fastest first. Fails
    /// if it proposes none.
    fn algorithms(&self, operation: &Owned, [a, b, c]: [&Owned; 3]) -> Result<Vec<Algorithm>> {
        let CublasLt { calls, handle, .. } = self;
        // SAFETY: the place is writable.
        let preference =
            Owned::new("cublasLtMatmulPreferenceCreate", calls.destroy_preference, |raw| unsafe {
                (calls.preference)(raw)
            })?;
        let (workspace, alignment) = (WORKSPACE_BYTES, MIN_ALIGNMENT_A.1);
        for (attribute, value, bytes) in [
            (MAX_WORKSPACE, (&raw const workspace).cast(), size_of_val(&workspace)),
            (MIN_ALIGNMENT_A.0, (&raw const alignment).cast(), size_of_val(&alignment)),
        ] {
            // SAFETY: the preference is alive; the attribute is read from a value of its type before the call returns.
            check("cublasLtMatmulPreferenceSetAttribute", unsafe {
                (calls.set_preference)(preference.raw, attribute, value, bytes)
            })?;
        }
        let (mut algorithms, mut count) = (vec![Algorithm::default(); ALGORITHMS], 0);
        let (list, found, most) = (algorithms.as_mut_ptr(), &raw mut count, ALGORITHMS as c_int);
        let [handle, operation, a, b, c, preference] =
            [handle, operation, a, b, c, &preference].map(|owned| owned.raw);
        // SAFETY: handle and descriptors are alive; there is room for the algorithms asked for, and for their count.
        let status =
            unsafe { (calls.algorithms)(handle, operation, b, a, c, c, preference, most, list, found) };
        algorithms.truncate(usize::try_from(count).unwrap_or(0));
        algorithms.retain(|algorithm| algorithm.state == 0);
        if status == 0 && !algorithms.is_empty() {
            return Ok(algorithms);
        }
        Err(none())
    }
}
