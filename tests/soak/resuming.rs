//! Runs that are interrupted and killed at random points: after `--resume` the report has the outcomes of a whole run.

use std::cell::Cell;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use gpubench::data::generator::Stream;
use gpubench::executor::Earlier;
use gpubench::report::file;

use serde_json::json;

use crate::sweep::{Sweep, assert_outcomes};
use crate::{gpubench, record};

/// Returns the finished cells in the journal of `out`.
fn finished(folder: &Path) -> u64 {
    let text = std::fs::read(folder.join("out/journal.jsonl")).unwrap_or_default();
    (text.iter().filter(|byte| **byte == b'\n').count() as u64).saturating_sub(1)
}

/// Waits until `done`, or until the run has ended. Returns whether it has ended.
fn waits_in_vain(run: &mut Child, done: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !done() {
        if run.try_wait().unwrap().is_some() {
            return true;
        }
        assert!(Instant::now() < deadline, "the run goes on");
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

/// Returns the number of rows that `--resume` takes over.
fn kept(folder: &Path) -> u64 {
    let count = Cell::new(0);
    let mut earlier = Earlier::load(&folder.join("out")).unwrap();
    earlier.retain(|_| {
        count.set(count.get() + 1);
        true
    });
    count.get()
}

/// Returns the number of the journal's file, which a new start of the run replaces.
fn journal(folder: &Path) -> Option<u64> {
    folder.join("out/journal.jsonl").metadata().ok().map(|found| found.ino())
}

/// Runs the sweep with `stops` stops, by turns with SIGINT after a random number of cells and with SIGKILL as soon as the
/// resumed run has begun its own journal.
fn assert_resumable(sweep: Sweep, stops: u64) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let expected = sweep.write(folder);
    let chance = Stream::new(sweep.seed, 2);
    let (mut line, mut finished_before) = (sweep.line(), 0);
    for stop in 0..stops {
        let before = journal(folder);
        let mut run = gpubench(folder, &line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until =
            sweep.cells() * (stop + 1) / (stops + 1) + chance.bits(stop) % (sweep.cells() / stops / 2);
        let (signal, has_ended) = match stop % 2 {
            0 => ("-INT", waits_in_vain(&mut run, || finished(folder) >= until)),
            _ => {
                ("-KILL", waits_in_vain(&mut run, || journal(folder).is_some_and(|now| before != Some(now))))
            }
        };
        if has_ended {
            break;
        }
        let kill = std::process::Command::new("kill").args([signal, &run.id().to_string()]).status();
        assert!(kill.unwrap().success());
        run.wait().unwrap();
        let now = kept(folder);
        record(&json!({ "stop": signal, "cells": sweep.cells(), "finished": now }));
        assert!(now >= finished_before, "{finished_before} cells were finished, {now} are left");
        (line, finished_before) = ("run --resume out --quiet".into(), now);
    }
    let last = gpubench(folder, &line).output().unwrap();
    assert_eq!(last.status.code(), Some(1), "{}", String::from_utf8_lossy(&last.stderr));
    assert_outcomes(&file::load(&folder.join("out")).unwrap(), &expected);
    assert!(!folder.join("out/journal.jsonl").exists());
}

#[test]
fn a_run_stopped_at_random_points_ends_with_the_outcomes_of_a_whole_one() {
    assert_resumable(Sweep { variants_per_side: 4, sizes: 10, seed: 7, hangs: false }, 4);
}

#[test]
#[ignore = "takes minutes"]
fn a_long_run_stopped_at_random_points_ends_with_the_outcomes_of_a_whole_one() {
    assert_resumable(Sweep { variants_per_side: 10, sizes: 125, seed: 8, hangs: true }, 10);
}
