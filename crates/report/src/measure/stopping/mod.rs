//! Decides when a cell has enough samples, from the samples, their counts and the seconds spent.
//!
//! A cell is sampled in several rounds, with other cells in between, so that slow drift shows. Each round but the
//! last takes its share of the samples the cell seems to need; the last goes on until one of:
//!
//! | reason | rule |
//! |---|---|
//! | precise | half the 95 % interval of the median is within `precision` of the median |
//! | plateau | twice in a row, twice the samples did not narrow the interval by 10 % (independent noise: 29 %) |
//! | drift | the last round differs from the earlier ones, and has more samples than they have on average |
//! | out of time | `max_time_s` is spent and `min_samples` are taken, or `hard_time_s` is spent |
//! | most samples | `max_samples` are taken |
//!
//! Stopping as soon as the interval happens to be narrow makes it cover the median less often than it claims. So the
//! first three are tried at few totals only, fixed beforehand: `min_samples` times powers of 1.5 (12, 18, 27, 41, ...).
//! The exact interval is conservative by about as much as those looks cost; the tests hold the coverage to 93-97 %.
//! How much the earlier rounds take follows Stein's two-stage idea: the variance so far says how many samples the
//! precision will need (Stein, "A two-sample test for a linear hypothesis whose power is independent of the
//! variance", Annals of Mathematical Statistics 16, 1945).
//!
//! Where the last round differs, more of its samples would move the median towards it. For example, GPUs at their power
//! limit lower their clock during long sampling. The median moves less with more rounds.

use serde::{Deserialize, Serialize};

use super::drift;
use super::stats::{has_interval, relative_half_width};

const PLATEAU_SAMPLES: usize = 96;
/// Share of the width above which doubling the samples counts as no improvement.
const PLATEAU_RATIO: f64 = 0.9;

/// Probability below which the last round counts as different. If rounds are equal, each look errs with at most this
/// probability; there are about ten looks per cell.
const DIFFERENT_P: f64 = 1e-3;

/// Limits of a cell's sampling.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Exact number of samples, at any spread and time.
    pub fixed: Option<u32>,
    /// Minimum samples, unless `hard_time_s` is spent; also the first look at the interval.
    pub min_samples: u32,
    /// Maximum samples.
    pub max_samples: u32,
    /// Relative half width of the 95 % interval of the median that is narrow enough.
    pub precision: f64,
    /// Seconds of sampling after which the cell ends, once it has `min_samples`.
    pub max_time_s: f64,
    /// Seconds of sampling after which it ends with any count, but at least one sample per round.
    pub hard_time_s: f64,
    /// Number of rounds that share the samples; further rounds are like the last.
    pub rounds: u32,
}

/// The next step of sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Take this number of samples, at least one, then ask again.
    Take(u32),
    /// The round has enough samples.
    EndRound,
    /// The cell has enough samples.
    Stop(Reason),
}

/// The reason that sampling of a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The interval is as narrow as requested.
    Precise,
    /// More samples no longer narrow the interval.
    Plateau,
    /// The last round differs from the earlier ones.
    Drift,
    /// The time for the cell is spent.
    OutOfTime,
    /// The requested number was taken.
    Fixed,
    /// The maximum number was taken.
    MostSamples,
    /// A few executions showed that it is far behind the best of its side.
    Screened,
    /// The run ended before the cell was complete.
    CutShort,
    /// The cell's worker or device was lost for good.
    EndedEarly,
}

/// Returns the next step after `samples` of all rounds so far, `in_round` of them in the current `round` (from 0),
/// when sampling took `spent_s` seconds in all rounds.
///
/// The first sample of a cell is taken alone, since its time determines how many more fit.
pub fn next(rule: &Rule, samples: &[f64], in_round: usize, spent_s: f64, round: u32) -> Step {
    let earlier = round as usize;
    let state = State { rule, samples, in_round, spent_s, earlier, round: round.min(rule.last_round()) };
    match rule.fixed {
        Some(count) => state.fixed(count as usize),
        None if state.round == rule.last_round() => state.closing_round(),
        None => state.early_round(),
    }
}

impl Rule {
    fn last_round(&self) -> u32 {
        self.rounds.max(1) - 1
    }

    fn max_count(&self) -> usize {
        self.max_samples.max(1) as usize
    }

    fn min_count(&self) -> usize {
        (self.min_samples.max(1) as usize).min(self.max_count())
    }

    /// Returns the first look at `total` samples or more.
    fn look_from(&self, total: usize) -> usize {
        let mut look = self.min_count();
        while look < total {
            look = (look * 3).div_ceil(2);
        }
        look.min(self.max_count())
    }
}

struct State<'a> {
    rule: &'a Rule,
    samples: &'a [f64],
    in_round: usize,
    spent_s: f64,
    /// The number of rounds before this one.
    earlier: usize,
    /// The number of the round, or of the last one if it is a further one.
    round: u32,
}

