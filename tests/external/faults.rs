//! One fault at a time: its cell is lost with a reason, and everything else is measured.

use gpubench::report::{Outcome, Report, Row};

use crate::cli::{Ended, Folder};
use crate::external::{FAULTY, command, has_controls, load};

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

/// Faults at N = 3 that make the cell fail, with part of the reason. Times that cannot be true are tested in
/// `crates/run/src/executor/plausible.rs`.
const FAILED: &[(&str, &str)] = &[
    ("print-between", "invalid reply (expected value at line 1 column 1): Warning: slow path"),
    ("crash-in-prepare", "was killed by SIGSEGV (in its preparation)"),
    ("crash-in-measure", "was killed by SIGSEGV (while sampling)"),
    ("exit-early", "exited with code 3; its last output: out of memory"),
    ("leave-a-child", "exited with code 4"),
    ("long-reply", "a reply of more than 64 MiB"),
    ("endless-stderr", "exited with code 5"),
    ("deep-json", "invalid reply"),
    ("no-utf8", "invalid reply"),
    ("unknown-type", "invalid reply (unknown variant `sung`"),
    ("wrong-type", "a reply that does not match the request"),
    ("two-replies", "sent a reply"),
    ("escapes-in-reason", "no luck \u{fffd}[31mred"),
    ("device-lost", "the device fell off the bus"),
    ("wrong-shape", "it must be"),
    ("wrong-dtype", "expected float32 elements, got float64"),
    ("huge-shape", "no or too many elements"),
    ("short-file", "the file of the answer has 20 bytes, its arrays"),
    ("no-file", "it wrote no answer"),
    ("link-for-file", "it is not an ordinary file"),
    ("pipe-for-file", "it is not an ordinary file"),
    ("wrong-inputs", "its inputs differ from those of gpubench (0123456789abcdef"),
    ("judge-itself", "it judged its own answer"),
    ("no-samples", "no usable samples"),
    ("zero-time", "a time is not above 0: 0e0 s"),
    ("nan-time", "invalid reply (expected value"),
    ("infinite-time", "invalid reply (number out of range"),
    ("long-phase", "its times add up to 1000"),
    ("picked-path", "picked \"../../etc/passwd\" is not a valid name"),
];

/// What costs no cell.
const HARMLESS: &[&str] = &["warn-on-stderr", "escapes-in-description", "escapes-in-libraries"];

/// Faults before the first cell, with the outcome of all cells and part of the reason.
const AT_START: &[(&str, Outcome, &str)] = &[
    ("print-at-start", Outcome::Failed, "failed to start 3 times: the worker sent an invalid reply"),
    ("die-at-start", Outcome::Failed, "its last output: cannot open the device\u{fffd}[31mred"),
    ("unavailable", Outcome::Skipped, "no device \u{fffd}[31mred"),
];

/// Faults at N = 3 for which the cell is skipped, with part of the reason.
const SKIPPED: &[(&str, &str)] =
    &[("always-crowded", "memory is short"), ("crowded-in-measure", "memory is short")];

/// Number of faults that one backend has, at N = 3 and above.
const PER_BACKEND: usize = 8;

/// Runs backends with those faults, next to two simulated variants.
fn run(folder: &Folder, backends: &[Vec<&str>], timeout: &str) -> (Ended, Report) {
    let of = |faults: &Vec<&str>| format!("{}={}", faults[0], command(FAULTY, &faults.join(",")));
    let commands: Vec<String> = backends.iter().map(of).collect();
    let line = "run --ops matmul,spgemm --density 0.9 --sizes 2..10:+1 --cache hot --samples 3 --rounds 1 --warmup 0 --no-peaks \
                --backends sim --sim fair.toml --format table,json --out out --tables --cell-timeout";
    let mut args: Vec<&str> = line.split(' ').collect();
    args.push(timeout);
    commands.iter().for_each(|command| args.extend(["--external", command]));
    let ended = folder.run(&args);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!has_controls(text), "a worker's control character reaches the terminal: {text:?}");
    }
    (ended, load(folder.path()))
}

/// Asserts that the cells of `backends` end as their faults do, and that all others are measured.
fn assert_lost(report: &Report, backends: &[Vec<&str>], faults: &[(&str, Outcome, &str)]) {
    for row in &report.rows {
        let names = backends.iter().find(|faults| faults[0] == row.backend);
        let name = names.and_then(|names| names.get((row.case.n as usize).checked_sub(3)?));
        let fault = faults.iter().find(|(fault, ..)| name == Some(fault));
        let reason = row.reason.as_deref().unwrap_or_default();
        let about = format!("{} {}: {name:?} {reason}", row.backend, row.case);
        match fault {
            Some((_, outcome, part)) => {
                assert_eq!((row.outcome, row.execute.is_none()), (*outcome, true), "{about}");
                assert!(reason.contains(part), "{about}");
            }
            None => assert_eq!(row.outcome, Outcome::Measured, "{about}"),
        }
    }
}

