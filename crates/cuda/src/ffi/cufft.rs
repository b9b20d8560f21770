//! cuFFT plans for square 2-D transforms as owned values. The caller allocates their work areas.
//!
//! API: <https://docs.nvidia.com/cuda/cufft/>.

use std::ffi::{c_int, c_longlong, c_void};
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::cufft::sys;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr};
use gpubench_report::error::CellError;

use super::succeeded;
use crate::failure::driver;

const FORWARD: c_int = -1;

fn check(call: &str, status: sys::cufftResult) -> Result<(), CellError> {
    succeeded(call, status)
}

/// An element type that cuFFT transforms. A complex element is a pair of it, real part first.
pub(crate) trait FftReal: DeviceRepr + Copy + 'static {
    /// The transform from real to complex elements.
    const REAL_TO_COMPLEX: sys::cufftType;
    /// The transform from complex to complex elements.
    const COMPLEX_TO_COMPLEX: sys::cufftType;

    /// Enqueues a real-to-complex transform.
    ///
    /// # Safety
    /// `plan` is a live plan of type [`FftReal::REAL_TO_COMPLEX`] with its work area set; `input` and `output`
    /// are device addresses of as many elements as the plan reads and writes, and do not overlap.
    unsafe fn real_to_complex(plan: sys::cufftHandle, input: u64, output: u64) -> sys::cufftResult;

    /// Enqueues a forward complex transform in place.
    ///
    /// # Safety
    /// `plan` is a live plan of type [`FftReal::COMPLEX_TO_COMPLEX`] with its work area set; `data` is the
    /// device address of as many complex elements as the plan transforms.
    unsafe fn complex_in_place(plan: sys::cufftHandle, data: u64) -> sys::cufftResult;
}

impl FftReal for f32 {
    const REAL_TO_COMPLEX: sys::cufftType = sys::cufftType::CUFFT_R2C;
    const COMPLEX_TO_COMPLEX: sys::cufftType = sys::cufftType::CUFFT_C2C;

    unsafe fn real_to_complex(plan: sys::cufftHandle, input: u64, output: u64) -> sys::cufftResult {
        // SAFETY: the caller's promise is this call's.
        unsafe { sys::cufftExecR2C(plan, input as *mut sys::cufftReal, output as *mut sys::cufftComplex) }
    }

    unsafe fn complex_in_place(plan: sys::cufftHandle, data: u64) -> sys::cufftResult {
        let data = data as *mut sys::cufftComplex;
        // SAFETY: the caller's promise is this call's; cuFFT allows input and output to be the same.
        unsafe { sys::cufftExecC2C(plan, data, data, FORWARD) }
    }
}

impl FftReal for f64 {
    const REAL_TO_COMPLEX: sys::cufftType = sys::cufftType::CUFFT_D2Z;
    const COMPLEX_TO_COMPLEX: sys::cufftType = sys::cufftType::CUFFT_Z2Z;

    unsafe fn real_to_complex(plan: sys::cufftHandle, input: u64, output: u64) -> sys::cufftResult {
        let (input, output) = (input as *mut sys::cufftDoubleReal, output as *mut sys::cufftDoubleComplex);
        // SAFETY: the caller's promise is this call's.
        unsafe { sys::cufftExecD2Z(plan, input, output) }
    }

    unsafe fn complex_in_place(plan: sys::cufftHandle, data: u64) -> sys::cufftResult {
        let data = data as *mut sys::cufftDoubleComplex;
        // SAFETY: the caller's promise is this call's; cuFFT allows input and output to be the same.
        unsafe { sys::cufftExecZ2Z(plan, data, data, FORWARD) }
    }
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

impl<T: FftReal> SquareTransform<T> {
    /// Makes the plan. `alloc` allocates a work area of the given number of bytes.
    pub(crate) fn new(
        stream: &Arc<CudaStream>,
        n: usize,
        is_real: bool,
        alloc: impl FnOnce(usize) -> Result<CudaSlice<u8>, CellError>,
    ) -> Result<Self, CellError> {
        let side =
            c_longlong::try_from(n).ok().filter(|side| *side >= 1 && side.checked_mul(*side).is_some());
        let side = side.ok_or_else(|| CellError::Failed(format!("cuFFT cannot index {n} x {n} elements")))?;
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
        let (kind, inembed, onembed) = match is_real {
            true => (T::REAL_TO_COMPLEX, input.as_mut_ptr(), output.as_mut_ptr()),
            false => (T::COMPLEX_TO_COMPLEX, std::ptr::null_mut(), std::ptr::null_mut()),
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
        let mut work = alloc(bytes)?;
        if work.len() < bytes {
            return Err(CellError::Failed(format!(
                "the cuFFT work area has {} bytes; {bytes} are needed",
                work.len()
            )));
        }
        let address = work.device_ptr_mut(&plan.stream).0;
        // SAFETY: the plan is made; the area is large enough and lives as long as this value.
        check("cufftSetWorkArea", unsafe { sys::cufftSetWorkArea(raw, address as *mut c_void) })?;
        plan._work = Some(work);
        Ok(plan)
    }

    /// Returns whether the transform is one of real elements.
    pub(crate) fn is_real(&self) -> bool {
        self.is_real
    }

    /// Enqueues the transform of `input` (`n * n` reals). Writes columns 0 to `n / 2` of every row of `output` (`n *
    /// n` complex elements, `2 * n * n` reals) and leaves the others unchanged.
    pub(crate) fn transform_real(
        &self,
        input: &CudaSlice<T>,
        output: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        let call = "real to complex transform";
        self.check_use(call, true, &[(input.len(), self.area), (output.len(), 2 * self.area)])?;
        let (input, _read) = input.device_ptr(&self.stream);
        let (output, _write) = output.device_ptr_mut(&self.stream);
        // SAFETY: the plan is of this type and has its work area; the lengths were checked, and a shared and an
        // exclusive slice cannot overlap.
        check(call, unsafe { T::real_to_complex(self.raw, input, output) })
    }

    /// Enqueues the transform of `data` in place: `n * n` complex elements, `2 * n * n` reals.
    pub(crate) fn in_place(&self, data: &mut CudaSlice<T>) -> Result<(), CellError> {
        let call = "complex transform";
        self.check_use(call, false, &[(data.len(), 2 * self.area)])?;
        let (data, _write) = data.device_ptr_mut(&self.stream);
        // SAFETY: the plan is of this type and has its work area; the length was checked.
        check(call, unsafe { T::complex_in_place(self.raw, data) })
    }

    /// Fails if the plan is of the other type, or a slice has the wrong length: pairs of elements given and needed.
    fn check_use(&self, call: &str, is_real: bool, lengths: &[(usize, usize)]) -> Result<(), CellError> {
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
