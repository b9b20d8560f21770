//! Formats the numbers and verdicts of a comparison that only documents show: times, p-values, verdicts, runs.

use gpubench_analysis::compare::Verdict;
pub use gpubench_analysis::compare::phrases::{NONE, change, percent};
use gpubench_analysis::compare::result::{InconclusiveReason, JudgedSubject, Judgement, Measured};
use gpubench_analysis::compare::runs::RunInfo;
use gpubench_report::report::quantity::time_within;
use gpubench_text::count::counted;
use gpubench_text::grouped::distinct;
use gpubench_text::words::json_word;

/// Formats a side's time with the digits that its variation between runs justifies.
pub fn time(measured: Option<&Measured>, variation: Option<f64>) -> String {
    let text = |measured: &Measured| {
        let runs = measured.runs.max(1) as f64;
        let half_width = variation.map(|variation| measured.median_s * variation / runs.sqrt());
        time_within(measured.median_s, half_width)
    };
    measured.map_or(NONE.into(), text)
}

/// Formats a p-value: `0.43`, `0.012`, `2e-6`.
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 1e-99 => "<1e-99".into(),
        p if p < 0.001 => format!("{p:.0e}"),
        p if p < 0.0995 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// Returns the words for a verdict: `newly incorrect`, `slower`, `inconclusive`, `lower clock`.
pub fn verdict<T>(judged: &Judgement<T>) -> String {
    of_kind(judged.verdict, judged.inconclusive_reason)
}

/// Returns the words of [`verdict`]: an inconclusive cell is named by its reason, unless it may be slower, which is no
/// finding; a cell whose interval excludes a slowdown beyond the threshold is `not slower`.
pub fn of_kind(verdict: Verdict, reason: Option<InconclusiveReason>) -> String {
    match (verdict, reason) {
        (Verdict::Inconclusive, None | Some(InconclusiveReason::MaybeSlower)) => "inconclusive".into(),
        (Verdict::Inconclusive, Some(InconclusiveReason::MaybeFaster)) => "not slower".into(),
        (Verdict::Inconclusive, Some(reason)) => json_word(&reason).replace('-', " "),
        _ => verdict.words(),
    }
}

/// Returns what follows the change with which a reason begins: `which may be chance` of `1.31x slower (1.28 to 1.34), which may be
/// chance`; `None` if it begins otherwise.
pub fn reason_after_change<T: JudgedSubject>(judged: &Judgement<T>) -> Option<&str> {
    let rest = judged.reason.strip_prefix(&judged.change()?.with_interval())?;
    Some(rest.trim_start_matches([',', ';', ' ']))
}

/// Formats a side's runs: `3 runs: base/1, base/2, base/3 (gpubench 0123abc on node)`.
pub fn runs(runs: &[RunInfo]) -> String {
    const NAMED: usize = 3;
    let mut names: Vec<&str> = runs.iter().take(NAMED).map(|run| run.report.name.as_str()).collect();
    let more = format!("{} more", runs.len().saturating_sub(NAMED));
    names.extend((runs.len() > NAMED).then_some(more.as_str()));
    let builds = distinct(runs.iter().map(|run| run.report.build())).join(", ");
    let hosts = distinct(runs.iter().map(|run| run.report.host.as_str())).join(", ");
    format!("{}: {} (gpubench {builds} on {hosts})", counted(runs.len(), "run"), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_short() {
        let p_values = [(0.0, "<1e-99"), (2.4e-6, "2e-6"), (0.0123, "0.012"), (0.43, "0.43"), (1.0, "1.00")];
        for (p, text) in p_values {
            assert_eq!(p_value(p), text);
        }
    }

    #[test]
    fn inconclusive_cells_are_named_by_their_reason() {
        let words = [
            (Verdict::Inconclusive, Some(InconclusiveReason::MaybeSlower), "inconclusive"),
            (Verdict::Inconclusive, Some(InconclusiveReason::MaybeFaster), "not slower"),
            (Verdict::Inconclusive, Some(InconclusiveReason::LowerClock), "lower clock"),
            (Verdict::Inconclusive, Some(InconclusiveReason::Disturbed), "disturbed"),
            (Verdict::Inconclusive, None, "inconclusive"),
            (Verdict::LessAccurate, Some(InconclusiveReason::MaybeFaster), "less accurate"),
            (Verdict::NewlyFailed, None, "newly failed"),
        ];
        for (verdict, reason, text) in words {
            assert_eq!(of_kind(verdict, reason), text);
        }
    }
}
