//! Judges one cell from its results on both sides.

use super::{COMMAND, HISTORY, MIN_RUNS, SEE_WHAT_CHANGED};
use crate::compare::pairs::CellPair;
use crate::compare::pairs::evidence::{CLOCK_CHANGE, CellEvidence, CellTimes};
use crate::compare::phrases::{ChangeText, percent};
use crate::compare::planning;
use crate::compare::result::{ComparedCell, Judgement};
use crate::compare::statistics::ranks::rank_test;
use crate::compare::statistics::shift::{OWN_SHARE, POWER, Shift};
use crate::compare::variance::{RunVariance, threshold};
use crate::compare::{Change, InconclusiveReason, Limits, Verdict};

const ERROR_GROWTH: f64 = 4.0;

/// Share of its bound below which an error may grow by any factor: another order of additions moves small errors a lot.
const MIN_ERROR_SHARE: f64 = 0.1;

const ROUNDS_ALPHA: f64 = 0.05;

/// Smallest degrees of freedom for the test by a cell's own runs: with one, Student's t is 31.8 at 99 %.
const MIN_OWN_DF: f64 = 2.0;

/// The reason that a cell of brief samples is not judged.
const SCREENED: &str = "sampled only briefly, because it was far behind the best of its side";

/// A pair with its ratio, before the correction for the number of cells.
#[derive(Clone, Debug)]
pub(crate) struct CellTest<'a> {
    pair: &'a CellPair,
    limits: Limits,
    shift: Option<Shift>,
    run_variance: Option<RunVariance>,
    threshold: f64,
    /// The reason why its times cannot be compared, with the next step; `None` if they can.
    incomparable: Option<(String, &'static str)>,
    /// The raw p-value of its ratio, if it is tested.
    pub p: Option<f64>,
    /// The shift with the variance of the cell's own runs alone, if they have one.
    own_shift: Option<Shift>,
}

