//! Selects steps: those that neither correlated noise nor a drift explains, whose position is known and that are large
//! enough.

use gpubench_report::measure::stats::median;

use super::likelihood::{Likelihood, LineFit, weighted_mean};

/// Minimum number of values on either side of a step; fewer are outliers or [`Latest`](super::steps::Latest).
pub(crate) const MIN_LEVEL: usize = 3;

/// Number of reports without which a series has no step: a level before it and one after.
pub const MIN_REPORTS: usize = 2 * MIN_LEVEL;

/// Penalty of a further step in units of log-likelihood; `docs/trend.md` has the rates for this and the next two.
const PENALTY: f64 = 9.25;
/// Reduction of the penalty in a series of n values, times n: there are fewer positions for a false step.
const SHORT: f64 = 27.0;
/// Reduction of the penalty per unit of ln m for a level of m values: short ones appear by chance far more often.
const LENGTH: f64 = 1.25;
/// Number of steps without a gain after which no more are tried.
const PATIENCE: usize = 3;
/// Largest distance of a step from its reported position, in values.
const REACH: usize = 5;
/// Required probability that a step is within that distance.
const MIN_PROBABILITY: f64 = 0.85;

/// Penalty of a straight line instead of levels, in units of log-likelihood.
const LINE: f64 = 6.0;
/// Required advantage of a line over any single step, as a logarithm: a nearly clear step is no drift.
const MIN_LINE_ADVANTAGE: f64 = 3.0;

/// Returns where the likeliest levels begin. Of a series that drifts instead of stepping it is one level, with the difference between end and
/// beginning. `min_step` is the smallest step of interest; all is in logarithms.
pub(crate) fn select(logs: &[f64], min_step: f64) -> (Vec<usize>, Option<f64>) {
    if logs.len() < MIN_REPORTS {
        return (vec![0], None);
    }
    // Less noise would create steps of no interest, or be chance. Differences are at distance two, because those of
    // neighbours are too small in correlated noise.
    let min_noise = min_step.max(noise(logs, 2)) / 5.0;
    let likelihood = Likelihood::new(logs, min_noise.max(1e-9));
    let mut cuts = likelihood.eliminate(likelihood.propose());
    drop_small(logs, &mut cuts, min_step);
    // Dropping a neighbour may make a step unlikely.
    let mut cuts = likelihood.eliminate(cuts);
    let line = likelihood.line();
    if line.rise.abs() >= min_step && likelihood.is_likelier(&line, &cuts) {
        return (vec![0], Some(line.rise));
    }
    likelihood.drop_uncertain(&mut cuts);
    (cuts, None)
}

/// Returns the levels that begin at `cuts`: the index of the first value, and the values.
pub(crate) fn parts<'a>(logs: &'a [f64], cuts: &'a [usize]) -> impl Iterator<Item = (usize, &'a [f64])> {
    let ends = cuts.iter().skip(1).copied().chain([logs.len()]);
    cuts.iter().zip(ends).map(|(&first, end)| (first, &logs[first..end]))
}

/// Estimates the standard deviation around the levels from the median difference of values at distance `apart`, which a
/// step or an outlier hardly affects: 0.9539 (0.6745 times the root of 2) standard deviations for normal noise.
pub(crate) fn noise(logs: &[f64], apart: usize) -> f64 {
    let differences: Vec<f64> =
        logs.windows(apart + 1).map(|window| (window[apart] - window[0]).abs()).collect();
    center(&differences) / 0.9539
}

pub(crate) fn center(logs: &[f64]) -> f64 {
    median(logs).unwrap_or(0.0)
}

impl Likelihood {
    /// Returns the log-likelihood of the levels minus the penalties of their steps.
    fn value(&self, cuts: &[usize]) -> f64 {
        let each = PENALTY - SHORT / self.count as f64;
        let ends = cuts.iter().skip(2).copied().chain([self.count]);
        let shorter = cuts.windows(2).zip(ends).map(|(pair, end)| (pair[1] - pair[0]).min(end - pair[1]));
        self.log(cuts) - shorter.map(|length| each - LENGTH * (length as f64).ln()).sum::<f64>()
    }

