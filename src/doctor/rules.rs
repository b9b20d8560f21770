//! `gpubench doctor --rules REPORT`: compares the variants that `auto` picked with the fastest ones of a report, and finds
//! the cases in which a pick is slower.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, ensure};
use gpubench_cuda::{RuleText, rule_texts};
use gpubench_text::count::counted;
use gpubench_text::grouped::distinct;
use gpubench_text::table::{TERMINAL_WIDTH, Table, hanging_within};
use serde::Serialize;

use crate::backend::{Options, cuda};
use crate::report::{Outcome, Report, Row, file, quantity};

/// Name of the variant that picks another one by rules.
const AUTO: &str = "auto";

/// A rule has lost where the pick takes more than this many times as long as the fastest variant.
const TOLERANCE: f64 = 1.05;

/// Columns by which the further lines of a rule are indented.
const RULE_INDENT: usize = 2;

/// What a report says about the rules of `auto`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Number of cases in which `auto` and a variant that it did not pick have times.
    pub cases: usize,
    /// Geometric mean of time of the pick / least time, over all cases: 1 if every pick is the fastest variant. `None`
    /// without cases.
    pub slowdown: Option<f64>,
    /// The same for each op.
    pub ops: Vec<OpSlowdown>,
    /// The cases in which a rule has lost, the worst first.
    pub lost: Vec<Loss>,
    /// The variants in full precision that the report did not measure, of the ops in which it has `auto`: whether a rule should
    /// choose them is not known.
    pub unmeasured: Vec<Unmeasured>,
    /// The rules of these ops, in the order in which `auto` goes through them.
    pub rules: Vec<RuleText>,
}

/// The variants of an op that a report did not measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unmeasured {
    /// The op.
    pub op: String,
    /// The variants.
    pub variants: Vec<String>,
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

/// The comparison of one case.
struct Compared {
    op: String,
    /// Time of the pick / least time, at least 1.
    slowdown: f64,
    loss: Option<Loss>,
}

/// A case in which the pick is slower than another variant, by more than 5 % and beyond the 95 % intervals of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// The op.
    pub op: String,
    /// The size N.
    pub n: u64,
    /// The element type.
    pub dtype: String,
    /// The share of stored entries of a sparse operand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// The state of the caches.
    pub cache: String,
    /// The variant that `auto` picked.
    pub picked: String,
    /// The median time of the pick, in seconds: of its own row or of the row of `auto`, whichever is less.
    pub picked_s: f64,
    /// The fastest variant in full precision.
    pub fastest: String,
    /// Its median time in seconds.
    pub fastest_s: f64,
    /// The first time over the second.
    pub ratio: f64,
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
pub fn verdict(report: &Report) -> Verdict {
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
    Verdict { cases, slowdown, ops, lost, unmeasured: unmeasured(report), rules }
}

/// Returns the variants of this gpubench that a report did not try, for each op in which it has `auto`.
fn unmeasured(report: &Report) -> Vec<Unmeasured> {
    let variants = (cuda::REGISTRATION.variants)(&Options::default()).unwrap_or_default();
    let rows = || report.rows.iter().filter(|row| row.backend == cuda::REGISTRATION.name);
    let ops = distinct(rows().filter(|row| row.variant == AUTO).map(|row| row.case.op.as_str()));
    let of_op = |op: &str| {
        let is_tried =
            |name: &str| rows().any(|row| row.case.op == op && (row.variant == name || row.doer() == name));
        let of_op = variants.iter().filter(|variant| variant.op == op && variant.accuracy.is_headline());
        let names = of_op.map(|variant| variant.name.as_ref()).filter(|name| !is_tried(name));
        Unmeasured { op: op.to_owned(), variants: names.map(str::to_owned).collect() }
    };
    ops.into_iter().map(of_op).filter(|found| !found.variants.is_empty()).collect()
}

/// Returns the command that measures every variant of these ops.
fn command(ops: &[Unmeasured]) -> String {
    let names: Vec<&str> = ops.iter().map(|of_op| of_op.op.as_str()).collect();
    let ops = if names.is_empty() { String::new() } else { format!(" --ops {}", names.join(",")) };
    format!("gpubench run --backends cuda --variants '*'{ops}")
}

/// Returns the geometric mean; `None` of nothing.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

/// Compares the pick of one case with the other variants; `None` if the rows do not allow it.
fn compare(rows: &[&Row]) -> Option<Compared> {
    let auto = rows.iter().find(|row| row.variant == AUTO)?;
    let (picked, clock) = (auto.picked.as_deref()?, auto.execute.as_ref()?.clock);
    let time =
        |row: &&&Row| row.execute.as_ref().filter(|execute| execute.clock == clock).map(|e| e.median_s);
    let fastest_of = |is_wanted: &dyn Fn(&str) -> bool| {
        let wanted = rows.iter().filter(|row| is_wanted(&row.variant) && time(row).is_some());
        wanted.min_by(|a, b| time(a).partial_cmp(&time(b)).unwrap_or(std::cmp::Ordering::Equal))
    };
    // Their difference is noise of the measurement, which is no fault of the rule.
    let ours = fastest_of(&|name| name == AUTO || name == picked)?;
    let fastest = fastest_of(&|name| name != AUTO && name != picked)?;
    let (ours_s, fastest_s) = (ours.execute.as_ref()?, fastest.execute.as_ref()?);
    let ratio = ours_s.median_s / fastest_s.median_s;
    let is_lost = ratio > TOLERANCE && ours_s.ci95_s[0] > fastest_s.ci95_s[1];
    let loss = is_lost.then(|| Loss {
        op: auto.case.op.clone(),
        n: auto.case.n,
        dtype: auto.case.dtype.name().to_owned(),
        density: auto.case.density,
        cache: auto.cache.name().to_owned(),
        picked: picked.to_owned(),
        picked_s: ours_s.median_s,
        fastest: fastest.variant.clone(),
        fastest_s: fastest_s.median_s,
        ratio,
    });
    Some(Compared { op: auto.case.op.clone(), slowdown: ratio.max(1.0), loss })
}

