//! Progress as plain text: one line for each finished cell.

use std::io::Write;

use super::Observer;
use crate::report::{Outcome, Row};

/// Writes a line for each finished cell.
pub struct Lines<W> {
    sink: W,
    total: usize,
}

impl<W: Write> Lines<W> {
    /// Writes to `sink`.
    pub fn new(sink: W) -> Self {
        Lines { sink, total: 0 }
    }
}

impl<W: Write> Observer for Lines<W> {
    fn run_started(&mut self, total: usize) {
        self.total = total;
    }

    fn cell_finished(&mut self, position: usize, row: &Row) {
        // A reader of the progress that has gone away is no reason to end the run.
        let _ = writeln!(self.sink, "[{}/{}] {} {}", position + 1, self.total, row.cell(), result(row));
    }
}

/// What became of a cell, in a few words.
pub fn result(row: &Row) -> String {
    let reason = row.reason.as_deref().unwrap_or("no reason was given");
    match (row.outcome, row.median_s()) {
        (Outcome::Measured, Some(median)) => seconds(median),
        (Outcome::Measured, None) => "measured".into(),
        (Outcome::Incorrect, _) => format!("incorrect: {reason}"),
        (Outcome::Skipped, _) => format!("skipped: {reason}"),
        (Outcome::Failed, _) => format!("failed: {reason}"),
    }
}

/// A time with three significant digits, in the unit that suits it.
fn seconds(s: f64) -> String {
    let (value, unit) = match s {
        s if s < 999.5e-9 => (s * 1e9, "ns"),
        s if s < 999.5e-6 => (s * 1e6, "µs"),
        s if s < 999.5e-3 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_cell_is_one_line() {
        let row = serde_json::json!({
            "op": "matmul", "n": 1000, "dtype": "f32", "seed": 1, "backend": "cpu", "variant": "openblas",
            "side": "cpu", "accuracy": "ieee", "outcome": "skipped", "reason": "OpenBLAS is missing",
            "work": { "flop": 2e9, "bytes": 12e6 },
        });
        let mut text = vec![];
        let mut lines = Lines::new(&mut text);
        lines.run_started(35);
        lines.cell_finished(2, &serde_json::from_value(row).unwrap());
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "[3/35] matmul N=1000 f32 cpu/openblas skipped: OpenBLAS is missing\n");
    }

    #[test]
    fn times_have_three_digits_and_the_nearest_unit() {
        let cases = [
            (1.16e-3, "1.16 ms"),
            (0.999_6e-3, "1.00 ms"),
            (12.34e-6, "12.3 µs"),
            (250e-9, "250 ns"),
            (9.996, "10.0 s"),
            (123.4, "123 s"),
            (0.0, "0.00 ns"),
        ];
        for (s, text) in cases {
            assert_eq!(seconds(s), text);
        }
    }
}
