//! Substitutes for the driver and the libraries that fail, crash, hang, lack functions or answer wrongly. Each of them
//! costs its own cells only. Without a C compiler these tests skip and print the reason.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]
#![allow(clippy::disallowed_methods, reason = "a test may end where no thread can be started")]

mod blas;
mod compiler;
mod driver;
mod nvrtc;
mod power;
mod record;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use compiler::compile;

/// A folder with substitutes, and gpubench as it runs where it finds them before the real libraries.
struct Sandbox {
    folder: tempfile::TempDir,
}

/// What a run left.
struct Ran {
    code: Option<i32>,
    report: Value,
    stderr: String,
}

impl Sandbox {
    fn new() -> Sandbox {
        Sandbox { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Compiles a library of that name. Returns `None`, and prints the reason, if that fails.
    fn library(&self, name: &str, text: &str) -> Option<PathBuf> {
        let library = self.path(name);
        match compile(text, &library) {
            Ok(()) => Some(library),
            Err(reason) => {
                leave_out(&reason);
                None
            }
        }
    }

    /// Returns a command that finds the substitutes, and caches nothing outside the folder.
    fn gpubench(&self, words: &str, variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
        let of_cuda = ["CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"];
        for name in of_cuda.into_iter().chain(["VIRTUAL_ENV", "CONDA_PREFIX", "GPUBENCH_START_LIMIT"]) {
            command.env_remove(name);
        }
        command
            .args(words.split_whitespace())
            .current_dir(self.folder.path())
            .env("LD_LIBRARY_PATH", self.folder.path())
            .env("GPUBENCH_CUDA_LIB_DIR", self.folder.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .envs(variables.iter().copied());
        command
    }

    /// Returns the findings of `gpubench doctor` with that name.
    fn finding(&self, name: &str, variables: &[(&str, &str)]) -> Value {
        let output = self.gpubench("doctor --json", variables).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = found["backends"].as_array().unwrap().iter();
        let mut findings = findings.flat_map(|backend| backend["findings"].as_array().unwrap());
        findings.find(|finding| finding["name"] == name).unwrap().clone()
    }

    /// Runs `gpubench run` with these words.
    fn run(&self, words: &str, variables: &[(&str, &str)]) -> Ran {
        let words = format!("run --no-peaks --samples 3 --format json --out - {words}");
        let output = self.gpubench(&words, variables).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let report =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        Ran { code: output.status.code(), report, stderr }
    }
}

impl Ran {
    /// Returns the rows of a backend, of which there is at least one.
    fn rows(&self, backend: &str) -> Vec<&Value> {
        let rows = self.report["rows"].as_array().unwrap().iter();
        let rows: Vec<&Value> = rows.filter(|row| row["backend"] == backend).collect();
        assert!(!rows.is_empty(), "{}", self.report);
        rows
    }

    /// Checks that every cell of the CPU was measured whose library is installed.
    fn assert_cpu_measured(&self) {
        let rows = self.rows("cpu");
        let is_missing = |row: &Value| row["outcome"] == "skipped" && row["variant"] == "mkl";
        assert!(rows.iter().all(|row| row["outcome"] == "measured" || is_missing(row)), "{rows:?}");
        assert!(rows.iter().any(|row| row["outcome"] == "measured"), "{rows:?}");
    }

    /// Checks that the cells of the CPU were measured, and those of the GPU skipped for a reason and with a fix that contain these
    /// texts.
    fn assert_gpu_skipped(&self, reasons: &[&str], fix: &str) {
        self.assert_cpu_measured();
        let [outcome, reason, found] = self.fate("cuda");
        assert_eq!((outcome, self.code), ("skipped", Some(0)), "{reason}");
        assert!(reasons.iter().all(|part| reason.contains(part)), "{reasons:?}: {reason}");
        assert!(found.contains(fix), "{reason}: {found}");
    }

    /// Returns outcome and reason of the cells of a backend, which are the same for all, and the fix for the backend.
    fn fate(&self, backend: &str) -> [&str; 3] {
        let rows = self.rows(backend);
        let same =
            |row: &&Value| (&row["outcome"], &row["reason"]) == (&rows[0]["outcome"], &rows[0]["reason"]);
        assert!(rows.iter().all(same), "{rows:?}");
        let states = self.report["environment"]["backends"].as_array().unwrap();
        let state = states.iter().find(|state| state["name"] == backend).unwrap();
        [&rows[0]["outcome"], &rows[0]["reason"], &state["fix"]].map(|text| text.as_str().unwrap_or_default())
    }
}

#[expect(clippy::print_stderr, reason = "a test that is left out says why")]
fn leave_out(reason: &str) {
    eprintln!("left out: {reason}");
}

const CPU_AND_SIM: &str = "--backends cpu,sim --ops sin --sizes 8 --sim sim.toml";

/// Makes a folder with a script of the simulated device that has this table `[start]`.
fn with_start(start: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let script = format!("[start]\n{start}\n[[variant]]\nname = 'a'\n");
    std::fs::write(sandbox.path("sim.toml"), script).unwrap();
    sandbox
}

#[test]
fn a_backend_that_is_slow_to_start_is_waited_for() {
    let sandbox = with_start("delay = '4s'");
    let ran = sandbox.run(CPU_AND_SIM, &[("GPUBENCH_START_LIMIT", "6")]);
    ran.assert_cpu_measured();
    assert_eq!((ran.fate("sim")[0], ran.code), ("measured", Some(0)), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("still starting sim").count(), 1, "{}", ran.stderr);
}