fn text(verdict: &Verdict) -> String {
    let parts = [
        losses_text(verdict),
        unmeasured_text(&verdict.unmeasured),
        slowdowns_text(verdict),
        rules_text(&verdict.rules),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Lists the variants that the report did not measure, with the command that does; empty where there is none.
fn unmeasured_text(ops: &[Unmeasured]) -> String {
    if ops.is_empty() {
        return String::new();
    }
    let of_op = |Unmeasured { op, variants }: &Unmeasured| {
        hanging_within(TERMINAL_WIDTH, &format!("{op}: {}", variants.join(", ")), RULE_INDENT) + "\n"
    };
    let listed: String = ops.iter().map(of_op).collect();
    format!(
        "The report does not have these variants, so it does not say whether auto should pick them:\n\n{listed}\n\
         To measure them: {}\n",
        command(ops)
    )
}

fn slowdowns_text(Verdict { cases, slowdown, ops, .. }: &Verdict) -> String {
    let mut table = Table::listing(&["Op", "Cases", "Pick / fastest"]);
    for OpSlowdown { op, cases, slowdown } in ops {
        table.row([op.clone(), cases.to_string(), format!("{slowdown:.3}")]);
    }
    if let Some(slowdown) = slowdown {
        table.row(["all".into(), cases.to_string(), format!("{slowdown:.3}")]);
    }
    format!(
        "Time of the pick / time of the fastest variant, geometric mean (1 is best):\n\n{}",
        table.text_without_title(false)
    )
}

/// Lists the rules, each in one paragraph, since their texts are long.
fn rules_text(rules: &[RuleText]) -> String {
    let mut text = "The rules of auto in this gpubench. The picks above are those of the report.\n\
         The first rule that applies, and is supported, decides:\n\n"
        .to_owned();
    for RuleText { op, variant, place, because } in rules {
        let reason = if because.is_empty() { String::new() } else { format!(" ({because})") };
        text += &hanging_within(TERMINAL_WIDTH, &format!("{op} {variant}: {place}{reason}"), RULE_INDENT);
        text.push('\n');
    }
    text
}

fn losses_text(Verdict { cases, lost, .. }: &Verdict) -> String {
    let compared = counted(*cases, "case");
    if lost.is_empty() {
        return format!(
            "In {compared}, no pick of auto takes over 5 % longer than the fastest variant, beyond the intervals of both.\n"
        );
    }
    let mut table = Table::listing(&[
        "Op", "N", "dtype", "Density", "Cache", "Picked", "Time", "Fastest", "Time", "Ratio",
    ]);
    for loss in lost {
        table.row([
            loss.op.clone(),
            loss.n.to_string(),
            loss.dtype.clone(),
            loss.density.map_or_else(String::new, |density| density.to_string()),
            loss.cache.clone(),
            loss.picked.clone(),
            quantity::time_text(loss.picked_s),
            loss.fastest.clone(),
            quantity::time_text(loss.fastest_s),
            format!("{:.2}", loss.ratio),
        ]);
    }
    format!(
        "In {} of {compared}, auto picked a variant that takes over 5 % longer than the fastest.\n\n{}\n\
         To use another variant, name it: --variants NAME.\n",
        lost.len(),
        table.text_without_title(false)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use gpubench_model::Accuracy;
    use gpubench_model::case::Cache;

    /// Rows of `auto`, of its pick `cublas` and of `dmma`, with these seconds.
    fn rows(n: u64, auto: f64, cublas: f64, dmma: f64) -> Vec<Row> {
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
    fn differences_within_the_tolerance_or_between_auto_and_its_pick_are_no_loss() {
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
    fn variants_that_the_report_lacks_are_named_with_the_command_that_measures_them() {
        let mut report = example::of(rows(100, 1.0, 1.0, 1.0));
        let found = verdict(&report);
        let [Unmeasured { op, variants }] = found.unmeasured.as_slice() else { panic!("{found:?}") };
        assert_eq!(op, "matmul");
        let has = |name: &str| variants.iter().any(|variant| variant == name);
        assert!(has("f64-accumulate") && has("tiled"), "{variants:?}");
        assert!(!has("auto") && !has("cublas") && !has("dmma") && !has("cublas-tf32"), "{variants:?}");
        let text = text(&found);
        let command = "\n\nTo measure them: gpubench run --backends cuda --variants '*' --ops matmul\n\n";
        assert!(text.contains("\n\nmatmul: ") && text.contains(command), "{text}");
        // A variant that was tried and skipped cannot be measured by another run of that sort.
        for name in variants {
            report.rows.push(example::without_time(
                "matmul",
                100,
                "cuda",
                name,
                Outcome::Skipped,
                "no",
                None,
            ));
        }
        let found = verdict(&report);
        assert_eq!(found.unmeasured, []);
        assert!(!super::text(&found).contains("To measure them"));
    }

    #[test]
    fn the_rules_of_the_compared_ops_are_listed_with_their_reasons() {
        let found = verdict(&example::of(rows(100, 1.0, 1.0, 1.0)));
        assert!(found.rules.iter().all(|rule| rule.op == "matmul") && found.rules.len() > 1);
        let text = rules_text(&found.rules);
        assert!(text.contains("matmul dmma: with fast float64, float32, N <= 512 (one launch"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= TERMINAL_WIDTH), "{text}");
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
