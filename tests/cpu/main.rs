//! A CPU worker as the system sees it: its working threads, the CPUs they are bound to, page faults, and its
//! libraries.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

#[cfg(target_env = "gnu")]
mod bindings;
#[path = "../stubs/compiler.rs"]
mod compiler;
mod environment;
mod faults;
#[cfg(target_env = "gnu")]
mod loader;
mod neighbours;
mod rest;
mod threads;
mod worker;

use std::process::Command;

/// Makes a command find the libraries of Python packages installed under the prefixes in `GPUBENCH_TEST_PREFIXES` (at
/// most two, separated by a colon).
fn with_prefixes(command: &mut Command) {
    let prefixes = std::env::var("GPUBENCH_TEST_PREFIXES").unwrap_or_default();
    for (prefix, name) in prefixes.split(':').filter(|p| !p.is_empty()).zip(["VIRTUAL_ENV", "CONDA_PREFIX"]) {
        command.env(name, prefix);
    }
}

#[expect(clippy::print_stderr, reason = "a test that is left out says why")]
fn leave_out(what: &str, reason: &serde_json::Value) {
    eprintln!("{what} is left out: {reason}");
}
