//! Baselines, and reports in the history of a comparison.

use gpubench::baseline;
use gpubench::compare::{self, Policy, Runs};
use gpubench::report::file::{self, Content};

use super::{Formats, NEW, OLD, accepted, side, write_comparison};

/// Reads a baseline, or a report for a history, and compares two reports with it.
pub fn read(bytes: &[u8], formats: Formats) {
    if let Some(baseline) = accepted(baseline::parse(bytes)) {
        let text = accepted(file::to_json(&baseline)).expect("it can be written");
        assert_eq!(baseline::parse(&text).expect("what was written can be read"), baseline);
        let old = Runs { baseline_variation: baseline.variations().collect(), ..OLD.clone() };
        write_comparison(&compare::compare(&old, &NEW, &Policy::default()), formats);
    }
    if let Some(report) = accepted(file::parse(&Content::of(bytes)).map_err(file::one_line)) {
        let history = side("history", report);
        write_comparison(&compare::compare_with_history(&OLD, &NEW, &history, &Policy::default()), formats);
    }
}
