//! Writes reports as text, charts and pages for `gpubench show`, `plot` and `report`.

#![forbid(unsafe_code)]

pub mod chart;
pub mod compare;
pub mod csv;
pub mod fleet;
pub mod html;
pub mod markdown;
pub mod palette;
pub mod report;
pub mod terminal;
pub mod trend;

use gpubench_report::report::Report;

/// Largest number of reports that are shown in full. More make a page that browsers do not open, and charts whose lines
/// nobody can distinguish.
const MAX_REPORTS: usize = 40;

/// Largest number of rows of these reports together; one report is always shown.
const MAX_ROWS: usize = 20_000;

/// Returns the positions, ascending, of the newest of `members` that can be shown in full.
pub fn newest(members: &[(&str, &Report)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..members.len()).collect();
    // Stable, so that the first of several reports of one time counts as the newest.
    order.sort_by(|a, b| started(members[*b].1).cmp(started(members[*a].1)));
    let mut rows = 0;
    let fitting = order.iter().take(MAX_REPORTS).take_while(|index| {
        rows += members[**index].1.rows.len();
        rows <= MAX_ROWS
    });
    let count = fitting.count().max(1);
    order.truncate(count);
    order.sort_unstable();
    order
}

/// Times in RFC 3339, UTC, sort as texts.
fn started(report: &Report) -> &str {
    &report.environment.started
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::format::Formats;
    use gpubench_report::report::example::{measured, of};
    use gpubench_text::grouped::distinct;

    /// Reports of `rows` rows each, of successive days, the newest first.
    fn reports(count: usize, rows: usize) -> Vec<Report> {
        let report = |age: usize| {
            let mut report = of((0..rows).map(|n| measured("fft", 1 + n as u64, "cpu", "v", 1e-3)));
            report.environment.started = format!("2026-{:02}-{:02}T10:00:00Z", 12 - age / 28, 28 - age % 28);
            report
        };
        (0..count).map(report).collect()
    }

    fn chosen(reports: &[Report]) -> Vec<usize> {
        newest(&reports.iter().map(|report| ("", report)).collect::<Vec<_>>())
    }

    #[test]
    fn all_of_a_few_reports_and_the_newest_of_many_are_shown() {
        assert_eq!(chosen(&reports(40, 1)), Vec::from_iter(0..40));
        let mut many = reports(100, 1);
        assert_eq!(chosen(&many), Vec::from_iter(0..40));
        many.reverse();
        assert_eq!(chosen(&many), Vec::from_iter(60..100));
    }

    #[test]
    fn reports_with_many_rows_are_fewer_but_never_none() {
        assert_eq!(chosen(&reports(5, 9000)), [0, 1]);
        assert_eq!(chosen(&reports(2, 30_000)), [0]);
        assert!(chosen(&[]).is_empty());
    }

    fn check_names<D, V>(formats: &Formats<D, V>) {
        let names = formats.names();
        assert_eq!(distinct(names.iter().copied()), names);
        assert!(names.iter().all(|name| formats.find(name).is_some_and(|found| found.name == *name)));
        assert!(formats.find("pdf").is_none());
    }

    #[test]
    fn formats_have_unique_names_by_which_they_are_found() {
        check_names(&report::FORMATS);
        check_names(&compare::FORMATS);
        check_names(&fleet::FORMATS);
        check_names(&trend::FORMATS);
    }
}
