//! Pageable and pinned host memory: the kinds of time that a report has.

use gpubench_report::report::{Outcome, Row};

use super::Kind;
use super::cost::pinned_copies;

/// The kinds of time that some rows have, with names that tell these apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds {
    has_pinned: bool,
}

impl Kinds {
    /// The kinds of these rows.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Kinds {
        let has_pinned = |row: &Row| row.outcome == Outcome::Measured && pinned_copies(row).is_some();
        Kinds { has_pinned: rows.into_iter().any(has_pinned) }
    }

    /// The kinds of [`Kind::ALL`] that occur.
    pub fn all(self) -> &'static [Kind] {
        if self.has_pinned { &Kind::ALL } else { &Kind::ALL[..Kind::ALL.len() - 1] }
    }

    /// The kinds with copies that occur.
    pub fn end_to_end(self) -> &'static [Kind] {
        if self.has_pinned { &[Kind::EndToEnd, Kind::EndToEndPinned] } else { &[Kind::EndToEnd] }
    }

    /// The words for people: `end to end`, or `end to end, pageable` next to `end to end, pinned`.
    pub fn name(self, kind: Kind) -> &'static str {
        match kind {
            Kind::EndToEnd if self.has_pinned => "end to end, pageable",
            kind => kind.name(),
        }
    }

    /// The words after those of a kind in a sentence: ` (pinned memory)`; empty where one kind of memory was measured.
    pub fn memory(self, kind: Kind) -> &'static str {
        match kind {
            Kind::EndToEnd if self.has_pinned => " (pageable memory)",
            Kind::EndToEndPinned => " (pinned memory)",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::{Report, example};

    /// An FFT of 100 µs on the CPU and 50 µs on the GPU, whose copies take 62 µs with pageable memory.
    fn report(times: f64) -> Report {
        example::with_pinned(example::of(example::both_sides("fft", 2048, 100e-6, 50e-6)), times)
    }

    #[test]
    fn the_memory_is_named_where_both_kinds_were_measured() {
        let both = Kinds::of(&report(10.0).rows);
        let names: Vec<&str> = both.all().iter().map(|kind| both.name(*kind)).collect();
        assert_eq!(names, ["kernel", "resident", "end to end, pageable", "end to end, pinned"]);
        let mut wrong = report(10.0);
        wrong.rows[1].outcome = Outcome::Incorrect;
        for rows in [&example::full().rows, &wrong.rows] {
            let one = Kinds::of(rows);
            let names: Vec<&str> = one.all().iter().map(|kind| one.name(*kind)).collect();
            assert_eq!(names, ["kernel", "resident", "end to end"]);
        }
    }
}