impl State<'_> {
    fn taken(&self) -> usize {
        self.samples.len()
    }

    /// Returns the share of all rounds that has begun, this one included.
    fn share(&self) -> f64 {
        f64::from(self.round + 1) / f64::from(self.rule.last_round() + 1)
    }

    /// Returns whether the hard limit is spent; an empty round always gets its one sample.
    fn hard_time_over(&self) -> bool {
        self.in_round > 0 && self.spent_s >= self.rule.hard_time_s * self.share()
    }

    /// `count` samples, cut to what fits until `end_s` at the pace so far, at least one.
    fn take(&self, count: usize, end_s: f64) -> Step {
        let pace_s = self.spent_s / self.taken() as f64;
        let fit = match self.taken() {
            0 => 1.0,
            _ if pace_s > 0.0 => ((end_s - self.spent_s) / pace_s).floor(),
            _ => f64::INFINITY,
        };
        Step::Take((count as f64).min(fit).max(1.0) as u32)
    }

    fn fixed(&self, count: usize) -> Step {
        let (rounds, round) = (self.rule.last_round() as usize + 1, self.round as usize);
        let share = count / rounds + usize::from(round < count % rounds);
        let all_missing = count.saturating_sub(self.taken());
        let last = round + 1 == rounds;
        let missing = if last { all_missing } else { share.saturating_sub(self.in_round).min(all_missing) };
        match missing {
            0 if last => Step::Stop(Reason::Fixed),
            0 => Step::EndRound,
            missing => Step::Take(missing as u32),
        }
    }

    fn early_round(&self) -> Step {
        let (rule, taken) = (self.rule, self.taken());
        let end_s = rule.max_time_s * self.share();
        let hard_end_s = rule.hard_time_s * self.share();
        let missing = self.missing_of_minimum();
        if taken >= rule.max_count() || self.hard_time_over() {
            return Step::EndRound;
        }
        if missing > 0 {
            return self.take(missing.min(rule.max_count() - taken), hard_end_s);
        }
        let goal = (self.needed() * self.share()).ceil() as usize;
        if taken >= goal || self.spent_s >= end_s {
            return Step::EndRound;
        }
        self.take(goal.min((taken * 3).div_ceil(2)) - taken, end_s.min(hard_end_s))
    }

    fn closing_round(&self) -> Step {
        let (rule, taken) = (self.rule, self.taken());
        let missing = self.missing_of_minimum();
        if taken >= rule.min_count()
            && taken == rule.look_from(taken)
            && (missing == 0 || taken == rule.max_count())
        {
            if self.last_round_differs() {
                return Step::Stop(Reason::Drift);
            }
            if has_interval(taken) && relative_half_width(self.samples) <= rule.precision {
                return Step::Stop(Reason::Precise);
            }
            if on_plateau(self.samples) {
                return Step::Stop(Reason::Plateau);
            }
        }
        if taken >= rule.max_count() {
            return Step::Stop(Reason::MostSamples);
        }
        let enough = taken >= rule.min_count() && self.in_round > 0;
        if self.hard_time_over() || (enough && self.spent_s >= rule.max_time_s) {
            return Step::Stop(Reason::OutOfTime);
        }
        let goal = rule.look_from(taken + missing.max(1));
        if taken < rule.min_count() {
            return self.take(goal - taken, rule.hard_time_s);
        }
        self.take(goal - taken, rule.max_time_s.min(rule.hard_time_s))
    }

    /// Returns the number of samples that this round lacks of its share of the minimum.
    fn missing_of_minimum(&self) -> usize {
        self.rule.min_count().div_ceil(self.rule.last_round() as usize + 1).saturating_sub(self.in_round)
    }

    /// Returns whether this round, the last, has more samples than the earlier ones have on average, and differs from them
    /// by so much that an interval with the medians of both cannot be as narrow as requested.
    fn last_round_differs(&self) -> bool {
        let (before, now) = self.samples.split_at(self.taken().saturating_sub(self.in_round));
        if now.len() * self.earlier <= before.len() {
            return false;
        }
        let between = drift::between(&[before.to_vec(), now.to_vec()]);
        between.is_some_and(|found| found.p < DIFFERENT_P && found.relative > 2.0 * self.rule.precision)
    }

    /// Estimates the total number of samples that the precision needs, from the interval so far.
    fn needed(&self) -> f64 {
        let half_width = relative_half_width(self.samples);
        let (min, max) = (self.rule.min_count() as f64, self.rule.max_count() as f64);
        if half_width <= self.rule.precision {
            return min;
        }
        (self.taken() as f64 * (half_width / self.rule.precision).powi(2)).clamp(min, max)
    }
}

/// Returns whether the last two doublings of the samples, in the order they were taken, left the interval as wide.
fn on_plateau(samples: &[f64]) -> bool {
    let n = samples.len();
    if n < PLATEAU_SAMPLES {
        return false;
    }
    let [quarter, half, whole] = [n / 4, n / 2, n].map(|count| relative_half_width(&samples[..count]));
    half > PLATEAU_RATIO * quarter && whole > PLATEAU_RATIO * half
}

#[cfg(test)]
mod tests;
