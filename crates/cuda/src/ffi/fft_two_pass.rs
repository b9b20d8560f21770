//! Launches of `kernels/fft_hermitian.cu` and `kernels/fft_bluestein.cu` as safe functions, which own the half spectrum
//! between the two passes.

use cudarc::driver::sys;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, Element, driver};
use super::super::ops::fft::plan::{FftPlan, Pass};
use super::launch::{Argument, Shape, allow_shared, enqueue_shaped, fits, pointers, read, write};
use super::status::Status;

/// The first compute capability on which a kernel can start before the previous kernel in the stream has ended.
const FIRST_WITH_DEPENDENT_LAUNCH: i32 = 90;

/// A kernel and the shape of its launches.
struct Launch {
    function: CudaFunction,
    shape: Shape,
}

impl Launch {
    fn load(cuda: &Cuda, plan: &FftPlan, entry: &str, pass: Pass) -> Result<Launch, CellError> {
        let function = cuda.function(plan.source(), entry)?;
        let fitting = |value: usize| u32::try_from(value).map_err(|error| CellError::call(entry, error));
        let (blocks, threads, shared) =
            (fitting(pass.blocks)?, fitting(pass.threads)?, fitting(pass.shared)?);
        allow_shared(&function, shared)?;
        Ok(Launch { function, shape: Shape { grid: (blocks, 1), threads, shared, cooperative: false } })
    }
}

/// Both passes for `n x n` elements.
pub(crate) struct TwoPasses<T> {
    n: usize,
    rows: Launch,
    columns: Launch,
    /// Whether the second pass may start before the first has ended.
    dependent: bool,
    /// The plan's tables: pairs of real and imaginary part.
    tables: CudaSlice<T>,
    /// Pairs of real and imaginary part.
    half: CudaSlice<T>,
}

impl<T: Element> TwoPasses<T> {
    /// Loads the plan's kernels, compiled or from the cache, and makes its tables. The plan's type must be `T`.
    pub(crate) fn load(cuda: &Cuda, plan: &FftPlan) -> Result<Self, CellError> {
        if plan.dtype != T::DTYPE {
            return Err(CellError::Failed(format!(
                "a plan for {} cannot transform {}",
                plan.dtype,
                T::DTYPE
            )));
        }
        let reals: Vec<T> =
            plan.tables().iter().flat_map(|w| [T::from_f64(w.re), T::from_f64(w.im)]).collect();
        Ok(TwoPasses {
            n: plan.n,
            rows: Launch::load(cuda, plan, "fft_rows", plan.rows())?,
            columns: Launch::load(cuda, plan, "fft_columns", plan.column_pass())?,
            dependent: cuda.capability().is_some_and(|chip| chip >= FIRST_WITH_DEPENDENT_LAUNCH),
            tables: cuda.upload(&reals)?,
            half: cuda.alloc(2 * plan.half_elements())?,
        })
    }

    /// Enqueues the transform of `input` (`n * n` reals) into `spectrum` (`2 * n * n` reals: pairs of real and
    /// imaginary part).
    pub(crate) fn run(
        &mut self,
        stream: &CudaStream,
        input: &CudaSlice<T>,
        spectrum: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        fits("the input", input, self.n * self.n)?;
        fits("the spectrum", spectrum, 2 * self.n * self.n)?;
        let (tables, half) = (read(stream, &self.tables), write(stream, &mut self.half));
        let rows = [read(stream, input), tables, half];
        // SAFETY: the entry takes (const T*, const pair*, pair*); the plan that it was compiled for sized the tables,
        // and the input's length was checked.
        unsafe { enqueue_shaped(stream, &self.rows.function, self.rows.shape, rows)? };
        let columns = [half, tables, write(stream, spectrum)];
        let Launch { function, shape } = &self.columns;
        // SAFETY: the entry takes (const pair*, const pair*, pair*), sized as above, and waits for the first pass
        // before it reads what that one writes.
        unsafe {
            if self.dependent {
                enqueue_dependent(stream, function, *shape, columns)
            } else {
                enqueue_shaped(stream, function, *shape, columns)
            }
        }
    }
}

/// Enqueues a kernel that may start before the previous kernel in the stream has ended.
///
/// # Safety
///
/// As for [`enqueue_shaped`]; the kernel itself waits (`griddepcontrol.wait`) before it reads or writes what that one does, and
/// the device is of [`FIRST_WITH_DEPENDENT_LAUNCH`] or later.
unsafe fn enqueue_dependent<const N: usize>(
    stream: &CudaStream,
    function: &CudaFunction,
    shape: Shape,
    mut arguments: [Argument; N],
) -> Result<(), CellError> {
    let mut attribute = sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        pad: [0; 4],
        value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
    };
    let config = sys::CUlaunchConfig {
        gridDimX: shape.grid.0,
        gridDimY: shape.grid.1,
        gridDimZ: 1,
        blockDimX: shape.threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: shape.shared,
        hStream: stream.cu_stream(),
        attrs: &raw mut attribute,
        numAttrs: 1,
    };
    // SAFETY: the caller vouches for the arguments; function, stream, configuration and its attribute are alive.
    let status = unsafe {
        sys::cuLaunchKernelEx(
            &raw const config,
            function.cu_function(),
            pointers(&mut arguments).as_mut_ptr(),
            std::ptr::null_mut(),
        )
    };
    let status = Status::from(status);
    if status.is_success() { Ok(()) } else { Err(driver("cuLaunchKernelEx")(status)) }
}
