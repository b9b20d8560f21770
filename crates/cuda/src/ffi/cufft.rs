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

use super::launch::fits;
use super::succeeded;
use crate::{CellError, Cuda, DeviceElement, Result, driver};

const FORWARD: c_int = -1;

fn check(call: &str, status: sys::cufftResult) -> Result<()> {
    succeeded(call, status)
}

/// Input and output of a forward transform of `n x n` elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpectrumLayout {
    /// Real to columns 0 to `n / 2` of rows of `n` complex elements; the other columns stay as they are.
    Left,
    /// Real to rows of `n / 2 + 1` complex elements.
    PackedHalf,
    /// Complex elements in place.
    InPlace,
}

impl SpectrumLayout {
    /// Returns the number of reals in the output.
    pub(crate) fn len(self, n: usize) -> usize {
        match self {
            SpectrumLayout::PackedHalf => 2 * n * (n / 2 + 1),
            SpectrumLayout::Left | SpectrumLayout::InPlace => 2 * n * n,
        }
    }
}

/// A forward 2-D transform of `n x n` elements, with its work area.
pub(crate) struct SquareTransform<T> {
    raw: sys::cufftHandle,
    stream: Arc<CudaStream>,
    layout: SpectrumLayout,
    n: usize,
    /// The plan uses it as long as it exists.
    _work: Option<CudaSlice<u8>>,
    element: PhantomData<T>,
}

impl<T: DeviceElement> SquareTransform<T> {
    /// Makes the plan, and allocates its work area.
    pub(crate) fn new(cuda: &Cuda, n: usize, layout: SpectrumLayout) -> Result<Self> {
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
        let mut plan = SquareTransform { raw, stream, layout, n, _work: None, element };
        // SAFETY: the handle is live and has no plan yet, as this call requires.
        check("cufftSetAutoAllocation", unsafe { sys::cufftSetAutoAllocation(raw, 0) })?;
        let (mut sides, mut input, mut output) = ([side; 2], [side; 2], [side; 2]);
        let sides = sides.as_mut_ptr();
        // Null pointers stand for packed rows on both sides.
        let (inembed, onembed) = match layout {
            SpectrumLayout::Left => (input.as_mut_ptr(), output.as_mut_ptr()),
            SpectrumLayout::PackedHalf | SpectrumLayout::InPlace => (null_mut(), null_mut()),
        };
        let kind = match (T::DTYPE, layout) {
            (DType::F32, SpectrumLayout::InPlace) => cufftType::CUFFT_C2C,
            (DType::F64, SpectrumLayout::InPlace) => cufftType::CUFFT_Z2Z,
            (DType::F32, _) => cufftType::CUFFT_R2C,
            (DType::F64, _) => cufftType::CUFFT_D2Z,
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

    /// Enqueues the transform of `input` (`n * n` reals) to `output` in the plan's layout.
    pub(crate) fn transform_real(&self, input: &CudaSlice<T>, output: &mut CudaSlice<T>) -> Result<()> {
        let call = "real to complex transform";
        if self.layout == SpectrumLayout::InPlace {
            return Err(CellError::call(call, "the plan is of complex elements"));
        }
        fits("the input", input, self.n * self.n)?;
        fits("the spectrum", output, self.layout.len(self.n))?;
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
        if self.layout != SpectrumLayout::InPlace {
            return Err(CellError::call(call, "the plan is of real elements"));
        }
        fits("the spectrum", data, self.layout.len(self.n))?;
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
}

impl<T> Drop for SquareTransform<T> {
    fn drop(&mut self) {
        // Work still in the queue uses the plan's tables.
        let _ = self.stream.synchronize();
        // SAFETY: this value owns the handle, and nothing uses it afterwards. A failure leaks it, no more.
        let _ = unsafe { sys::cufftDestroy(self.raw) };
    }
}
