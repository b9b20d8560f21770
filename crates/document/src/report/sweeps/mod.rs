//! The sweeps of a report: their tables, notes and legend, for the first screen and other overviews.

pub mod notes;

use crate::report::sentences::largest;
use gpubench_analysis::answer::crossover::{Crossover, crossovers};
use gpubench_analysis::answer::{Comparison, Kind, Pair, Section, Versus, has_both_caches, sections_of};
use gpubench_report::case::DType;
use gpubench_report::report::Report;

/// The cases of one op, element type, cache state and family, smallest first.
pub struct Sweep<'a> {
    /// The cases of one op, element type, cache state and family.
    pub section: Section<'a>,
    /// Op, shape, and element type, cache state and family where these differ in the report.
    pub name: String,
    /// Per kind of time the size from which B is faster; empty where no case has both contenders.
    pub crossovers: Vec<Crossover<'a>>,
}

impl<'a> Sweep<'a> {
    /// Returns the crossover by that kind of time.
    pub fn crossover(&self, kind: Kind) -> Option<&Crossover<'a>> {
        self.crossovers.iter().find(|crossover| crossover.kind == kind)
    }

    /// The largest size with both contenders, and its pair.
    pub fn largest(&self, kind: Kind) -> Option<(u64, Pair<'a>)> {
        largest(&self.section.comparisons, kind)
    }

    /// Returns whether another sweep is about the same cases, perhaps of another report.
    pub fn is_like(&self, other: &Sweep<'_>) -> bool {
        let (one, other) = (&self.section, &other.section);
        (one.op, one.dtype, one.cache, one.common_family())
            == (other.op, other.dtype, other.cache, other.common_family())
    }

    /// The cases that have both contenders, or both with gpubench's tuned code.
    pub(crate) fn compared(&self) -> impl Iterator<Item = &Comparison<'a>> {
        let is_compared = |case: &&Comparison<'_>| {
            case.pair(Kind::Resident).is_some() || case.tuned_pair(Kind::Resident).is_some()
        };
        self.section.comparisons.iter().filter(is_compared)
    }
}

/// The sweeps of a report.
pub struct Sweeps<'a> {
    pub(crate) report: &'a Report,
    /// Every sweep, in the order of the report.
    pub all: Vec<Sweep<'a>>,
    /// The contenders.
    pub versus: Versus<'a>,
    /// Whether the tables have a column for gpubench's tuned code, next to what a reader can call.
    pub(crate) shows_tuned: bool,
}

impl<'a> Sweeps<'a> {
    /// The sweeps of `report`, in its order.
    pub fn of(report: &'a Report) -> Sweeps<'a> {
        let occurs = |dtype: &&DType| report.rows.iter().any(|row| row.case.dtype == **dtype);
        let several_dtypes = DType::ALL.iter().filter(occurs).count() > 1;
        let both_caches = has_both_caches(report);
        let versus = Versus::of(report);
        let mut all = vec![];
        for section in sections_of(report, versus) {
            for cases in section.by_family() {
                let dtype = several_dtypes.then(|| section.dtype.to_string());
                let cache = both_caches.then(|| section.cache.to_string());
                let family = cases.common_family();
                let is_named = section.has_families() || family.shape.is_some();
                let family = family.text().filter(|_| is_named);
                let parts = [Some(section.op.to_owned()), dtype, cache, family];
                let name = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
                all.push(Sweep { crossovers: crossovers(&cases), section: cases, name });
            }
        }
        let shows_tuned =
            all.iter().flat_map(Sweep::compared).any(|case| case.tuned_pair(Kind::Resident).is_some());
        Sweeps { report, all, versus, shows_tuned }
    }

    /// Returns the number of cases with a time of both contenders.
    pub fn comparisons(&self) -> usize {
        self.all.iter().map(|sweep| sweep.compared().count()).sum()
    }
}