    /// Adds the most valuable step until several bring no gain: of two around a short level, the first alone brings none.
    fn propose(&self) -> Vec<usize> {
        let mut cuts = vec![0];
        let (mut best, mut without_gain) = (self.value(&cuts), 0);
        while without_gain < PATIENCE {
            let added = (1..=cuts.len()).flat_map(|index| {
                let mut with = cuts.clone();
                with.insert(index, 0);
                self.positions(&with, index)
                    .into_iter()
                    .map(move |(position, value)| (index, position, value))
            });
            let Some((index, position, value)) = added.max_by(|a, b| a.2.total_cmp(&b.2)) else { break };
            cuts.insert(index, position);
            without_gain = if value > best { 0 } else { without_gain + 1 };
            best = best.max(value);
        }
        cuts
    }

    /// Removes the least valuable step repeatedly, moves its neighbours, and returns the best of all fits.
    fn eliminate(&self, cuts: Vec<usize>) -> Vec<usize> {
        let mut left = cuts;
        for index in 1..left.len() {
            self.reposition(&mut left, index);
        }
        let mut best = (self.value(&left), left.clone());
        while left.len() > 1 {
            let without = (1..left.len()).map(|index| {
                let cuts = [&left[..index], &left[index + 1..]].concat();
                (self.value(&cuts), index, cuts)
            });
            let Some((_, index, cuts)) = without.max_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            left = cuts;
            self.reposition(&mut left, index - 1);
            self.reposition(&mut left, index);
            let value = self.value(&left);
            if value > best.0 {
                best = (value, left.clone());
            }
        }
        best.1
    }

    /// Returns true if a line explains the series better than these levels, and clearly better than any single step.
    fn is_likelier(&self, line: &LineFit, cuts: &[usize]) -> bool {
        let mut steps = (MIN_LEVEL..=self.count - MIN_LEVEL).map(|position| self.log(&[0, position]));
        line.log - LINE > self.value(cuts) && steps.all(|step| line.log > step + MIN_LINE_ADVANTAGE)
    }

    /// Returns the value of each position of a cut between its neighbours.
    fn positions(&self, cuts: &[usize], index: usize) -> Vec<(usize, f64)> {
        let end = cuts.get(index + 1).copied().unwrap_or(self.count);
        let mut moved = cuts.to_vec();
        let positions = cuts[index - 1] + MIN_LEVEL..=end - MIN_LEVEL;
        positions
            .map(|position| {
                moved[index] = position;
                (position, self.value(&moved))
            })
            .collect()
    }

    /// Moves a cut to its best position. Ignores the first cut, which is no step, and indices beyond the last.
    fn reposition(&self, cuts: &mut [usize], index: usize) {
        if (1..cuts.len()).contains(&index)
            && let Some((position, _)) =
                self.positions(cuts, index).into_iter().max_by(|a, b| a.1.total_cmp(&b.1))
        {
            cuts[index] = position;
        }
    }

    /// Removes the steps whose position is uncertain, the most uncertain first.
    fn drop_uncertain(&self, cuts: &mut Vec<usize>) {
        // The probability that a step is near its reported position, with the others fixed.
        let probability = |cuts: &[usize], index: usize| {
            let near = |position: usize| f64::from(u8::from(position.abs_diff(cuts[index]) <= REACH));
            let positions = self.positions(cuts, index).into_iter();
            weighted_mean(positions.map(|(position, value)| (near(position), value)))
        };
        while let Some((index, probability)) =
            (1..cuts.len()).map(|index| (index, probability(cuts, index))).min_by(|a, b| a.1.total_cmp(&b.1))
            && probability < MIN_PROBABILITY
        {
            cuts.remove(index);
        }
    }
}

/// Joins levels that differ by less than `least`, the closest first.
fn drop_small(logs: &[f64], cuts: &mut Vec<usize>, least: f64) {
    loop {
        let centers: Vec<f64> = parts(logs, cuts).map(|(_, part)| center(part)).collect();
        let steps = centers.windows(2).map(|pair| (pair[1] - pair[0]).abs());
        let smallest = steps.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        match smallest.filter(|(_, step)| *step < least) {
            Some((index, _)) => cuts.remove(index + 1),
            None => return,
        };
    }
}
