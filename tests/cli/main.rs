//! The command line through the real program, on the simulated device: no hardware, no network.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod bad_input;
mod baseline;
mod commands;
mod compare;
mod fleet;
mod peaks;
mod plans;
mod report;
mod results;
mod trend;

use std::path::Path;

use assert_cmd::Command;

/// Two right variants, one a side.
const FAIR: &str = r#"
seed = 1
[[variant]]
name = "host"
side = "cpu"
[[variant]]
name = "accelerator"
side = "gpu"
"#;

/// An empty folder to run the program in, with a script of the simulated device in it.
struct Folder(tempfile::TempDir);

/// How the program ended and what it wrote.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("fair.toml", FAIR);
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn run(&self, args: &[&str]) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
        // Nothing is to be left in the user's cache.
        command.env("GPUBENCH_PEAK_CACHE", "off");
        let output = command.current_dir(self.path()).args(args).output().unwrap();
        Ended {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs with words that none of the arguments here contain a space in.
    fn run_line(&self, line: &str) -> Ended {
        self.run(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// The program must end with 2, say one line that contains `expected`, and leave the folder as it was.
    fn refuses(&self, line: &str, expected: &str) {
        let before = self.names();
        let ended = self.run_line(line);
        let told = format!("{line}: exit {}\n{}", ended.code, ended.stderr);
        assert_eq!(ended.code, 2, "{told}");
        assert_eq!(ended.stderr.lines().count(), 1, "{told}");
        assert!(ended.stderr.starts_with("gpubench: "), "{told}");
        assert!(ended.stderr.contains(expected), "{told}");
        assert!(!ended.stderr.contains("panicked"), "{told}");
        assert_eq!(ended.stdout, "", "{told}");
        assert_eq!(self.names(), before, "{told}");
    }
}
