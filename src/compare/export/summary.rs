//! The comparison as a whole in words: the result, the tally of its cells, the worst of them, how it was made. Knows no
//! layout.

use std::collections::BTreeMap;

use super::words::{self, percent};
use crate::compare::{Change, Comparison, Conclusion, Mean, Verdict};

/// Characters of the worst cell's reason.
const REASON: usize = 250;

/// Means of ops that differ from 1 and are told; the others are counted.
const MEANS_SHOWN: usize = 3;

/// How far from 1 a geometric mean is worth telling.
const MEAN_CHANGE: f64 = 0.01;

/// The conclusion: `could not tell`.
pub fn conclusion(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Pass => "pass",
        Conclusion::Regression => "regression",
        Conclusion::NotComparable => "not comparable",
        Conclusion::CannotTell => "could not tell",
        Conclusion::RatiosOnly => "ratios only",
    }
}

/// The conclusion and the exit code, with the reason where the cells are not it: `could not tell (exit code 3)`.
pub fn result(comparison: &Comparison) -> String {
    let gate = &comparison.gate;
    let is_by_cells = match gate.conclusion {
        Conclusion::Pass => true,
        Conclusion::Regression => worst(comparison).is_some(),
        Conclusion::CannotTell => comparison.cells.iter().any(|cell| comparison.holds_up(cell)),
        Conclusion::NotComparable | Conclusion::RatiosOnly => false,
    };
    let reason = if is_by_cells { String::new() } else { format!(": {}", gate.reason) };
    format!("{} (exit code {}){reason}", conclusion(gate.conclusion), gate.exit_code)
}

/// How many cells became what: `43 compared: 0 slower, 18 maybe slower (accepted), 25 same; 7 not measured`.
pub fn tally(comparison: &Comparison) -> String {
    let apart = [Verdict::Missing, Verdict::New, Verdict::NotMeasured, Verdict::NotJudged];
    let (apart, compared): (Vec<&Change>, Vec<&Change>) =
        comparison.cells.iter().partition(|cell| apart.contains(&cell.verdict));
    let mut parts = vec![];
    if !compared.is_empty() {
        // That nothing is slower is worth saying.
        let slower = Some(Verdict::Slower);
        parts.push(format!("{} compared: {}", compared.len(), counts(comparison, &compared, slower)));
    }
    if !apart.is_empty() {
        parts.push(counts(comparison, &apart, None));
    }
    if parts.is_empty() { "none on either side".into() } else { parts.join("; ") }
}

/// How many of these cells became what, the gravest first; `always` is counted even if none did.
pub fn counts(comparison: &Comparison, cells: &[&Change], always: Option<Verdict>) -> String {
    let mut kinds: BTreeMap<(Verdict, Option<u8>, bool), (String, usize)> = BTreeMap::new();
    if let Some(verdict) = always {
        kinds.insert((verdict, None, false), (words::of_kind(verdict, None), 0));
    }
    for cell in cells {
        let doubt = cell.doubt.filter(|_| cell.verdict == Verdict::Unsure);
        let kind =
            (cell.verdict, doubt.map(|doubt| doubt as u8), cell.is_accepted(&comparison.gate.accepted));
        kinds.entry(kind).or_insert_with(|| (words::verdict(cell), 0)).1 += 1;
    }
    let text = |((_, _, is_accepted), (word, count)): (&(Verdict, Option<u8>, bool), &(String, usize))| {
        format!("{count} {word}{}", if *is_accepted { " (accepted)" } else { "" })
    };
    kinds.iter().map(text).collect::<Vec<String>>().join(", ")
}

/// The gravest regression with its reason; `None` without one.
pub fn worst(comparison: &Comparison) -> Option<String> {
    let worst = comparison.cells.iter().find(|cell| cell.verdict.is_regression())?;
    Some(format!("{}: {}", worst.cell(), words::short(&worst.reason, REASON)))
}

/// All of it in one line.
pub fn one_line(comparison: &Comparison) -> String {
    let mut parts = vec![result(comparison), tally(comparison)];
    parts.extend(worst(comparison).map(|worst| format!("worst: {worst}")));
    parts.extend(comparison.gate.next.as_ref().map(|next| format!("next: {next}")));
    parts.join("; ")
}

