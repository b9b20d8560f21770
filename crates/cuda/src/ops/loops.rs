//! The ops about loops on the host. transfer-loop: x = sin(x) 100 times on a matrix that starts and ends on the host, copied once or
//! every time. host-loop: y = sin(a) by one launch of `kernels/loops/sine_at.cu` per element, and by one kernel for all elements.

use cudarc::driver::CudaSlice;
use gpubench_backend::{HostMemory, Job, JobTraits, Prepared};
use gpubench_ops::SINES;
use gpubench_report::data::Operand;

use super::dense::{Resident, matrix};
use super::elementwise::{self, sine};
use super::host_buffer::HostBuffer;
use crate::ffi::launch::{LaunchShape, enqueue_shaped, fits, read, write};
use crate::ffi::map::Map;
use crate::{Cuda, DeviceElement, Kernel, KernelSource, Result, Setup, by_dtype, kernel_source, variant};

static SOURCE: KernelSource = kernel_source!("loops/sine_at");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        variant("transfer-loop", "copy-once", "upload once, 100 kernels, download once; pageable memory"),
        &elementwise::STEP_PARTS,
        by_dtype!(looped, CopySchedule::Once, HostMemory::Pageable),
    ),
    Kernel::own(
        variant("transfer-loop", "copy-each", "upload, kernel and download, 100 times; pageable memory"),
        &elementwise::STEP_PARTS,
        by_dtype!(looped, CopySchedule::Each, HostMemory::Pageable),
    ),
    Kernel::own(
        variant(
            "transfer-loop",
            "copy-each-pinned",
            "upload, kernel and download, 100 times; page-locked memory",
        ),
        &elementwise::STEP_PARTS,
        by_dtype!(looped, CopySchedule::Each, HostMemory::Pinned),
    ),
    Kernel::own(
        variant("host-loop", "fused", "one kernel for all elements"),
        &elementwise::STEP_PARTS,
        by_dtype!(sine),
    ),
    Kernel::own(
        variant("host-loop", "launch-per-element", "N^2 launches of one thread"),
        &[&SOURCE],
        by_dtype!(each),
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum CopySchedule {
    Once,
    Each,
}

struct Looped<T> {
    cuda: Cuda,
    n: usize,
    copies: CopySchedule,
    kernel: Map<T, T, 1>,
    /// The operand, which is not changed.
    a: HostBuffer<T>,
    /// The answer on the host.
    back: HostBuffer<T>,
    x: CudaSlice<T>,
    /// Receives the sines of `x`, then is swapped with it.
    next: CudaSlice<T>,
}

fn looped<T: DeviceElement>(
    setup: Setup<'_>,
    copies: CopySchedule,
    memory: HostMemory,
) -> Result<Box<Prepared>> {
    setup.reserve_matrices(2)?;
    let (cuda, a) = (setup.cuda, setup.input::<T>(0)?);
    let job = Looped {
        cuda: cuda.clone(),
        n: setup.n(),
        copies,
        kernel: elementwise::load_step(cuda, "sine", a.len())?,
        a: HostBuffer::new(cuda, memory, a.to_vec())?,
        // No sine has this value, so the check fails unless a copy has arrived.
        back: HostBuffer::new(cuda, memory, vec![T::from_f64(-2.0); a.len()])?,
        x: cuda.alloc(a.len())?,
        next: cuda.alloc(a.len())?,
    };
    let synchronises = copies == CopySchedule::Each || job.a.waits();
    Ok(Prepared::with(JobTraits { synchronises, ..JobTraits::default() }, job))
}

impl<T: DeviceElement> Looped<T> {
    fn sine(&mut self) -> Result<()> {
        self.kernel.run(&self.cuda.stream, [&self.x], &mut self.next)?;
        std::mem::swap(&mut self.x, &mut self.next);
        Ok(())
    }

    fn copy_once(&mut self) -> Result<()> {
        self.a.copy_to(&mut self.x)?;
        (0..SINES).try_for_each(|_| self.sine())?;
        self.back.copy_from(&self.x)
    }

    fn copy_each(&mut self) -> Result<()> {
        for iteration in 0..SINES {
            let from = if iteration == 0 { &self.a } else { &self.back };
            from.copy_to(&mut self.x)?;
            self.sine()?;
            self.back.copy_from(&self.x)?;
            // A program that copies its data back in every iteration reads it there.
            self.cuda.synchronize()?;
        }
        Ok(())
    }
}

impl<T: DeviceElement> Job for Looped<T> {
    fn execute(&mut self) -> Result<()> {
        match self.copies {
            CopySchedule::Once => self.copy_once(),
            CopySchedule::Each => self.copy_each(),
        }
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        Ok(vec![Operand::dense(self.n, self.n, self.back.values()?)])
    }
}

fn each<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    setup.reserve_matrices(2)?;
    let function = setup.cuda.function(&SOURCE, &format!("sine_at_{}", T::DTYPE))?;
    let mut job =
        Resident::<T, T, 1>::like_first(setup)?.job(matrix::<T>, move |Cuda { stream, .. }, [a], y| {
            fits("y", y, a.len())?;
            let (from, to) = (read(stream, a), write(stream, y));
            (0..a.len() as u64).try_for_each(|index| {
                let (shape, arguments) = (LaunchShape::of_single_threads(1), [from, to, index.into()]);
                // SAFETY: the entry takes (const T*, T*, u64), and both arrays hold more than `index` elements.
                unsafe { enqueue_shaped(stream, &function, shape, arguments) }
            })
        });
    // After about a thousand queued launches the driver makes the host wait, so a blocking kernel would time out. It
    // would also hide the cost of the host's loop, which this op measures.
    job.traits.synchronises = true;
    Ok(job)
}
