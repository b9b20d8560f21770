//! `gpubench protocol-check`: what it passes, and what it finds.

use crate::cli::{Ended, Folder, GPUBENCH};
use crate::external::{EXAMPLE, FAULTY, has_controls};

/// Checks a command at a small size.
fn checked(command: &[&str]) -> Ended {
    let options = ["protocol-check", "--sizes", "3", "--cell-timeout", "20s"];
    Folder::new().run(&[&options[..], command].concat())
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
    for (program, step) in [
        (
            "no-such-program",
            "arguments as separate words, such as: gpubench protocol-check python3 adapter.py",
        ),
        ("python3 adapter.py", "arguments as separate words"),
        (script.to_str().unwrap(), "name its interpreter before it, such as python3"),
    ] {
        let ended = checked(&[program]);
        assert_eq!(
            (ended.code, ended.stdout.as_str(), ended.stderr.lines().count()),
            (2, "", 1),
            "{}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains(" cannot be started (") && ended.stderr.contains(step),
            "{}",
            ended.stderr
        );
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
        let ended = checked(&["python3", "-S", "-E", FAULTY, fault]);
        let described = format!("{fault}: exit {}\n{}", ended.code, ended.stdout);
        assert_eq!((ended.code, ended.stderr.as_str()), (1, ""), "{described}");
        let flat = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["FAILED", "sent ", "received ", "expected ", "see docs/worker-protocol.md"] {
            assert!(flat.contains(part), "{part}: {described}");
        }
        for part in *parts {
            assert!(flat.contains(part), "{part}: {described}");
        }
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
fn a_program_that_cannot_be_started_is_wrong_usage_and_a_missing_device_skips_the_cells() {
    let ended = checked(&["no/such/program"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("no/such/program cannot be started"), "{}", ended.stderr);
    let ended = checked(&["python3", "-S", "-E", FAULTY, "unavailable"]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(ended.stdout.contains("skipped the cells: the backend is unavailable"), "{}", ended.stdout);
    let ended = checked(&[GPUBENCH, "worker", "sim"]);
    assert_eq!(ended.code, 1, "gpubench's own workers judge themselves: {}", ended.stdout);
}

#[test]
fn an_op_without_a_variant_or_an_unknown_option_checks_nothing_and_does_not_pass() {
    for ops in ["svd", "matmul,svd"] {
        let ended = checked(&["--ops", ops, "python3", "-S", "-E", EXAMPLE]);
        let flat = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(ended.code, 1, "{flat}");
        assert!(flat.contains("no variant of svd; the program has variants of matmul expected"), "{flat}");
        assert!(flat.contains("variants of the ops of --ops"), "{flat}");
    }
    let ended = checked(&["--dtypes", "f32", "python3", EXAMPLE]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("unknown option '--dtypes'"), "{}", ended.stderr);
}
