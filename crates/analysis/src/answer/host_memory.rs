//! Pageable and pinned host memory: the kinds of time that a report has, and the cases that the memory decides.

use gpubench_report::report::{Outcome, Row};

use super::cost::pinned_copies;
use super::{Comparison, Kind};

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

    /// The words in a sentence: `end to end (pinned memory)`.
    pub fn words(self, kind: Kind) -> String {
        match kind {
            Kind::EndToEnd | Kind::EndToEndPinned => {
                format!("{}{}", Kind::EndToEnd.name(), self.memory(kind))
            }
            Kind::Kernel | Kind::Resident => kind.name().into(),
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

/// The cases, each with the name of its sweep, whose faster contender end to end depends on the host memory:
/// `End to end depends on the host memory: fft 2048 CPU 1.8x pageable, GPU 2.5x pinned.` `None` where there are none.
pub fn memory_decides<'c, 'a: 'c>(
    cases: impl IntoIterator<Item = (&'c str, &'c Comparison<'a>)>,
) -> Option<String> {
    let clause = |(name, case): (&str, &Comparison<'a>)| {
        let pairs = [case.pair(Kind::EndToEnd)?, case.pair(Kind::EndToEndPinned)?];
        let [pageable, pinned] = [&pairs[0], &pairs[1]].map(|pair| pair.speed_up.winner());
        if pageable? == pinned? {
            return None;
        }
        let [pageable, pinned] = pairs.map(|pair| pair.speed_up_text());
        Some(format!("{name} {} {pageable} pageable, {pinned} pinned", case.n))
    };
    let clauses: Vec<String> = cases.into_iter().filter_map(clause).collect();
    (!clauses.is_empty()).then(|| format!("End to end depends on the host memory: {}.", clauses.join("; ")))
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
