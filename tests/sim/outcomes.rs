//! Outcomes of cells: right and wrong answers, faults, time-outs, missing devices.

use std::path::Path;
use std::time::Duration;

use gpubench::case::DType;
use gpubench::executor;
use gpubench::observe::Silent;
use gpubench::op::{self, OPS};
use gpubench::report::{Clock, Outcome, Report, Row};

use crate::sim::stage::{Stage, outcomes, plan, reason, samples};

/// Every op at odd sizes in both element types.
fn of_every_op(script: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let ops: Vec<&str> = OPS.iter().map(|op| op.name()).collect();
    let run = plan(folder.path(), script, &ops, &[1, 2, 31], DType::REAL);
    executor::run(&run, &mut Silent).unwrap().report
}

/// The rows of cases in which there is something to compute. Checks that the others, products without entries, are skipped.
fn with_work(report: &Report) -> impl Iterator<Item = &Row> {
    report.rows.iter().filter(|row| {
        let nothing = op::find(&row.case.op).unwrap().nothing_to_compute(&row.case);
        assert_eq!(row.outcome == Outcome::Skipped, nothing.is_some(), "{}", row.cell());
        assert!(nothing.is_none_or(|why| reason(row) == why && row.execute.is_none()), "{}", row.cell());
        nothing.is_none()
    })
}

#[test]
fn every_op_is_answered_rightly_at_odd_sizes_in_both_element_types() {
    let report = of_every_op("[[variant]]\nname = 'a'\n");
    assert_eq!(report.rows.len(), OPS.len() * 6);
    for row in with_work(&report) {
        assert_eq!(row.outcome, Outcome::Measured, "{}: {:?}", row.cell(), row.reason);
        let execute = row.execute.as_ref().unwrap();
        assert_eq!((execute.clock, execute.samples_s.len()), (Clock::Simulated, 10));
        assert!(execute.setup_while_sampling.is_zero());
        assert!(row.error.unwrap().is_right() && row.inputs.as_ref().unwrap().len() == 16);
    }
}

#[test]
fn wrong_answers_of_every_op_are_found_and_have_no_time() {
    let report = of_every_op("[[variant]]\nname = 'a'\n[[rule]]\nanswer = 'wrong'\n");
    for row in with_work(&report) {
        assert_eq!(row.outcome, Outcome::Incorrect, "{} {:?}", row.cell(), row.error);
        assert!(row.execute.is_none() && !row.error.unwrap().is_right());
        assert!(reason(row).contains("the answer is wrong"), "{}", reason(row));
    }
}

#[test]
fn a_fault_costs_one_cell_and_the_sweep_goes_on() {
    for (fault, outcome, part) in [
        ("outcome = 'crash'", Outcome::Failed, "SIGABRT"),
        ("outcome = 'panic'", Outcome::Failed, "a simulated panic"),
        ("outcome = 'fail'", Outcome::Failed, "a simulated call failed"),
        ("outcome = 'device-lost'", Outcome::Failed, "device is lost"),
        ("outcome = 'unavailable'", Outcome::Skipped, "unavailable"),
        ("outcome = 'out-of-memory'", Outcome::Skipped, "needs 2.00 GiB of device memory, 1.00 GiB is free"),
        // Times that are none.
        ("time = { per_element = '1s', exponent = 1000 }", Outcome::Failed, "a time of inf s"),
        ("drift = -0.2", Outcome::Failed, "execution 5 of"),
        ("noise = 1e300", Outcome::Failed, "change its time, noise or drift"),
    ] {
        let script = format!("[[variant]]\nname = 'a'\n[[rule]]\nn = 3\n{fault}\n");
        let stage = Stage::new(&script, "sin", &[2, 3, 4]);
        let report = stage.finish();
        assert_eq!(outcomes(&report), [Outcome::Measured, outcome, Outcome::Measured], "{fault}");
        assert!(reason(&report.rows[1]).contains(part), "{fault}: {}", reason(&report.rows[1]));
        assert!(report.rows[1].execute.is_none());
        assert_eq!(stage.saved(), report, "{fault}");
    }
}

#[test]
fn a_cell_that_fails_while_it_is_sampled_leaves_no_memory_behind() {
    let script = "[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n[[rule]]\nvariant = 'a'\noutcome = 'fail'\nafter = 2\n\
                  [[rule]]\nvariant = 'b'\noutcome = 'out-of-memory'\n";
    let mut stage = Stage::new(script, "sin", &[2, 3, 4]);
    stage.sample(|sampling| sampling.warmup = 0);
    let report = stage.finish();
    let of = |variant: &str| -> Vec<Outcome> {
        report.rows.iter().filter(|row| row.variant == variant).map(|row| row.outcome).collect()
    };
    assert_eq!(of("a"), [Outcome::Failed; 3]);
    assert_eq!(of("b"), [Outcome::Skipped; 3], "what does not fit alone is skipped, whatever failed before");
}

