//! Draws the conclusion of the comparison from the verdicts on cells and means and from the environment.

use gpubench_text::count::counted;

use crate::compare::environment::{Difference, Severity};
use crate::compare::result::{Change, Conclusion, Gate, InconclusiveReason, MeanChange, VerdictCount};
use crate::compare::{Policy, Verdict};

type Concluded = (Conclusion, String, Option<String>);

/// Returns the gate. `cells` are sorted by severity, `means` by the size of the group.
pub(crate) fn conclude(
    cells: &[Change],
    means: &[MeanChange],
    environment: &[Difference],
    policy: &Policy,
) -> Gate {
    let accepted =
        [(Verdict::Missing, policy.accept_missing), (Verdict::Inconclusive, policy.accept_inconclusive)];
    let accepted = accepted.into_iter().filter(|(_, is_accepted)| *is_accepted);
    let accepted: Vec<Verdict> = accepted.map(|(verdict, _)| verdict).collect();
    let ratios_only = || {
        let reason = "the machines may differ, so gpubench shows ratios and concludes nothing";
        policy.cross_machine.then(|| (Conclusion::RatiosOnly, reason.to_owned(), None))
    };
    let (conclusion, reason, next) = not_comparable(cells, environment, policy)
        .or_else(ratios_only)
        .or_else(|| regression(cells, means))
        .unwrap_or_else(|| without_regression(cells, &accepted));
    let exit_code = match conclusion {
        Conclusion::Pass | Conclusion::RatiosOnly => 0,
        Conclusion::Regression => 1,
        Conclusion::NotComparable => 2,
        Conclusion::Inconclusive => 3,
    };
    Gate { conclusion, exit_code, reason, next, accepted }
}

/// Returns the conclusion if nothing is worse: inconclusive if a cell is open whose verdict the user does not accept.
fn without_regression(cells: &[Change], accepted: &[Verdict]) -> Concluded {
    let (settled, open): (Vec<&Change>, Vec<&Change>) =
        cells.iter().filter(|change| change.is_open()).partition(|change| change.is_accepted(accepted));
    if let Some(first) = open.first() {
        let reason = format!("{}; first: {}, {}", tally(&open), first.cell(), first.reason);
        let accept = match (first.verdict, first.inconclusive_reason) {
            (Verdict::Missing, _) => "--accept-missing",
            (_, Some(InconclusiveReason::NotComparable)) => "",
            _ => "--accept-inconclusive",
        };
        let steps = [first.next.as_deref().unwrap_or_default(), accept];
        let steps: Vec<&str> = steps.into_iter().filter(|step| !step.is_empty()).collect();
        return (Conclusion::Inconclusive, reason, Some(steps.join("; or ")));
    }
    let none = match cells.iter().filter(|change| change.p.is_some()).count() {
        1 => "the only cell is not".into(),
        judged => format!("none of {judged} cells is"),
    };
    let reason = match settled.is_empty() {
        true => format!("{none} worse"),
        false => format!("{none} known to be worse; accepted: {}", tally(&settled)),
    };
    (Conclusion::Pass, reason, None)
}

fn regression(cells: &[Change], means: &[MeanChange]) -> Option<Concluded> {
    let cells: Vec<&Change> = cells.iter().filter(|change| change.verdict.is_regression()).collect();
    let means: Vec<&MeanChange> = means.iter().filter(|mean| mean.is_regression()).collect();
    let counts = [
        (!cells.is_empty()).then(|| tally(&cells)),
        (!means.is_empty()).then(|| format!("{} slower", counted(means.len(), "mean"))),
    ];
    let counts = counts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let (first, next) = match (cells.first(), means.first()) {
        (Some(worst), _) => (format!("{}, {}", worst.cell(), worst.reason), worst.next.clone()),
        (None, Some(worst)) => (format!("mean of {}, {}", worst.name(), worst.reason), worst.next.clone()),
        (None, None) => return None,
    };
    Some((Conclusion::Regression, format!("{counts}; first: {first}"), next))
}

fn not_comparable(cells: &[Change], environment: &[Difference], policy: &Policy) -> Option<Concluded> {
    let blocks = environment.iter().find(|difference| difference.severity == Severity::Block);
    if let Some(difference) = blocks.filter(|_| !policy.cross_machine) {
        let Difference { fact, old, new, .. } = difference;
        let reason = format!("the environments differ in {fact}: OLD has {old}, NEW has {new}");
        let next = format!(
            "compare runs of one machine, show only ratios with --cross-machine, or set {fact} = \"warn\" in a policy file"
        );
        return Some((Conclusion::NotComparable, reason, Some(next)));
    }
    // A regression without a time, such as a wrong answer, is still a comparison.
    if cells.iter().any(|change| change.p.is_some() || change.verdict.is_regression()) {
        return None;
    }
    let ignored = cells.iter().any(|change| change.verdict == Verdict::NotJudged && change.ratio.is_some());
    let (reason, next) = match ignored {
        true => ("the policy ignores every cell that has a time on both sides", "ignore fewer cells"),
        false => (
            "no cell has a time on both sides that can be compared",
            "compare reports of the same sweep: ops, sizes, dtypes, variants, --cache and --seed must agree",
        ),
    };
    Some((Conclusion::NotComparable, reason.into(), Some(next.into())))
}

/// Counts the cells by verdict, such as `2 cells slower, 1 missing`.
fn tally(cells: &[&Change]) -> String {
    let counts = VerdictCount::of(cells.iter().copied()).into_iter().enumerate();
    let words = counts.map(|(index, VerdictCount { verdict, cells })| match index {
        0 => format!("{} {}", counted(cells, "cell"), verdict.words()),
        _ => format!("{cells} {}", verdict.words()),
    });
    words.collect::<Vec<String>>().join(", ")
}
