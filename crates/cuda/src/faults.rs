//! Variants of `sin` that break the device's context, never end, or take nearly all memory of the device. They exist
//! only while [`SWITCH`] is set, so that tests can put faults among the cells of a real run.

use std::time::Duration;

use cudarc::driver::CudaSlice;
use gpubench_backend::{Job, Prepared};
use gpubench_report::data::Operand;

use super::ops::overhead::Bare;
use super::ops::{Kernel, Prepare, opt_in};
use crate::{CellError, Cuda, KernelSource, Result, kernel_source};

/// The environment variable that makes the variants available.
const SWITCH: &str = "GPUBENCH_TEST_FAULTS";

/// The op that has the variants.
const OP: &str = "sin";

/// Bytes that the variant `hoard` leaves to other processes.
const LEFT: u128 = 1 << 30;

/// Bytes of the largest and of the smallest block that it takes.
const LARGEST_BLOCK: usize = 4 << 30;
const SMALLEST_BLOCK: usize = 64 << 20;

pub(crate) static SOURCE: KernelSource = kernel_source!("measure/faults");
static SOURCES: &[&KernelSource] = &[&SOURCE];

static KERNELS: &[Kernel] = &[
    of("illegal-address", "writes outside all allocations", |setup| fault(setup.cuda, "illegal_address")),
    of("trap", "raises a fault", |setup| fault(setup.cuda, "trap")),
    of("endless", "never ends", |setup| fault(setup.cuda, "endless")),
    of("hoard", "takes all but 1 GiB of the device's memory, and never ends", |setup| {
        Ok(Prepared::new(Hoard { cuda: setup.cuda.clone(), blocks: Vec::new() }))
    }),
];

const fn of(name: &'static str, summary: &'static str, prepare: Prepare) -> Kernel {
    Kernel::own(opt_in(OP, name, summary), SOURCES, prepare)
}

/// Returns the variants, of which there are none unless [`SWITCH`] is set.
pub(crate) fn kernels() -> impl Iterator<Item = &'static Kernel> {
    let is_on = std::env::var_os(SWITCH).is_some();
    KERNELS.iter().filter(move |_| is_on)
}

fn fault(cuda: &Cuda, entry: &str) -> Result<Box<Prepared>> {
    Ok(Prepared::new(Fault { kernel: Bare::load(cuda, &SOURCE, entry)?, cuda: cuda.clone() }))
}

struct Fault {
    cuda: Cuda,
    kernel: Bare,
}

impl Job for Fault {
    fn execute(&mut self) -> Result<()> {
        self.kernel.run(&self.cuda.stream)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        self.cuda.synchronize()?;
        Err(CellError::Failed("the kernel with a fault has ended as if it had none".into()))
    }
}

struct Hoard {
    cuda: Cuda,
    blocks: Vec<CudaSlice<u8>>,
}

impl Hoard {
    /// Takes what is free beyond [`LEFT`]. Other processes may take it first.
    fn take(&mut self) -> Result<()> {
        let mut size = LARGEST_BLOCK;
        while size >= SMALLEST_BLOCK {
            if self.cuda.free_bytes()? < LEFT + size as u128 {
                size /= 2;
                continue;
            }
            match self.cuda.alloc(size) {
                Ok(block) => self.blocks.push(block),
                Err(CellError::OutOfMemory { .. }) => size /= 2,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Job for Hoard {
    fn execute(&mut self) -> Result<()> {
        loop {
            self.take()?;
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        Err(CellError::Failed("it has no answer".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_user_sees_the_faults() {
        assert!(std::env::var_os(SWITCH).is_some() || kernels().next().is_none());
    }
}
