//! Worker processes, one per backend and library, which speak JSON lines (`docs/worker-protocol.md`).
//!
//! [`serve`] is the worker's end, [`client`] the parent's; neither knows of plans or reports' files.

pub mod client;
mod id;
pub mod operands;
pub mod protocol;
pub mod serve;
mod session;
mod take;
mod threads;
mod verify;

pub use id::WorkerId;
