//! Geometric means over groups of cells: the ratios shown for each op, and the tests for changed means.
//!
//! The tests detect a small change of all cells that is too small to detect in any single cell. The run is the unit of
//! evidence. Cells of one run share its clocks and the load of other programs, so their times are correlated, and many
//! cells cannot replace runs. The mean of the logarithms of a run's times is therefore one value; its variance comes from
//! the runs alone, and the test is Student's t-test on these values.

pub(crate) mod groups;

use gpubench_report::case::Cell;
use gpubench_text::grouped::grouped;

use self::groups::{MeanGroup, complete, groups};
use crate::compare::pairs::evidence::CLOCK_CHANGE;
use crate::compare::phrases::{ChangeText, percent};
use crate::compare::result::{ComparedMean, Judgement, Mean, MeanChange};
use crate::compare::statistics::shift::{Shift, ratio};
use crate::compare::statistics::{mean, pooled_variance, weighted_holm};
use crate::compare::variance::JoinedSides;
use crate::compare::verdict::SEE_WHAT_CHANGED;
use crate::compare::verdict::cell::without_change;
use crate::compare::{Change, InconclusiveReason, Policy, Verdict};

/// Share of `alpha` for the means over several ops in the first step of the correction.
const WIDE_SHARE: f64 = 0.5;

/// Degrees of freedom for which the measured variance of a mean is used. With fewer it can only widen the assumed one.
const MIN_DF: f64 = 2.0;

/// Computes the geometric mean of the ratios per op, backend, element type and cache state, in the order of `cells`.
pub(crate) fn means(cells: &[Change]) -> Vec<Mean> {
    let ratios = cells.iter().filter_map(|change| {
        let Cell { case, backend, cache, .. } = change.cell();
        let group = (&case.op, backend, case.dtype, *cache);
        Some((group, change.ratio?.ln()))
    });
    let mean = |((op, backend, dtype, cache), logs): ((&String, &String, _, _), Vec<f64>)| {
        let (cells, ratio) = (logs.len(), ratio(mean(logs)));
        Mean { op: op.clone(), backend: backend.clone(), dtype, cache, cells, ratio }
    };
    grouped(ratios).into_iter().map(mean).collect()
}

struct MeanTest {
    group: MeanGroup,
    shift: Shift,
    /// The shift in clock cycles of the multiprocessors, if their clock fell.
    in_cycles: Option<Shift>,
    variation_between_runs: f64,
    threshold: f64,
}

/// Tests every mean.
pub(crate) fn mean_changes(sweep: &JoinedSides, policy: &Policy) -> Vec<MeanChange> {
    if sweep.old.is_same_run(sweep.new) {
        return vec![];
    }
    let mut members = complete(sweep);
    members
        .retain(|index| !sweep.limits[*index].is_ignored() && sweep.pairs[*index].incomparable().is_none());
    let tests: Vec<MeanTest> =
        groups(sweep.pairs, &members).into_iter().map(|group| MeanTest::of(group, sweep)).collect();
    let weights = weights(&tests);
    let raw: Vec<f64> = tests.iter().map(|test| test.shift.p()).collect();
    let corrected = weighted_holm(&raw, &weights);
    let changes = tests
        .iter()
        .zip(corrected)
        .zip(weights)
        .map(|((test, corrected), weight)| test.change(corrected, policy.alpha, weight));
    changes.collect()
}

/// Returns the share of `alpha` of each mean: half for those over several ops, half for those of one op. They sum to 1.
fn weights(tests: &[MeanTest]) -> Vec<f64> {
    let is_wide = |test: &MeanTest| test.group.op.is_none();
    let wide = tests.iter().filter(|test| is_wide(test)).count();
    let narrow = tests.len() - wide;
    let wide_share = if narrow == 0 { 1.0 } else { WIDE_SHARE };
    let narrow_share = if wide == 0 { 1.0 } else { 1.0 - WIDE_SHARE };
    let weight = |test: &MeanTest| match is_wide(test) {
        true => wide_share / wide as f64,
        false => narrow_share / narrow as f64,
    };
    tests.iter().map(weight).collect()
}

impl MeanTest {
    fn of(group: MeanGroup, sweep: &JoinedSides) -> MeanTest {
        let JoinedSides { pairs, limits, .. } = *sweep;
        let [old, new, past] = group.series(sweep);
        let measured = pooled_variance([&old[..], &new, &past]);
        let (variance, df) = match measured {
            Some((variance, df)) if df >= MIN_DF => (variance, df),
            other => {
                let (assumed, df) = group.assumed_variance(sweep);
                (other.map_or(assumed, |(variance, _)| variance.max(assumed)), df)
            }
        };
        let variance = variance.max(group.min_variance(pairs));
        let runs = 1.0 / old.len() as f64 + 1.0 / new.len() as f64;
        let shift = Shift { log: mean(new) - mean(old), error: (variance * runs).sqrt(), df };
        let clock = group.clock_change(pairs);
        let in_cycles = (clock < -CLOCK_CHANGE).then_some(Shift { log: shift.log + clock, ..shift });
        let threshold = group.threshold(limits);
        MeanTest { group, shift, in_cycles, variation_between_runs: variance.sqrt(), threshold }
    }

    fn change(&self, corrected: f64, alpha: f64, share: f64) -> MeanChange {
        let (verdict, inconclusive_reason) = self.judge(corrected <= alpha);
        let shift = self.shift;
        let smallest_detectable = shift.smallest_detectable_mean(self.threshold, share * alpha);
        let MeanGroup { op, backend, members } = &self.group;
        let subject = ComparedMean { op: op.clone(), backend: backend.clone(), cells: members.len() };
        let change = MeanChange {
            verdict,
            inconclusive_reason,
            ratio: Some(shift.ratio()),
            interval: Some(shift.ratio_interval()),
            p: Some(shift.p()),
            p_corrected: Some(corrected),
            smallest_detectable_change: Some(smallest_detectable).filter(|change| change.is_finite()),
            variation_between_runs: Some(self.variation_between_runs),
            ..Judgement::without_figures(subject, self.threshold)
        };
        let (rest, next) = match (verdict, inconclusive_reason) {
            (Verdict::Slower, _) => (String::new(), Some(SEE_WHAT_CHANGED)),
            (Verdict::Inconclusive, Some(InconclusiveReason::LowerClock)) => (
                ", but the GPU's clock was lower".to_owned(),
                Some("run NEW again when the GPU is cool and idle"),
            ),
            (Verdict::Inconclusive, Some(InconclusiveReason::MaybeSlower)) => (
                format!("; smallest detectable change {}", percent(smallest_detectable)),
                Some("compare more runs per side"),
            ),
            _ => (String::new(), None),
        };
        let reason = change.change().map(ChangeText::with_interval).unwrap_or_default() + &rest;
        MeanChange { reason, next: next.map(str::to_owned), ..change }
    }

    /// Returns slower if the mean rose significantly and its interval reaches the threshold.
    fn judge(&self, significant: bool) -> (Verdict, Option<InconclusiveReason>) {
        let limit = self.threshold.ln_1p();
        let [low, high] = self.shift.interval();
        if significant && low > 0.0 && high >= limit {
            return match self.in_cycles.map(Shift::interval) {
                Some([low, high]) if low <= 0.0 || high < limit => {
                    (Verdict::Inconclusive, Some(InconclusiveReason::LowerClock))
                }
                _ => (Verdict::Slower, None),
            };
        }
        if significant && high < 0.0 && low <= -limit {
            return (Verdict::Faster, None);
        }
        without_change(self.shift, limit)
    }
}
