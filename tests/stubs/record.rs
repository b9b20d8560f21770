//! `gpubench record` of a program that calls a substitute of BLAS: the program behaves as it does alone, and its calls are counted.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::compiler::compile_with;
use super::{Sandbox, leave_out};

/// A sandbox with the program `caller`, and two libraries `libone.so` and `libtwo.so` that define the same routines.
fn sandbox() -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    let at = |name: &str| sandbox.path(name).display().to_string();
    let source = |name: &str| format!("{}/tests/stubs/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let library = |name: &str| {
        let name_of = format!("-DNAME=\"{name}\"");
        compile_with(&["-shared", "-fPIC", &name_of, &source("blas"), "-o", &at(&format!("lib{name}.so"))])
    };
    let rpath = format!("-Wl,-rpath,{}", sandbox.folder.path().display());
    let fake = at("libfake.so");
    let program =
        |_| compile_with(&["-pthread", &source("caller"), &fake, &rpath, "-ldl", "-o", &at("caller")]);
    let loader = |()| compile_with(&[&source("loader"), "-ldl", "-o", &at("loader")]);
    let compiled = library("fake")
        .and_then(|()| library("one"))
        .and_then(|()| library("two"))
        .and_then(program)
        .and_then(loader);
    compiled.map_err(|reason| leave_out(&reason)).ok().map(|()| sandbox)
}

impl Sandbox {
    fn recorder(&self, program: &str, words: &str) -> Command {
        let mut command = self.gpubench("record -q --force --", &[]);
        command.arg(self.path(program)).args(words.split_whitespace());
        command
    }

    /// Runs a program alone and recorded, asserts that it behaves the same, and returns what was recorded.
    fn recorded(&self, program: &str, words: &str) -> Value {
        let mut alone = Command::new(self.path(program));
        alone.args(words.split_whitespace()).current_dir(self.folder.path());
        let [alone, recorded] = [alone.output().unwrap(), self.recorder(program, words).output().unwrap()];
        let behaviour = |output: &Output| {
            let mut lines: Vec<String> =
                String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
            // Those of several processes come in any order.
            lines.sort();
            (lines, output.status.code(), output.status.signal())
        };
        assert_eq!(behaviour(&alone), behaviour(&recorded), "{}", String::from_utf8_lossy(&recorded.stderr));
        assert_eq!(alone.stderr, recorded.stderr, "{}", String::from_utf8_lossy(&recorded.stderr));
        serde_json::from_slice(&std::fs::read(self.path("calls.json")).unwrap()).unwrap()
    }
}

/// The calls as `routine type shape x count`, sorted.
fn calls(recorded: &Value) -> Vec<String> {
    let call = |call: &Value| {
        let text = |key: &str| call[key].as_str().unwrap().to_owned();
        let dims = ["m", "n", "k"].map(|key| call[key].to_string()).join("x");
        format!("{} {} {} {dims} {}", text("routine"), text("dtype"), text("flags"), call["count"])
    };
    let mut calls: Vec<String> = recorded["calls"].as_array().unwrap().iter().map(call).collect();
    calls.sort();
    calls
}

#[test]
fn arguments_and_results_pass_unchanged_and_inner_calls_count_once() {
    let Some(sandbox) = sandbox() else { return };
    let recorded = sandbox.recorded("caller", "plain");
    let expected = [
        "dot f32  0x8x0 1",
        "dot f64  0x8x0 1",
        "gemm f64 NT 64x64x64 1",
        "gemm f64 TN 64x8x1 1",
        "gesdd f64 S 64x8x0 1",
    ];
    assert_eq!(calls(&recorded), expected, "{recorded:#}");
    let product = &recorded["calls"].as_array().unwrap().iter().find(|call| call["flags"] == "NT").unwrap();
    assert_eq!(
        (&product["leading"], &product["row_major"]),
        (&serde_json::json!([64, 64, 64]), &Value::Bool(false))
    );
    assert!(product["library"].as_str().unwrap().ends_with("libfake.so"), "{product}");
    assert_eq!((&recorded["ended"], &recorded["processes"]), (&Value::from("exit code 5"), &Value::from(1)));
}

