//! BLAS and LAPACK found at run time: files are looked for when variants are listed, and loaded when a cell first needs
//! them.
//!
//! What jobs call is called straight ([`calls`], [`Svd`]); the rest of LAPACK through ndarray-linalg, whose symbols
//! [`shim`] defines and [`Provider::activate`] points at the provider.

mod abi;
mod blocked;
mod calls;
mod crew;
mod discovery;
mod elf;
mod gesdd;
mod identity;
mod library;
mod open;
mod opened;
mod provider;
mod rouse;
mod shim;
mod stack;
mod vendor;

pub use crew::ProviderCrew;
pub use gesdd::Svd;
pub use identity::vendor_of;
pub use library::{Library, all};
pub use provider::{Blas, Provider};
pub use vendor::Vendor;
