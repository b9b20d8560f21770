//! Selects the time of the best correct variant of a side for each case of a report.

use std::cmp::Ordering;

use crate::answer::{Names, Versus, sections_of};
use gpubench_ops::{self as op, OPS};
use gpubench_report::Side;
use gpubench_report::case::{Cache, Case};
use gpubench_report::measure::stats::has_interval;
use gpubench_report::report::{Outcome, Report, Row};
use serde::Serialize;

/// The identity of a line of a fleet's table: a case and a cache state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineKey {
    /// The case.
    #[serde(flatten)]
    pub case: Case,
    /// State of the caches before each execution.
    pub cache: Cache,
    /// The variant, for ops whose variants do different work (uploads, downloads, launches).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

impl LineKey {
    /// Orders by op as in [`OPS`] (unknown ones last), element type, caches, family, size and seed.
    pub fn order(&self, other: &LineKey) -> Ordering {
        self.rank().partial_cmp(&other.rank()).unwrap_or(Ordering::Equal)
    }

    fn rank(&self) -> impl PartialOrd {
        let case = &self.case;
        let op = OPS.iter().position(|op| op.name() == case.op).unwrap_or(OPS.len());
        (op, &case.op, case.dtype, self.cache, case.family(), case.n, case.seed, &self.variant)
    }
}

/// The result of a member for a line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum BestResult {
    /// A time.
    Timed(Timing),
    /// No variant has a time.
    Untimed(MissingTime),
}

impl BestResult {
    /// Returns the time, if there is one.
    pub fn timing(&self) -> Option<&Timing> {
        match self {
            BestResult::Timed(timing) => Some(timing),
            BestResult::Untimed(_) => None,
        }
    }
}

/// The time of the fastest correct variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// Name of the variant.
    pub variant: String,
    /// Median, in seconds, above 0.
    pub median_s: f64,
    /// 95 % interval of the median, in seconds; the range of the samples if there are too few for an interval.
    pub ci95_s: [f64; 2],
    /// True if the samples were enough for an interval.
    #[serde(skip)]
    pub has_interval: bool,
}

/// The reason why a case has no time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MissingTime {
    /// The most severe outcome among the variants.
    pub outcome: Outcome,
    /// The reason in the row with that outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Returns the results of `report` on `side`, in the order of its sections. Ignores variants of reduced precision.
pub fn best(report: &Report, side: Side) -> Vec<(LineKey, BestResult)> {
    let names = Names::of(report);
    let mut found = vec![];
    for section in sections_of(report, Versus::sides_of(report)) {
        for comparison in &section.comparisons {
            // Refinement adds different sizes to each run, and screening samples different variants to precision, so
            // such cells have no counterpart.
            let planned = comparison.rows.iter().filter(|row| !row.added_by_refinement && !row.screened);
            let rows: Vec<&Row> =
                planned.copied().filter(|row| row.side == side && row.is_headline()).collect();
            let Some(first) = rows.first() else { continue };
            let key = |variant| LineKey { case: first.case.clone(), cache: section.cache, variant };
            if op::compares_sides(section.op) {
                let winner = match side {
                    Side::Cpu => comparison.a,
                    Side::Gpu => comparison.b,
                };
                let timing = winner.and_then(|row| timing(row, &names));
                found.push((key(None), timing.unwrap_or_else(|| missing_time(&rows))));
            } else {
                found.extend(rows.iter().map(|&row| {
                    let timing = timing(row, &names).unwrap_or_else(|| missing_time(&[row]));
                    (key(Some(names.name(row))), timing)
                }));
            }
        }
    }
    found
}

/// Returns the time of a measured row; `None` unless it is positive.
fn timing(row: &Row, names: &Names) -> Option<BestResult> {
    let execute = row.execute.as_ref().filter(|execute| execute.median_s > 0.0)?;
    (row.outcome == Outcome::Measured).then(|| {
        BestResult::Timed(Timing {
            variant: names.name(row),
            median_s: execute.median_s,
            ci95_s: execute.ci95_s,
            has_interval: has_interval(execute.samples_s.len()),
        })
    })
}

