//! The op host-loop, y = sin(a): a loop on the host with one launch of `kernels/sine_at.cu` per element, and one kernel for all
//! elements.

use gpubench_backend::{JobTraits, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::dense::DenseJob;
use super::elementwise::{self, sine};
use super::{Kernel, by_dtype, matrix_bytes, variant};
use crate::context::{Cuda, DeviceElement};
use crate::ffi::launch::{LaunchShape, enqueue_shaped, fits, read, write};
use crate::kernels::{KernelSource, kernel_source};

static SOURCE: KernelSource = kernel_source!("sine_at");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: variant("host-loop", "fused", "one kernel for all elements"),
        sources: &elementwise::STEP_PARTS,
        libraries: &[],
        prepare: by_dtype!(sine),
    },
    Kernel {
        variant: variant("host-loop", "launch-per-element", "N^2 launches of one thread"),
        sources: &[&SOURCE],
        libraries: &[],
        prepare: by_dtype!(each),
    },
];

fn each<T: DeviceElement>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrix_bytes(case, 2))?;
    let function = cuda.function(&SOURCE, &format!("sine_at_{}", T::DTYPE))?;
    let job = DenseJob::<T, 1, _>::new(cuda, case, inputs, move |Cuda { stream, .. }, [a], y| {
        fits("y", y, a.len())?;
        let (from, to) = (read(stream, a), write(stream, y));
        (0..a.len() as u64).try_for_each(|index| {
            let (shape, arguments) = (LaunchShape::of_single_threads(1), [from, to, index.into()]);
            // SAFETY: the entry takes (const T*, T*, u64), and both arrays hold more than `index` elements.
            unsafe { enqueue_shaped(stream, &function, shape, arguments) }
        })
    })?;
    // After about a thousand queued launches the driver makes the host wait, so a blocking kernel would time out. It
    // would also hide the cost of the host's loop, which this op measures.
    Ok(Prepared::with(JobTraits { synchronises: true, ..JobTraits::default() }, job))
}
