//! `gpubench doctor --rules REPORT`: compares the variants that `auto` picked with the fastest ones of a report, and finds
//! the cases in which a pick is slower.

mod compare;
mod text;
mod unmeasured;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, ensure};
use gpubench_tuned::{RuleText, rule_texts};
use serde::Serialize;

use crate::report::{Outcome, Report, Row, file};
use compare::{Compared, Loss, compare};
use text::text;
use unmeasured::{Unmeasured, command, unmeasured};

/// Name of the variant that picks another one.
const AUTO: &str = "auto";

/// What a report says about the rules of `auto`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RulesVerdict {
    /// Number of cases in which `auto` and a variant that it did not pick have times.
    pub cases: usize,
    /// Geometric mean of time of the pick / least time, over all cases: 1 if every pick is the fastest variant. `None`
    /// without cases.
    pub slowdown: Option<f64>,
    /// The slowdown of each op.
    pub ops: Vec<OpSlowdown>,
    /// The cases in which a rule has lost, the worst first.
    pub lost: Vec<Loss>,
    /// The variants in full precision that the report did not measure, of the ops in which it has `auto`: whether a rule should
    /// choose them is not known.
    pub unmeasured: Vec<Unmeasured>,
    /// The rules of these ops, in the order in which `auto` goes through them.
    pub rules: Vec<RuleText>,
}

/// How much time the picks of an op cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpSlowdown {
    /// The op.
    pub op: String,
    /// Number of its cases.
    pub cases: usize,
    /// Geometric mean of time of the pick / least time.
    pub slowdown: f64,
}

/// Reads a report, and returns what it says as text or JSON, with whether no rule has lost.
///
/// # Errors
/// The report cannot be read, or has no case with `auto` and another variant.
pub fn run(report: &Path, json: bool) -> Result<(String, bool)> {
    let verdict = verdict(&file::load(report)?);
    ensure!(
        verdict.cases > 0,
        "{}: no case has times of auto and of another variant: make a report with {}",
        report.display(),
        command(&verdict.unmeasured)
    );
    let text = if json { serde_json::to_string_pretty(&verdict)? + "\n" } else { text(&verdict) };
    Ok((text, verdict.lost.is_empty()))
}

/// Compares the pick of each case with the other variants of the same backend, in full precision and by the same clock.
pub fn verdict(report: &Report) -> RulesVerdict {
    let mut by_case: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
    for row in report.rows.iter().filter(|row| row.outcome == Outcome::Measured && row.is_headline()) {
        let case = &row.case;
        let density = case.density.map(f64::to_bits);
        let key = (&row.backend, &case.op, case.dtype.name(), case.n, density, row.cache.name());
        by_case.entry(key).or_default().push(row);
    }
    let compared: Vec<Compared> = by_case.values().filter_map(|rows| compare(rows)).collect();
    let mut by_op: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for one in &compared {
        by_op.entry(&one.op).or_default().push(one.slowdown);
    }
    let of_op = |(op, slowdowns): (&&str, &Vec<f64>)| {
        let slowdown = geometric_mean(slowdowns)?;
        Some(OpSlowdown { op: (*op).to_owned(), cases: slowdowns.len(), slowdown })
    };
    let ops = by_op.iter().filter_map(of_op).collect();
    let rules = rule_texts().into_iter().filter(|rule| by_op.contains_key(rule.op)).collect();
    let slowdown = geometric_mean(&compared.iter().map(|one| one.slowdown).collect::<Vec<_>>());
    let cases = compared.len();
    let mut lost: Vec<Loss> = compared.into_iter().filter_map(|one| one.loss).collect();
    lost.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    RulesVerdict { cases, slowdown, ops, lost, unmeasured: unmeasured(report), rules }
}

