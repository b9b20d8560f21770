//! One fault at a time: its cell is lost with a reason, and everything else is measured.

use std::path::Path;

use gpubench::report::{Outcome, Report};

use crate::{Ended, FAULTY, SIM, command, gpubench, has_controls, load};

/// Faults at N = 3 that make the answer or the times wrong, with part of the reason.
const INCORRECT: &[(&str, &str)] = &[
    ("nan-answer", "the answer is wrong: it contains values that are not finite"),
    ("other-case", "the answer is wrong: error"),
    ("late-error", "the answer of a later execution is wrong: error"),
    ("incomplete-answer", "values that are not finite"),
    ("kept-answer", "the answer did not change when an operand changed"),
    ("altered-stays", "before one of them was altered"),
    ("changed-operands", "timed executions changed the operands"),
];

/// Faults at N = 3 that make the cell fail, with part of the reason.
const FAILED: &[(&str, &str)] = &[
    ("print-between", "invalid reply (expected value at line 1 column 1): Warning: slow path"),
    ("crash-in-prepare", "was killed by SIGSEGV (in its preparation)"),
    ("crash-in-measure", "was killed by SIGSEGV (while sampling)"),
    ("exit-early", "exited with code 3; its last output: out of memory"),
    ("leave-a-child", "exited with code 4"),
    ("long-reply", "a reply of more than 64 MiB"),
    ("endless-reply", "a reply of more than 64 MiB"),
    ("endless-stderr", "exited with code 5"),
    ("broken-json", "invalid reply"),
    ("deep-json", "invalid reply"),
    ("no-utf8", "invalid reply"),
    ("other-json", "invalid reply"),
    ("unknown-type", "invalid reply (unknown variant `sung`"),
    ("wrong-type", "a reply that does not match the request"),
    ("two-replies", "a reply to no request"),
    ("escapes-in-reason", "no luck \u{fffd}[31mred"),
    ("device-lost", "the device fell off the bus"),
    ("wrong-shape", "C is 9 x 1 with 9 elements: it must be 3 x 3"),
    ("wrong-dtype", "expected real f32 elements"),
    ("huge-shape", "no or too many elements"),
    ("short-file", "the file of the answer has 20 bytes, its arrays 36"),
    ("no-file", "it wrote no answer"),
    ("link-for-file", "it is not an ordinary file"),
    ("pipe-for-file", "it is not an ordinary file"),
    ("wrong-inputs", "its inputs differ from those of gpubench (0123456789abcdef"),
    ("judge-itself", "it judged its own answer"),
    ("verify-itself", "it judged its own answer"),
    ("refute-itself", "it judged its own answer"),
    ("extra-samples", "it sent 4 samples, but 3 were requested"),
    ("no-samples", "no usable samples"),
    ("zero-time", "a time is not above 0: 0e0 s"),
    ("negative-time", "a time is not above 0: -1e-5 s"),
    ("nan-time", "invalid reply (expected value"),
    ("infinite-time", "invalid reply (number out of range"),
    ("long-time", "its times add up to 100"),
    ("device-time-above-host-time", "its times add up to 30"),
    ("negative-warmup", "its warmup_s is -1e3"),
    ("short-time", "less than any hardware allows"),
    ("short-device-time", "less than any hardware allows"),
    ("no-device-time", "has no device_s"),
    ("simulated-clock", "its clock is simulated"),
    ("negative-phase", "a phase took -1e0 s"),
    ("long-phase", "its times add up to 1000"),
    ("picked-path", "picked \"../../etc/passwd\" is not a valid name"),
    ("picked-escapes", "is not a valid name"),
    ("zero-threads", "threads is 0"),
    ("columns-out-of-range", "the offsets or columns of its sparse answer are out of range"),
];

/// What costs no cell.
const HARMLESS: &[&str] = &["warn-on-stderr", "escapes-in-description", "escapes-in-libraries"];

/// Faults before the first cell, with the outcome of all cells and part of the reason.
const AT_START: &[(&str, Outcome, &str)] = &[
    ("print-at-start", Outcome::Failed, "failed to start 3 times: the worker sent an invalid reply"),
    ("die-at-start", Outcome::Failed, "its last output: cannot open the device\u{fffd}[31mred"),
    ("unavailable", Outcome::Skipped, "no device \u{fffd}[31mred"),
];

