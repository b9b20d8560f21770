//! Medians as they might have come out: the bootstrap of rows' times. Knows no sizes and no speed-ups.
//!
//! Rounds are drawn first, with replacement, then samples within what was drawn, so that drift between rounds widens
//! what samples of one round would not (A. C. Davison, D. V. Hinkley, *Bootstrap Methods and their Application*, 1997,
//! section 3.8). The median of a resample of n is the order statistic at a place with a Beta((n+1)/2, (n+1)/2)
//! distribution (B. Efron, "Bootstrap methods: another look at the jackknife", Ann. Stat. 7 (1979)), whose normal
//! approximation is drawn directly.

use super::cost::{Cost, Part};
use crate::data::generator::{Stream, normal};
use crate::measure::drift::by_round;
use crate::measure::stats::quantile;

/// Different choices of rounds that are prepared of each part.
const CHOICES: usize = 24;

/// A stream of chance, the same for the same seed.
pub struct Chance {
    stream: Stream,
    next: u64,
}

impl Chance {
    /// The stream of that seed.
    pub fn new(seed: u64) -> Chance {
        Chance { stream: Stream::new(seed, 0), next: 0 }
    }

    /// Uniform in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.next += 1;
        self.stream.uniform(self.next)
    }

    /// One of `count` places.
    fn place(&mut self, count: usize) -> usize {
        ((self.uniform() * count as f64) as usize).min(count.saturating_sub(1))
    }
}

/// A cost, ready to be drawn from.
pub struct Draws {
    /// Of each part the choices of rounds, each as ascending samples.
    parts: Vec<Vec<Vec<f64>>>,
}

impl Draws {
    /// Prepares draws of a cost.
    pub fn of(cost: &Cost<'_>, chance: &mut Chance) -> Draws {
        Draws { parts: cost.parts.iter().map(|part| choices(part, chance)).collect() }
    }

    /// The seconds of a call in one resample.
    pub fn draw(&self, chance: &mut Chance) -> f64 {
        let median = |choices: &Vec<Vec<f64>>, chance: &mut Chance| {
            let sorted = &choices[chance.place(choices.len())];
            let deviation = 0.5 / (sorted.len() as f64 + 2.0).sqrt();
            let (u, v) = (chance.uniform(), chance.uniform());
            quantile(sorted, 0.5 + deviation * normal(u, v))
        };
        self.parts.iter().map(|choices| median(choices, chance)).sum()
    }
}

/// The samples of as many rounds as there are, drawn with replacement; all samples where there is one round.
fn choices(part: &Part<'_>, chance: &mut Chance) -> Vec<Vec<f64>> {
    let mut rounds = by_round(part.samples, part.rounds);
    // Reports of layout 1 know no rounds, and copies have none.
    if rounds.len() < 2 {
        rounds = vec![part.samples.to_vec()];
    }
    let count = if rounds.len() < 2 { 1 } else { CHOICES };
    let choice = |_| {
        let drawn = (0..rounds.len()).map(|_| chance.place(rounds.len()));
        let mut samples: Vec<f64> = drawn.flat_map(|round| rounds[round].iter().copied()).collect();
        samples.sort_by(f64::total_cmp);
        samples
    };
    (0..count).map(choice).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Estimate;
    use super::*;

    fn cost<'a>(samples: &'a [f64], rounds: &'a [u32]) -> Cost<'a> {
        Cost { parts: vec![Part { samples, rounds, estimate: Estimate { value: 0.0, low: 0.0, high: 0.0 } }] }
    }

    /// The 2.5 % and 97.5 % quantiles of drawn medians.
    fn interval(cost: &Cost<'_>, seed: u64) -> [f64; 2] {
        let mut chance = Chance::new(seed);
        let draws = Draws::of(cost, &mut chance);
        let mut drawn: Vec<f64> = (0..400).map(|_| draws.draw(&mut chance)).collect();
        drawn.sort_by(f64::total_cmp);
        [quantile(&drawn, 0.025), quantile(&drawn, 0.975)]
    }

    #[test]
    fn the_interval_of_drawn_medians_covers_the_true_one() {
        let mut covered = 0;
        for trial in 0..1000 {
            let mut chance = Chance::new(1000 + trial);
            let samples: Vec<f64> =
                (0..40).map(|_| 1.0 + 0.02 * normal(chance.uniform(), chance.uniform())).collect();
            let [low, high] = interval(&cost(&samples, &[]), trial);
            covered += usize::from(low <= 1.0 && 1.0 <= high);
        }
        assert!((925..=975).contains(&covered), "{covered} of 1000");
    }

    #[test]
    fn rounds_that_differ_widen_what_is_drawn() {
        let samples: Vec<f64> = (0..30).map(|index| 1.0 + 0.1 * f64::from(index % 3)).collect();
        let rounds: Vec<u32> = (0..30).map(|index| index % 3).collect();
        let [low, high] = interval(&cost(&samples, &rounds), 1);
        assert!(low <= 1.0 + 1e-9 && high >= 1.2 - 1e-9, "{low} {high}");
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let samples = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(interval(&cost(&samples, &[]), 7), interval(&cost(&samples, &[]), 7));
    }
}