/// Returns the geometric mean; `None` of nothing.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use gpubench_report::Accuracy;
    use gpubench_report::case::Cache;

    /// Rows of `auto`, of its pick `cublas` and of `dmma`, with these seconds.
    pub(in crate::doctor::rules) fn rows(n: u64, auto: f64, cublas: f64, dmma: f64) -> Vec<Row> {
        let row = |variant, seconds| example::measured("matmul", n, "cuda", variant, seconds);
        let mut rows = vec![row("auto", auto), row("cublas", cublas), row("dmma", dmma)];
        rows[0].picked = Some("cublas".into());
        rows
    }

    fn lost(rows: Vec<Row>) -> Vec<(u64, String)> {
        let found = verdict(&example::of(rows)).lost;
        found.into_iter().map(|loss| (loss.n, format!("{} {:.2}", loss.fastest, loss.ratio))).collect()
    }

    #[test]
    fn a_slower_pick_is_lost_and_the_worst_comes_first() {
        let found = lost([rows(100, 1.1, 1.1, 1.0), rows(200, 3.0, 3.0, 2.0)].concat());
        assert_eq!(found, [(200, "dmma 1.50".into()), (100, "dmma 1.10".into())]);
    }

    #[test]
    fn small_differences_and_those_between_auto_and_its_pick_are_no_loss() {
        assert!(lost([rows(100, 1.04, 1.04, 1.0), rows(200, 1.3, 1.0, 1.0)].concat()).is_empty());
        assert!(lost(rows(300, 1.0, 1.0, 2.0)).is_empty());
    }

    #[test]
    fn overlapping_intervals_and_less_precise_variants_are_no_loss() {
        let mut wide = rows(100, 1.2, 1.2, 1.0);
        wide[2].execute.as_mut().unwrap().ci95_s = [0.9, 1.25];
        let mut rounded = rows(200, 2.0, 2.0, 1.0);
        rounded[2].accuracy = Accuracy::Tf32;
        assert!(lost([wide, rounded].concat()).is_empty());
    }

    #[test]
    fn densities_and_states_of_the_caches_are_cases_of_their_own() {
        let with = |density, cache, dmma| {
            let mut rows = rows(100, 2.0, 2.0, dmma);
            rows.iter_mut().for_each(|row| (row.case.density, row.cache) = (density, cache));
            rows
        };
        let report = example::of(
            [
                with(Some(0.01), Cache::Hot, 1.0),
                with(Some(0.2), Cache::Hot, 3.0),
                with(Some(0.01), Cache::Cold, 3.0),
            ]
            .concat(),
        );
        let found = verdict(&report);
        assert_eq!((found.cases, found.lost.len(), found.lost[0].density), (3, 1, Some(0.01)));
        assert!(text(&found).contains("0.01"), "{}", text(&found));
    }

    #[test]
    fn slowdowns_are_geometric_means_per_op_and_over_all_cases() {
        let mut spmv = rows(100, 3.0, 3.0, 1.0);
        spmv.iter_mut().for_each(|row| row.case.op = "spmv".into());
        // A pick that is the fastest variant counts as 1, however far it is ahead.
        let found =
            verdict(&example::of([rows(100, 4.0, 4.0, 1.0), rows(200, 1.0, 1.0, 9.0), spmv].concat()));
        let rounded = |slowdown: f64| format!("{slowdown:.6}");
        let ops: Vec<_> = found.ops.iter().map(|one| (&*one.op, one.cases, rounded(one.slowdown))).collect();
        assert_eq!(ops, [("matmul", 2, rounded(2.0)), ("spmv", 1, rounded(3.0))]);
        assert_eq!(rounded(found.slowdown.unwrap()), rounded(12.0_f64.cbrt()));
        let text = text(&found);
        for line in ["matmul  2      2.000\n", "spmv    1      3.000\n", "all     3      2.289\n"] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(verdict(&example::empty()).slowdown, None);
    }

    #[test]
    fn cases_without_auto_or_another_variant_are_not_counted() {
        let mut alone = rows(100, 1.0, 1.0, 1.0);
        alone.truncate(2);
        assert_eq!(verdict(&example::of(alone)).cases, 0);
        let mut without = rows(100, 1.0, 1.0, 1.0);
        without.remove(0);
        assert_eq!(verdict(&example::of(without)).cases, 0);
        assert_eq!(verdict(&example::of(rows(100, 1.0, 1.0, 1.0))).cases, 1);
    }
}
