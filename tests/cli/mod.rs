//! Tests the real program on the simulated device, without hardware or network.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod advise;
mod bad_input;
mod baseline;
mod commands;
mod compare;
mod fleet;
mod limits;
mod matrices;
mod own;
mod peaks;
mod plans;
mod python;
mod record;
mod report;
mod results;
mod resume;
mod screen;
mod shapes;
mod stops;
mod transfer;
mod trend;
mod versus;
mod words;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The program that is tested.
pub(crate) const GPUBENCH: &str = env!("CARGO_BIN_EXE_gpubench");

/// Two right variants, one per side.
pub(crate) const FAIR: &str =
    "seed = 1\nvariant = [{ name = 'host', side = 'cpu' }, { name = 'accelerator', side = 'gpu' }]\n";

/// A folder to run the program in, with a script of the simulated device.
pub(crate) struct Folder(tempfile::TempDir);

/// The exit code and output of the program.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Runs a command to its end.
    pub(crate) fn of(command: &mut Command) -> Ended {
        Ended::from(command.output().unwrap())
    }

    fn from(output: Output) -> Ended {
        Ended {
            code: output.status.code().unwrap_or_else(|| panic!("{}", output.status)),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ended {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn good(self) -> Ended {
        self.exits(0)
    }

    /// Asserts that stdout contains each of these texts.
    #[track_caller]
    pub(crate) fn prints(self, parts: &[&str]) -> Ended {
        assert_contains(&self.stdout, parts);
        self
    }

    /// Asserts that stderr contains each of these texts, and that the program has not panicked.
    #[track_caller]
    pub(crate) fn complains(self, parts: &[&str]) -> Ended {
        assert_contains(&self.stderr, parts);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Returns stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stderr))
    }
}

#[track_caller]
pub(crate) fn assert_contains(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "no {part:?} in: {text}"));
}

/// Asserts that a text contains none of these.
#[track_caller]
pub(crate) fn assert_lacks(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(!text.contains(part), "{part:?} in: {text}"));
}

/// Returns the items of an array.
#[track_caller]
pub(crate) fn items(array: &Value) -> &Vec<Value> {
    array.as_array().unwrap_or_else(|| panic!("no array: {array}"))
}

/// Returns a text with single blanks instead of line breaks and columns.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Says what is not tested here, and why.
#[expect(clippy::print_stderr, reason = "a test that is left out says why")]
pub(crate) fn leave_out(what: &str, why: &str) {
    eprintln!("{what} is left out: {why}");
}

/// Ends a process that is not needed any more.
pub(crate) fn kill(mut process: Child) {
    process.kill().unwrap();
    process.wait().unwrap();
}

/// Sends a signal, such as `INT`, as Ctrl-C does.
pub(crate) fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status();
    assert!(sent.unwrap().success(), "{name}");
}

/// Waits until `done`, for at most two minutes.
pub(crate) fn wait_until(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !done() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the letter of a process's state, such as `T` for a stopped one; `None` once it is gone.
pub(crate) fn state(process: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Returns whether a process has not ended.
pub(crate) fn is_running(process: &u32) -> bool {
    state(*process).is_some_and(|state| state != 'Z')
}

impl Folder {
    pub(crate) fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("fair.toml", FAIR);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Returns the report of the run in the folder `out`.
    pub(crate) fn report(&self, out: &str) -> Value {
        self.json(&format!("{out}/report.json"))
    }

    /// Returns the rows of the run in the folder `out`.
    pub(crate) fn rows(&self, out: &str) -> Vec<Value> {
        items(&self.report(out)["rows"]).clone()
    }

    /// Returns whether there is such a file or folder.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
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

    /// Returns `program`, to be run in this folder with the words of `line` as arguments; none of them contains a space.
    pub(crate) fn command_of(&self, program: &str, line: &str) -> Command {
        let mut command = Command::new(program);
        // Nothing may be left in the user's cache.
        command.env("GPUBENCH_PEAK_CACHE", "off").env_remove("COLUMNS").current_dir(self.path());
        command.args(line.split_whitespace());
        command
    }

    /// Returns gpubench, as [`Folder::command_of`] does.
    pub(crate) fn command(&self, line: &str) -> Command {
        self.command_of(GPUBENCH, line)
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        Ended::of(self.command("").args(args))
    }

    /// Runs the program with the words of `line` as arguments.
    pub(crate) fn run_line(&self, line: &str) -> Ended {
        Ended::of(&mut self.command(line))
    }

    /// Runs a script in bash, in which `$G` is the program.
    fn shell(&self, script: &str) -> Ended {
        Ended::of(self.command_of("bash", "").args(["-c", script]).env("G", GPUBENCH))
    }

    /// Runs as [`Folder::run_line`]; the program must exit with 0.
    #[track_caller]
    pub(crate) fn succeeds(&self, line: &str) -> Ended {
        self.run_line(line).good()
    }

    /// Runs a sweep of the two right variants, with its report in the folder `out`.
    #[track_caller]
    pub(crate) fn fair(&self, sweep: &str, out: &str) {
        let options = "--backends sim --sim fair.toml --samples 6 --no-peaks --quiet --format json";
        self.succeeds(&format!("run {sweep} {options} --out {out}"));
    }

    /// Starts the program without its output.
    fn spawn(&self, line: &str) -> Child {
        self.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Interrupts the program, twice if necessary, once `file` exists and `more` has passed. It must exit with 130; returns its
    /// stderr.
    fn interrupted(&self, line: &str, file: &str, more: Duration) -> String {
        let mut child = self.command(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until(&format!("{file} was not made"), || self.has(file));
        std::thread::sleep(more);
        signal(child.id(), "INT");
        // A cell that hangs would have seconds to finish after the first signal.
        std::thread::sleep(Duration::from_millis(500));
        if child.try_wait().unwrap().is_none() {
            signal(child.id(), "INT");
        }
        let ended = Ended::from(child.wait_with_output().unwrap());
        assert_eq!(ended.code, 130, "{}", ended.stderr);
        ended.stderr
    }

    /// Asserts that the program refuses each line of a table, `COMMAND => MESSAGE`, where the table begins each command with
    /// `command`.
    #[track_caller]
    pub(crate) fn refuses_each(&self, command: &str, table: &str) {
        for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (rest, expected) = line.split_once("=>").unwrap();
            self.refuses(&format!("{command} {rest}"), expected.trim());
        }
    }

    /// Asserts that the program exits with 2, writes one line that contains `expected`, and leaves the folder
    /// unchanged.
    #[track_caller]
    pub(crate) fn refuses(&self, line: &str, expected: &str) {
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
