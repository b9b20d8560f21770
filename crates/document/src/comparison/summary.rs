//! Summarizes a comparison in sentences: the result, the counts of cells, the worst cell, the method.

use std::collections::BTreeMap;

use gpubench_analysis::compare::Verdict;
use gpubench_analysis::compare::result::{Change, Comparison, Conclusion, InconclusiveReason};
use gpubench_text::count::counted;
use gpubench_text::cut::fitted;
use gpubench_text::words::json_word;

use super::phrases::{self, percent};

const REASON: usize = 250;

/// Returns `inconclusive (exit code 3)`, with the reason unless the cells show it.
pub(super) fn result(comparison: &Comparison) -> String {
    let gate = &comparison.gate;
    let is_by_cells = match gate.conclusion {
        Conclusion::Pass => true,
        Conclusion::Regression => worst(comparison).is_some(),
        Conclusion::Inconclusive => comparison.cells.iter().any(|cell| comparison.blocks_pass(cell)),
        Conclusion::NotComparable | Conclusion::RatiosOnly => false,
    };
    let reason = if is_by_cells { String::new() } else { format!(": {}", gate.reason) };
    let conclusion = json_word(&gate.conclusion).replace('-', " ");
    format!("{conclusion} (exit code {}){reason}", gate.exit_code)
}

/// Counts the cells by verdict: `43 compared: 0 slower, 18 inconclusive (accepted), 25 same; 7 not measured`.
pub(super) fn tally(comparison: &Comparison) -> String {
    let not_compared = [Verdict::Missing, Verdict::New, Verdict::NotMeasured, Verdict::NotJudged];
    let (others, compared): (Vec<&Change>, Vec<&Change>) =
        comparison.cells.iter().partition(|cell| not_compared.contains(&cell.verdict));
    let mut parts = vec![];
    if !compared.is_empty() {
        // Readers want to see "0 slower".
        let slower = Some(Verdict::Slower);
        parts.push(format!("{} compared: {}", compared.len(), counts(comparison, &compared, slower)));
    }
    if !others.is_empty() {
        parts.push(counts(comparison, &others, None));
    }
    if parts.is_empty() { "none".into() } else { parts.join("; ") }
}

/// Returns the labelled lines below the result: cells, worst cell, means, next step and runs.
pub(super) fn lines(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let lines = [
        ("Cells", Some(tally(comparison))),
        ("Worst", worst(comparison)),
        ("Means", means(comparison)),
        ("Next", comparison.gate.next.clone()),
        ("OLD", Some(phrases::runs(&comparison.old))),
        ("NEW", Some(phrases::runs(&comparison.new))),
    ];
    lines.into_iter().filter_map(|(label, line)| Some((label, line?))).collect()
}

/// Counts the cells by verdict, most severe first; `always` appears even with a count of 0.
pub(super) fn counts(comparison: &Comparison, cells: &[&Change], always: Option<Verdict>) -> String {
    let mut kinds = BTreeMap::<(Verdict, Option<InconclusiveReason>, bool), usize>::new();
    kinds.extend(always.map(|verdict| ((verdict, None, false), 0)));
    for cell in cells {
        let reason = cell.inconclusive_reason.filter(|_| cell.verdict == Verdict::Inconclusive);
        let kind = (cell.verdict, reason, cell.is_accepted(&comparison.gate.accepted));
        *kinds.entry(kind).or_default() += 1;
    }
    let text = |((verdict, reason, is_accepted), count): ((Verdict, _, bool), usize)| {
        let note = if is_accepted { " (accepted)" } else { "" };
        format!("{count} {}{note}", phrases::of_kind(verdict, reason))
    };
    kinds.into_iter().map(text).collect::<Vec<String>>().join(", ")
}

/// Returns the most severe regression of a cell, or of a mean if no cell has one, with its reason; `None` without any.
pub(super) fn worst(comparison: &Comparison) -> Option<String> {
    let cell = comparison.cells.iter().find(|cell| cell.verdict.is_regression());
    let cell = cell.map(|cell| (cell.cell().to_string(), cell.reason.clone()));
    let mut means = comparison.mean_changes.iter().filter(|mean| mean.is_regression());
    let mean = || means.next().map(|mean| (format!("mean of {}", mean.name()), mean.reason.clone()));
    cell.or_else(mean).map(|(name, reason)| format!("{name}: {}", fitted(&reason, REASON)))
}

