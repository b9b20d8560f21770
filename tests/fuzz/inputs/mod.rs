//! Gives bytes of unknown origin to each reader of the program, and to everything that uses what it has read.
//!
//! The fuzz targets in `fuzz/` and the test in this folder call the same functions. A function panics if the program would
//! panic, or if a refusal is not one short line without control characters.

mod by_hand;
mod replies;
pub mod reports;

use std::sync::LazyLock;

use gpubench::compare::{Comparison, Run, Runs};
use gpubench::data::hash::fnv1a;
use gpubench::report::{Report, example};
use gpubench::write::compare::{FORMATS as COMPARISON_FORMATS, View as ComparisonView};

/// A reader, and the syntax of its files.
pub struct Target {
    /// Name of the fuzz target and of the folder of seeds.
    pub name: &'static str,
    /// Reads these bytes, and writes what was read in some formats or in all.
    pub read: fn(&[u8], Formats),
    /// Whether its files are JSON, or lines of JSON.
    pub is_json: bool,
}

/// The formats in which a target writes what it has read.
#[derive(Clone, Copy)]
pub enum Formats {
    /// Every format: for tests, whose inputs are few.
    All,
    /// One of each list, chosen by a hash of the input: for fuzz targets, which would otherwise spend their time on writing.
    One(u64),
}

impl Formats {
    /// Returns one format of each list for this input, always the same.
    pub fn one_for(input: &[u8]) -> Formats {
        Formats::One(fnv1a(0, input))
    }

    /// Returns those of a list.
    fn of<T>(self, all: &[T]) -> &[T] {
        match self {
            Formats::All => all,
            Formats::One(hash) => {
                let chosen = (hash % all.len() as u64) as usize;
                &all[chosen..=chosen]
            }
        }
    }
}

/// Every target.
pub static TARGETS: [Target; 8] = [
    Target { name: "reports", read: reports::read, is_json: true },
    Target { name: "configs", read: by_hand::sweep, is_json: false },
    Target { name: "policies", read: by_hand::policy, is_json: false },
    Target { name: "scripts", read: by_hand::script, is_json: false },
    Target { name: "replies", read: replies::read, is_json: true },
    Target { name: "baselines", read: reports::read_baseline, is_json: true },
    Target { name: "journals", read: reports::read_journal, is_json: true },
    Target { name: "matrices", read: by_hand::matrix, is_json: false },
];

/// Largest number of bytes in a refusal.
const LONGEST_REFUSAL: usize = 9000;

/// Checks that a refusal is one short line that cannot drive a terminal.
fn check_refusal(message: &str) {
    let start: String = message.chars().take(LONGEST_REFUSAL).collect();
    assert!(!message.chars().any(char::is_control), "{start:?}");
    assert!(start.len() < LONGEST_REFUSAL, "{start}...");
}

/// Checks the refusal of what was not read.
fn accepted<T>(read: anyhow::Result<T>) -> Option<T> {
    read.map_err(|error| check_refusal(&format!("{error:#}"))).ok()
}

/// The sides of a comparison: the same report of two days.
static OLD: LazyLock<Runs> = LazyLock::new(|| side("old", example::full()));
static NEW: LazyLock<Runs> = LazyLock::new(|| {
    let mut report = example::full();
    report.environment.started = "2026-11-22T10:00:00Z".into();
    side("new", report)
});

/// Returns one side of a comparison.
fn side(name: &str, report: Report) -> Runs {
    Runs { runs: vec![Run { name: name.into(), report }], ..Runs::default() }
}

/// Writes a comparison. A format may refuse it in words.
fn write_comparison(comparison: &Comparison, formats: Formats) {
    let view = ComparisonView { all_cells: true, color: false };
    for format in formats.of(COMPARISON_FORMATS.all) {
        accepted(format.text(comparison, &view));
    }
}
