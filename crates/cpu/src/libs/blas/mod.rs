//! BLAS and LAPACK libraries: files are searched when variants are listed, and loaded when a cell first needs them.
//!
//! Jobs call most routines directly ([`calls`], [`Svd`]). They reach the rest of LAPACK through ndarray-linalg, whose
//! symbols [`shim`] defines and [`Provider::activate`] points at the provider.
//! References: <https://www.netlib.org/lapack/explore-html/>, <https://www.netlib.org/blas/>.

mod abi;
mod blocked;
mod calls;
mod discovery;
mod elf;
mod gesdd;
mod identity;
mod library;
mod open;
mod opened;
mod provider;
mod shim;
mod stack;
mod thread_pool;
mod vendor;
mod wake;

pub(crate) use gesdd::Svd;
pub(crate) use identity::vendor_of;
pub(crate) use library::{Library, all};
pub(crate) use provider::{Blas, Provider};
pub(crate) use thread_pool::BlasThreads;
pub(crate) use vendor::Vendor;
