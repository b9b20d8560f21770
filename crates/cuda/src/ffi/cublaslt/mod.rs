//! cuBLASLt: exact sums of products of 8-bit integers, by whichever of its algorithms is the fastest for the shape.

mod calls;

use std::ffi::{c_int, c_void};
use std::time::Instant;

use cudarc::cublas::sys::{cublasComputeType_t, cublasOperation_t, cudaDataType_t};
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};
use gpubench_model::error::{CellError, Unavailable};

use self::calls::{Algorithm, Calls, Owned, check};
use super::super::context::{Cuda, Library};
use super::super::loader;
use super::launch::fits;

/// Slices per operand.
pub(crate) const SLICES: usize = 3;

const WORKSPACE_BYTES: usize = 32 << 20;
/// Ways that are asked for and tried.
const ALGORITHMS: usize = 16;
/// Timings of an algorithm, of which the least counts.
const TIMINGS: usize = 3;
/// Up to this size, a run is short compared with the wait for it, so a timing takes several runs.
const SHORT: usize = 4096;

/// Value of `cublasLtMatmulDescAttributes_t`: how the first operand is read.
const TRANSA: c_int = 3;
/// Value of `cublasLtMatmulPreferenceAttributes_t`: the most workspace.
const MAX_WORKSPACE: c_int = 1;
/// Value of `cublasLtMatmulPreferenceAttributes_t`: the alignment of the first operand in bytes. Slices can start
/// inside a row, which guarantees no more than this; the other operands start at allocations.
const MIN_ALIGNMENT_A: (c_int, u32) = (5, 16);

/// One product: its shape, and the algorithms of doing it, the chosen one first.
struct Plan {
    operation: Owned,
    /// The layout of both operands: the depth is contiguous.
    operand: Owned,
    sums: Owned,
    algorithms: Vec<Algorithm>,
}

impl Plan {
    fn new(calls: Calls, handle: &Owned, pitch: usize, place: usize) -> Result<Plan, CellError> {
        use cudaDataType_t::{CUDA_R_8I, CUDA_R_32I};
        let operation = operation(calls)?;
        let layout = |kind, rows: usize, ld: usize| {
            // SAFETY: the place is writable.
            Owned::new("cublasLtMatrixLayoutCreate", calls.destroy_layout, |raw| unsafe {
                (calls.layout)(raw, kind, rows as u64, pitch as u64, ld as i64)
            })
        };
        let operand = layout(CUDA_R_8I, (place + 1) * pitch, SLICES * pitch)?;
        let mut plan =
            Plan { operation, operand, sums: layout(CUDA_R_32I, pitch, pitch)?, algorithms: vec![] };
        plan.algorithms = algorithms(calls, handle, &plan)?;
        Ok(plan)
    }
}

