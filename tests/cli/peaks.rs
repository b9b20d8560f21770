//! Peaks: measured by a run, kept for the next one, omitted on request, and never a reason for a run to fail.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Ended, FAIR, Folder, assert_contains, assert_lacks, items, signal};

const RUN: &str =
    "run --ops fft --sizes 4 --samples 6 --max-time 100ms --backends sim --sim fair.toml --format json";

const MEASURING: &str = "measuring peak bandwidth and FLOP rate of sim (once per machine)\n";

/// The program with its own cache folder.
fn program(folder: &Folder, line: &str) -> Command {
    let mut command = folder.command(line);
    command.env_remove("GPUBENCH_PEAK_CACHE").env("XDG_CACHE_HOME", folder.path().join("cache"));
    command
}

/// Runs the program, which must succeed. Returns the environment in its report, and its stderr.
fn measured(mut command: Command) -> (Value, String) {
    let ended = Ended::of(command.args(["--out", "-"])).good();
    let report = ended.json();
    let rows = items(&report["rows"]);
    assert!(rows.len() == 2 && rows.iter().all(|row| row["outcome"] == "measured"), "{rows:?}");
    (report["environment"].clone(), ended.stderr)
}

fn peaks(environment: &Value) -> &Value {
    &environment["backends"][0]["peaks"]
}

fn kept(folder: &Folder) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder.path().join("cache/gpubench/peaks")).into_iter().flatten();
    files.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_run_measures_peaks_once_and_later_ones_take_what_it_kept() {
    let folder = Folder::new();
    let (first, said) = measured(program(&folder, RUN));
    assert_contains(&said, &[MEASURING]);
    assert_eq!(peaks(&first)["cached"], false);
    assert!(peaks(&first)["matmul"]["f32"].as_f64().unwrap() > 0.0, "{first}");
    assert_eq!(first["settings"]["peaks"], true);

    let (second, said) = measured(program(&folder, RUN));
    assert_lacks(&said, &["measuring"]);
    assert_eq!(peaks(&second)["cached"], true);
    for key in ["measured", "read", "copy", "triad", "matmul", "upload", "download"] {
        assert_eq!(peaks(&first)[key], peaks(&second)[key], "{key}");
        assert!(!peaks(&first)[key].is_null(), "{key}");
    }

    folder.write("fair.toml", &format!("{FAIR}[peaks]\nread = 1e12\n"));
    let (other, _) = measured(program(&folder, RUN));
    assert_eq!((&peaks(&other)["cached"], peaks(&other)["read"].as_f64()), (&false.into(), Some(1e12)));
    let files = kept(&folder);
    assert_eq!(files.len(), 2, "another device has a file of its own");
    files.iter().for_each(|file| std::fs::write(file, b"{}").unwrap());
    assert_eq!(peaks(&measured(program(&folder, RUN)).0)["cached"], false, "a damaged file is replaced");
    assert_eq!(peaks(&measured(program(&folder, RUN)).0)["cached"], true);
}

#[test]
fn they_are_left_out_on_request_and_kept_nowhere_when_the_cache_is_off() {
    let folder = Folder::new();
    let (environment, said) = measured(program(&folder, &format!("{RUN} --no-peaks")));
    assert!(peaks(&environment).is_null() && !said.contains("measuring"), "{said}");
    assert_eq!(environment["settings"]["peaks"], false);
    for _ in 0..2 {
        let mut off = program(&folder, RUN);
        off.env("GPUBENCH_PEAK_CACHE", "off");
        assert_eq!(peaks(&measured(off).0)["cached"], false);
    }
    assert_eq!(kept(&folder).len(), 0);
}

#[test]
fn a_worker_that_fails_at_them_costs_them_alone() {
    let folder = Folder::new();
    for (outcome, reason, next) in [
        ("crash", "SIGABRT", "--no-peaks"),
        ("panic", "a simulated panic", "--no-peaks"),
        ("fail", "a simulated call failed", "--no-peaks"),
        ("device-lost", "device is lost", "--no-peaks"),
        ("hang", "measuring them took more than 1 s", "raise --cell-timeout"),
    ] {
        folder.write("fair.toml", &format!("{FAIR}[peaks]\noutcome = '{outcome}'\n"));
        let (environment, _) = measured(program(&folder, &format!("{RUN} --cell-timeout 1s --quiet")));
        assert!(peaks(&environment).is_null(), "{outcome}: {environment}");
        let warning = &environment["warnings"].as_array().unwrap()[0];
        let text = warning["text"].as_str().unwrap();
        assert_contains(text, &["the peaks of sim could not be measured: ", reason]);
        assert_contains(warning["next"].as_str().unwrap(), &[next]);
    }
    assert_eq!(kept(&folder).len(), 0);
}

#[test]
fn an_interrupt_while_peaks_are_measured_ends_the_run_immediately() {
    let folder = Folder::new();
    folder.write("fair.toml", &format!("{FAIR}[peaks]\noutcome = 'hang'\n"));
    let mut command = program(&folder, &format!("{RUN} --out here"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    assert_eq!(line, MEASURING);
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(folder.rows("here").len(), 0);
    assert_lacks(&folder.read("here/report.json"), &["could not be measured"]);
}
