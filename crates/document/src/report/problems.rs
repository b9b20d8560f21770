//! Groups the cells without a time by reason, for every format that lists them.

use std::path::Path;

use gpubench_analysis::answer::libraries;
use gpubench_report::report::quantity::error_text;
use gpubench_report::report::{Outcome, Report, Row, RunWarning};
use gpubench_text::count::counted;
use gpubench_text::escape::shell_word;
use gpubench_text::grouped::{distinct, grouped};

/// Cells that share an outcome, a reason and a fix.
pub(super) struct ProblemGroup<'a> {
    pub(super) outcome: Outcome,
    pub(super) reason: &'a str,
    pub(super) fix: Option<&'a str>,
    pub(super) rows: Vec<&'a Row>,
}

/// Outcomes without a time, the gravest first.
pub(crate) const UNTIMED: [Outcome; 3] = [Outcome::Incorrect, Outcome::Failed, Outcome::Skipped];

/// The groups of rows: the gravest outcome first, then the largest group.
pub(super) fn groups<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<ProblemGroup<'a>> {
    let untimed = rows.into_iter().filter(|row| row.outcome != Outcome::Measured && !row.screened);
    let reason = |row: &'a Row| row.reason.as_deref().unwrap_or("no reason given");
    let keyed = untimed.map(|row| ((row.outcome, reason(row), row.fix.as_deref()), row));
    let group = |((outcome, reason, fix), rows)| ProblemGroup { outcome, reason, fix, rows };
    let mut groups: Vec<ProblemGroup<'_>> = grouped(keyed).into_iter().map(group).collect();
    let gravity = |outcome| UNTIMED.iter().position(|other| *other == outcome);
    groups.sort_by_key(|group| (gravity(group.outcome), std::cmp::Reverse(group.rows.len())));
    groups
}

/// `ended early: 1 of 3 cells finished, 1 cut short, 1 skipped`; `None` for a run without a plan or planned cells left.
pub fn ended_early(report: &Report) -> Option<String> {
    let planned = report.environment.planned_rows?;
    let count = |is: fn(&Row) -> bool| report.rows.iter().filter(|row| is(row)).count();
    let (cut_short, skipped) =
        (count(Row::was_cut_short), count(|row| row.outcome == Outcome::Skipped && !row.screened));
    let left = planned > (report.rows.len() - cut_short) as u64;
    let finished = report.rows.len() - cut_short - skipped;
    let others = [(cut_short, "cut short"), (skipped, "skipped")].into_iter().filter(|(count, _)| *count > 0);
    let others: String = others.map(|(count, what)| format!(", {count} {what}")).collect();
    left.then(|| format!("ended early: {finished} of {} finished{others}", counted(planned, "cell")))
}

/// Reasons that a report without times lists; the rest is counted.
const MAX_REASONS: usize = 3;

/// Says why every cell of a report was skipped, and how to go on; `None` where one was not, or where there is none.
pub fn nothing_measured(report: &Report) -> Option<String> {
    let all_skipped = report.rows.iter().all(|row| row.outcome == Outcome::Skipped);
    (all_skipped && !report.rows.is_empty())
        .then(|| format!("nothing was measured{}", why_none_of(&report.rows)))
}

/// `: no CUDA driver (fix: install it); gpubench doctor lists what is missing`; empty without rows.
pub(crate) fn why_none_of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let groups = groups(rows);
    let reason = |group: &ProblemGroup<'_>| {
        let fix = group.fix.map(|fix| format!(" (fix: {fix})")).unwrap_or_default();
        format!("{}{fix}", group.reason)
    };
    let lacks_an_installation = |group: &ProblemGroup<'_>| {
        group.outcome == Outcome::Skipped && group.fix.is_none_or(|fix| fix.contains("install"))
    };
    let mut reasons: Vec<String> = groups.iter().take(MAX_REASONS).map(reason).collect();
    if groups.len() > MAX_REASONS {
        reasons.push(format!("and {}", counted(groups.len() - MAX_REASONS, "more reason")));
    }
    match reasons.join("; ") {
        none if none.is_empty() => none,
        // Something that `gpubench doctor` lists may be missing.
        reasons if groups.iter().any(lacks_an_installation) => {
            format!(": {reasons}; gpubench doctor lists what is missing")
        }
        reasons => format!(": {reasons}"),
    }
}