impl<'a> CellTest<'a> {
    /// Computes the ratio of its times, if both sides have some.
    pub(crate) fn of(pair: &'a CellPair, limits: Limits, run_variance: Option<RunVariance>) -> CellTest<'a> {
        let shift_by =
            |(variance, df)| pair.both().map(|(old, new)| Shift::of(&old.runs, &new.runs, variance, df));
        let shift = run_variance.and_then(|of_run| shift_by((of_run.variance, of_run.df)));
        let own = run_variance.and_then(|of_run| of_run.own).filter(|(_, df)| *df >= MIN_OWN_DF);
        let own_shift = own.and_then(shift_by);
        let incomparable = pair.incomparable();
        let p = shift.filter(|_| !limits.is_ignored() && incomparable.is_none()).map(Shift::p);
        let threshold = threshold(pair, &limits);
        CellTest { pair, limits, shift, run_variance, threshold, incomparable, p, own_shift }
    }

    /// Returns the change with its verdict. A cell that a run sampled only briefly is never inconclusive.
    pub(crate) fn judge(&self, corrected: Option<f64>, alpha: f64, tested: usize) -> Change {
        let change = self.judge_times(corrected, alpha, tested);
        match self.pair.is_screened && change.verdict == Verdict::Inconclusive {
            true => with_verdict(change, Verdict::NotJudged, SCREENED, None),
            false => change,
        }
    }

    fn judge_times(&self, corrected: Option<f64>, alpha: f64, tested: usize) -> Change {
        let pair = self.pair;
        let (old, new) = (&pair.old, &pair.new);
        let mut change = self.unjudged(corrected, alpha, tested);
        if self.limits.is_ignored() {
            return with_verdict(change, Verdict::NotJudged, "ignored by the policy", None);
        }
        if let Some((verdict, reason, next)) = broken(old, new) {
            return with_verdict(change, verdict, reason, next);
        }
        let (Some(shift), Some((old, new))) = (self.shift, pair.both()) else {
            let (verdict, reason, next) = one_sided(old, new);
            return with_verdict(change, verdict, reason, next);
        };
        if let Some((reason, next)) = self.incomparable.clone() {
            change.inconclusive_reason = Some(InconclusiveReason::NotComparable);
            return with_verdict(change, Verdict::Inconclusive, reason, Some(next.to_owned()));
        }
        // A cell noisier than the others must also be significant by its own runs; few cells are, so without correction.
        let significant_by_own_runs = self.own_shift.is_none_or(|shift| shift.p() <= OWN_SHARE * alpha);
        let significant = corrected.is_some_and(|p| p <= alpha)
            && significant_by_own_runs
            && change.p_rounds.is_none_or(|p| p <= ROUNDS_ALPHA);
        let (verdict, inconclusive_reason) = by_time(shift, old, new, self.threshold, significant);
        (change.verdict, change.inconclusive_reason) = (verdict, inconclusive_reason);
        (change.reason, change.next) =
            reason_and_next(&change, significant, self.more_runs(shift, old, new, alpha, tested));
        let growth = self.limits.error_growth.unwrap_or(ERROR_GROWTH);
        if !change.verdict.is_regression()
            && let Some(reason) = less_accurate(old, new, growth)
        {
            let next = "look at what changed in its arithmetic, or allow larger errors with error-growth in a policy file";
            return with_verdict(change, Verdict::LessAccurate, reason, Some(next.into()));
        }
        change
    }

    /// Returns the next step for an inconclusive cell: the number of runs that would decide it.
    fn more_runs(&self, shift: Shift, old: &CellTimes, new: &CellTimes, alpha: f64, tested: usize) -> String {
        let Some(run_variance) = self.run_variance.filter(|variance| variance.own.is_some()) else {
            return format!(
                "give {MIN_RUNS} runs per side ({COMMAND}) or {HISTORY}: one run shows no variation"
            );
        };
        // The further the change, the fewer runs it takes.
        let slowdown = (2.0 * self.threshold).max(shift.log.abs().exp_m1());
        match planning::runs_to_detect(slowdown, run_variance.variance.sqrt(), alpha, tested) {
            Some(runs) => {
                let runs = runs.max(old.runs.len().max(new.runs.len()) + 1);
                format!("give {runs} runs per side ({COMMAND}), or a wider --threshold")
            }
            None => format!(
                "give a wider --threshold: even {} runs per side would be inconclusive",
                planning::MAX_RUNS
            ),
        }
    }

    fn unjudged(&self, corrected: Option<f64>, alpha: f64, tested: usize) -> Change {
        let (pair, shift) = (self.pair, self.shift);
        let measured = |evidence: &CellEvidence| evidence.times.as_ref().map(|times| times.measured.clone());
        let ranks = pair.both().and_then(|(old, new)| rank_test(&old.rounds, &new.rounds));
        let least = self.own_shift.map_or(0.0, |shift| shift.smallest_significant(OWN_SHARE * alpha, POWER));
        let alpha = alpha / tested.max(1) as f64;
        Change {
            ratio: shift.map(Shift::ratio),
            interval: shift.map(Shift::ratio_interval),
            p: self.p,
            p_corrected: corrected,
            p_rounds: ranks,
            smallest_detectable_change: shift
                .map(|shift| shift.smallest_detectable(self.threshold, alpha, POWER).max(least))
                .filter(|change| change.is_finite()),
            variation_between_runs: self.run_variance.map(|of_run| of_run.variance.sqrt()),
            old: measured(&pair.old),
            new: measured(&pair.new),
            ..Judgement::without_figures(
                ComparedCell { cell: pair.cell.clone(), side: pair.side },
                self.threshold,
            )
        }
    }
}

fn with_verdict(
    mut change: Change,
    verdict: Verdict,
    reason: impl Into<String>,
    next: Option<String>,
) -> Change {
    (change.verdict, change.reason, change.next) = (verdict, reason.into(), next);
    if verdict != Verdict::Inconclusive {
        change.inconclusive_reason = None;
    }
    change
}

/// Returns the verdict for wrong answers and failures that are new or more frequent, or that leave no time to judge by.
fn broken(old: &CellEvidence, new: &CellEvidence) -> Option<(Verdict, String, Option<String>)> {
    let kinds = [
        (old.incorrect_share, new.incorrect_share, &new.incorrect, Verdict::NewlyIncorrect, "incorrect"),
        (old.failed_share, new.failed_share, &new.failed, Verdict::NewlyFailed, "failed"),
    ];
    let more_often = kinds.iter().find(|(was, is, ..)| is > was && old.times.is_some());
    if let Some((was, _, reason, verdict, word)) = more_often {
        let before = match *was > 0.0 {
            true => format!("{word} in some runs of OLD and in more runs of NEW"),
            false => format!("was measured, now {word}"),
        };
        let reason = reason.as_deref().unwrap_or_default();
        let next = "fix it, or exclude the cell with ignore = true in a policy file".to_owned();
        return Some((*verdict, format!("{before}: {reason}"), Some(next)));
    }
    if new.times.is_some() {
        return None;
    }
    let (was, _, reason, _, word) = kinds.into_iter().find(|(_, is, ..)| *is > 0.0)?;
    let before = if was > 0.0 { " on both sides" } else { ", and OLD has no time" };
    Some((Verdict::NotMeasured, format!("{word}{before}: {}", reason.as_deref().unwrap_or_default()), None))
}

/// Returns the verdict for a cell that has a time on at most one side.
fn one_sided(old: &CellEvidence, new: &CellEvidence) -> (Verdict, String, Option<String>) {
    let without = |side: &CellEvidence, absent: &str| match (&side.incorrect, &side.failed, &side.skipped) {
        (Some(reason), _, _) => format!("incorrect: {reason}"),
        (_, Some(reason), _) => format!("failed: {reason}"),
        (_, _, Some((reason, _))) => format!("skipped: {reason}"),
        _ => absent.to_owned(),
    };
    let now = || without(new, "NEW does not contain it");
    match (&old.times, &new.times) {
        (Some(_), _) => {
            let fix = new.skipped.as_ref().and_then(|(_, fix)| fix.clone());
            let next = fix.unwrap_or_else(|| "run it again in NEW".into());
            (Verdict::Missing, format!("was measured, now {}", now()), Some(next))
        }
        (_, Some(_)) => {
            (Verdict::New, format!("OLD has no time: {}", without(old, "OLD does not contain it")), None)
        }
        _ => (Verdict::NotMeasured, now(), None),
    }
}

fn by_time(
    shift: Shift,
    old: &CellTimes,
    new: &CellTimes,
    threshold: f64,
    significant: bool,
) -> (Verdict, Option<InconclusiveReason>) {
    let limit = threshold.ln_1p();
    let [low, high] = shift.interval();
    let cycles = cycles(shift, old, new);
    match cycles {
        _ if !significant => {}
        Some((clock, [cycles_low, _])) if low > limit && clock < -CLOCK_CHANGE && cycles_low <= limit => {
            return (Verdict::Inconclusive, Some(InconclusiveReason::LowerClock));
        }
        // It is not slower at any clock, so the gate may pass.
        Some((clock, [_, cycles_high])) if high < -limit && clock > CLOCK_CHANGE && cycles_high >= -limit => {
            return (Verdict::Inconclusive, Some(InconclusiveReason::MaybeFaster));
        }
        _ if low > limit => return (Verdict::Slower, None),
        _ if high < -limit => return (Verdict::Faster, None),
        _ => {}
    }
    without_change(shift, limit)
}

/// Returns the verdict for a cell or mean that is neither slower nor faster: same if its interval lies within `limit`.
pub(crate) fn without_change(shift: Shift, limit: f64) -> (Verdict, Option<InconclusiveReason>) {
    let [low, high] = shift.interval();
    match (low >= -limit, high <= limit) {
        (true, true) => (Verdict::Same, None),
        (_, true) => (Verdict::Inconclusive, Some(InconclusiveReason::MaybeFaster)),
        _ => (Verdict::Inconclusive, Some(InconclusiveReason::MaybeSlower)),
    }
}

/// Returns the change of the multiprocessor clock and the interval of the change in cycles, both as logarithms.
fn cycles(shift: Shift, old: &CellTimes, new: &CellTimes) -> Option<(f64, [f64; 2])> {
    if old.clocks.is_empty() || new.clocks.is_empty() {
        return None;
    }
    let clock = Shift::of(&old.clocks, &new.clocks, 0.0, shift.df).log;
    Some((clock, Shift { log: shift.log + clock, ..shift }.interval()))
}

fn less_accurate(old: &CellTimes, new: &CellTimes, growth: f64) -> Option<String> {
    let (was, is) = (old.measured.error?, new.measured.error?);
    (is.value > (growth * was.value).max(MIN_ERROR_SHARE * is.bound)).then(|| {
        format!("its error was {:.1e} and now is {:.1e} (bound {:.1e})", was.value, is.value, is.bound)
    })
}

/// Returns the reason and the next step of a verdict by time; `more` is the next step of an inconclusive one.
fn reason_and_next(change: &Change, significant: bool, more: String) -> (String, Option<String>) {
    let low = change.interval.map_or(1.0, |[low, _]| low);
    let (rest, next) = match (change.verdict, change.inconclusive_reason) {
        (Verdict::Inconclusive, Some(InconclusiveReason::LowerClock)) => (
            ", but the GPU's clock was lower".into(),
            Some("run NEW again when the GPU is cool and idle".into()),
        ),
        (Verdict::Inconclusive, Some(InconclusiveReason::MaybeSlower))
            if low > 1.0 + change.threshold && !significant =>
        {
            (", which may be chance, given the number of cells and rounds compared".into(), Some(more))
        }
        (Verdict::Inconclusive, Some(InconclusiveReason::MaybeSlower)) => {
            let smallest_detectable = percent(change.smallest_detectable_change.unwrap_or(f64::INFINITY));
            (format!("; smallest detectable change {smallest_detectable}"), Some(more))
        }
        (Verdict::Slower, _) => (String::new(), Some(SEE_WHAT_CHANGED.into())),
        _ => (String::new(), None),
    };
    (change.change().map(ChangeText::with_interval).unwrap_or_default() + &rest, next)
}
