//! The legend of the first screen: the meaning of the columns shown and of the marks that occur.

use crate::table::Table;
use gpubench_analysis::answer::peak_share::{self, ShareWords};
use gpubench_analysis::answer::{Comparison, Contender, Crossover, Kind, Pair};

use super::columns::{FROM, KindColumns, TUNED, has_column, shows_peaks};
use super::crossovers::ShownCrossover;
use super::{Sweep, Sweeps};
use crate::report::PEAK_SHARE_TEXT;

impl Sweeps<'_> {
    /// The meaning of the columns of `grid` and of the marks that occur. Without a case of both contenders, only shares of
    /// the peaks need one.
    pub fn legend(&self, grid: Option<&Table>) -> Option<String> {
        let shows = |heading| grid.is_some_and(|grid| has_column(grid, heading));
        let shows_crossovers = shows(FROM);
        let cases = self.all.iter().flat_map(|sweep| {
            let skipped = if shows_crossovers { sweep.compared().count().saturating_sub(1) } else { 0 };
            sweep.compared().skip(skipped)
        });
        let kinds = self.shown_kinds();
        let pairs = cases.flat_map(|case| kinds.iter().filter_map(|shown| case.pair(shown.kind)));
        let pairs: Vec<Pair<'_>> = pairs.collect();
        let has_tie = pairs.iter().any(|pair| pair.speed_up.winner().is_none());
        let mut tuned =
            self.all.iter().flat_map(Sweep::compared).filter_map(|case| case.tuned_pair(Kind::Resident));
        let has_unreliable = pairs.iter().any(Pair::is_unreliable)
            || (shows(TUNED) && tuned.any(|pair| pair.is_unreliable()))
            || (shows_crossovers && self.found_crossovers(&kinds).any(|found| found.is_unreliable));
        let marks: Vec<&str> =
            [(has_tie, "?: the 95 % interval includes 1x: a tie."), (has_unreliable, "!: unreliable.")]
                .into_iter()
                .filter_map(|(occurs, meaning)| occurs.then_some(meaning))
                .collect();
        let peaks = || if grid.is_some_and(shows_peaks) { self.peak_legend() } else { String::new() };
        if pairs.is_empty() {
            return Some(peaks()).filter(|legend| !legend.is_empty());
        }
        let tuned = "tuned: both sides with gpubench's own code, which no library has; all else: libraries and plain loops.";
        let tuned = if shows(TUNED) { tuned.to_owned() } else { String::new() };
        let lines = [
            self.kinds_legend(),
            tuned,
            marks.join(" "),
            if shows_crossovers { self.crossover_legend() } else { String::new() },
            peaks(),
        ];
        let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        Some(lines.join("\n"))
    }

    /// The meaning of the kinds of speed-up that the columns show.
    fn kinds_legend(&self) -> String {
        let kinds: Vec<Kind> = self.shown_kinds().iter().map(|shown| shown.kind).collect();
        let resident = match kinds.contains(&Kind::Kernel) {
            true => "resident: + launch, wait",
            false if kinds.contains(&Kind::EndToEnd) => "resident: computation, launch, wait",
            false => "resident: from the call until the answer is there",
        };
        let parts = [
            kinds.contains(&Kind::Kernel).then(|| "kernel: computation".to_owned()),
            Some(resident.to_owned()),
            kinds.contains(&Kind::EndToEnd).then(|| format!("end to end: + {}", self.copies())),
        ];
        format!("{}.", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    /// `copies (pageable)`: with the kinds of host memory that were copied from; where the columns name these, with their
    /// meanings.
    fn copies(&self) -> String {
        if self.kinds.end_to_end().len() > 1 {
            return "copies (pageable: ordinary memory; pinned: page-locked)".into();
        }
        match self.memories().as_slice() {
            [] => "copies".into(),
            kinds => format!("copies ({})", kinds.join(", ")),
        }
    }

    /// The crossovers of all sweeps by these kinds of time.
    fn found_crossovers(&self, kinds: &[KindColumns]) -> impl Iterator<Item = &Crossover> {
        self.all.iter().flat_map(|sweep| kinds.iter().filter_map(|shown| sweep.crossover(shown.kind)))
    }

    /// The meaning of the crossovers that the table shows.
    fn crossover_legend(&self) -> String {
        let mut kinds = self.shown_kinds();
        kinds.retain(|shown| shown.from.is_some());
        let found: Vec<&Crossover> = self.found_crossovers(&kinds).collect();
        let shown: Vec<ShownCrossover> = found.iter().map(|found| ShownCrossover::of(found)).collect();
        let occurs = |is_kind: fn(&ShownCrossover) -> bool| shown.iter().any(is_kind);
        let has_plus = shown.iter().zip(found).any(|(shown, found)| shown.has_plus(found));
        let meanings = [
            (occurs(|shown| matches!(shown, ShownCrossover::Within(_, Some(_)))), "a range: somewhere in it"),
            (
                occurs(|shown| matches!(shown, ShownCrossover::Within(_, None))),
                "up to ?: perhaps above every N measured",
            ),
            (occurs(|shown| *shown == ShownCrossover::All), "all: at every N measured"),
            (occurs(|shown| *shown == ShownCrossover::None), "none: at no N measured"),
            (occurs(|shown| *shown == ShownCrossover::Some), "some: at smaller N only"),
            (occurs(|shown| *shown == ShownCrossover::Unknown), "?: not measurable"),
            (has_plus, "+: also at smaller N"),
        ];
        let meanings = meanings.into_iter().filter_map(|(occurs, meaning)| occurs.then_some(meaning));
        let is_interpolated = occurs(|shown| matches!(shown, ShownCrossover::From(_)));
        let how = if is_interpolated { " (interpolated)" } else { "" };
        let first = format!("{} is faster from this N upward{how}", self.versus.noun(Contender::B));
        let meanings = [first.as_str()].into_iter().chain(meanings);
        format!("from N: {}.", meanings.collect::<Vec<_>>().join("; "))
    }

    /// The meaning of the shares of the peaks, with the reasons for more than 100 % where that occurs.
    fn peak_legend(&self) -> String {
        let cases = self.all.iter().filter_map(|sweep| sweep.compared().last());
        let mut cases: Vec<&Comparison<'_>> = cases.collect();
        if cases.is_empty() {
            // A table of one side may show every case.
            cases.extend(self.all.iter().flat_map(|sweep| &sweep.section.comparisons));
        }
        let shares = cases.into_iter().flat_map(Comparison::bests).flatten();
        let mut shares = shares.filter_map(|row| peak_share::share(self.report, row));
        let above = match shares.any(|found| found.text() == ">100%") {
            true => format!(" >100%: {}.", peak_share::ABOVE_PEAK),
            false => String::new(),
        };
        format!("{PEAK_SHARE_TEXT}: {}.{above}", peak_share::MEANING)
    }
}
