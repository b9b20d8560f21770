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

pub(crate) use crew::ProviderCrew;
pub(crate) use gesdd::Svd;
pub(crate) use identity::vendor_of;
pub(crate) use library::{Library, all};
pub(crate) use provider::{Blas, Provider};
pub(crate) use vendor::Vendor;
