//! The op transfer: copies a matrix between host and device, for pageable and page-locked memory, and within the
//! device.

use cudarc::driver::CudaSlice;
use gpubench_backend::{HostMemory, Job, JobTraits, Prepared};
use gpubench_report::data::Operand;

use super::dense::{Resident, matrix};
use super::host_buffer::HostBuffer;
use crate::transfer_stats::CopyDirection;
use crate::{Cuda, DeviceElement, Kernel, Result, Setup, by_dtype, opt_in, variant};

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::bare(
        variant("transfer", "h2d-pageable", "host to device, pageable memory"),
        by_dtype!(crossing, CopyDirection::Upload, HostMemory::Pageable),
    ),
    Kernel::bare(
        variant("transfer", "h2d-pinned", "host to device, page-locked memory"),
        by_dtype!(crossing, CopyDirection::Upload, HostMemory::Pinned),
    ),
    Kernel::bare(
        variant("transfer", "d2h-pageable", "device to host, pageable memory"),
        by_dtype!(crossing, CopyDirection::Download, HostMemory::Pageable),
    ),
    Kernel::bare(
        variant("transfer", "d2h-pinned", "device to host, page-locked memory"),
        by_dtype!(crossing, CopyDirection::Download, HostMemory::Pinned),
    ),
    Kernel::bare(opt_in("transfer", "d2d", "within the device's memory"), by_dtype!(within)),
];

struct HostDeviceCopy<T> {
    cuda: Cuda,
    n: usize,
    direction: CopyDirection,
    host: HostBuffer<T>,
    device: CudaSlice<T>,
}

fn crossing<T: DeviceElement>(
    setup: Setup<'_>,
    direction: CopyDirection,
    memory: HostMemory,
) -> Result<Box<Prepared>> {
    setup.reserve_matrices(1)?;
    let (cuda, a) = (setup.cuda, setup.input::<T>(0)?);
    let (host, device) = match direction {
        CopyDirection::Upload => (HostBuffer::new(cuda, memory, a.to_vec())?, cuda.alloc(a.len())?),
        // No element has this value, so the check fails unless the copy has arrived.
        CopyDirection::Download => {
            (HostBuffer::new(cuda, memory, vec![T::from_f64(-1.0); a.len()])?, cuda.upload(a)?)
        }
    };
    // The driver copies pageable memory on the host, where events on the device do not see it.
    let traits = JobTraits { is_host_work: host.waits(), ..JobTraits::default() };
    Ok(Prepared::with(traits, HostDeviceCopy { cuda: cuda.clone(), n: setup.n(), direction, host, device }))
}

impl<T: DeviceElement> Job for HostDeviceCopy<T> {
    fn execute(&mut self) -> Result<()> {
        match self.direction {
            CopyDirection::Upload => self.host.copy_to(&mut self.device),
            CopyDirection::Download => self.host.copy_from(&self.device),
        }
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        let arrived = match self.direction {
            CopyDirection::Upload => self.cuda.download(&self.device)?,
            CopyDirection::Download => self.host.values()?,
        };
        Ok(vec![Operand::dense(self.n, self.n, arrived)])
    }
}

fn within<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    setup.reserve_matrices(2)?;
    Ok(Resident::<T, T, 1>::like_first(setup)?.job(matrix::<T>, |cuda, [a], y| cuda.copy(a, y)))
}