/// Counts the means by verdict and shows the widest: `15 compared: 3 slower, 12 same; all 60 cells 1.020x slower (1.018 to 1.022)`.
pub(super) fn means(comparison: &Comparison) -> Option<String> {
    let means = &comparison.mean_changes;
    let widest = means.first()?;
    let mut kinds = BTreeMap::<(Verdict, Option<InconclusiveReason>), usize>::new();
    for mean in means {
        *kinds.entry((mean.verdict, mean.inconclusive_reason)).or_default() += 1;
    }
    let text = |((verdict, reason), count)| format!("{count} {}", phrases::of_kind(verdict, reason));
    let counts: Vec<String> = kinds.into_iter().map(text).collect();
    let figures = widest.change()?.with_interval();
    let smallest = widest.smallest_detectable_change.filter(|_| widest.verdict == Verdict::Inconclusive);
    let smallest = smallest.map(|change| format!(", smallest detectable change {}", percent(change)));
    let smallest = smallest.unwrap_or_default();
    Some(format!("{} compared: {}; {} {figures}{smallest}", means.len(), counts.join(", "), widest.name()))
}

/// Returns the result, the counts, the worst cell and the next step on one line.
pub fn one_line(comparison: &Comparison) -> String {
    let mut parts = vec![result(comparison), tally(comparison)];
    parts.extend(means(comparison).map(|means| format!("means: {means}")));
    parts.extend(worst(comparison).map(|worst| format!("worst: {worst}")));
    parts.extend(comparison.gate.next.as_ref().map(|next| format!("next: {next}")));
    parts.join("; ")
}

/// Explains the columns of the cells; `with_p` adds the column `p`.
pub(super) fn legend(comparison: &Comparison, with_p: bool) -> String {
    let confidence = percent(comparison.method.confidence);
    let median = match comparison.old.len() <= 1 && comparison.new.len() <= 1 {
        true => "",
        false => ", the median over all pairs of runs (it can differ from the ratio of the medians shown)",
    };
    let p = if with_p { "; p: probability of such a ratio if nothing changed, corrected" } else { "" };
    format!(
        "change: NEW / OLD{median}; interval: {confidence}{p}; smallest detectable: slowdown detected in 4 of 5 comparisons"
    )
}

/// Describes the tests and the source of the variation between runs, one sentence per line.
pub(super) fn method(comparison: &Comparison) -> Vec<String> {
    let method = &comparison.method;
    let (confidence, alpha) = (percent(method.confidence), percent(method.alpha));
    let thresholds = comparison.cells.iter().map(|cell| cell.threshold);
    let [low, high] = thresholds
        .fold([f64::INFINITY, 0.0], |[low, high], threshold| [threshold.min(low), threshold.max(high)]);
    let threshold = match (low, high) {
        (low, high) if low > high => String::new(),
        (low, high) if low == high => format!(" ({})", percent(low)),
        (low, high) => format!(" ({} to {})", percent(low), percent(high)),
    };
    let (tested, correction) = (counted(method.cells_tested, "cell"), &method.correction);
    let mut lines = vec![];
    if method.cells_tested > 0 {
        lines.push(format!(
            "A cell changed if its {confidence} interval is beyond the threshold{threshold} and p ({correction}, {tested}) <= {alpha}."
        ));
    }
    if let Some(mean) = comparison.mean_changes.first() {
        lines.push(format!(
            "A mean changed if p ({correction}, {} means) <= {alpha} and its interval reaches {}.",
            method.means_tested,
            percent(mean.threshold)
        ));
    }
    lines.push(format!("Variation between runs: {}.", method.variation_source));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::compare::example;

    #[test]
    fn the_result_has_a_reason_where_the_cells_are_not_it() {
        assert_eq!(result(&example::passing()), "pass (exit code 0)");
        let mut inconclusive = example::full();
        (inconclusive.gate.conclusion, inconclusive.gate.exit_code) = (Conclusion::Inconclusive, 3);
        inconclusive.cells.clear();
        let result = result(&inconclusive);
        assert!(result.starts_with("inconclusive (exit code 3): 4 of 15"), "{result}");
    }

    #[test]
    fn the_largest_group_is_named_with_the_smallest_detectable_change() {
        let mut comparison = example::full();
        comparison.mean_changes.remove(0);
        let expected = "2 compared: 1 inconclusive, 1 same; 3 cells of cpu 1.010x slower (0.980 to 1.040), smallest \
                        detectable change 1.1%";
        assert_eq!(means(&comparison).unwrap(), expected);
    }

    #[test]
    fn the_worst_is_a_mean_where_no_cell_is_worse() {
        let mut comparison = example::full();
        comparison.cells.retain(|cell| !cell.verdict.is_regression());
        let expected = "mean of all 6 cells: 1.021x slower (1.017 to 1.025)";
        assert_eq!(worst(&comparison).unwrap(), expected);
        assert_eq!(result(&comparison), "regression (exit code 1)");
    }
}