#[test]
fn each_fault_costs_one_cell_with_its_reason_and_the_run_goes_on() {
    let folder = Folder::new();
    let with = |list: &[(&'static str, &'static str)], outcome| {
        list.iter().map(move |(fault, part)| (*fault, outcome, *part)).collect::<Vec<_>>()
    };
    let faults =
        [with(INCORRECT, Outcome::Incorrect), with(FAILED, Outcome::Failed), with(SKIPPED, Outcome::Skipped)]
            .concat();
    let names: Vec<&str> = faults.iter().map(|(fault, ..)| *fault).collect();
    let backends: Vec<Vec<&str>> =
        names.chunks(PER_BACKEND).map(<[&str]>::to_vec).chain([HARMLESS.to_vec()]).collect();
    let (ended, report) = run(&folder, &backends, "60s");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert_lost(&report, &backends, &faults);
}

#[test]
fn a_backend_that_does_not_start_loses_all_its_cells_and_no_other_one() {
    let folder = Folder::new();
    let backends: Vec<Vec<&str>> = AT_START.iter().map(|(fault, ..)| vec![*fault]).collect();
    let (ended, report) = run(&folder, &backends, "60s");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    for row in &report.rows {
        let fault = AT_START.iter().find(|(fault, ..)| *fault == row.backend);
        let (outcome, part) = fault.map_or((Outcome::Measured, ""), |(_, outcome, part)| (*outcome, *part));
        let reason = row.reason.as_deref().unwrap_or_default();
        assert!(row.outcome == outcome && reason.contains(part), "{}: {reason}", row.cell());
    }
}

#[test]
fn a_sparse_answer_out_of_range_and_a_worker_that_hangs_lose_their_cells() {
    let folder = Folder::new();
    let hanging = [
        ("hang-in-prepare", Outcome::Failed, "timed out after 2 s in its preparation"),
        ("hang-in-measure", Outcome::Failed, "timed out after 2 s while sampling"),
        ("endless-phases", Outcome::Failed, "timed out after 2 s in phase"),
    ];
    let backends = [hanging.map(|(fault, ..)| fault).to_vec(), vec!["columns-out-of-range"]];
    let (ended, mut report) = run(&folder, &backends, "2s");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let (sparse, rest) = report.rows.into_iter().partition(|row| row.backend == "columns-out-of-range");
    report.rows = rest;
    assert_lost(&report, &backends, &hanging);
    let reasons: Vec<Option<String>> = (sparse as Vec<Row>).into_iter().map(|row| row.reason).collect();
    let out_of_range = "the offsets or columns of its sparse answer are out of range";
    assert!(reasons[1].as_deref().unwrap().contains(out_of_range), "{reasons:?}");
}

#[test]
fn a_wrong_description_ends_the_run_before_anything_is_measured() {
    let folder = Folder::new();
    for (fault, part) in [
        ("print-first", "the worker sent an invalid reply"),
        ("describe-twice", "it describes matmul/lists twice"),
        ("describe-bad-name", "is no name of a variant"),
        ("describe-escapes", "its texts must be lines"),
        ("describe-nothing", "it describes no variant"),
    ] {
        let backend = format!("bad={}", command(FAULTY, fault));
        let ended = folder.run(&["run", "--ops", "matmul", "--out", "out", "--external", &backend]);
        let stderr = ended.exits(2).complains(&[part]).stderr;
        assert!(stderr.lines().count() == 1 && !has_controls(&stderr), "{fault}: {stderr:?}");
        assert!(!folder.has("out"), "{fault}");
    }
}

#[test]
fn a_program_runs_without_variables_that_change_the_arithmetic_of_libraries() {
    let folder = Folder::new();
    let mut command =
        folder.command("run --ops matmul --sizes 8 --backends x --no-peaks --quiet --out out --external");
    command.env("NVIDIA_TF32_OVERRIDE", "1").env("CUBLAS_EMULATE_DOUBLE_PRECISION", "1");
    // The program speaks no protocol, so its cells fail; it has written what it was given.
    Ended::of(
        command.env("OMP_NUM_THREADS", "2").arg(format!("x=sh -c 'env > {}/seen'", folder.path().display())),
    );
    let seen = folder.read("seen");
    assert!(seen.contains("OMP_NUM_THREADS=2"), "{seen}");
    assert!(!seen.contains("NVIDIA_TF32_OVERRIDE") && !seen.contains("CUBLAS_EMULATE"), "{seen}");
}
