//! Selection among proposed steps: those that neither noise correlated from report to report nor a drift explains, whose
//! place is known and that are large enough.

use super::levels::{MIN_LEVEL, center, noise, parts};
use super::likelihood::{Likelihood, Line};

/// What a further step costs in a long series, in units of log-likelihood; `docs/trend.md` has the rates of false and
/// missed steps that this and the next two constants give.
const PENALTY: f64 = 9.25;
/// What it costs less in a series of n values, times n: there are fewer places for a false one.
const SHORT: f64 = 27.0;
/// What it costs less for each unit of ln m, the shorter of its two levels having m values: in correlated noise short
/// levels appear by chance far more often than long ones.
const LENGTH: f64 = 1.25;
/// How near to its reported place a step must be, in values, and the least probability of that.
const PLACE: (usize, f64) = (5, 0.85);

/// What a straight line instead of levels costs, in units of log-likelihood.
const LINE: f64 = 6.0;
/// How much likelier than any single step it must be, as a logarithm: a step that is almost clear enough is no drift.
const MIN_LINE_ADVANTAGE: f64 = 3.0;

/// What a series does besides its noise.
pub(crate) struct Selection {
    /// First index of each level.
    pub cuts: Vec<usize>,
    /// Difference between end and beginning in logarithms, where the series drifts instead of stepping.
    pub drift: Option<f64>,
    /// Lag-one correlation of the noise.
    pub(crate) correlation: f64,
}

/// Those of the `proposed` levels (first indices, from 0) that are kept, moved to their likeliest places; or one level with
/// a drift. `min_step` is the smallest step of interest, in logarithms.
pub(crate) fn select(logs: &[f64], proposed: Vec<usize>, min_step: f64) -> Selection {
    if logs.len() < 2 * MIN_LEVEL {
        return Selection { cuts: proposed, drift: None, correlation: 0.0 };
    }
    let model = Model::new(logs, min_step);
    // Of single steps every place is tried, proposed or not.
    let proposed = if proposed.len() > 1 { proposed } else { vec![0, logs.len() / 2] };
    let mut cuts = model.eliminate(proposed);
    drop_small(logs, &mut cuts, min_step);
    // A step may owe its likelihood to a neighbour that was dropped.
    let mut cuts = model.eliminate(cuts);
    let line = model.likelihood.line();
    if line.rise.abs() >= min_step && model.is_likelier(&line, &cuts) {
        return Selection { cuts: vec![0], drift: Some(line.rise), correlation: line.correlation };
    }
    model.drop_uncertain(&mut cuts);
    Selection { correlation: model.likelihood.correlation(&cuts), cuts, drift: None }
}

/// The least noise that a fit may leave. Below the smallest step of interest it would only make steps of no interest,
/// and below the differences of values two apart it would be luck: correlated noise shrinks those of neighbours more.
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

    /// Log-likelihood of the levels less the cost of their steps.
    fn value(&self, cuts: &[usize]) -> f64 {
        let each = PENALTY - SHORT / self.count as f64;
        let ends = cuts.iter().skip(2).copied().chain([self.count]);
        let shorter = cuts.windows(2).zip(ends).map(|(pair, end)| (pair[1] - pair[0]).min(end - pair[1]));
        self.likelihood.log(cuts) - shorter.map(|length| each - LENGTH * (length as f64).ln()).sum::<f64>()
    }

    /// The most valuable of the fits that result from removing steps one by one, always the least valuable of those left;
    /// the steps move to their most valuable places first, and those on both sides of a removed one again.
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

    /// Whether a line explains the series better than these levels, and clearly better than any single step.
    fn is_likelier(&self, line: &Line, cuts: &[usize]) -> bool {
        let mut steps = (MIN_LEVEL..=self.count - MIN_LEVEL).map(|place| self.likelihood.log(&[0, place]));
        line.log - LINE > self.value(cuts) && steps.all(|step| line.log > step + MIN_LINE_ADVANTAGE)
    }

    /// The value of each place that a cut can have between its neighbours.
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

    /// Moves a cut to its most valuable place; the first one, which is no step, and none beyond the last.
    fn place(&self, cuts: &mut [usize], index: usize) {
        if (1..cuts.len()).contains(&index)
            && let Some((place, _)) = self.places(cuts, index).into_iter().max_by(|a, b| a.1.total_cmp(&b.1))
        {
            cuts[index] = place;
        }
    }

    /// Removes the steps whose place is not known, the least known first.
    fn drop_uncertain(&self, cuts: &mut Vec<usize>) {
        loop {
            let known = (1..cuts.len()).map(|index| (index, self.place_probability(cuts, index)));
            match known.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, probability)| *probability < PLACE.1) {
                Some((index, _)) => cuts.remove(index),
                None => return,
            };
        }
    }

    /// Probability that a step is near to where it is reported, the others being where they are.
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

/// Joins levels that are nearer to each other than `least`, the nearest first.
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
