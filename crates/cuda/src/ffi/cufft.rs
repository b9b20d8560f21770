//! cuFFT plans for square 2-D transforms as owned values. The caller allocates their work areas.
//!
//! API: <https://docs.nvidia.com/cuda/cufft/>.

use std::ffi::{c_int, c_longlong, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::Arc;

use cudarc::cufft::sys::{self, cufftType};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use gpubench_report::case::DType;

use super::succeeded;
use crate::{CellError, Cuda, DeviceElement, Result, driver};

const FORWARD: c_int = -1;

fn check(call: &str, status: sys::cufftResult) -> Result<()> {
    succeeded(call, status)
}

/// A forward 2-D transform of `n x n` elements, with its work area: of real elements to the left half of complex ones, or of
/// complex elements in place.
pub(crate) struct SquareTransform<T> {
    raw: sys::cufftHandle,
    stream: Arc<CudaStream>,
    is_real: bool,
    area: usize,
    /// The plan uses it as long as it exists.
    _work: Option<CudaSlice<u8>>,
    element: PhantomData<T>,
}

impl<T: DeviceElement> SquareTransform<T> {
    /// Makes the plan, and allocates its work area.
    pub(crate) fn new(cuda: &Cuda, n: usize, is_real: bool) -> Result<Self> {
        let side =
            c_longlong::try_from(n).ok().filter(|side| *side >= 1 && side.checked_mul(*side).is_some());
        let side = side.ok_or_else(|| CellError::Failed(format!("cuFFT cannot index {n} x {n} elements")))?;
        let stream = &cuda.stream;
        stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut raw: sys::cufftHandle = 0;
        // SAFETY: `raw` is a place for one handle.
        check("cufftCreate", unsafe { sys::cufftCreate(&mut raw) })?;
        // From here on, Drop destroys the handle.
        let (stream, element) = (Arc::clone(stream), PhantomData);
        let mut plan = SquareTransform { raw, stream, is_real, area: n * n, _work: None, element };
        // SAFETY: the handle is live and has no plan yet, as this call requires.
        check("cufftSetAutoAllocation", unsafe { sys::cufftSetAutoAllocation(raw, 0) })?;
        let (mut sides, mut input, mut output) = ([side; 2], [side; 2], [side; 2]);
        let sides = sides.as_mut_ptr();
        // From real elements: the first `n / 2 + 1` elements of rows of length `n`. Otherwise packed rows.
        let (kind, inembed, onembed) = match (T::DTYPE, is_real) {
            (DType::F32, true) => (cufftType::CUFFT_R2C, input.as_mut_ptr(), output.as_mut_ptr()),
            (DType::F64, true) => (cufftType::CUFFT_D2Z, input.as_mut_ptr(), output.as_mut_ptr()),
            (DType::F32, false) => (cufftType::CUFFT_C2C, null_mut(), null_mut()),
            (DType::F64, false) => (cufftType::CUFFT_Z2Z, null_mut(), null_mut()),
        };
        let (area, mut bytes) = (side * side, 0);
        // SAFETY: the handle is live; the three arrays hold `rank` = 2 entries each, or are null together,
        // which makes cuFFT ignore strides and distances and take packed data.
        let made = unsafe {
            sys::cufftMakePlanMany64(raw, 2, sides, inembed, 1, area, onembed, 1, area, kind, 1, &mut bytes)
        };
        check("cufftMakePlanMany64", made)?;
        // SAFETY: the handle has its plan, and the stream outlives it: this value shares its ownership.
        check("cufftSetStream", unsafe { sys::cufftSetStream(raw, plan.stream.cu_stream().cast()) })?;
        cuda.count_plan();
        cuda.reserve(bytes as u128)?;
        let mut work = cuda.alloc(bytes)?;
        let address = work.device_ptr_mut(&plan.stream).0;
        // SAFETY: the plan is made; the area is large enough and lives as long as this value.
        check("cufftSetWorkArea", unsafe { sys::cufftSetWorkArea(raw, address as *mut c_void) })?;
        plan._work = Some(work);
        Ok(plan)
    }

    pub(crate) fn is_real(&self) -> bool {
        self.is_real
    }

    /// Enqueues the transform of `input` (`n * n` reals). Writes columns 0 to `n / 2` of every row of `output` (`n *
    /// n` complex elements, `2 * n * n` reals) and leaves the others unchanged.
    pub(crate) fn transform_real(&self, input: &CudaSlice<T>, output: &mut CudaSlice<T>) -> Result<()> {
        let call = "real to complex transform";
        self.check_use(call, true, &[(input.len(), self.area), (output.len(), 2 * self.area)])?;
        let (input, _read) = input.device_ptr(&self.stream);
        let (output, _write) = output.device_ptr_mut(&self.stream);
        // SAFETY: the plan is of this type and has its work area; the lengths were checked, and a shared and an
        // exclusive slice cannot overlap.
        check(call, unsafe {
            match T::DTYPE {
                DType::F32 => sys::cufftExecR2C(self.raw, input as *mut _, output as *mut _),
                DType::F64 => sys::cufftExecD2Z(self.raw, input as *mut _, output as *mut _),
            }
        })
    }

    /// Enqueues the transform of `data` in place: `n * n` complex elements, `2 * n * n` reals.
    pub(crate) fn in_place(&self, data: &mut CudaSlice<T>) -> Result<()> {
        let call = "complex transform";
        self.check_use(call, false, &[(data.len(), 2 * self.area)])?;
        let (data, _write) = data.device_ptr_mut(&self.stream);
        // SAFETY: the plan is of this type and has its work area; the length was checked; cuFFT allows input and output to be
        // the same.
        check(call, unsafe {
            match T::DTYPE {
                DType::F32 => sys::cufftExecC2C(self.raw, data as *mut _, data as *mut _, FORWARD),
                DType::F64 => sys::cufftExecZ2Z(self.raw, data as *mut _, data as *mut _, FORWARD),
            }
        })
    }

    /// Fails if the plan is of the other type, or a slice has the wrong length: pairs of elements given and needed.
    fn check_use(&self, call: &str, is_real: bool, lengths: &[(usize, usize)]) -> Result<()> {
        if self.is_real != is_real {
            return Err(CellError::call(call, "the plan is of the other type"));
        }
        match lengths.iter().find(|(given, needed)| given != needed) {
            Some((given, needed)) => {
                Err(CellError::call(call, format!("got {given} elements, expected {needed}")))
            }
            None => Ok(()),
        }
    }
}

impl<T> Drop for SquareTransform<T> {
    fn drop(&mut self) {
        // Work still in the queue uses the plan's tables.
        let _ = self.stream.synchronize();
        // SAFETY: this value owns the handle, and nothing uses it afterwards. A failure leaks it, no more.
        let _ = unsafe { sys::cufftDestroy(self.raw) };
    }
}
