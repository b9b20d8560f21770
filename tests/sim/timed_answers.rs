//! Checks that timed answers are judged: faults that appear only after the first answer was right, or only in the
//! clock.

use gpubench::case::Cache;
use gpubench::executor::PeakSource;
use gpubench::measure::grade::WarningKind;
use gpubench::measure::stopping::Reason;
use gpubench::report::Outcome;

use crate::sim::stage::{Stage, execute, outcomes, reason};

/// Runs two variants of matmul, of which `b` has that fault, on a device with that peak FLOP rate.
fn on_device_of(flop_rate: f64, rule: &str) -> Stage {
    let script = format!(
        "[peaks]\nread = 1e9\ncopy = 1e9\ntriad = 1e9\nmatmul = {{ f32 = {flop_rate:e}, f64 = {flop_rate:e} }}\n\
         [[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n[[rule]]\nvariant = 'b'\n{rule}\n"
    );
    let mut stage = Stage::new(&script, "matmul", &[16]);
    stage.run.peaks = PeakSource::Measured;
    stage
}

/// Returns the reason why `b` has no time, while `a` has one.
fn caught(rule: &str) -> String {
    let report = on_device_of(1e9, rule).finish();
    let why = &report.rows[1].reason;
    assert_eq!(outcomes(&report), [Outcome::Measured, Outcome::Incorrect], "{rule}: {why:?}");
    assert!(report.rows[1].execute.is_none(), "{rule}");
    assert!(execute(&report.rows[0]).verified >= 4, "after each of three rounds and once more");
    reason(&report.rows[1]).to_owned()
}

#[test]
fn faults_of_timed_executions_are_caught() {
    for (rule, part) in [
        ("answer = 'stale'\nafter = 5", "after its answer was erased"),
        ("answer = 'wrong'\nafter = 5", "the answer of the last timed execution is wrong"),
        ("answer = 'overwrites-operand'\nafter = 5", "timed executions changed the operands"),
        ("answer = 'stale'", "the answer is wrong"),
        ("answer = 'nan'\nafter = 5", "not finite"),
        ("answer = 'cached'", "kept from an earlier execution"),
        ("time = '100ns'", "the time cannot be right"),
    ] {
        let reason = caught(rule);
        assert!(reason.contains(part), "{rule}: {reason}");
    }
}

#[test]
fn a_fault_that_begins_in_the_last_round_is_caught() {
    for after in [500, 650, 750] {
        for answer in ["stale", "wrong"] {
            caught(&format!("answer = '{answer}'\nafter = {after}"));
        }
    }
}

#[test]
fn hot_caches_allow_a_time_below_that_of_memory() {
    for (flop_rate, outcome) in [(1e12, Outcome::Measured), (1e9, Outcome::Incorrect)] {
        let mut stage = on_device_of(flop_rate, "time = '100ns'");
        stage.run.cells.iter_mut().for_each(|planned| planned.cell.cache = Cache::Hot);
        // Arithmetic still takes its time.
        assert_eq!(outcomes(&stage.finish()), [Outcome::Measured, outcome]);
    }
}

/// A run whose variant `b` crashes in the second round, after which `later` is the script of its workers.
fn losing_its_worker(later: &str) -> Stage {
    let script = "[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n\
                  [[rule]]\nvariant = 'b'\noutcome = 'crash'\nafter = 550\n";
    let mut stage = Stage::new(script, "sin", &[2, 3]);
    let started = stage.folder.path().join("started").display().to_string();
    let first = format!("touch {started}; exec {} \"$@\"", crate::cli::GPUBENCH);
    stage.work_by(&format!("if [ ! -e {started} ]; then {first}; fi\n{later}"));
    stage
}

#[test]
fn cells_that_cannot_be_prepared_again_keep_the_samples_of_earlier_rounds() {
    let failing = |device_lost: bool| {
        format!(
            "while read -r line; do case \"$line\" in\n\
             *'\"hello\"'*) echo '{{\"type\":\"ready\",\"description\":{{}}}}' ;;\n\
             *'\"prepare\"'*) echo '{{\"type\":\"failed\",\"reason\":\"gone\",\"device_lost\":{device_lost}}}' ;;\n\
             *'\"exit\"'*) exit 0 ;;\n*) echo '{{\"type\":\"released\"}}' ;;\nesac; done\n"
        )
    };
    for later in ["exit 1\n".to_owned(), failing(true), failing(false)] {
        let stage = losing_its_worker(&later);
        let report = stage.finish();
        assert_eq!(stage.saved(), report);
        // The variant that crashed in the second round may have failed; the other cells keep their first round.
        let kept = report.rows.iter().filter(|row| row.outcome == Outcome::Measured);
        assert!(kept.clone().count() >= 2, "{:?}", outcomes(&report));
        for execute in kept.map(execute) {
            assert!((4..10).contains(&execute.samples_s.len()), "{}", execute.samples_s.len());
            assert_eq!(execute.stopped, Some(Reason::EndedEarly));
            assert!(execute.warnings.iter().any(|warning| warning.kind == WarningKind::EndedEarly));
        }
    }
}
