//! Calls into CUDA that the compiler cannot check, wrapped in functions that check what they can.

pub mod dl;
pub mod driver;
pub mod nvrtc;
