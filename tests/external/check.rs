//! `gpubench protocol-check`: what it passes, and what it finds.

use crate::cli::{Ended, Folder, GPUBENCH, assert_contains, flat};
use crate::external::{EXAMPLE, FAULTY, has_controls};

/// Checks a command at a small size.
fn checked(command: &[&str]) -> Ended {
    let options = ["protocol-check", "--sizes", "3", "--cell-timeout", "20s"];
    Folder::new().run(&[&options[..], command].concat())
}

/// Checks the adapter with a fault.
fn faulty(fault: &str) -> Ended {
    checked(&["python3", "-S", "-E", FAULTY, fault])
}

#[test]
fn the_example_passes_every_check() {
    let ended = checked(&["python3", "-S", "-E", EXAMPLE]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
    assert!(ended.stdout.lines().filter(|line| line.starts_with("ok ")).count() > 30, "{}", ended.stdout);
    assert!(!ended.stdout.contains("FAILED") && ended.stdout.ends_with("checks passed.\n"));
}

#[test]
fn a_program_that_cannot_be_started_is_refused_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("adapter.py");
    std::fs::write(&script, "print()").unwrap();
    let words = "arguments as separate words, such as: gpubench protocol-check python3 adapter.py";
    let interpreter = "name its interpreter before it, such as python3";
    for (program, step) in [
        ("no-such-program", words),
        ("no/such/program", words),
        ("python3 adapter.py", words),
        (script.to_str().unwrap(), interpreter),
    ] {
        let ended = checked(&[program]).exits(2).complains(&[" cannot be started (", step]);
        assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count()), ("", 1), "{program}");
    }
}

#[test]
fn each_failure_says_what_was_sent_and_expected_and_where_the_page_says_so() {
    let faults = [
        ("print-first", &["describe: ", "Using the fast backend", "\"Requests\""][..]),
        ("describe-twice", &["it describes matmul/lists twice", "\"Fields of replies\""]),
        ("print-at-start", &["hello: ", "\"field-of-a-later-version\":["]),
        ("wrong-inputs", &["operands and answer", "0123456789abcdef", "\"Fingerprint\""]),
        ("other-case", &["operands and answer", "error 1.", "\"Operands\""]),
        ("negative-phase", &["operands and answer", "a phase took -1e0 s"]),
        ("kept-answer", &["an altered operand changes the answer", "did not change when an operand changed"]),
        ("altered-stays", &["an altered operand changes the answer", "before one of them was altered"]),
        ("judge-itself", &["only workers of gpubench judge their own answers"]),
        ("extra-samples", &["a batch with warm-up", "5 samples, but 4 were requested"]),
        ("late-error", &["the timed answer is right", "a later execution is wrong"]),
        ("incomplete-answer", &["the answer is written again", "not finite"]),
        ("crash-in-measure", &["a batch with warm-up", "the program was killed by SIGSEGV"]),
        ("two-replies", &["sent a reply to no request"]),
        ("keep-jobs", &["release", "failed, since the job is released"]),
        ("stay", &["exit: ", "it still runs", "within 3 s"]),
        ("sleep-through-the-end", &["end of standard input: ends a program that measures", "it still runs"]),
        ("ignore-junk", &["an unknown type is answered with failed", "{\"type\":\"dance\""]),
    ];
    let assert_found = |(fault, parts): &(&str, &[&str])| {
        let ended = faulty(fault);
        let described = format!("{fault}: exit {}\n{}", ended.code, ended.stdout);
        assert_eq!((ended.code, ended.stderr.as_str()), (1, ""), "{described}");
        let text = flat(&ended.stdout);
        assert_contains(&text, &["FAILED", "sent ", "received ", "expected ", "see docs/worker-protocol.md"]);
        assert_contains(&text, parts);
        assert!(!has_controls(&ended.stdout), "{described}");
        assert!(ended.stdout.lines().all(|line| line.chars().count() <= 80), "{described}");
    };
    // Each check mostly waits for the program's processes.
    std::thread::scope(|scope| {
        for some in faults.chunks(faults.len().div_ceil(6)) {
            scope.spawn(move || some.iter().for_each(assert_found));
        }
    });
}

#[test]
fn a_missing_device_skips_the_cells_and_workers_that_judge_themselves_fail() {
    faulty("unavailable").good().prints(&["skipped the cells: the backend is unavailable"]);
    checked(&[GPUBENCH, "worker", "sim"]).exits(1);
}

#[test]
fn an_op_without_a_variant_or_an_unknown_option_checks_nothing_and_does_not_pass() {
    for ops in ["svd", "matmul,svd"] {
        let text = flat(&checked(&["--ops", ops, "python3", "-S", "-E", EXAMPLE]).exits(1).stdout);
        let reason = "no variant of svd; the program has variants of matmul expected";
        assert_contains(&text, &[reason, "variants of the ops of --ops"]);
    }
    let ended = checked(&["--dtypes", "f32", "python3", EXAMPLE]).exits(2);
    assert_eq!(ended.complains(&["unknown option '--dtypes'"]).stdout, "");
}
