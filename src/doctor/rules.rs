//! `gpubench doctor --rules REPORT`: finds the cases in which the variant `auto` picked one that is slower than another.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, ensure};
use gpubench_text::count::counted;
use gpubench_text::table::Table;
use serde::Serialize;

use crate::report::{Outcome, Report, Row, file, quantity};

/// Name of the variant that picks another one by rules.
const AUTO: &str = "auto";

/// A rule has lost where the pick takes more than this many times as long as the fastest variant.
const TOLERANCE: f64 = 1.05;

/// What a report says about the rules of `auto`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Number of cases in which `auto` and a variant that it did not pick have times.
    pub cases: usize,
    /// The cases in which a rule has lost, the worst first.
    pub lost: Vec<Loss>,
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
        "{}: no case has times of auto and of another variant: make a report with gpubench run --backends cuda --variants '*'",
        report.display()
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
    let compared: Vec<Option<Loss>> = by_case.values().filter_map(|rows| compare(rows)).collect();
    let cases = compared.len();
    let mut lost: Vec<Loss> = compared.into_iter().flatten().collect();
    lost.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    Verdict { cases, lost }
}

/// Returns the loss of one case, if there is one; `None` if the rows do not allow a comparison.
fn compare(rows: &[&Row]) -> Option<Option<Loss>> {
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
    Some(is_lost.then(|| Loss {
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
    }))
}

fn text(Verdict { cases, lost }: &Verdict) -> String {
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
         To use another variant, name it: --variants NAME. The rules are in docs/variants.md.\n",
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
