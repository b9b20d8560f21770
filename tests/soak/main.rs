//! Soak tests of the real program: thousands of simulated cells with random faults, and the memory,
//! time and bytes on disk that they take.
//!
//! The long forms are ignored by default; docs/soak.md shows the command. With GPUBENCH_SOAK_RECORD=FILE, each figure is
//! appended to that file.

#![expect(clippy::unwrap_used, reason = "a step that fails fails the test")]

mod host_memory;
mod reading;
mod running;
mod sweep;
mod watch;

use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Returns the program, to be run in `folder` with the words of `line` as arguments.
fn gpubench(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
    // Nothing may be left in the user's cache.
    command.current_dir(folder).args(line.split_whitespace()).env("GPUBENCH_PEAK_CACHE", "off");
    command
}

/// Appends figures to the file that GPUBENCH_SOAK_RECORD names.
fn record(figures: &Value) {
    if let Some(path) = std::env::var_os("GPUBENCH_SOAK_RECORD") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{figures}").unwrap();
    }
}
