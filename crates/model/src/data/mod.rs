//! Operands: their memory layout, and the generator that makes the same ones on every backend.

#[expect(unsafe_code, reason = "numbers are read as bytes")]
mod bytes;
pub mod fingerprint;
pub mod generator;
pub mod hash;
mod operand;
mod real;

pub use bytes::{Plain, bytes_mut};
pub use fingerprint::fingerprint;
pub use operand::{Csr, Dense, Operand, Values};
pub use real::Real;
