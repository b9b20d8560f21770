//! What only a device can show. Without one the tests skip with a printed reason; GPUBENCH_REQUIRE=cuda has them fail.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod device;
mod fft;
mod lessons;
mod matmul;
mod peaks;
mod phases;
mod solve;
mod sparse;
mod special_values;
mod svd;
mod timing;
mod variants;
mod verify;