#[test]
fn programs_that_are_hard_to_record_behave_as_they_do_alone() {
    let Some(sandbox) = sandbox() else { return };
    for (words, expected) in [
        ("jump", "gemm f64 NT 16x16x16 2"),
        ("sites", "dot f64  0x4x0 1000000"),
        ("threads", "gemm f64 NN 2x2x2 64000"),
        ("forks", "gemm f64 NT 16x16x16 100"),
        ("closes", "gemm f64 NT 16x16x16 1"),
        ("exec", "gemm f64 NT 16x16x16 2"),
        ("killed", "gemm f64 NT 16x16x16 1"),
        ("crash", "gemm f64 NT 16x16x16 1"),
        ("tiny", "gemm f64 NN 2x2x2 1000000"),
    ] {
        let start = Instant::now();
        let recorded = sandbox.recorded("caller", words);
        assert!(start.elapsed() < Duration::from_secs(20), "{words}: {:?}", start.elapsed());
        assert_eq!(calls(&recorded), [expected], "{words}: {recorded:#}");
    }
}

#[test]
fn operands_that_a_routine_does_not_refer_to_are_not_read() {
    let Some(sandbox) = sandbox() else { return };
    let recorded = sandbox.recorded("caller", "unread");
    // The third call asks for the size of a workspace.
    assert_eq!(calls(&recorded), ["gemm f64 NN 900x0x900 1", "gemm f64 NN 900x900x900 1"], "{recorded:#}");
}

#[test]
fn two_libraries_of_one_program_keep_their_callers_after_one_is_unloaded() {
    let Some(sandbox) = sandbox() else { return };
    let [one, two] = ["libone.so", "libtwo.so"].map(|name| sandbox.path(name).display().to_string());
    let recorded = sandbox.recorded("loader", &format!("{one} {two} {one}"));
    let mut libraries: Vec<&str> =
        recorded["calls"].as_array().unwrap().iter().map(|call| call["library"].as_str().unwrap()).collect();
    libraries.sort_unstable();
    assert_eq!(libraries, [one, two], "{recorded:#}");
}

#[test]
fn more_kinds_of_calls_than_there_is_room_for_are_counted_together() {
    let Some(sandbox) = sandbox() else { return };
    let recorded = sandbox.recorded("caller", "shapes");
    let listed = recorded["calls"].as_array().unwrap().len() as u64;
    assert!(listed > 1000, "{listed}");
    assert_eq!(listed + recorded["others"]["count"].as_u64().unwrap(), 5000);
}

#[test]
fn results_that_a_later_call_reads_unchanged_are_recognised() {
    let Some(sandbox) = sandbox() else { return };
    let recorded = sandbox.recorded("caller", "chain");
    let call = &recorded["calls"][0];
    // The second call reads the first one's result and b again, the third the second one's result and b, which changed.
    let matrix = 8 * 32 * 32;
    assert_eq!(
        (&call["result_bytes"], &call["repeated_bytes"]),
        (&Value::from(2 * matrix), &Value::from(matrix))
    );
}

#[test]
fn a_signal_to_the_recorder_reaches_the_program_and_ends_both() {
    let Some(sandbox) = sandbox() else { return };
    let mut recorder = sandbox.recorder("caller", "waits").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = [0; 1];
    std::io::Read::read_exact(recorder.stdout.as_mut().unwrap(), &mut line).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    Command::new("kill").args(["-TERM", &recorder.id().to_string()]).status().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let status = loop {
        if let Some(status) = recorder.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < deadline, "the recorder goes on");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.signal(), Some(15), "{status}");
    let recorded: Value =
        serde_json::from_slice(&std::fs::read(sandbox.path("calls.json")).unwrap()).unwrap();
    assert_eq!(
        (calls(&recorded), &recorded["ended"]),
        (vec!["gemm f64 NT 16x16x16 1".to_owned()], &Value::from("signal 15"))
    );
}

#[test]
fn a_program_that_preloads_keeps_its_objects() {
    let Some(sandbox) = sandbox() else { return };
    let one = sandbox.path("libone.so");
    let mut command = sandbox.recorder("caller", "plain");
    let output = command.env("LD_PRELOAD", &one).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("one 102 111 112"), "its routines come before the library's: {text}");
}
