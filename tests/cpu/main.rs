//! A worker of the CPU as the system sees it: the threads that work, the processors they are bound to, page faults.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod faults;
mod threads;
mod worker;
