//! How one sample is taken on the device: caches, the hold, events, clock; knows no op.

mod constants;
mod displace;
mod history;
mod hold;
mod instrument;
mod linearity;
mod spin;
mod stamp;
mod timer;
mod timer_overhead;

use super::kernels::{KernelSource, kernel_source};
pub(super) use linearity::checked;
pub(super) use spin::KERNELS;
pub use spin::{SPIN, SPIN_AND_WAIT, SPIN_ELSEWHERE, SPIN_OP};
pub(super) use timer::Timer;

/// The kernels of a sample, compiled when the backend starts.
pub(super) static SOURCE: KernelSource = kernel_source!("timing");
