//! Groups the warnings of the shown times by kind, for every format that lists them.

use std::cmp::Reverse;

use gpubench_analysis::answer::{has_both_caches, sections};
use gpubench_report::measure::grade::{Warning, WarningKind};
use gpubench_report::report::{Report, Row};
use gpubench_text::count::{agree, counted};

/// Cells with a warning of one kind.
pub(crate) struct Caution<'a> {
    pub(crate) kind: WarningKind,
    /// The cells and their warnings, those of the worst grade first; never empty.
    pub(crate) cells: Vec<(&'a Row, &'a Warning)>,
    /// Set where names of cells must include the state of the caches.
    names_cache: bool,
}

/// Cells that a caution names; the rest is counted.
const MAX_NAMED: usize = 3;

/// The rows with times of full precision that a table shows: all of them, or the best of each contender.
pub(crate) fn shown(report: &Report, all_variants: bool) -> Vec<&Row> {
    let sections = sections(report);
    let comparisons = sections.iter().flat_map(|section| &section.comparisons);
    let rows = comparisons.flat_map(|comparison| match all_variants {
        true => comparison.rows.clone(),
        false => comparison.bests().into_iter().flatten().collect(),
    });
    rows.filter(|row| row.execute.is_some() && !row.screened).collect()
}

/// Returns whether a row's time is close to that of an empty kernel.
pub fn is_launch_bound(row: &Row) -> bool {
    let mut warnings = row.execute.iter().flat_map(|execute| &execute.warnings);
    warnings.any(|warning| warning.kind == WarningKind::LaunchBound)
}

/// The cautions about the rows that a table shows: the gravest first, then those of more cells.
pub(crate) fn cautions(report: &Report, all_variants: bool) -> Vec<Caution<'_>> {
    let names_cache = has_both_caches(report);
    let mut found: Vec<Caution<'_>> = vec![];
    for row in shown(report, all_variants) {
        for warning in row.execute.iter().flat_map(|execute| &execute.warnings) {
            match found.iter_mut().find(|caution| caution.kind == warning.kind) {
                // Of two warnings of one kind a cell is counted with the graver, which comes first.
                Some(caution) if caution.cells.last().is_some_and(|(last, _)| std::ptr::eq(*last, row)) => {}
                Some(caution) => caution.cells.push((row, warning)),
                None => found.push(Caution { kind: warning.kind, cells: vec![(row, warning)], names_cache }),
            }
        }
    }
    found.iter_mut().for_each(|caution| caution.cells.sort_by_key(|(_, warning)| Reverse(warning.at_best)));
    found.sort_by_key(|caution| Reverse((caution.worst().at_best, caution.cells.len())));
    found
}

impl Caution<'_> {
    /// The worst warning, whose text and next step are shown for all.
    pub(crate) fn worst(&self) -> &Warning {
        self.cells[0].1
    }

    /// The text of the worst warning: `worst: 3 samples count`.
    pub(crate) fn text(&self) -> String {
        let prefix = if self.cells.len() == 1 { "" } else { "worst: " };
        format!("{prefix}{}", self.worst().text)
    }

    /// The worst cells: `matmul N=100 f32 cuda/cublas and 4 more`.
    pub(crate) fn which(&self) -> String {
        let name = |row: &Row| {
            let cache = if self.names_cache { format!(" {}", row.cache) } else { String::new() };
            format!("{} {}/{}{cache}", row.case, row.backend, row.variant)
        };
        let named: Vec<String> = self.cells.iter().take(MAX_NAMED).map(|(row, _)| name(row)).collect();
        let more = self.cells.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", named.join(", "))
    }
}

/// `2 of 5 times of the fastest variants have a grade below A`; `None` when no shown time has a warning.
pub fn summary(report: &Report, all_variants: bool) -> Option<String> {
    let rows = shown(report, all_variants);
    let low = rows.iter().filter(|row| row.execute.as_ref().is_some_and(|e| !e.warnings.is_empty())).count();
    let (times, have) = (counted(rows.len(), "time"), agree(low, "has", "have"));
    let of = if all_variants { "all variants" } else { "the fastest variants" };
    (low > 0).then(|| format!("{low} of {times} of {of} {have} a grade below A"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::case::Cache;
    use gpubench_report::measure::grade::Grade;
    use gpubench_report::report::example;

    #[test]
    fn cautions_are_about_shown_times_only_and_the_gravest_comes_first() {
        let mut report = example::full();
        // A slower variant is in no table of the best.
        report.rows.push(example::measured("matmul", 100, "cuda", "tiled", 1e-3));
        example::warn(report.rows.last_mut().unwrap(), WarningKind::Setup, Grade::D, "set up", "look");
        let kinds = |all| cautions(&report, all).iter().map(|caution| caution.kind).collect::<Vec<_>>();
        assert_eq!(kinds(false), [WarningKind::Spread, WarningKind::LaunchBound]);
        assert_eq!(kinds(true), [WarningKind::Setup, WarningKind::Spread, WarningKind::LaunchBound]);
        assert_eq!(
            summary(&report, false).unwrap(),
            "2 of 4 times of the fastest variants have a grade below A"
        );
        assert_eq!(summary(&example::empty(), false), None);
    }

    #[test]
    fn three_of_many_cells_are_named_those_of_the_worst_grade_first() {
        let mut report = example::empty();
        for (index, half_width) in [0.02, 0.3, 0.04, 0.01, 0.1].into_iter().enumerate() {
            let mut row = example::measured("fft", 10 * (index as u64 + 1), "cpu", "realfft", 1e-3);
            let text = format!("half is {half_width}");
            let grade = if half_width > 0.2 { Grade::D } else { Grade::B };
            example::warn(&mut row, WarningKind::Spread, grade, &text, "more time");
            example::warn(&mut row, WarningKind::Spread, Grade::B, "a second of its kind", "none");
            report.rows.push(row);
        }
        let found = cautions(&report, false);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].cells.len(), found[0].text().as_str()), (5, "worst: half is 0.3"));
        let expected =
            "fft N=20 f32 cpu/realfft, fft N=10 f32 cpu/realfft, fft N=30 f32 cpu/realfft and 2 more";
        assert_eq!(found[0].which(), expected);
        report.rows[0].cache = Cache::Hot;
        assert!(cautions(&report, false)[0].which().starts_with("fft N=20 f32 cpu/realfft cold, "));
    }
}
