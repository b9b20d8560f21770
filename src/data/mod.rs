//! Operands: their memory layout, and the generator that makes the same ones on every backend.

mod fingerprint;
pub mod generator;
pub mod hash;
mod operand;
mod real;

pub use fingerprint::fingerprint;
pub use operand::{Csr, Dense, Operand, Values};
pub use real::Real;
