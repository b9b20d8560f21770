//! Takes samples on the device: cache state, blocking kernel, events and clocks.

mod blocking_kernel;
mod cache_flush;
mod event_overhead;
mod history;
mod linearity;
mod spin;
mod timer;
mod timer_overhead;
mod timestamp;
mod timing_rig;

use super::kernels::{KernelSource, kernel_source};
pub(super) use linearity::check_clock_linearity;
pub(super) use spin::KERNELS;
pub use spin::{SPIN, SPIN_AND_WAIT, SPIN_ELSEWHERE, SPIN_OP};
pub(super) use timer::Timer;

/// The kernels for sampling, compiled when the backend starts.
pub(super) static SOURCE: KernelSource = kernel_source!("timing");
