//! The sentences and tables that a report consists of, for every format and the page: this folder knows no format.

mod answered;
pub mod cautions;
pub mod crossover_text;
pub mod environment;
pub mod method;
pub mod parts;
pub mod phases;
pub mod problems;
pub mod screen;
pub mod sentences;
pub mod sweeps;
pub mod tables;

pub use answered::Answered;

use crate::table::{Field, Tone};
use gpubench_analysis::answer::{Contender, Kind, Pair, Versus};
use gpubench_ops::peak_share::{self, BoundBy, Share};
use gpubench_report::report::{Execute, Outcome, Report, Row};
use gpubench_text::grouped::distinct;
use gpubench_text::percent;

pub(crate) const NONE: &str = "-";

/// Heading of the columns with the share of the peak; the no-break space keeps "/ peak" on one line where headings are broken.
pub const PEAK_SHARE: &str = "rate /\u{a0}peak";

/// [`PEAK_SHARE`] with an ordinary space, for prose.
pub const PEAK_SHARE_TEXT: &str = "rate / peak";

/// The meaning of a share of the peak, for legends.
pub(crate) const PEAK_MEANING: &str = "achieved bandwidth or FLOP rate over the peak rate measured here, of whichever \
                                       limits the op; not how busy the chip is";

/// Share above which the rate that was measured is no peak: peaks and times vary by a few per cent.
pub const ABOVE: f64 = 1.05;

/// The mark after a launch-bound time; a footnote of the tables explains it.
pub const MARK: &str = "*";

pub(crate) fn has_peaks(report: &Report) -> bool {
    report.environment.backends.iter().any(|backend| backend.peaks.is_some())
}

/// A row's share of the peak that limits it: `92%`, `3.1%`, `<0.1%`, `>100%`.
pub(crate) fn peak_share_text(report: &Report, row: Option<&Row>) -> String {
    let found = row.and_then(|row| peak_share::share(report, row));
    found.map_or(NONE.into(), share_text)
}

/// The share of a peak for tables: `92%`, `3.1%`, `<0.1%`; `>100%` where what was measured is no peak.
pub fn share_text(share: Share) -> String {
    if share.share > ABOVE { ">100%".into() } else { percent::above_tenth(share.share) }
}

/// The share of a peak for sentences: `92 %`, `more than 100 %`.
pub fn share_in_words(share: Share) -> String {
    if share.share > ABOVE { "more than 100 %".into() } else { percent::in_words(share.share) }
}

/// The resource of a peak, and its rate as it follows `peak`: `memory` and `bandwidth`, `arithmetic in f64` and `FLOP rate in f64`.
pub fn resource_and_rate(share: Share) -> [String; 2] {
    let words = match share.bound_by {
        BoundBy::Memory => ["memory", "bandwidth"],
        BoundBy::Arithmetic => ["arithmetic", "FLOP rate"],
        BoundBy::Bus => ["bus", "bus bandwidth"],
    };
    words.map(|text| share.rate_of.map_or_else(|| text.into(), |of| format!("{text} in {of}")))
}

/// The contenders of which the report has rows, without one whose every cell was skipped.
pub(crate) fn contenders(report: &Report) -> Vec<Contender> {
    let versus = Versus::of(report);
    let with = |is: fn(&Row) -> bool| -> Vec<Contender> {
        let has_row = |one: &Contender| report.rows.iter().any(|row| versus.has(*one, row) && is(row));
        Contender::BOTH.into_iter().filter(has_row).collect()
    };
    let tried = with(|row| row.outcome != Outcome::Skipped);
    if tried.is_empty() { with(|_| true) } else { tried }
}

/// The median by the row's own clock; for resident times by the host's.
pub(crate) fn time_text(execute: &Execute, kind: Kind) -> String {
    if kind == Kind::Kernel { execute.median_text() } else { execute.host_median_text() }
}

/// `GPU 34x` in the tone of its winner, with a question mark where it is not reliable.
fn speed_up(pair: &Pair<'_>) -> Field {
    Field { text: pair.speed_up_text(), tone: tone(pair.speed_up.winner()) }
}

/// The tone of the faster contender; plain where neither is measurably faster.
fn tone(winner: Option<Contender>) -> Tone {
    match winner {
        Some(Contender::A) => Tone::Cpu,
        Some(Contender::B) => Tone::Gpu,
        None => Tone::Plain,
    }
}

/// The names of the kinds of host memory from which rows copied their operands, for these kinds of time.
pub(crate) fn host_memories<'a>(rows: impl Iterator<Item = &'a Row>, kinds: &[Kind]) -> Vec<&'static str> {
    let uploads = rows.filter_map(|row| row.phases.as_ref()).flat_map(|phases| {
        let pinned = phases.pinned.as_ref().map(|pinned| &pinned.upload);
        let of_kinds = [(Kind::EndToEnd, phases.upload.as_ref()), (Kind::EndToEndPinned, pinned)];
        of_kinds.into_iter().filter(|(kind, _)| kinds.contains(kind)).filter_map(|(_, upload)| upload)
    });
    distinct(uploads.map(|upload| upload.memory.name()))
}

/// `copies (pageable host memory)`: the copies of rows with every kind of host memory that these kinds of time used.
pub fn copies_clause<'a>(rows: impl Iterator<Item = &'a Row>, kinds: &[Kind]) -> String {
    match host_memories(rows, kinds).as_slice() {
        [] => "copies".into(),
        memories => format!("copies ({} host memory)", memories.join(" or ")),
    }
}
