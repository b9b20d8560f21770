//! The columns of the first screen's tables: those of each kind of speed-up under a heading of their own.

use std::borrow::Cow;

use crate::table::{Column, Table};
use gpubench_analysis::answer::{Contender, Kind};
use gpubench_report::HostMemory;
use gpubench_text::grouped::distinct;

use super::{Sweep, Sweeps};
use crate::report::{PEAK_SHARE, has_peaks, host_memories};

/// Heading of the columns with the faster contender and its factor.
const FASTER: &str = "faster";
/// Heading of the columns with the size from which B is faster.
pub(crate) const FROM: &str = "from N";
/// Heading of the column that compares the sides with gpubench's tuned code on both.
pub(crate) const TUNED: &str = "tuned";
/// Heading of the columns with names of variants.
pub const VARIANT: &str = "variant";

/// Ranks of columns: where lines would be too long, those of the highest are left out first.
mod rank {
    /// Crossovers, which go only where names of sweeps are long.
    pub(crate) const CROSSOVERS: u8 = 1;
    pub(crate) const PEAK_SHARES: u8 = 2;
    /// Names of variants, and crossovers with a second kind of memory.
    pub(crate) const DETAILS: u8 = 3;
}

/// A kind of speed-up, and the rank of the column with the size from which B is faster, where it has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindColumns {
    pub kind: Kind,
    pub from: Option<u8>,
}

/// The kinds of speed-up that the screen shows, in the order of their columns.
const KINDS: [KindColumns; 4] = [
    KindColumns { kind: Kind::Kernel, from: None },
    KindColumns { kind: Kind::Resident, from: Some(rank::CROSSOVERS) },
    KindColumns { kind: Kind::EndToEnd, from: Some(rank::CROSSOVERS) },
    KindColumns { kind: Kind::EndToEndPinned, from: Some(rank::DETAILS) },
];

impl Sweeps<'_> {
    /// The kinds of speed-up that some case of the report has.
    pub(crate) fn shown_kinds(&self) -> Vec<KindColumns> {
        let occurs = |kind| self.all.iter().flat_map(Sweep::compared).any(|case| case.pair(kind).is_some());
        KINDS.into_iter().filter(|shown| occurs(shown.kind)).collect()
    }

    /// The kinds of pageable or pinned host memory that rows copied their operands from, as far as the report says.
    pub(crate) fn memories(&self) -> Vec<&'static str> {
        let cases = self.all.iter().flat_map(|sweep| &sweep.section.comparisons);
        host_memories(cases.flat_map(|case| &case.rows).copied(), &[Kind::EndToEnd])
    }

    /// The kind of host memory that an end-to-end time copies from and to, as far as the report says.
    fn memory(&self, kind: Kind) -> Option<String> {
        match kind {
            Kind::Kernel | Kind::Resident => None,
            Kind::EndToEndPinned => Some(HostMemory::Pinned.name().into()),
            Kind::EndToEnd => Some(self.memories().join(", ")).filter(|names| !names.is_empty()),
        }
    }

    /// The column for gpubench's tuned code after the columns of a kind.
    fn tuned_column(&self, kind: Kind) -> Option<Column> {
        let is_shown = kind == Kind::Resident && self.shows_tuned;
        is_shown.then(|| Column::words(TUNED).called(self.full_heading(kind, TUNED)).in_groups([group(kind)]))
    }

    /// Per kind of speed-up: the faster contender, and the size from which B is faster.
    /// End-to-end columns of every kind of memory are under one heading.
    pub(crate) fn sweep_columns(&self) -> Vec<Column> {
        let columns = self.shown_kinds().into_iter().flat_map(|KindColumns { kind, from }| {
            let from = from.map(|rank| {
                let column = Column::words(FROM).ranked(rank).called(self.full_heading(kind, FROM));
                column.in_groups([group(kind)])
            });
            [Some(self.faster_column(kind)), from, self.tuned_column(kind)]
        });
        columns.flatten().collect()
    }

    /// The column of the faster contender: its heading is the memory of end-to-end times.
    fn faster_column(&self, kind: Kind) -> Column {
        let heading = self.memory(kind).map_or(Cow::Borrowed(FASTER), Cow::Owned);
        Column::words(heading).called(self.full_heading(kind, FASTER)).in_groups([group(kind)])
    }

    /// `resident: from N`, `end to end, pageable: from N`.
    fn full_heading(&self, kind: Kind, heading: &str) -> String {
        let memory = self.memory(kind).map(|memory| format!(", {memory}")).unwrap_or_default();
        format!("{}{memory}: {heading}", group(kind))
    }

    /// Per contender the best variant and its time, then the faster one per kind of speed-up.
    pub(crate) fn case_columns(&self) -> Vec<Column> {
        let best = |contender| {
            let columns = [Column::words(VARIANT).ranked(rank::DETAILS), Column::figures("time")];
            let heading = format!("best {}", self.versus.label(contender));
            columns.map(|column| column.in_groups([heading.clone()]))
        };
        let speed_ups = self.shown_kinds().into_iter().flat_map(|KindColumns { kind, .. }| {
            [Some(self.faster_column(kind)), self.tuned_column(kind)].into_iter().flatten()
        });
        Contender::BOTH.into_iter().flat_map(best).chain(speed_ups).collect()
    }

    /// The share of the peak per contender; none where no peaks were measured.
    pub(crate) fn peak_columns(&self) -> Vec<Column> {
        let column = |contender| {
            let name = self.versus.label(contender).to_owned();
            Column::figures(name).in_groups([PEAK_SHARE]).ranked(rank::PEAK_SHARES)
        };
        if has_peaks(self.report) { Contender::BOTH.map(column).to_vec() } else { vec![] }
    }

    /// The share of the peak in a table of one side.
    pub(crate) fn peak_column(&self) -> Option<Column> {
        has_peaks(self.report).then(|| Column::figures(PEAK_SHARE).ranked(rank::PEAK_SHARES))
    }
}

/// The heading above the columns of a kind.
fn group(kind: Kind) -> &'static str {
    match kind {
        Kind::EndToEndPinned => Kind::EndToEnd.name(),
        kind => kind.name(),
    }
}

/// Returns whether a table has a column with that heading.
pub fn has_column(table: &Table, heading: &str) -> bool {
    table.columns.iter().any(|column| column.heading == heading)
}

/// Returns whether a table has shares of the peaks.
pub(crate) fn shows_peaks(table: &Table) -> bool {
    let is_share = |column: &Column| {
        column.heading == PEAK_SHARE || column.groups.iter().any(|group| group == PEAK_SHARE)
    };
    table.columns.iter().any(is_share)
}

/// Says which columns a table had no room for, and where to find them; `None` where it has all.
pub fn left_out(removed: &[Cow<'static, str>]) -> Option<String> {
    let name = |heading: &Cow<'static, str>| match heading.split_once(": ") {
        Some((group, _)) if group == PEAK_SHARE => PEAK_SHARE.replace('\u{a0}', " "),
        _ => heading.to_string(),
    };
    // The names of variants are in a note of their own.
    let shown = removed.iter().filter(|heading| !heading.ends_with(VARIANT));
    let names = distinct(shown.map(name));
    (!names.is_empty()).then(|| {
        let names = names.join("; ");
        format!("No room here for {names}: see --tables, or widen the terminal (COLUMNS=120).")
    })
}
