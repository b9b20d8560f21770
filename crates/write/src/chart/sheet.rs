//! The subjects of charts of one or several reports: op, element type and state of the caches of each, with the
//! sections that belong to it.

use gpubench_analysis::answer::crossover::crossovers;
use gpubench_analysis::answer::{Comparison, Crossover, Names, Section, Versus, sections};
use gpubench_ops::OPS;
use gpubench_report::case::{Cache, DType, Family};
use gpubench_report::report::Report;
use gpubench_text::grouped::grouped;

use super::lines::quantity::Quantity;

/// A report's section, with what its series are called after.
pub(crate) struct Part<'a> {
    /// Name of the report; empty where there is only one.
    pub name: &'a str,
    pub report: &'a Report,
    /// The names of its rows.
    pub names: &'a Names,
    pub(crate) section: Section<'a>,
    pub crossovers: Vec<Crossover<'a>>,
    /// Set where the cases that share its charts differ in family, here or among reports.
    pub(crate) shows_family: bool,
}

impl Part<'_> {
    /// The name of a series: report, variant and family, as far as they distinguish series.
    pub(crate) fn label(&self, variant: Option<&str>, family: Family<'_>) -> String {
        let family = self.shown(family).words();
        let parts = [Some(self.name).filter(|name| !name.is_empty()), variant, family.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns the family if it must be shown, otherwise an empty one.
    pub(crate) fn shown<'a>(&self, family: Family<'a>) -> Family<'a> {
        if self.shows_family { family } else { Family::default() }
    }

    pub(crate) fn by_family(&self) -> impl Iterator<Item = &[Comparison<'_>]> {
        self.section.comparisons.chunk_by(|a, b| a.family == b.family)
    }
}

/// The op, element type and cache state that all series of a chart share.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct ChartSubject<'a> {
    pub op: &'a str,
    pub dtype: DType,
    pub cache: Cache,
}

/// The parts of the charts about one subject.
pub(crate) struct Sheet<'a> {
    pub(crate) subject: ChartSubject<'a>,
    /// The sections that belong to it, one a report.
    pub parts: Vec<Part<'a>>,
    /// Set where there are sheets of the other cache state, so that names and titles must include it.
    pub shows_cache: bool,
    /// End of the names of its charts, if it is a part of another sheet.
    pub suffix: String,
}

impl<'a> Sheet<'a> {
    /// The sheets of the families with several sizes; charts have the family in title and name.
    pub(crate) fn by_family(&self) -> Vec<Sheet<'a>> {
        let of_part = |part: &Part<'a>| {
            let sections = part.section.by_family().filter(|section| section.comparisons.len() > 1);
            let part =
                |section: Section<'a>| Part { section, crossovers: vec![], shows_family: false, ..*part };
            sections.map(|section| (section.common_family(), part(section))).collect::<Vec<_>>()
        };
        let by_family = grouped(self.parts.iter().flat_map(of_part)).into_iter();
        by_family.map(|(family, parts)| Sheet { parts, suffix: family.suffix(), ..*self }).collect()
    }

    /// The unit of the throughput of its op; `None` where latency limits it.
    pub(crate) fn throughput(&self) -> Option<Quantity> {
        let rows = self.parts.iter().flat_map(|part| &part.section.comparisons).flat_map(|one| &one.rows);
        Quantity::throughput(self.subject.op, &rows.copied().collect::<Vec<_>>())
    }

    /// The contenders, which its reports share.
    pub(crate) fn versus(&self) -> Versus<'_> {
        self.parts.first().map_or(Versus::SIDES, |part| part.section.versus)
    }

    /// `time-matmul-f32`, with the cache state where reports have both, and the family of a part.
    pub(crate) fn name(&self, kind: &str) -> String {
        let ChartSubject { op, dtype, cache } = self.subject;
        let cache = if self.shows_cache { format!("-{cache}") } else { String::new() };
        format!("{kind}-{op}-{dtype}{cache}{}", self.suffix)
    }

    /// `spmv, float32, density 0.05, cold cache`, as far as all series share these and they need to be said.
    pub(crate) fn heading(&self) -> String {
        let ChartSubject { op, dtype, cache } = self.subject;
        let shared = self.parts.first().filter(|part| !part.shows_family);
        let family = shared.map(|part| part.section.common_family()).unwrap_or_default();
        let cache = if self.shows_cache { format!(", {cache} cache") } else { String::new() };
        format!("{op}, {}{}{cache}", dtype.words(), family.clause())
    }

    /// `N, size of the square operands (log scale)`, without what does not hold for other shapes.
    pub(crate) fn size_title(&self) -> String {
        let mut cases = self.parts.iter().flat_map(|part| &part.section.comparisons);
        let is_square = cases.all(|comparison| comparison.family.shape.is_none());
        format!("N{} (log scale)", if is_square { ", size of the square operands" } else { "" })
    }
}

/// The sheets of one or several reports, with the names of the rows of each.
pub(crate) fn sheets<'a>(reports: &[(&'a str, &'a Report)], names: &'a [Names]) -> Vec<Sheet<'a>> {
    let parts = reports.iter().zip(names).flat_map(|(&(name, report), names)| {
        let name = if reports.len() > 1 { name } else { "" };
        sections(report).into_iter().map(move |section| {
            let subject = ChartSubject { op: section.op, dtype: section.dtype, cache: section.cache };
            let crossovers = crossovers(&section);
            (subject, Part { name, report, names, section, crossovers, shows_family: false })
        })
    });
    let sheet = |(subject, parts)| Sheet { subject, parts, shows_cache: false, suffix: String::new() };
    let mut sheets: Vec<Sheet<'a>> = grouped(parts).into_iter().map(sheet).collect();
    let shows_cache = Cache::ALL.iter().all(|cache| sheets.iter().any(|sheet| sheet.subject.cache == *cache));
    for sheet in &mut sheets {
        let comparisons = sheet.parts.iter().flat_map(|part| &part.section.comparisons);
        let mut families = comparisons.map(|comparison| comparison.family);
        let first = families.next();
        let differs = families.any(|family| Some(family) != first);
        sheet.parts.iter_mut().for_each(|part| part.shows_family = differs);
        sheet.shows_cache = shows_cache;
    }
    // Stable, so that ops unknown here keep the order of the reports, after the known ones.
    sheets.sort_by_key(|Sheet { subject, .. }| {
        let place = OPS.iter().position(|known| known.name() == subject.op).unwrap_or(OPS.len());
        (place, (place < OPS.len()).then_some((subject.dtype, subject.cache)))
    });
    sheets
}
