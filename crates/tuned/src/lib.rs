//! gpubench's own tuned CUDA kernels, and `auto`, which picks the fastest variant for a case.

mod auto;
mod elementwise;
mod fft;
mod matmul;
mod reduction;
mod solve;
mod spgemm;
mod spmv;
mod svd;

use gpubench_cuda::catalogue::{Catalogue, Tables};
use gpubench_cuda::ops::{LIBRARY_TABLES, PLAIN_TABLES};

pub use auto::{RuleText, rule_texts};
pub use elementwise::FusedElementwise;
pub use fft::TwoPassFft;
pub use matmul::{PaddedProduct, ResidueProduct, SquareProduct};
pub use reduction::Statistics;
pub use solve::Cholesky;
pub use spgemm::RowProduct;
pub use spmv::{RowsPer, SparseVectorProduct};
pub use svd::JacobiRotations;

/// The tuned variants, in the order of the ops.
static TABLES: Tables = &[
    matmul::KERNELS,
    elementwise::KERNELS,
    reduction::KERNELS,
    fft::KERNELS,
    solve::KERNELS,
    spgemm::KERNELS,
    spmv::KERNELS,
    svd::KERNELS,
];

/// The variants of the CUDA backend: those that call libraries, the tuned ones and plain ones, with `auto`, which picks one of them.
pub static CATALOGUE: Catalogue =
    Catalogue { groups: &[&[auto::KERNELS], LIBRARY_TABLES, TABLES, PLAIN_TABLES], auto: &auto::AutoRules };

#[cfg(test)]
mod tests;