/// Incorrect answers, a run that ended early and lost workers, with what to do. `elsewhere` lists every cell without a time.
pub fn first_lines(report: &Report, elsewhere: &str, folder: Option<&Path>) -> Vec<String> {
    let folder = folder.map_or("DIR".into(), shell_word);
    // On a line of its own, the command can be copied.
    let early =
        early_notice(report).map(|fact| format!("{fact}\nGo on with: gpubench run --resume {folder}"));
    let lost = lost_workers(report).map(|fact| format!("{fact} Run these cells again, alone."));
    [incorrect(report, elsewhere), early, lost].into_iter().flatten().collect()
}

/// The warnings about a run as a whole: libraries that are missing, then what the run has noted.
pub fn run_warnings(report: &Report) -> Vec<RunWarning> {
    let mut warnings: Vec<RunWarning> =
        libraries::missing(report).into_iter().map(RunWarning::from).collect();
    warnings.extend(report.environment.warnings.iter().cloned());
    warnings
}

/// What is missing of a run that was cut short: by its end, or by lost workers.
pub fn cut_short(report: &Report) -> Option<String> {
    early_notice(report).or_else(|| lost_workers(report))
}

/// `INCORRECT: matmul N=1000 f32 cuda/auto: error 3.1e-2, bound 1.0e-4 (2 more: --tables)`
fn incorrect(report: &Report, elsewhere: &str) -> Option<String> {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| row.outcome == Outcome::Incorrect).collect();
    let excess = |row: &Row| row.error.map_or(f64::INFINITY, |error| error.value / error.bound);
    let worst = rows.iter().max_by(|a, b| excess(a).total_cmp(&excess(b)))?;
    // Otherwise the reason is another one: an error within the bound explains nothing, nor does one that is not finite.
    let why = match worst.error.filter(|error| !error.is_right() && error.value < f64::MAX) {
        Some(error) => format!("error {}, bound {:.1e}", error_text(error), error.bound),
        None => worst.reason.clone().unwrap_or_else(|| "no reason given".into()),
    };
    let more = match rows.len() {
        1 => String::new(),
        count => format!(" ({} more: {elsewhere})", count - 1),
    };
    Some(format!("INCORRECT: {} {}/{}: {why}{more}", worst.case, worst.backend, worst.variant))
}

/// `The run ended early: 9 of 12 cells finished; no cell of solve, svd.`
fn early_notice(report: &Report) -> Option<String> {
    let early = ended_early(report)?;
    let planned = report.environment.settings["sweeps"].as_array().into_iter().flatten();
    let ops = distinct(planned.filter_map(|sweep| sweep["op"].as_str()));
    let is_missing = |op: &&str| report.rows.iter().all(|row| row.case.op != *op);
    let missing: Vec<&str> = ops.into_iter().filter(is_missing).collect();
    let missing =
        if missing.is_empty() { String::new() } else { format!("; no cell of {}", missing.join(", ")) };
    Some(format!("The run {early}{missing}."))
}

/// Names the cells whose worker was lost before they had all their samples.
fn lost_workers(report: &Report) -> Option<String> {
    let lost: Vec<String> =
        report.rows.iter().filter(|row| row.has_ended_early()).map(|row| row.cell().to_string()).collect();
    let (first, more) = lost.split_first()?;
    let more =
        if more.is_empty() { String::new() } else { format!(" and {} more", counted(more.len(), "cell")) };
    Some(format!("The worker of {first}{more} was lost for good: fewer samples than planned."))
}

