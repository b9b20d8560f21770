//! Selects among proposed steps: keeps those that neither correlated noise nor a drift explains, whose position is known
//! and that are large enough.

use super::levels::{MIN_LEVEL, MIN_REPORTS, center, noise, parts};
use super::likelihood::{Likelihood, Line};

/// Penalty of a further step in a long series, in units of log-likelihood. `docs/trend.md` lists the rates of false and
/// missed steps for this and the next two constants.
const PENALTY: f64 = 9.25;
/// Reduction of the penalty in a series of n values, times n: there are fewer positions for a false step.
const SHORT: f64 = 27.0;
/// Reduction of the penalty per unit of ln m, where the shorter of its two levels has m values: in correlated noise short
/// levels appear by chance far more often than long ones.
const LENGTH: f64 = 1.25;
/// Largest distance of a step from its reported position, in values, and the required probability of that.
const PLACE: (usize, f64) = (5, 0.85);

/// Penalty of a straight line instead of levels, in units of log-likelihood.
const LINE: f64 = 6.0;
/// Required advantage of a line over any single step, as a logarithm, so that a nearly clear step is not taken for a
/// drift.
const MIN_LINE_ADVANTAGE: f64 = 3.0;

/// The selected steps, or the drift of a series.
pub(crate) struct Selection {
    /// First index of each level.
    pub cuts: Vec<usize>,
    /// Difference between end and beginning in logarithms, if the series drifts instead of stepping.
    pub drift: Option<f64>,
    /// Lag-one correlation of the noise.
    pub(crate) correlation: f64,
}

/// Selects from the `proposed` levels (first indices, starting with 0) and moves them to their likeliest positions, or
/// returns one level with a drift. `min_step` is the smallest step of interest, in logarithms.
pub(crate) fn select(logs: &[f64], proposed: Vec<usize>, min_step: f64) -> Selection {
    if logs.len() < MIN_REPORTS {
        return Selection { cuts: proposed, drift: None, correlation: 0.0 };
    }
    let model = Model::new(logs, min_step);
    // Single steps are tried at every position, proposed or not.
    let proposed = if proposed.len() > 1 { proposed } else { vec![0, logs.len() / 2] };
    let mut cuts = model.eliminate(proposed);
    drop_small(logs, &mut cuts, min_step);
    // Dropping a neighbour may make a step unlikely.
    let mut cuts = model.eliminate(cuts);
    let line = model.likelihood.line();
    if line.rise.abs() >= min_step && model.is_likelier(&line, &cuts) {
        return Selection { cuts: vec![0], drift: Some(line.rise), correlation: line.correlation };
    }
    model.drop_uncertain(&mut cuts);
    Selection { correlation: model.likelihood.correlation(&cuts), cuts, drift: None }
}

/// Returns the lower bound for the noise of a fit. Less noise than the smallest step of interest would only create steps
/// of no interest. Less than the differences of values at distance two would be chance; differences of neighbours are
/// too small in correlated noise.
fn min_noise(logs: &[f64], min_step: f64) -> f64 {
    min_step.max(noise(logs, 2)) / 5.0
}

struct Model {
    likelihood: Likelihood,
    count: usize,
}

impl Model {
    fn new(logs: &[f64], min_step: f64) -> Self {
        Model { likelihood: Likelihood::new(logs, min_noise(logs, min_step).max(1e-9)), count: logs.len() }
    }

    /// Returns the log-likelihood of the levels minus the penalties of their steps.
    fn value(&self, cuts: &[usize]) -> f64 {
        let each = PENALTY - SHORT / self.count as f64;
        let ends = cuts.iter().skip(2).copied().chain([self.count]);
        let shorter = cuts.windows(2).zip(ends).map(|(pair, end)| (pair[1] - pair[0]).min(end - pair[1]));
        self.likelihood.log(cuts) - shorter.map(|length| each - LENGTH * (length as f64).ln()).sum::<f64>()
    }

    /// Removes the least valuable step repeatedly and returns the best of all resulting fits. Steps move to their best
    /// positions first, and the neighbours of a removed step move again.
    fn eliminate(&self, cuts: Vec<usize>) -> Vec<usize> {
        let mut left = cuts;
        for index in 1..left.len() {
            self.place(&mut left, index);
        }
        let mut best = (self.value(&left), left.clone());
        while left.len() > 1 {
            let without = (1..left.len()).map(|index| {
                let cuts = [&left[..index], &left[index + 1..]].concat();
                (self.value(&cuts), index, cuts)
            });
            let Some((_, index, cuts)) = without.max_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            left = cuts;
            self.place(&mut left, index - 1);
            self.place(&mut left, index);
            let value = self.value(&left);
            if value > best.0 {
                best = (value, left.clone());
            }
        }
        best.1
    }

    /// Returns true if a line explains the series better than these levels, and clearly better than any single step.
    fn is_likelier(&self, line: &Line, cuts: &[usize]) -> bool {
        let mut steps = (MIN_LEVEL..=self.count - MIN_LEVEL).map(|place| self.likelihood.log(&[0, place]));
        line.log - LINE > self.value(cuts) && steps.all(|step| line.log > step + MIN_LINE_ADVANTAGE)
    }

    /// Returns the value of each position of a cut between its neighbours.
    fn places(&self, cuts: &[usize], index: usize) -> Vec<(usize, f64)> {
        let end = cuts.get(index + 1).copied().unwrap_or(self.count);
        let mut moved = cuts.to_vec();
        let places = cuts[index - 1] + MIN_LEVEL..=end - MIN_LEVEL;
        places
            .map(|place| {
                moved[index] = place;
                (place, self.value(&moved))
            })
            .collect()
    }

    /// Moves a cut to its best position. Ignores the first cut, which is no step, and indices beyond the last.
    fn place(&self, cuts: &mut [usize], index: usize) {
        if (1..cuts.len()).contains(&index)
            && let Some((place, _)) = self.places(cuts, index).into_iter().max_by(|a, b| a.1.total_cmp(&b.1))
        {
            cuts[index] = place;
        }
    }

    /// Removes the steps whose position is uncertain, the most uncertain first.
    fn drop_uncertain(&self, cuts: &mut Vec<usize>) {
        loop {
            let known = (1..cuts.len()).map(|index| (index, self.place_probability(cuts, index)));
            match known.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, probability)| *probability < PLACE.1) {
                Some((index, _)) => cuts.remove(index),
                None => return,
            };
        }
    }

    /// Returns the probability that a step is near its reported position, with the others fixed.
    fn place_probability(&self, cuts: &[usize], index: usize) -> f64 {
        let places = self.places(cuts, index);
        let largest = places.iter().fold(f64::NEG_INFINITY, |largest, (_, value)| largest.max(*value));
        let weights = places.iter().map(|(place, value)| (*place, (value - largest).exp()));
        let (mut near, mut all) = (0.0, 0.0);
        for (place, weight) in weights {
            all += weight;
            near += if place.abs_diff(cuts[index]) <= PLACE.0 { weight } else { 0.0 };
        }
        near / all
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