/// The geometric means that differ from 1, the farthest first: `matmul cuda 1.47x slower`; `None` without any.
pub fn means(comparison: &Comparison) -> Option<String> {
    let means = &comparison.means;
    let change = |mean: &Mean| mean.ratio.max(1.0 / mean.ratio) - 1.0;
    let mut found: Vec<&Mean> = means.iter().filter(|mean| change(mean) > MEAN_CHANGE).collect();
    found.sort_by(|a, b| change(b).total_cmp(&change(a)));
    let has_types = means.windows(2).any(|pair| pair[0].dtype != pair[1].dtype);
    let has_caches = means.windows(2).any(|pair| pair[0].cache != pair[1].cache);
    let text = |mean: &&Mean| {
        let mut text = format!("{} {}", mean.op, mean.backend);
        text += &if has_types { format!(" {}", mean.dtype.name()) } else { String::new() };
        text += &if has_caches { format!(" {}", mean.cache) } else { String::new() };
        format!("{text} {}", words::change(mean.ratio, None).0)
    };
    let mut texts: Vec<String> = found.iter().take(MEANS_SHOWN).map(text).collect();
    let more = found.len().saturating_sub(MEANS_SHOWN);
    texts.extend((more > 0).then(|| format!("{more} more")));
    (!texts.is_empty()).then(|| format!("Geomeans: {}", texts.join(", ")))
}

/// What the columns of the cells mean; `with_p` where `p` is among them.
pub fn legend(comparison: &Comparison, with_p: bool) -> String {
    let confidence = percent(comparison.method.confidence);
    let has_one_run = comparison.old.len() <= 1 && comparison.new.len() <= 1;
    let (median, shown) = match has_one_run {
        true => ("", "shown"),
        false => (
            ", the median of the ratios of every run of NEW to every run of OLD (it need not be the quotient of the two \
             medians shown)",
            "that these data would have shown",
        ),
    };
    let p = if with_p { "; p: chance of such a ratio if nothing changed, corrected" } else { "" };
    format!(
        "change: NEW over OLD{median}, with its {confidence} interval{p}; could detect: smallest slowdown {shown} 4 times \
         of 5"
    )
}

/// When a change counts and where the spread came from, one line a sentence.
pub fn method(comparison: &Comparison) -> [String; 2] {
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
    let (tested, correction) = (words::count(method.tested), &method.correction);
    [
        format!(
            "Slower or faster: {confidence} interval beyond the threshold{threshold}, p ({correction}, {tested}) at most \
             {alpha}."
        ),
        format!("Spread between runs: {}.", method.spread),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::example;

    #[test]
    fn the_tally_counts_every_cell_once_and_tells_what_was_accepted() {
        let mut comparison = example::full();
        let compared = "11 compared: 1 newly incorrect, 1 newly failed, 1 slower, 1 less accurate, 1 maybe slower, \
            1 maybe faster, 1 clock, 1 different, 1 faster, 2 same; ";
        let apart = "1 missing, 1 new, 1 not measured, 1 not judged";
        assert_eq!(tally(&comparison), format!("{compared}{apart}"));
        comparison.gate.accepted = vec![Verdict::Missing, Verdict::Unsure];
        let text = tally(&comparison);
        for accepted in [
            "1 maybe slower (accepted), 1 maybe faster, 1 clock (accepted), 1 different, ",
            "; 1 missing (accepted), ",
        ] {
            assert!(text.contains(accepted), "{text}");
        }
        assert_eq!(tally(&example::passing()), "2 compared: 0 slower, 2 same");
    }

    #[test]
    fn the_result_has_a_reason_where_the_cells_are_not_it() {
        assert_eq!(result(&example::full()), "regression (exit code 1)");
        assert_eq!(result(&example::passing()), "pass (exit code 0)");
        assert_eq!(
            result(&example::across_machines(false)),
            "not comparable (exit code 2): gpu-model differs"
        );
        let mut unsure = example::full();
        (unsure.gate.conclusion, unsure.gate.exit_code) = (Conclusion::CannotTell, 3);
        assert_eq!(result(&unsure), "could not tell (exit code 3)");
        unsure.cells.clear();
        assert!(result(&unsure).starts_with("could not tell (exit code 3): 4 of 15"), "{}", result(&unsure));
    }

    #[test]
    fn means_within_a_per_cent_are_not_told_and_the_farthest_is_first() {
        let mut comparison = example::full();
        assert_eq!(means(&comparison).unwrap(), "Geomeans: matmul cuda 1.19x slower");
        comparison.means[1].ratio = 0.5;
        let expected = "Geomeans: matmul cpu 2.00x faster, matmul cuda 1.19x slower";
        assert_eq!(means(&comparison).unwrap(), expected);
        comparison.means.iter_mut().for_each(|mean| mean.ratio = 0.995);
        assert_eq!(means(&comparison), None);
    }
}
