//! The table on the terminal: one an op and element type, what has no time and why, and what the figures mean.

use std::fmt::Write;

use super::grid::Tone;
use super::problems::{Group, ended_early, groups, summary};
use super::tables::{method, tables};
use super::{Exporter, File, View};
use crate::report::{Outcome, Report};

/// The report as aligned text.
pub struct Table;

/// Groups of cells without a time that are told one by one; the rest is counted.
const GROUPS_SHOWN: usize = 20;

/// Columns of a line that is broken.
const WIDTH: usize = 100;

/// Columns before the reasons.
const INDENT: usize = 23;

impl Exporter for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn summary(&self) -> &'static str {
        "aligned text: the best of each side, or every variant"
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn files(&self, report: &Report, view: &View) -> anyhow::Result<Vec<File>> {
        Ok(vec![File { name: "report.txt".into(), bytes: text(report, view).into_bytes() }])
    }
}

fn text(report: &Report, view: &View) -> String {
    let ended_early = ended_early(report).map(|line| format!("\n{line}\n")).unwrap_or_default();
    if report.rows.is_empty() {
        return format!("The report has no rows: no cell was finished.\n{ended_early}");
    }
    let mut text = String::new();
    for grid in tables(report, view.all_variants) {
        text.push_str(&grid.text(view.color));
        text.push('\n');
    }
    for line in method(report, view.all_variants) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str(&ended_early);
    if let Some(summary) = summary(report) {
        let _ = writeln!(text, "\n{summary}:");
        let groups = groups(report);
        for group in groups.iter().take(GROUPS_SHOWN) {
            text.push_str(&group_text(group, view.color));
        }
        if groups.len() > GROUPS_SHOWN {
            let _ =
                writeln!(text, "  and {} more reasons; report.json has them", groups.len() - GROUPS_SHOWN);
        }
    }
    text
}

fn group_text(group: &Group<'_>, color: bool) -> String {
    let tone = if group.outcome == Outcome::Skipped { Tone::Plain } else { Tone::Wrong };
    let padded = format!("{:<9}", group.outcome.name());
    let outcome = if color { tone.paint(&padded) } else { padded };
    let mut text = format!("  {outcome}  {:>8}  {}\n", group.count(), hanging(group.reason));
    if let Some(fix) = group.fix {
        let _ = writeln!(text, "{:INDENT$}fix: {}", "", hanging(fix));
    }
    let _ = writeln!(text, "{:INDENT$}{}", "", hanging(&group.cells()));
    text
}

/// Breaks a text at blanks so that it fits on lines of [`WIDTH`] columns, all but the first indented.
fn hanging(text: &str) -> String {
    let (mut broken, mut column) = (String::new(), INDENT);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > INDENT && column + 1 + length > WIDTH {
            let _ = write!(broken, "\n{:INDENT$}", "");
            column = INDENT;
        } else if column > INDENT {
            broken.push(' ');
            column += 1;
        }
        broken.push_str(word);
        column += length;
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    /// The table without the summaries of ops, which belong to the ops.
    fn shown(report: &Report, all_variants: bool) -> String {
        let mut text = text(report, &View { all_variants, color: false });
        for op in crate::op::OPS {
            text = text.replace(&format!(": {}\n", op.summary()), "\n");
        }
        text
    }

    #[test]
    fn the_table_shows_the_best_of_each_side_and_why_cells_are_missing() {
        let expected = "\
matmul f32
      N  best CPU     time     ±  best GPU     time     ±  speed-up    error  of bound
    100  openblas  7.68 µs  2.5%  cublas    12.4 µs  2.5%  CPU 1.6x   3.1e-7      2.6%
  10000  openblas   744 ms  2.5%  cublas    40.9 ms  2.5%  GPU 18.2x  3.1e-7      2.6%

spgemm f32, density 0.01
    N  best CPU      time     ±  best GPU  time  ±  speed-up   error  of bound
  512  gustavson  90.1 µs  2.5%  -            -  -  -         3.1e-7      2.6%

Best correct variant of each side in full precision; ± is half the 95 % interval of its median.
Error: of both sides the one nearer to its bound, and its share of the bound.
Kernel speed-up, operands resident, no transfers: CPU by host clock, GPU by device clock.

1 incorrect, 1 failed, 2 skipped of 9 cells:
  incorrect    1 cell  error 0.5 above 1.2e-5
                       spgemm cuda/hash (N=512 f32)
  failed       1 cell  cusparseSpGEMM_compute: internal
                       spgemm cuda/cusparse (N=512 f32)
  skipped     2 cells  mkl: not found
                       fix: pip install mkl
                       matmul cpu/mkl (2)
";
        assert_eq!(shown(&example::full(), false), expected);
    }

    #[test]
    fn a_run_that_was_ended_early_says_so_before_other_problems() {
        let mut report = example::full();
        report.environment.planned_rows = Some(12);
        let text = shown(&report, false);
        assert!(text.contains("\n\nended early: 9 of 12 cells\n\n1 incorrect, 1 failed"), "{text}");
        report.rows.truncate(2);
        assert!(shown(&report, true).ends_with("\n\nended early: 2 of 12 cells\n"));
        report.rows.clear();
        assert!(shown(&report, false).ends_with("\n\nended early: 0 of 12 cells\n"));
    }

    #[test]
    fn every_variant_has_its_line_the_fastest_first() {
        let text = shown(&example::full(), true);
        let expected = "\
matmul f32
      N  side  variant   precision     time     ±  host clock  GFLOP/s   error  of bound  outcome
    100  CPU   openblas  f32        7.68 µs  2.5%     7.68 µs      260  3.1e-7      2.6%  measured
    100  GPU   cublas    f32        12.4 µs  2.5%     12.4 µs      161  3.1e-7      2.6%  measured
    100  CPU   mkl       f32              -     -           -        -       -         -  skipped
  10000  GPU   cublas    f32        40.9 ms  2.5%     40.9 ms    48876  3.1e-7      2.6%  measured
  10000  CPU   openblas  f32         744 ms  2.5%      744 ms     2689  3.1e-7      2.6%  measured
  10000  CPU   mkl       f32              -     -           -        -       -         -  skipped

spgemm f32, density 0.01
    N  side  variant    precision     time     ±  host clock  GFLOP/s   error  of bound  outcome
  512  CPU   gustavson  f32        90.1 µs  2.5%     90.1 µs     2981  3.1e-7      2.6%  measured
  512  GPU   cusparse   f32              -     -           -        -       -         -  failed
  512  GPU   hash       f32              -     -           -        -  5.0e-1    41667x  incorrect
";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn lines_stay_within_a_hundred_columns() {
        let mut report = example::full();
        let reason = "a reason that goes on and on, as some libraries will have it, ".repeat(5);
        report.rows[2].reason = Some(reason);
        for line in shown(&report, false).lines().chain(shown(&report, true).lines()) {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }

    #[test]
    fn colours_mark_winners_and_wrong_answers_only() {
        let text = text(&example::full(), &View { all_variants: false, color: true });
        assert!(
            text.contains("\x1b[33mCPU 1.6x\x1b[0m") && text.contains("\x1b[32mGPU 18.2x\x1b[0m"),
            "{text}"
        );
        assert!(text.contains("\x1b[31mincorrect\x1b[0m"));
        assert_eq!(text.matches("\x1b[0m").count(), 4);
    }
}