/// Returns the most severe outcome of the rows: incorrect, failed, skipped, in this order.
fn missing_time(rows: &[&Row]) -> BestResult {
    let order = [Outcome::Incorrect, Outcome::Failed, Outcome::Skipped];
    let worst =
        rows.iter().min_by_key(|row| order.iter().position(|outcome| *outcome == row.outcome).unwrap_or(3));
    BestResult::Untimed(MissingTime {
        outcome: worst.map_or(Outcome::Skipped, |row| row.outcome),
        reason: worst.and_then(|row| row.reason.clone()),
    })
}

/// Returns the median of several runs (the faster of the middle two), with an interval that contains all their medians.
pub fn middle(all: Vec<BestResult>) -> Option<BestResult> {
    let mut timings: Vec<&Timing> = all.iter().filter_map(BestResult::timing).collect();
    timings.sort_by(|a, b| a.median_s.total_cmp(&b.median_s));
    let (Some(first), Some(last)) = (timings.first(), timings.last()) else {
        return all.into_iter().next();
    };
    let mut middle = timings[(timings.len() - 1) / 2].clone();
    middle.ci95_s = [middle.ci95_s[0].min(first.median_s), middle.ci95_s[1].max(last.median_s)];
    Some(BestResult::Timed(middle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::Accuracy;
    use gpubench_report::report::example::{empty, full, measured, without_time};

    #[test]
    fn the_best_correct_variant_of_full_precision_represents_a_side() {
        let mut report = empty();
        report.rows = vec![
            measured("matmul", 10, "cuda", "cublas", 2e-6),
            measured("matmul", 10, "cuda", "tiled", 5e-6),
            measured("matmul", 10, "cuda", "cublas-tf32", 1e-6),
            measured("matmul", 10, "cpu", "faer", 9e-6),
            measured("matmul", 11, "cuda", "cublas", 2e-6),
        ];
        report.rows[2].accuracy = Accuracy::Tf32;
        // Sizes that refinement added have no counterpart on other devices.
        report.rows[4].added_by_refinement = true;
        let found = best(&report, Side::Gpu);
        assert_eq!(found.len(), 1);
        let timing = found[0].1.timing().unwrap();
        assert_eq!((timing.variant.as_str(), timing.median_s), ("cublas", 2e-6));
    }

    #[test]
    fn a_side_without_a_time_has_the_most_severe_outcome() {
        let found = best(&full(), Side::Gpu);
        let BestResult::Untimed(missing) = &found[2].1 else { panic!("{found:?}") };
        assert_eq!(
            (missing.outcome, missing.reason.as_deref()),
            (Outcome::Incorrect, Some("error 0.5 above 1.2e-5"))
        );
        let mut report = empty();
        report.rows = vec![without_time("fft", 8, "cpu", "x", Outcome::Failed, "y", None)];
        assert!(best(&report, Side::Gpu).is_empty());
    }

    #[test]
    fn variants_that_do_different_work_have_a_line_each() {
        let mut report = empty();
        report.rows = vec![
            measured("transfer", 10, "cuda", "upload", 2e-6),
            measured("transfer", 10, "cuda", "download", 5e-6),
            without_time("transfer", 10, "cuda", "both", Outcome::Failed, "why", None),
        ];
        let found = best(&report, Side::Gpu);
        let line = |(key, best): &(LineKey, BestResult)| {
            (key.variant.clone().unwrap(), best.timing().map(|found| found.median_s))
        };
        let lines: Vec<_> = found.iter().map(line).collect();
        let expected = [("upload", Some(2e-6)), ("download", Some(5e-6)), ("both", None)];
        assert_eq!(lines, expected.map(|(variant, time)| (variant.to_owned(), time)));
    }

    #[test]
    fn keys_follow_the_order_of_the_ops_then_of_sizes() {
        let mut keys: Vec<LineKey> = best(&full(), Side::Cpu).into_iter().map(|(key, _)| key).collect();
        keys.push(keys[0].clone());
        keys.last_mut().unwrap().case.op = "zeta".into();
        keys.reverse();
        keys.sort_by(LineKey::order);
        let found: Vec<(&str, u64)> = keys.iter().map(|key| (key.case.op.as_str(), key.case.n)).collect();
        assert_eq!(found, [("matmul", 100), ("matmul", 10000), ("spgemm", 512), ("zeta", 100)]);
    }
}