/// `15 of 70 cells skipped`, or `2 incorrect, 15 skipped of 70 cells`; `None` when all were measured.
pub fn summary(report: &Report) -> Option<String> {
    let part = |outcome: Outcome| {
        let count = report.rows.iter().filter(|row| row.outcome == outcome && !row.screened).count();
        (count > 0).then_some((count, outcome.name()))
    };
    let parts: Vec<(usize, &str)> = UNTIMED.into_iter().filter_map(part).collect();
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

impl ProblemGroup<'_> {
    /// The cells by op and variant, with their number: `matmul cpu/mkl (10), svd cuda/gesvd (N=512 f32)`.
    pub(super) fn cells(&self) -> String {
        let kind = |row: &Row| format!("{} {}/{}", row.case.op, row.backend, row.variant);
        let kinds = grouped(self.rows.iter().map(|row| (kind(row), row)));
        let texts = kinds.iter().map(|(kind, rows)| match rows.as_slice() {
            [row] => format!("{kind} ({})", row.case.without_op()),
            rows => format!("{kind} ({})", rows.len()),
        });
        texts.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn cells_without_a_time_are_grouped_by_reason_the_gravest_first() {
        let report = example::full();
        let of_group = |group: ProblemGroup<'_>| (group.reason.to_owned(), group.cells());
        let found: Vec<(String, String)> = groups(&report.rows).into_iter().map(of_group).collect();
        let expected = [
            ("error 0.5 above 1.2e-5", "spgemm cuda/hash (N=512 f32 density 0.01)"),
            ("cusparseSpGEMM_compute: internal", "spgemm cuda/cusparse (N=512 f32 density 0.01)"),
            ("mkl: not found", "matmul cpu/mkl (2)"),
        ];
        assert_eq!(found, expected.map(|(reason, cells)| (reason.into(), cells.into())));
        assert_eq!(summary(&report).unwrap(), "1 incorrect, 1 failed, 2 skipped of 9 cells");
        assert_eq!(summary(&example::empty()), None);
    }

    #[test]
    fn a_single_cell_of_a_shape_is_named_by_it() {
        let mut row =
            example::without_time("matmul", 4096, "cpu", "mkl", Outcome::Skipped, "mkl: not found", None);
        row.case.shape = serde_json::from_str(r#"{"m": "N", "n": 512, "k": 64}"#).ok();
        assert_eq!(groups(&example::of([row]).rows)[0].cells(), "matmul cpu/mkl (4096x512x64 f32)");
    }

    #[test]
    fn a_run_that_lacks_planned_cells_was_ended_early() {
        let mut report = example::full();
        assert_eq!(ended_early(&report), None);
        report.environment.planned_rows = Some(9);
        assert_eq!(ended_early(&report), None);
        report.environment.planned_rows = Some(12);
        assert_eq!(ended_early(&report).as_deref(), Some("ended early: 7 of 12 cells finished, 2 skipped"));
        report.environment.settings = serde_json::json!({ "sweeps": [{ "op": "matmul" }, { "op": "svd" }] });
        let fact = "The run ended early: 7 of 12 cells finished, 2 skipped; no cell of svd.";
        assert_eq!(cut_short(&report).as_deref(), Some(fact));
        let line = |folder| first_lines(&report, "--tables", folder)[1].clone();
        let command = |folder| format!("{fact}\nGo on with: gpubench run --resume {folder}");
        assert_eq!(line(None), command("DIR"));
        assert_eq!(line(Some(Path::new("results/7"))), command("results/7"));
        assert_eq!(line(Some(Path::new("my runs/7"))), command("'my runs/7'"));
    }

    #[test]
    fn the_worst_answer_is_the_first_thing_said() {
        let mut report = example::full();
        report.environment.planned_rows = Some(12);
        let lines = first_lines(&report, "--tables", None);
        assert_eq!(
            lines[0],
            "INCORRECT: spgemm N=512 f32 density 0.01 cuda/hash: error 5.0e-1, bound 1.2e-5"
        );
        assert!(lines[1].starts_with("The run ended early: ") && lines.len() == 2, "{lines:?}");
        let mut worse = report.rows.iter().find(|row| row.outcome == Outcome::Incorrect).unwrap().clone();
        worse.error = Some(gpubench_report::Checked::new(f64::NAN, 1.2e-5));
        worse.reason = Some("the answer is wrong: it contains values that are not finite".into());
        report.rows.push(worse);
        let lines = first_lines(&report, "--tables", None);
        let expected = ": the answer is wrong: it contains values that are not finite (1 more: --tables)";
        assert!(lines[0].ends_with(expected), "{lines:?}");
        let stopped = &mut report.rows[0].execute.as_mut().unwrap().stopped;
        *stopped = Some(gpubench_report::measure::stopping::Reason::EndedEarly);
        let lost = "The worker of matmul N=100 f32 cpu/openblas cold was lost for good: fewer samples than planned. Run \
                    these cells again, alone.";
        assert_eq!(first_lines(&report, "--tables", None)[2], lost);
    }
}
