//! The subjects of charts of one or several reports: op, element type and state of the caches of each, with the
//! sections that belong to it.

use gpubench_answer::crossover::crossovers;
use gpubench_answer::{Comparison, Crossover, Names, Section, sections};
use gpubench_model::case::{Cache, DType, density_clause, density_text};
use gpubench_model::report::Report;
use gpubench_ops::{self as op, OPS};

/// A report's section, with what its series are called after.
pub(super) struct Part<'a> {
    /// Name of the report, without what all reports share; empty where there is only one.
    pub name: &'a str,
    pub report: &'a Report,
    /// The names of its rows.
    pub names: &'a Names,
    pub(crate) section: Section<'a>,
    pub crossovers: Vec<Crossover>,
    /// Set where the cases that share its charts differ in density, here or among reports.
    pub(crate) shows_density: bool,
}

impl Part<'_> {
    /// The name of a series: report, variant and density, as far as they distinguish series.
    pub(crate) fn label(&self, variant: Option<&str>, density: Option<f64>) -> String {
        let density = density.filter(|_| self.shows_density);
        let density = density.map(|density| format!("density {}", density_text(density)));
        let parts = [Some(self.name).filter(|name| !name.is_empty()), variant, density.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn by_density(&self) -> impl Iterator<Item = &[Comparison<'_>]> {
        self.section.comparisons.chunk_by(|a, b| a.density == b.density)
    }
}

/// The op, element type and cache state that all series of a chart share.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Subject<'a> {
    pub op: &'a str,
    pub dtype: DType,
    pub cache: Cache,
}

impl<'a> Subject<'a> {
    fn of(section: &Section<'a>) -> Subject<'a> {
        Subject { op: section.op, dtype: section.dtype, cache: section.cache }
    }

    /// A summary of the op; empty for an unknown one.
    pub(crate) fn summary(&self) -> String {
        op::find(self.op).map(|op| op.about().summary.to_owned()).unwrap_or_default()
    }
}

/// The parts of the charts about one subject.
pub(super) struct Sheet<'a> {
    pub(crate) subject: Subject<'a>,
    /// The sections that belong to it, one a report.
    pub parts: Vec<Part<'a>>,
    /// Set where there are sheets of the other cache state, so that names and titles must include it.
    pub shows_cache: bool,
}

impl Sheet<'_> {
    /// `time-matmul-f32`, with the cache state where reports have both.
    pub(crate) fn name(&self, kind: &str) -> String {
        let Subject { op, dtype, cache } = self.subject;
        let cache = if self.shows_cache { format!("-{cache}") } else { String::new() };
        format!("{kind}-{op}-{dtype}{cache}")
    }

    /// `spmv, float32, density 0.05`; densities that differ are in the names of series.
    pub(crate) fn heading(&self) -> String {
        let Subject { op, dtype, .. } = self.subject;
        format!("{op}, {}{}", dtype.words(), self.circumstances())
    }

    /// `spmv, density 0.05`: the same where the element type is known.
    pub(crate) fn heading_without_dtype(&self) -> String {
        format!("{}{}", self.subject.op, self.circumstances())
    }

    /// `, density 0.05, cold cache`, as far as they are the same for all series and need to be said.
    fn circumstances(&self) -> String {
        let shared = self.parts.first().filter(|part| !part.shows_density);
        let density = shared.and_then(|part| part.section.common_density());
        let cache = self.shows_cache.then(|| format!(", {} cache", self.subject.cache));
        density_clause(density) + &cache.unwrap_or_default()
    }
}

/// Characters of a name up to which nothing is left out of it.
const SHORT: usize = 12;

/// Bytes that all names begin with and that need not be repeated on each line: whole words of names that are long,
/// but not the `GPU` before a number.
fn shared_start(names: &[&str]) -> usize {
    let Some((first, others)) = names.split_first() else { return 0 };
    if others.is_empty() || names.iter().all(|name| name.chars().count() <= SHORT) {
        return 0;
    }
    let mut words = first.match_indices(' ').map(|(place, _)| place + 1);
    let is_shared =
        |place: &usize| others.iter().all(|name| name.starts_with(&first[..*place]) && name.len() > *place);
    let is_whole = |place: &usize| !first[..*place].ends_with("GPU ");
    words.rfind(|place| is_shared(place) && is_whole(place)).unwrap_or(0)
}

/// The sheets of one or several named reports, with how the rows of each are called.
pub(crate) fn sheets<'a>(reports: &[(&'a str, &'a Report)], names: &'a [Names]) -> Vec<Sheet<'a>> {
    let mut sheets: Vec<Sheet<'a>> = vec![];
    let shared = shared_start(&reports.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (&(name, report), names) in reports.iter().zip(names) {
        let name = if reports.len() > 1 { &name[shared..] } else { "" };
        for section in sections(report) {
            let subject = Subject::of(&section);
            let crossovers = crossovers(&section);
            let part = Part { name, report, names, section, crossovers, shows_density: false };
            match sheets.iter_mut().find(|sheet| sheet.subject == subject) {
                Some(sheet) => sheet.parts.push(part),
                None => sheets.push(Sheet { subject, parts: vec![part], shows_cache: false }),
            }
        }
    }
    let shows_cache = Cache::ALL.iter().all(|cache| sheets.iter().any(|sheet| sheet.subject.cache == *cache));
    for sheet in &mut sheets {
        let comparisons = sheet.parts.iter().flat_map(|part| &part.section.comparisons);
        let mut densities = comparisons.map(|comparison| comparison.density);
        let first = densities.next();
        let differs = densities.any(|density| Some(density) != first);
        sheet.parts.iter_mut().for_each(|part| part.shows_density = differs);
        sheet.shows_cache = shows_cache;
    }
    // Stable, so that ops unknown here keep the order of the reports, after the known ones.
    sheets.sort_by_key(|Sheet { subject, .. }| {
        let place = OPS.iter().position(|known| known.name() == subject.op).unwrap_or(OPS.len());
        (place, (place < OPS.len()).then_some((subject.dtype, subject.cache)))
    });
    sheets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_leave_out_the_words_that_all_share() {
        for (names, left) in [
            (&["vm GPU 0, 2026-11-21 21:10:26", "vm GPU 0, 2026-11-21 21:12:30"][..], "21:10:26"),
            (&["vm GPU 0, 2026-11-21", "vm GPU 0, 2026-11-22"], "2026-11-21"),
            (&["node17.cluster GPU 0", "node17.cluster GPU 1"], "GPU 0"),
            (&["node17.cluster GPU 0", "node18.cluster GPU 0"], "node17.cluster GPU 0"),
            (&["vm GPU 0", "vm GPU 1"], "vm GPU 0"),
            (&["a long name GPU 0", "a long name GPU 0 (2)"], "GPU 0"),
            (&["a long name alone"], "a long name alone"),
        ] {
            assert_eq!(&names[0][shared_start(names)..], left);
        }
    }
}
