//! cuFFT plans as owned values. The caller allocates their work areas.
//!
//! API: <https://docs.nvidia.com/cuda/cufft/>.

use std::ffi::{c_int, c_longlong, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::Arc;

use cudarc::cufft::sys::{self, cufftType};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use gpubench_ops::fft::Transforms;
use gpubench_report::case::DType;

use super::succeeded;
use crate::{CellError, Cuda, DeviceElement, Result, driver};

const FORWARD: c_int = -1;
/// The name of transforms of complex elements in messages.
const COMPLEX: &str = "complex transform";

fn check(call: &str, status: sys::cufftResult) -> Result<()> {
    succeeded(call, status)
}

/// Forward transforms with their work area: of real elements to the leading half of the columns of complex ones, or of complex elements in
/// place.
pub(crate) struct PlannedTransforms<T> {
    raw: sys::cufftHandle,
    stream: Arc<CudaStream>,
    is_real: bool,
    elements: usize,
    /// The plan uses it as long as it exists.
    _work: Option<CudaSlice<u8>>,
    element: PhantomData<T>,
}

impl<T: DeviceElement> PlannedTransforms<T> {
    /// Makes the plan, and allocates its work area.
    pub(crate) fn new(cuda: &Cuda, transforms: &Transforms, is_real: bool) -> Result<Self> {
        let long =
            |number: usize| c_longlong::try_from(number).map_err(|error| CellError::call("cuFFT", error));
        let mut sides = transforms.sides.iter().map(|side| long(*side)).collect::<Result<Vec<_>>>()?;
        let rank = c_int::try_from(sides.len()).map_err(|error| CellError::call("cuFFT", error))?;
        let (points, batch) = (long(transforms.points())?, long(transforms.batch)?);
        let stream = &cuda.stream;
        stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut raw: sys::cufftHandle = 0;
        // SAFETY: `raw` is a place for one handle.
        check("cufftCreate", unsafe { sys::cufftCreate(&mut raw) })?;
        // From here on, Drop destroys the handle.
        let (stream, element) = (Arc::clone(stream), PhantomData);
        let elements = transforms.elements();
        let mut plan = PlannedTransforms { raw, stream, is_real, elements, _work: None, element };
        // SAFETY: the handle is live and has no plan yet, as this call requires.
        check("cufftSetAutoAllocation", unsafe { sys::cufftSetAutoAllocation(raw, 0) })?;
        let (mut input, mut output) = (sides.clone(), sides.clone());
        // From real elements: the leading half of rows as long as those of the input. Otherwise packed rows.
        let (kind, inembed, onembed) = match (T::DTYPE, is_real) {
            (DType::F64, true) => (cufftType::CUFFT_D2Z, input.as_mut_ptr(), output.as_mut_ptr()),
            (_, true) => (cufftType::CUFFT_R2C, input.as_mut_ptr(), output.as_mut_ptr()),
            (DType::F64, false) => (cufftType::CUFFT_Z2Z, null_mut(), null_mut()),
            (_, false) => (cufftType::CUFFT_C2C, null_mut(), null_mut()),
        };
        let (sides, mut bytes) = (sides.as_mut_ptr(), 0);
        // SAFETY: the handle is live; the three arrays hold `rank` entries each, or are null together, which makes cuFFT ignore strides
        // and distances and take packed data.
        let made = unsafe {
            sys::cufftMakePlanMany64(
                raw, rank, sides, inembed, 1, points, onembed, 1, points, kind, batch, &mut bytes,
            )
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

    /// Enqueues the transforms of `input`. Writes columns 0 to the middle one of every row of `output`, which has as many complex elements
    /// as the input real ones, and leaves the others unchanged.
    pub(crate) fn transform_real(&self, input: &CudaSlice<T>, output: &mut CudaSlice<T>) -> Result<()> {
        let call = "real to complex transform";
        self.check_use(call, true, &[(input.len(), self.elements), (output.len(), 2 * self.elements)])?;
        let (input, _read) = input.device_ptr(&self.stream);
        let (output, _write) = output.device_ptr_mut(&self.stream);
        // SAFETY: the plan is of this type and has its work area; the lengths were checked, and a shared and an
        // exclusive slice cannot overlap.
        check(call, unsafe {
            match T::DTYPE {
                DType::F64 => sys::cufftExecD2Z(self.raw, input as *mut _, output as *mut _),
                _ => sys::cufftExecR2C(self.raw, input as *mut _, output as *mut _),
            }
        })
    }

    /// Enqueues the transforms of `data` in place: complex elements, pairs of reals.
    pub(crate) fn in_place(&self, data: &mut CudaSlice<T>) -> Result<()> {
        self.check_use(COMPLEX, false, &[(data.len(), 2 * self.elements)])?;
        let (data, _write) = data.device_ptr_mut(&self.stream);
        // SAFETY: the length was checked; cuFFT allows input and output to be the same.
        unsafe { self.execute_complex(data, data) }
    }

    /// Enqueues the transforms of `input` to `output`: complex elements, pairs of reals.
    pub(crate) fn transform_complex(&self, input: &CudaSlice<T>, output: &mut CudaSlice<T>) -> Result<()> {
        let needed = 2 * self.elements;
        self.check_use(COMPLEX, false, &[(input.len(), needed), (output.len(), needed)])?;
        let (input, _read) = input.device_ptr(&self.stream);
        let (output, _write) = output.device_ptr_mut(&self.stream);
        // SAFETY: the lengths were checked; a transform that is not in place only reads its input.
        unsafe { self.execute_complex(input, output) }
    }

    /// Enqueues the transforms from one address to another.
    ///
    /// # Safety
    /// The plan is one of complex elements, of which there are as many at both addresses as it transforms.
    unsafe fn execute_complex(&self, input: u64, output: u64) -> Result<()> {
        // SAFETY: the plan is of this type and has its work area; the caller vouches for the rest.
        check(COMPLEX, unsafe {
            match T::DTYPE {
                DType::F64 => sys::cufftExecZ2Z(self.raw, input as *mut _, output as *mut _, FORWARD),
                _ => sys::cufftExecC2C(self.raw, input as *mut _, output as *mut _, FORWARD),
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

impl<T> Drop for PlannedTransforms<T> {
    fn drop(&mut self) {
        // Work still in the queue uses the plan's tables.
        let _ = self.stream.synchronize();
        // SAFETY: this value owns the handle, and nothing uses it afterwards. A failure leaks it, no more.
        let _ = unsafe { sys::cufftDestroy(self.raw) };
    }
}