/// Describes 32-bit sums of products of integers; the first operand is read transposed.
fn operation(calls: Calls) -> Result<Owned, CellError> {
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

/// The algorithms of a product that the library proposes, the one that it expects to be fastest first.
fn algorithms(calls: Calls, handle: &Owned, plan: &Plan) -> Result<Vec<Algorithm>, CellError> {
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
    let Plan { operation, operand, sums, .. } = plan;
    let (operands, sums) = ((operand.raw, operand.raw), sums.raw);
    // SAFETY: handle and descriptors are alive; there is room for the algorithms asked for, and for their count.
    let status = unsafe {
        (calls.algorithms)(
            handle.raw,
            operation.raw,
            operands.0,
            operands.1,
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
    let reason = "cuBLASLt has no 8-bit integer product for this device and size";
    Err(Unavailable::new(reason, "use --variants cublas").into())
}

/// Sums of products of slices by place: the indices of the two slices add up to 0, 1 or 2.
///
/// The slices of a row are stored next to each other in rows of three times `pitch` bytes. The rows of A have them in
/// order; the rows of B, which are its columns, in reverse. The products of one sum are then one product over `place
/// + 1` slices.
pub(crate) struct SliceProducts {
    cuda: Cuda,
    calls: Calls,
    // Plans before the handle, because fields are dropped in this order.
    plans: Vec<Plan>,
    handle: Owned,
    pitch: usize,
    workspace: CudaSlice<u8>,
}

impl SliceProducts {
    /// Loads cuBLASLt and plans products of `pitch` by `pitch` slices; `pitch` is a multiple of 16.
    pub(crate) fn new(cuda: &Cuda, pitch: usize) -> Result<SliceProducts, CellError> {
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
        let plans: Result<_, _> = (0..SLICES).map(|place| Plan::new(calls, &handle, pitch, place)).collect();
        let workspace = cuda.alloc(WORKSPACE_BYTES)?;
        Ok(SliceProducts { cuda: cuda.clone(), calls, plans: plans?, handle, pitch, workspace })
    }

    /// Enqueues the sum of products of that place into the `place`-th matrix of `sums`.
    pub(crate) fn enqueue(
        &self,
        place: usize,
        a: &CudaSlice<i8>,
        b: &CudaSlice<i8>,
        sums: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        self.enqueue_by(place, 0, a, b, sums)
    }

    fn enqueue_by(
        &self,
        place: usize,
        algorithm: usize,
        a: &CudaSlice<i8>,
        b: &CudaSlice<i8>,
        sums: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let area = self.pitch * self.pitch;
        fits("slices of A", a, SLICES * area)?;
        fits("slices of B", b, SLICES * area)?;
        fits("sums", sums, SLICES * area)?;
        let Some((plan, algorithm)) =
            self.plans.get(place).and_then(|plan| Some((plan, plan.algorithms.get(algorithm)?)))
        else {
            return Err(CellError::Failed(format!("there is no slice product number {place}")));
        };
        let stream = &self.cuda.stream;
        let a = a.device_ptr(stream).0;
        let b = b.device_ptr(stream).0 + ((SLICES - 1 - place) * self.pitch) as u64;
        let sums = sums.device_ptr_mut(stream).0 + (place * area * size_of::<i32>()) as u64;
        let (one, zero) = (1i32, 0i32);
        // Row-major sums are column-major ones transposed, so B comes first.
        // SAFETY: descriptors and handle are alive; the layouts stay inside slices and sums of these lengths; operands are
        // aligned as the algorithms were chosen for, since `pitch` is a multiple of 16; the
        // workspace has the bytes that the algorithm was chosen for; the scalars are read before the call returns.
        check("cublasLtMatmul", unsafe {
            (self.calls.multiply)(
                self.handle.raw,
                plan.operation.raw,
                (&raw const one).cast(),
                b as *const c_void,
                plan.operand.raw,
                a as *const c_void,
                plan.operand.raw,
                (&raw const zero).cast(),
                sums as *const c_void,
                plan.sums.raw,
                sums as *mut c_void,
                plan.sums.raw,
                &raw const algorithm.algorithm,
                self.workspace.device_ptr(stream).0 as *mut c_void,
                WORKSPACE_BYTES,
                stream.cu_stream().cast(),
            )
        })
    }

    /// Times the algorithms of that product by the host's clock and keeps the fastest. All give the same bits, as
    /// sums of integers do not depend on their order.
    ///
    /// # Errors
    /// The library refuses every algorithm, or the device fails.
    pub(crate) fn choose(
        &mut self,
        place: usize,
        a: &CudaSlice<i8>,
        b: &CudaSlice<i8>,
        sums: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let runs = if self.pitch <= SHORT { 8 } else { 1 };
        let algorithms = self.plans.get(place).map_or(0, |plan| plan.algorithms.len());
        let mut best = (f64::INFINITY, 0);
        for algorithm in 0..algorithms {
            // An algorithm that is refused is out; a fault of the device shows when it is waited for.
            if self.enqueue_by(place, algorithm, a, b, sums).is_err() {
                continue;
            }
            self.cuda.synchronize()?;
            for _ in 0..TIMINGS {
                let begun = Instant::now();
                for _ in 0..runs {
                    self.enqueue_by(place, algorithm, a, b, sums)?;
                }
                self.cuda.synchronize()?;
                let seconds = begun.elapsed().as_secs_f64();
                if seconds < best.0 {
                    best = (seconds, algorithm);
                }
            }
        }
        match self.plans.get_mut(place).filter(|_| best.0.is_finite()) {
            Some(plan) => plan.algorithms.swap(0, best.1),
            None => {
                let reason = "cuBLASLt rejects every 8-bit integer product of this size";
                return Err(Unavailable::new(reason, "use --variants cublas").into());
            }
        }
        Ok(())
    }
}
