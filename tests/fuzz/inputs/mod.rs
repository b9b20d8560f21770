//! Gives bytes of unknown origin to each reader of the program, and to everything that uses what it has read.
//!
//! The fuzz targets in `fuzz/` and the test in this folder call the same functions. A function panics if the program would
//! panic, or if a refusal is not one short line without control characters.

pub mod baselines;
pub mod configs;
pub mod journals;
pub mod policies;
pub mod replies;
pub mod reports;
pub mod scripts;

use gpubench::compare::Run;
use gpubench::compare::export::{self, Sanitized};
use gpubench::compare::{Comparison, Runs};
use gpubench::report::Report;

/// A reader, and the syntax of its files.
pub struct Target {
    /// Name of the fuzz target and of the folder of seeds.
    pub name: &'static str,
    /// Reads these bytes.
    pub read: fn(&[u8]),
    /// Whether its files are JSON, or lines of JSON.
    pub is_json: bool,
}

/// Every target.
pub static TARGETS: [Target; 7] = [
    Target { name: "reports", read: reports::read, is_json: true },
    Target { name: "configs", read: configs::read, is_json: false },
    Target { name: "policies", read: policies::read, is_json: false },
    Target { name: "scripts", read: scripts::read, is_json: false },
    Target { name: "replies", read: replies::read, is_json: true },
    Target { name: "baselines", read: baselines::read, is_json: true },
    Target { name: "journals", read: journals::read, is_json: true },
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

/// Returns one side of a comparison.
fn side(name: &str, report: Report) -> Runs {
    Runs { runs: vec![Run { name: name.into(), report }], ..Runs::default() }
}

/// Returns the item of a list that these bytes choose: equal bytes choose the same one.
fn chosen<'a, T>(items: &'a [T], bytes: &[u8]) -> &'a T {
    let sum = bytes.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    &items[(sum % items.len() as u64) as usize]
}

/// Writes a comparison in the format that `bytes` choose. A format may refuse it in words.
fn write_comparison(comparison: &Comparison, bytes: &[u8]) {
    let view = export::View { all_cells: true, color: false };
    accepted(chosen(export::FORMATS.all, bytes).text(&Sanitized::of(comparison), &view));
}
