//! The cases in one row of an overview: one op, element type, cache state and density.

use gpubench_answer::cost::Kind;
use gpubench_answer::crossover::{Crossover, crossovers};
use gpubench_answer::words::largest;
use gpubench_answer::{Pair, Section, sections};
use gpubench_model::case::density_clause;
use gpubench_model::report::Report;

use super::markup::{Element, classed, element};
use super::table::below;

/// The cases of one op that differ in size alone.
pub(crate) struct Part<'a> {
    pub(crate) section: Section<'a>,
    /// Per kind the size from which B is faster; empty where no case has both contenders.
    pub crossovers: Vec<Crossover>,
}

/// The parts of a report, in the order of its sections.
pub(crate) fn parts(report: &Report) -> Vec<Part<'_>> {
    let parts = sections(report).into_iter().flat_map(|section| section.by_density().collect::<Vec<_>>());
    parts.map(|section| Part { crossovers: crossovers(&section), section }).collect()
}

impl<'a> Part<'a> {
    /// Returns whether another part is about the same cases, perhaps of another report.
    pub(crate) fn is_like(&self, other: &Part<'_>) -> bool {
        let key =
            |part: &Part<'_>| (part.section.dtype, part.section.cache, part.density().map(f64::to_bits));
        self.section.op == other.section.op && key(self) == key(other)
    }

    pub(crate) fn density(&self) -> Option<f64> {
        self.section.common_density()
    }

    pub(crate) fn crossover(&self, kind: Kind) -> Option<&Crossover> {
        self.crossovers.iter().find(|crossover| crossover.kind == kind)
    }

    /// The largest size with both contenders, and its pair.
    pub(crate) fn largest(&self, kind: Kind) -> Option<(u64, Pair<'a>)> {
        largest(&self.section.comparisons, kind)
    }

    /// The largest size with gpubench's tuned code on both sides, and that resident pair.
    pub(crate) fn largest_tuned(&self) -> Option<(u64, Pair<'a>)> {
        let cases = self.section.comparisons.iter().rev();
        cases.filter_map(|one| Some((one.n, one.tuned_pair(Kind::Resident)?))).next()
    }

    /// The largest size of the table: that of the resident speed-up.
    pub(crate) fn largest_n(&self) -> Option<u64> {
        self.largest(Kind::Resident).map(|found| found.0)
    }

    /// The heading of its row: `matmul` over `f32, cold` and, `with_sizes`, `N = 100 to 10000`.
    pub(crate) fn heading(&self, with_sizes: bool) -> Element {
        let section = &self.section;
        let what = format!("{}{}, {}", section.dtype, density_clause(self.density()), section.cache);
        let heading = classed("th", "op").with("scope", "row").holding(element("b").holding(section.op));
        let heading = heading.holding(below(what));
        match section.comparisons.as_slice() {
            [first, .., last] if with_sizes => {
                heading.holding(below(format!("N = {} to {}", first.n, last.n)))
            }
            [only] if with_sizes => heading.holding(below(format!("N = {}", only.n))),
            _ => heading,
        }
    }
}
