//! Worker processes, one per backend and library, which speak JSON lines (`docs/worker-protocol.md`).
//!
//! [`serve`] is the worker's end, [`client`] the parent's; neither reads plans or the files of reports.

pub mod client;
pub mod describe;
pub mod launcher;
mod leader;
pub mod operands;
pub mod output;
mod place;
pub mod serve;
mod session;
mod threads;
