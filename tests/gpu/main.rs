//! Tests that need a device. Without one they skip and print the reason; with GPUBENCH_REQUIRE=cuda they fail.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod auto;
mod device;
mod faults;
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
