//! gpubench's own tuned CUDA kernels, as types that another program can call, and `auto`, which picks the fastest variant for a case.
//!
//! A type is made for a context, an element type (float32 or float64) and a size; making it compiles its kernels or reads them from the
//! cache on disk, and allocates what they need between them. `run` takes operands and answer as arrays of the device, checks their
//! lengths, and enqueues the work on [`Cuda::stream`] without waiting for it.
//!
//! | type | computes | arrays |
//! |---|---|---|
//! | [`SquareProduct`], [`PaddedProduct`], [`ResidueProduct`] | `c = a b` | row-major matrices of `n * n` elements |
//! | [`FusedElementwise`] | `y = a * b + sin(a) + cos(b)` | `len` elements each |
//! | [`Statistics`] | sum, mean, population standard deviation | `len` elements, and three float64 |
//! | [`TwoPassFft`] | the two-dimensional Fourier transform of real numbers, not scaled | `n * n` reals to `n * n` pairs of real and imaginary part |
//! | [`Cholesky`] | x of `A x = b`, A symmetric and positive definite | `n * n`, `n` and `n` elements |
//! | [`SmallCholesky`] | the same for many systems of up to 64 unknowns, with several right-hand sides | those of all systems, one after the other |
//! | [`RowProduct`] | `C = A B` of sparse matrices in CSR form | owned by the type |
//! | [`SparseVectorProduct`] | `y = A x`, A sparse in CSR form | an element per column, and one per row |
//! | [`GramSvd`] | `A = U S Vᵀ` | all owned by the type |
//! | [`JacobiRotations`] | `A = U S Vᵀ` of many matrices of up to 64 rows and columns | all matrices, one after the other; U, S and Vᵀ are owned by the type |
//!
//! Arrays must belong to the context. Work of other streams must have ended, because nothing here waits for it.
//!
//! ```no_run
//! use gpubench_tuned::{SquareProduct, open};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     const N: usize = 256;
//!     let cuda = open(0)?;
//!     let a = cuda.stream.clone_htod(&vec![0.5f32; N * N])?;
//!     let b = cuda.stream.clone_htod(&vec![2.0f32; N * N])?;
//!     let mut c = cuda.stream.alloc_zeros::<f32>(N * N)?;
//!     let mut product = SquareProduct::on_tensor_cores(&cuda, N as u32)?;
//!     product.run([&a, &b], &mut c)?;
//!     assert_eq!(cuda.stream.clone_dtoh(&c)?, [N as f32; N * N]);
//!     Ok(())
//! }
//! ```

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

pub use gpubench_cuda::{Cuda, open};

pub use auto::{RuleText, rule_texts};
pub use elementwise::FusedElementwise;
pub use fft::TwoPassFft;
pub use matmul::{PaddedProduct, ResidueProduct, SquareProduct};
pub use reduction::{Axis, AxisStatistics, Statistics};
pub use solve::{Cholesky, SmallCholesky};
pub use spgemm::RowProduct;
pub use spmv::{RowsPer, SparseVectorProduct};
pub use svd::{GramSvd, JacobiRotations};

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
