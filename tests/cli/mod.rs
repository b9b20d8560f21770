//! Tests the real program on the simulated device, without hardware or network.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod bad_input;
mod baseline;
mod commands;
mod compare;
mod fleet;
mod limits;
mod peaks;
mod plans;
mod python;
mod report;
mod results;
mod resume;
mod screen;
mod stops;
mod transfer;
mod trend;
mod versus;

use std::path::Path;
use std::process::{self, Child, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use serde_json::Value;

/// Two right variants, one per side.
const FAIR: &str = r#"
seed = 1
[[variant]]
name = "host"
side = "cpu"
[[variant]]
name = "accelerator"
side = "gpu"
"#;

/// A folder to run the program in, with a script of the simulated device.
struct Folder(tempfile::TempDir);

/// The exit code and output of the program.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ended {
    fn of(output: Output) -> Ended {
        Ended {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn good(self) -> Ended {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self
    }
}

/// Sends SIGINT, as Ctrl-C does.
fn interrupt(child: &Child) {
    let mut kill = process::Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("fair.toml", FAIR);
        folder
    }

    /// Returns a folder with three runs of those names, saved as the baseline `main`.
    fn with_baseline(names: [&str; 3]) -> Folder {
        let folder = Folder::new();
        for (seed, name) in (1..).zip(names) {
            folder.sim(name, seed, "");
        }
        folder.succeeds(&format!("baseline save main --from {} --accept-noisy", names.join(" ")));
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Returns the names in this folder, sorted.
    fn names(&self) -> Vec<String> {
        self.names_in("")
    }

    /// Returns the names in the folder `below` this one, sorted.
    fn names_in(&self, below: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path().join(below)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn run(&self, args: &[&str]) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
        // Nothing may be left in the user's cache.
        command.env("GPUBENCH_PEAK_CACHE", "off").env_remove("COLUMNS");
        Ended::of(command.current_dir(self.path()).args(args).output().unwrap())
    }

    /// Runs the program with the words of `line` as arguments; none of them contains a space.
    fn run_line(&self, line: &str) -> Ended {
        self.run(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs as [`Folder::run_line`]; the program must need no more than these seconds of CPU time.
    fn run_limited(&self, line: &str, cpu_s: u32) -> Ended {
        let mut command = Command::new("sh");
        command.args(["-c", r#"ulimit -t "$1" && shift && exec "$@""#, "sh", &cpu_s.to_string()]);
        command.arg(env!("CARGO_BIN_EXE_gpubench")).args(line.split_whitespace());
        command.env("GPUBENCH_PEAK_CACHE", "off").env_remove("COLUMNS");
        let output = command.current_dir(self.path()).output().unwrap();
        assert!(output.status.code().is_some(), "{line}: {}", output.status);
        Ended::of(output)
    }

    /// Runs as [`Folder::run_line`]; the program must exit with 0.
    fn succeeds(&self, line: &str) -> Ended {
        self.run_line(line).good()
    }

    /// Interrupts the program, twice if necessary, once `file` exists and `more` has passed. It must exit with 130; returns its
    /// stderr.
    fn interrupted(&self, line: &str, file: &str, more: Duration) -> String {
        let mut command = process::Command::new(env!("CARGO_BIN_EXE_gpubench"));
        let command = command.args(line.split(' ')).current_dir(self.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.path().join(file).exists() {
            assert!(Instant::now() < deadline, "{file} was not made");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(more);
        interrupt(&child);
        // A cell that hangs would have seconds to finish after the first signal.
        std::thread::sleep(Duration::from_secs(1));
        if child.try_wait().unwrap().is_none() {
            interrupt(&child);
        }
        let ended = Ended::of(child.wait_with_output().unwrap());
        assert_eq!(ended.code, 130, "{}", ended.stderr);
        ended.stderr
    }

    /// Asserts that the program exits with 2, writes one line that contains `expected`, and leaves the folder
    /// unchanged.
    fn refuses(&self, line: &str, expected: &str) {
        let before = self.names();
        let ended = self.run_line(line);
        let described = format!("{line}: exit {}\n{}", ended.code, ended.stderr);
        assert_eq!(ended.code, 2, "{described}");
        assert_eq!(ended.stderr.lines().count(), 1, "{described}");
        assert!(ended.stderr.starts_with("gpubench: "), "{described}");
        assert!(ended.stderr.contains(expected), "{described}");
        assert!(!ended.stderr.contains("panicked"), "{described}");
        assert_eq!(ended.stdout, "", "{described}");
        assert_eq!(self.names(), before, "{described}");
    }
}
