//! Groups the cells without a time by reason, for every format that lists them.

use gpubench_model::report::{Outcome, Report, Row};
use gpubench_text::count::counted;
use gpubench_text::grouped::grouped;

/// Cells that share an outcome, a reason and a fix.
pub(crate) struct Group<'a> {
    pub outcome: Outcome,
    pub reason: &'a str,
    pub fix: Option<&'a str>,
    /// The rows, in the order of the report.
    pub rows: Vec<&'a Row>,
}

/// Outcomes without a time, the gravest first.
const OUTCOMES: [Outcome; 3] = [Outcome::Incorrect, Outcome::Failed, Outcome::Skipped];

/// The groups of a report: the gravest outcome first, then the largest group.
pub(crate) fn groups(report: &Report) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for row in report.rows.iter().filter(|row| row.outcome != Outcome::Measured && !row.screened) {
        let reason = row.reason.as_deref().unwrap_or("no reason given");
        let fix = row.fix.as_deref();
        let same = |group: &&mut Group<'_>| {
            group.outcome == row.outcome && group.reason == reason && group.fix == fix
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { outcome: row.outcome, reason, fix, rows: vec![row] }),
        }
    }
    let gravity = |outcome| OUTCOMES.iter().position(|other| *other == outcome);
    groups.sort_by_key(|group| (gravity(group.outcome), std::cmp::Reverse(group.rows.len())));
    groups
}

/// `ended early: 1 of 3 cells, 2 more cut short`; `None` when every planned cell is finished, or the plan is not known.
pub(crate) fn ended_early(report: &Report) -> Option<String> {
    let planned = report.environment.planned_rows?;
    let cut_short = report.rows.iter().filter(|row| row.was_cut_short()).count();
    let done = report.rows.len() - cut_short;
    let planned_cells = counted(planned, "cell");
    let more = if cut_short > 0 { format!(", {cut_short} more cut short") } else { String::new() };
    (planned > done as u64).then(|| format!("ended early: {done} of {planned_cells}{more}"))
}

/// `15 of 70 cells skipped`, or `2 incorrect, 15 skipped of 70 cells`; `None` when all were measured.
pub(crate) fn summary(report: &Report) -> Option<String> {
    let part = |outcome: Outcome| {
        let count = report.rows.iter().filter(|row| row.outcome == outcome && !row.screened).count();
        (count > 0).then_some((count, outcome.name()))
    };
    let parts: Vec<(usize, &str)> = OUTCOMES.into_iter().filter_map(part).collect();
    let cells = counted(report.rows.len(), "cell");
    match parts.as_slice() {
        [] => None,
        [(count, outcome)] => Some(format!("{count} of {cells} {outcome}")),
        several => {
            let parts: Vec<String> = several.iter().map(|(count, name)| format!("{count} {name}")).collect();
            Some(format!("{} of {cells}", parts.join(", ")))
        }
    }
}

impl Group<'_> {
    pub(crate) fn count(&self) -> String {
        counted(self.rows.len(), "cell")
    }

    /// The cells by op and variant, with their number: `matmul cpu/mkl (10), svd cuda/gesvd (N=512 f32)`.
    pub(crate) fn cells(&self) -> String {
        let kind = |row: &Row| format!("{} {}/{}", row.case.op, row.backend, row.variant);
        let kinds = grouped(self.rows.iter().map(|row| (kind(row), row)));
        let texts = kinds.iter().map(|(kind, rows)| match rows.as_slice() {
            [row] => format!("{kind} (N={} {})", row.case.n, row.case.dtype),
            rows => format!("{kind} ({})", rows.len()),
        });
        texts.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::report::example;

    #[test]
    fn cells_without_a_time_are_grouped_by_reason_the_gravest_first() {
        let report = example::full();
        let found: Vec<(&str, String, String)> =
            groups(&report).iter().map(|group| (group.reason, group.count(), group.cells())).collect();
        let expected = [
            ("error 0.5 above 1.2e-5", "1 cell", "spgemm cuda/hash (N=512 f32)"),
            ("cusparseSpGEMM_compute: internal", "1 cell", "spgemm cuda/cusparse (N=512 f32)"),
            ("mkl: not found", "2 cells", "matmul cpu/mkl (2)"),
        ];
        assert_eq!(found, expected.map(|(reason, count, cells)| (reason, count.into(), cells.into())));
        assert_eq!(summary(&report).unwrap(), "1 incorrect, 1 failed, 2 skipped of 9 cells");
        assert_eq!(summary(&example::empty()), None);
    }

    #[test]
    fn a_run_that_lacks_planned_cells_was_ended_early() {
        let mut report = example::full();
        assert_eq!(ended_early(&report), None);
        report.environment.planned_rows = Some(9);
        assert_eq!(ended_early(&report), None);
        report.environment.planned_rows = Some(12);
        assert_eq!(ended_early(&report).as_deref(), Some("ended early: 9 of 12 cells"));
    }
}
