//! The ops on CUDA, with the list of their kernels.

mod copies;
mod dense;
mod elementwise;
pub(super) mod entry;
pub(super) mod fft;
mod host_buffer;
mod host_loop;
pub(super) mod matmul;
mod overhead;
mod plain;
mod reduction;
mod sin;
mod solve;
pub(super) mod spgemm;
pub(super) mod spmv;
mod svd;
mod transfer_loop;

use entry::{Kernel, emulated, input, matrix_bytes, opt_in, reduced, single, variant};

/// The kernels of every op, except `auto`, in the order of the ops.
pub(super) static TABLES: &[&[Kernel]] = &[
    matmul::KERNELS,
    elementwise::KERNELS,
    sin::KERNELS,
    reduction::KERNELS,
    fft::KERNELS,
    solve::KERNELS,
    spgemm::KERNELS,
    spmv::KERNELS,
    svd::KERNELS,
    plain::KERNELS,
    copies::KERNELS,
    overhead::KERNELS,
    transfer_loop::KERNELS,
    host_loop::KERNELS,
];
