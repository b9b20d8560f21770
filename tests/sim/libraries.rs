//! Variants of a library run in a worker of that library: its start, its hand-over to the next worker, and its entry
//! in the report.

use std::path::{Path, PathBuf};

use gpubench::executor::PeakSource;
use gpubench::report::Outcome;
use serde_json::Value;

use crate::sim::stage::{Stage, outcomes};

/// Two variants per library, and two that need none.
const SCRIPT: &str = "[[variant]]\nname = 'a'\n[[variant]]\nname = 'x'\nlibrary = 'libx'\n\
                      [[variant]]\nname = 'y'\nlibrary = 'liby'\n[[variant]]\nname = 'b'\n\
                      [[variant]]\nname = 'x2'\nlibrary = 'libx'\n";

/// A request as the worker received it.
struct Heard {
    /// The process id.
    worker: u32,
    request: Value,
}

impl Heard {
    fn is(&self, kind: &str) -> bool {
        self.request["type"] == kind
    }
}

/// Runs a stage whose workers log their requests to one file.
fn listen(stage: &mut Stage) -> PathBuf {
    let log = stage.folder.path().join("log");
    stage.work_by(&format!(
        "while IFS= read -r line; do\n  printf '%s %s\\n' $$ \"$line\" >> '{}'\n  printf '%s\\n' \"$line\"\n\
         done | exec '{}' \"$@\"\n",
        log.display(),
        crate::cli::GPUBENCH
    ));
    log
}

fn heard(log: &Path) -> Vec<Heard> {
    let text = std::fs::read_to_string(log).unwrap();
    let parse = |line: &str| {
        let (worker, request) = line.split_once(' ').unwrap();
        Heard { worker: worker.parse().unwrap(), request: serde_json::from_str(request).unwrap() }
    };
    text.lines().map(parse).collect()
}

/// Returns the workers that were asked for this, once per request.
fn workers_asked(heard: &[Heard], kind: &str) -> Vec<u32> {
    heard.iter().filter(|heard| heard.is(kind)).map(|heard| heard.worker).collect()
}

#[test]
fn libraries_have_workers_of_their_own_and_one_entry_in_the_report() {
    let mut stage = Stage::new(SCRIPT, "sin", &[2, 3]);
    stage.add_variant(1, "x@1");
    let log = listen(&mut stage);
    let report = stage.finish();
    // The simulated device refuses a variant that was sent to the worker of another library.
    assert!(outcomes(&report).iter().all(|outcome| *outcome == Outcome::Measured), "{:?}", report.rows);
    let entries = report.environment.backends.iter().map(|entry| {
        let libraries = entry.libraries.iter().map(|found| found.name.as_str());
        (entry.name.as_str(), libraries.collect::<Vec<_>>())
    });
    assert!(entries.eq([("sim", vec!["libx", "liby"]), ("sim@1", vec!["libx"])]));
    assert_eq!(workers_asked(&heard(&log), "hello").len(), 4);
}

#[test]
fn a_library_s_worker_starts_with_its_first_cell_and_each_worker_rests_before_the_next_works() {
    let mut stage = Stage::new(SCRIPT, "sin", &[2, 3]);
    let log = listen(&mut stage);
    stage.finish();
    let heard = heard(&log);
    let mut at_work: Option<(u32, bool)> = None;
    for (index, now) in heard.iter().enumerate() {
        if now.is("hello") && !now.request["options"]["library"].is_null() {
            let next = heard[index + 1..].iter().find(|later| later.worker == now.worker).unwrap();
            assert!(next.is("prepare"), "{}", next.request);
            let between = heard[index + 1..].iter().take_while(|later| later.worker != now.worker);
            assert_eq!(between.filter(|other| !other.is("rest")).count(), 0, "nobody works while it starts");
        }
        if now.is("rest") {
            assert_eq!(at_work, Some((now.worker, false)), "only the one that has worked is asked to rest");
            at_work = Some((now.worker, true));
        }
        if now.is("prepare") || now.is("measure") {
            let others_rest = at_work.is_none_or(|(worker, rests)| rests || worker == now.worker);
            assert!(others_rest, "{} while {at_work:?} has worked", now.request);
            at_work = Some((now.worker, false));
        }
    }
    assert!(heard.iter().filter(|heard| heard.is("rest")).count() > 5);
}

#[test]
fn where_memory_is_short_the_jobs_of_every_worker_are_let_go_once() {
    let script = format!("{SCRIPT}[[rule]]\nvariant = 'y'\noutcome = 'out-of-memory'\n");
    let mut stage = Stage::new(&script, "sin", &[2, 3]);
    let log = listen(&mut stage);
    let report = stage.finish();
    let skipped = report.rows.iter().filter(|row| row.outcome == Outcome::Skipped);
    assert_eq!(skipped.map(|row| row.variant.as_str()).collect::<Vec<_>>(), ["y", "y"]);
    assert!(report.rows.iter().all(|row| row.variant == "y" || row.outcome == Outcome::Measured));
    let heard = heard(&log);
    let is_for_y = |heard: &Heard| heard.is("prepare") && heard.request["cell"]["variant"] == "y";
    let asked_for_y: Vec<usize> = (0..heard.len()).filter(|at| is_for_y(&heard[*at])).collect();
    // At its first turn one of the two may have no prepared job.
    assert!((3..=4).contains(&asked_for_y.len()), "{} times", asked_for_y.len());
    let [.., first, second] = asked_for_y[..] else { unreachable!() };
    let workers = workers_asked(&heard[first..second], "release");
    assert!(!workers.contains(&heard[first].worker) && !workers.is_empty(), "{workers:?}");
}

#[test]
fn peaks_are_the_highest_of_all_libraries_whichever_are_in_the_run() {
    let mut stage = Stage::new(SCRIPT, "sin", &[2]);
    stage.run.cells.truncate(1);
    stage.run.peaks = PeakSource::Measured;
    let log = listen(&mut stage);
    let report = stage.finish();
    assert!(report.environment.backends[0].peaks.is_some() && report.environment.backends.len() == 1);
    let heard = heard(&log);
    let asked = workers_asked(&heard, "peaks");
    assert_eq!(asked.len(), 3, "one for no library, and one per library");
    let before = workers_asked(&heard, "measure").into_iter().any(|worker| asked.contains(&worker));
    assert!(!before, "cells have workers that measured nothing before");
}