/// Runs the faulty adapter once per fault, as a backend of that name, next to two simulated variants.
fn run(folder: &Path, faults: &[&str], timeout: &str) -> (Ended, Report) {
    std::fs::write(folder.join("sim.toml"), SIM).unwrap();
    let commands: Vec<String> =
        faults.iter().map(|fault| format!("{fault}={}", command(FAULTY, fault))).collect();
    let line = "run --ops matmul,spgemm --sizes 2,3 --cache hot --samples 3 --rounds 1 --warmup 0 --no-peaks \
                --backends sim --sim sim.toml --out out --tables --cell-timeout";
    let mut args: Vec<&str> = line.split(' ').collect();
    args.push(timeout);
    commands.iter().for_each(|command| args.extend(["--external", command]));
    let ended = gpubench(folder, &args);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!has_controls(text), "a worker's control character reaches the terminal: {text:?}");
    }
    (ended, load(folder))
}

/// Asserts the outcome of a backend at N = 3, with part of its reason, and that it was measured at N = 2.
fn assert_lost(report: &Report, backend: &str, outcome: Outcome, part: &str) {
    let at = |n| report.rows.iter().find(|row| row.backend == backend && row.case.n == n).unwrap();
    let reason = at(3).reason.as_deref().unwrap_or_default();
    assert_eq!(at(3).outcome, outcome, "{backend}: {reason}");
    assert!(reason.contains(part) && at(3).execute.is_none(), "{backend}: {reason}");
    // The fault of a sparse answer needs an op that the adapter does not have otherwise.
    let spared = if backend == "columns-out-of-range" { Outcome::Failed } else { Outcome::Measured };
    assert_eq!(at(2).outcome, spared, "{backend}: {:?}", at(2).reason);
}

#[test]
fn each_fault_costs_one_cell_with_its_reason_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let lost = [(INCORRECT, Outcome::Incorrect), (FAILED, Outcome::Failed)];
    let mut faults: Vec<&str> =
        lost.iter().flat_map(|(list, _)| list.iter().map(|(name, _)| *name)).collect();
    faults.extend(HARMLESS.iter().chain(AT_START.iter().map(|(name, ..)| name)));
    let (ended, report) = run(folder.path(), &faults, "60s");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    for (list, outcome) in lost {
        list.iter().for_each(|(fault, part)| assert_lost(&report, fault, outcome, part));
    }
    let of = |backend| report.rows.iter().filter(move |row| row.backend == backend);
    for backend in HARMLESS.iter().chain(&["sim"]) {
        assert!(of(*backend).all(|row| row.outcome == Outcome::Measured), "{backend}");
    }
    for (fault, outcome, part) in AT_START {
        assert!(of(*fault).all(|row| row.outcome == *outcome), "{fault}");
        assert!(of(*fault).all(|row| row.reason.as_deref().unwrap().contains(part)), "{fault}");
    }
}

#[test]
fn a_worker_that_hangs_loses_its_cell_when_the_time_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let (ended, report) = run(folder.path(), &["hang-in-prepare", "hang-in-measure", "endless-phases"], "2s");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert_lost(&report, "hang-in-prepare", Outcome::Failed, "timed out after 2 s in its preparation");
    assert_lost(&report, "hang-in-measure", Outcome::Failed, "timed out after 2 s while sampling");
    assert_lost(&report, "endless-phases", Outcome::Failed, "timed out after 2 s in phase");
}

#[test]
fn a_wrong_description_ends_the_run_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    for (fault, part) in [
        ("print-first", "the worker sent an invalid reply"),
        ("describe-twice", "it describes matmul/lists twice"),
        ("describe-bad-name", "is no name of a variant"),
        ("describe-escapes", "its texts must be lines"),
        ("describe-nothing", "it describes no variant"),
    ] {
        let backend = format!("bad={}", command(FAULTY, fault));
        let ended =
            gpubench(folder.path(), &["run", "--ops", "matmul", "--out", "out", "--external", &backend]);
        assert_eq!(ended.code, 2, "{fault}: {}", ended.stderr);
        assert!(ended.stderr.contains(part) && !has_controls(&ended.stderr), "{fault}: {:?}", ended.stderr);
        assert!(ended.stderr.lines().count() == 1 && !folder.path().join("out").exists(), "{fault}");
    }
}