#[test]
fn a_hang_is_cut_at_the_time_limit_before_and_while_sampling() {
    for (after, phase) in [(0, "in its first execution"), (5, "while sampling")] {
        let script = format!("[[variant]]\nname = 'a'\n[[rule]]\nn = 3\noutcome = 'hang'\nafter = {after}\n");
        let mut stage = Stage::new(&script, "sin", &[2, 3, 4]);
        stage.run.cell_timeout = Duration::from_millis(1500);
        let report = stage.finish();
        assert_eq!(outcomes(&report), [Outcome::Measured, Outcome::Failed, Outcome::Measured]);
        let reason = reason(&report.rows[1]);
        let parts = ["timed out after 1.5 s", "raise --cell-timeout", phase];
        assert!(parts.iter().all(|part| reason.contains(part)), "{reason}");
    }
}

#[test]
fn a_crash_while_sampling_leaves_the_check_in_the_row_but_no_time() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\noutcome = 'crash'\nafter = 6\n";
    let report = Stage::new(script, "sin", &[3]).finish();
    let row = &report.rows[0];
    assert_eq!(row.outcome, Outcome::Failed);
    assert!(row.error.unwrap().is_right() && row.execute.is_none());
}

#[test]
fn an_unavailable_backend_is_skipped_with_its_reason_and_its_fix() {
    let script = "[start]\noutcome = 'unavailable'\nreason = 'no such device'\nfix = 'plug it in'\n[[variant]]\nname = 'a'\n";
    let mut stage = Stage::new(script, "sin", &[2, 3]);
    let report = stage.finish();
    assert_eq!(outcomes(&report), [Outcome::Skipped; 2]);
    let row = &report.rows[0];
    assert_eq!((reason(row), row.fix.as_deref()), ("no such device", Some("plug it in")));
    assert!(!report.environment.backends[0].available);

    std::fs::remove_dir_all(stage.folder.path().join("out")).unwrap();
    stage.run.require = vec!["sim".into()];
    let error = executor::run(&stage.run, &mut Silent).unwrap_err();
    assert!(error.is::<executor::RequiredBackendMissing>());
    assert!(error.to_string().contains("no such device"), "{error}");
    assert!(!stage.report_file().exists(), "refused before any cell");
}

#[test]
fn a_worker_that_cannot_start_is_given_up_after_three_attempts() {
    for fault in ["crash", "panic"] {
        let script = format!("[start]\noutcome = '{fault}'\n[[variant]]\nname = 'a'\n");
        let report = Stage::new(&script, "sin", &[2, 3]).finish();
        assert_eq!(outcomes(&report), [Outcome::Failed; 2], "{fault}: a start that breaks is a failure");
        assert!(reason(&report.rows[1]).contains("failed to start 3 times"), "{}", reason(&report.rows[1]));
    }
}

#[test]
fn equal_seeds_give_equal_samples_and_others_do_not() {
    let script =
        |seed| format!("seed = {seed}\n[[variant]]\nname = 'a'\n[[rule]]\nnoise = 0.1\ndrift = 0.01\n");
    let once = samples(&Stage::new(&script(1), "sin", &[2, 3]).finish());
    assert_eq!(once, samples(&Stage::new(&script(1), "sin", &[2, 3]).finish()));
    assert_ne!(once, samples(&Stage::new(&script(2), "sin", &[2, 3]).finish()));
    assert_ne!(once[0], once[1], "cells have noise of their own");
}

#[test]
fn setup_inside_the_timed_region_is_counted() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\nn = 3\nallocates = true\n";
    let report = Stage::new(script, "sin", &[2, 3]).finish();
    let counts = |row: usize| report.rows[row].execute.as_ref().unwrap().setup_while_sampling;
    assert!(counts(0).is_zero());
    assert_eq!(counts(1).allocations, 10);
}

#[test]
fn nothing_is_timed_while_another_worker_starts_and_rows_keep_the_order_of_the_plan() {
    let script = "[start]\ndelay = '400ms'\n[[variant]]\nname = 'a'\n";
    let mut stage = Stage::new(script, "sin", &[2]);
    let mut early = stage.run.cells[0].clone();
    early.cell.backend = "nowhere".into();
    stage.run.cells.insert(0, early);
    let report = stage.finish();
    assert_eq!(outcomes(&report), [Outcome::Failed, Outcome::Measured]);
    assert_eq!(report.rows[0].backend, "nowhere");
    assert!(report.environment.backends[1].startup_s.unwrap() >= 0.4);
}

#[test]
fn what_a_crashed_worker_leaves_is_removed_with_it() {
    let mut stage = Stage::new("[[variant]]\nname = 'a'\n", "sin", &[2]);
    let helper = stage.folder.path().join("helper");
    // The file that Intel's OpenMP leaves, and a process that a library has started.
    stage.work_by(&format!(
        "touch /dev/shm/__KMP_REGISTERED_LIB_$$_$(id -u)\necho $$ > {0}.leader\nsleep 1000 &\necho $! > {0}\nkill -9 $$\n",
        helper.display()
    ));
    let report = stage.finish();
    assert_eq!(report.rows.len(), 1);
    let number = |path: &Path| -> u32 { std::fs::read_to_string(path).unwrap().trim().parse().unwrap() };
    let (helper, is_running) = (number(&helper), crate::cli::is_running);
    crate::cli::wait_until("a helper outlives its worker", || !is_running(&helper));
    let user = gpubench_backend::host::process::effective_user();
    let leader = number(&stage.folder.path().join("helper.leader"));
    assert!(!Path::new(&format!("/dev/shm/__KMP_REGISTERED_LIB_{leader}_{user}")).exists());
}
