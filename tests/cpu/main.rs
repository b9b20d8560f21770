//! A worker of the CPU as the system sees it: the threads that work, the processors they are bound to, page faults, the
//! libraries beside each other.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod faults;
mod neighbours;
mod threads;
mod worker;

#[expect(clippy::print_stderr, reason = "a test that is left out says why")]
fn leave_out(what: &str, reason: &serde_json::Value) {
    eprintln!("{what} is left out: {reason}");
}
