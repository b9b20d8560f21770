//! Programs of others as backends: the example of the documentation, and an adversarial adapter with one fault at a time.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]
#![allow(clippy::disallowed_methods, reason = "a test may end where no thread can be started")]

mod faults;

use std::path::Path;

use gpubench::report::{Outcome, Report, Row, file};

use crate::cli::Folder;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples/adapter.py");
pub(crate) const FAULTY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/external/faulty.py");

/// Returns whether a text could drive a terminal.
fn has_controls(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && c != '\n')
}

fn command(script: &str, argument: &str) -> String {
    format!("python3 -S -E '{script}' {argument}")
}

#[test]
fn the_example_of_the_documentation_is_measured_and_judged() {
    let folder = Folder::new();
    let mine = format!("mine={}", command(EXAMPLE, ""));
    let sweep = "run --ops matmul --sizes 4,9 --dtypes all --cache both --samples 3 --rounds 2 --warmup 2";
    let rest = "--no-peaks --format json --backends sim --sim fair.toml --out out --external";
    let mut args: Vec<&str> = sweep.split(' ').chain(rest.split(' ')).collect();
    args.push(&mine);
    folder.run(&args).good();
    let report = load(folder.path());
    let mine: Vec<&Row> = report.rows.iter().filter(|row| row.backend == "mine").collect();
    assert_eq!(mine.len(), 8);
    for row in mine {
        assert_eq!(row.outcome, Outcome::Measured, "{}: {:?}", row.cell(), row.reason);
        assert!(row.error.unwrap().is_right() && row.execute.as_ref().unwrap().samples_s.len() == 3);
        assert_eq!(row.threads, Some(1));
    }
}

#[test]
fn a_declared_program_can_be_named_wherever_a_backend_can() {
    let folder = Folder::new();
    let mine = format!("mine={}", command(EXAMPLE, ""));
    let measured = |line: &str| -> Vec<String> {
        let options = ["--force", "--format", "json", "--out", "out", "--external", &mine];
        folder.run(&line.split(' ').chain(options).collect::<Vec<_>>()).good();
        let rows = load(folder.path()).rows;
        rows.iter().map(|row| format!("{} {}/{}", row.case.op, row.backend, row.variant)).collect()
    };
    let short = "run --ops matmul --sizes 4 --samples 3 --rounds 2 --no-peaks";
    assert_eq!(measured(&format!("{short} --backends mine")), ["matmul mine/lists"]);
    let versus = "--backends mine,sim --sim fair.toml --require mine --versus mine:sim/accelerator";
    assert_eq!(measured(&format!("{short} {versus}")).len(), 3);
    assert_eq!(load(folder.path()).environment.settings["versus"], "mine:sim/accelerator");
}

fn load(folder: &Path) -> Report {
    file::load(&folder.join("out/report.json")).unwrap_or_else(|error| panic!("{error:#}"))
}
