//! Tests by ranks whether the rounds of a cell differ.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::stats;

/// Minimum samples of a group that is compared.
const GROUP_SAMPLES: usize = 3;

/// Difference between the rounds of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Largest minus smallest median of a group of rounds, over the median of all samples.
    pub relative: f64,
    /// Probability that rounds of one distribution differ this much, by the test of Kruskal and Wallis.
    pub p: f64,
}

/// Compares the rounds of `samples`; `rounds` holds the round of each sample.
///
/// Successive rounds are joined until they have three samples. `None` when fewer than two groups result, or when the
/// median is not positive. Source: Kruskal and Wallis, "Use of ranks in one-criterion variance analysis", Journal of the
/// American Statistical Association 47 (1952), corrected for ties; the tail is that of chi-square.
pub fn drift(samples: &[f64], rounds: &[u32]) -> Option<Drift> {
    between(&joined(by_round(samples, rounds)))
}

/// Compares groups of samples as [`drift`] does. `None` also if a group has none.
pub(super) fn between(groups: &[Vec<f64>]) -> Option<Drift> {
    let median = stats::median(&groups.concat())?;
    if groups.len() < 2 || groups.iter().any(Vec::is_empty) || median <= 0.0 {
        return None;
    }
    let medians = groups.iter().filter_map(|group| stats::median(group));
    let (low, high) =
        medians.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), m| (low.min(m), high.max(m)));
    let p = ChiSquared::new((groups.len() - 1) as f64).ok()?.sf(kruskal_wallis(groups));
    Some(Drift { relative: (high - low) / median, p })
}

/// Joins successive rounds until each group has enough samples; what is left at the end belongs to the last group.
fn joined(rounds: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut groups: Vec<Vec<f64>> = vec![];
    for round in rounds {
        match groups.last_mut() {
            Some(last) if last.len() < GROUP_SAMPLES => last.extend(round),
            _ => groups.push(round),
        }
    }
    if let [.., last, rest] = &mut groups[..]
        && rest.len() < GROUP_SAMPLES
    {
        last.append(rest);
        groups.pop();
    }
    groups
}

/// Returns the samples of each round, in the order of the rounds; `rounds` holds the round of each sample.
pub fn by_round(samples: &[f64], rounds: &[u32]) -> Vec<Vec<f64>> {
    let mut by_round = std::collections::BTreeMap::<u32, Vec<f64>>::new();
    let mut rest = samples;
    // The samples of a round usually follow each other.
    for series in rounds[..rounds.len().min(samples.len())].chunk_by(PartialEq::eq) {
        let (of_round, later) = rest.split_at(series.len());
        by_round.entry(series[0]).or_default().extend_from_slice(of_round);
        rest = later;
    }
    by_round.into_values().collect()
}

/// Returns the H statistic, corrected for ties; 0 when all values are equal.
fn kruskal_wallis(groups: &[Vec<f64>]) -> f64 {
    let mut values: Vec<(f64, usize)> = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        values.extend(group.iter().map(|&value| (value, index)));
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = values.len() as f64;
    let mut rank_sums = vec![0.0; groups.len()];
    let (mut before, mut tied) = (0.0, 0.0);
    for run in values.chunk_by(|a, b| a.0 == b.0) {
        let ties = run.len() as f64;
        let mean_rank = before + (ties + 1.0) / 2.0;
        run.iter().for_each(|&(_, group)| rank_sums[group] += mean_rank);
        before += ties;
        tied += ties.powi(3) - ties;
    }
    let correction = 1.0 - tied / (n.powi(3) - n);
    if correction <= 0.0 {
        return 0.0;
    }
    let squares: f64 = rank_sums.iter().zip(groups).map(|(sum, group)| sum * sum / group.len() as f64).sum();
    (12.0 / (n * (n + 1.0)) * squares - 3.0 * (n + 1.0)).max(0.0) / correction
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generator::Stream;

    #[test]
    fn the_statistic_matches_hand_worked_examples() {
        let separate = [vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0], vec![7.0, 8.0, 9.0]];
        assert!((kruskal_wallis(&separate) - 7.2).abs() < 1e-12);
        // Ranks 1.5 1.5 3.5 | 3.5 5.5 5.5: H = 12/42 (6.5^2/3 + 14.5^2/3) - 21 = 64/21, correction 1 - 18/210.
        let tied = [vec![1.0, 1.0, 2.0], vec![2.0, 3.0, 3.0]];
        assert!((kruskal_wallis(&tied) - 64.0 / 21.0 / (1.0 - 18.0 / 210.0)).abs() < 1e-12);
    }

    #[test]
    fn rounds_that_cannot_be_compared_give_no_drift() {
        assert_eq!(drift(&[], &[]), None);
        assert_eq!(drift(&[1.0; 9], &[0; 9]), None);
        assert_eq!(drift(&[1.0, 1.0, 1.0, 2.0, 2.0], &[0, 0, 0, 1, 1]), None);
        assert_eq!(drift(&[0.0; 6], &[0, 0, 0, 1, 1, 1]), None);
        assert_eq!(drift(&[1.0; 6], &[0, 0, 0, 1, 1, 1]), Some(Drift { relative: 0.0, p: 1.0 }));
    }

    #[test]
    fn rounds_of_one_sample_are_compared_together() {
        let samples = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.1, 1.11, 1.09, 1.1, 1.11, 1.09, 1.1];
        let found = drift(&samples, &[0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 7]).unwrap();
        assert!((found.relative - 0.1 / 1.09).abs() < 1e-3 && found.p < 0.05, "{found:?}");
        assert_eq!(drift(&samples[..5], &[0, 1, 2, 3, 4]), None, "one group of three, and two that join it");
        assert_eq!(drift(&samples[..2], &[0, 1]), None);
    }

    #[test]
    fn equal_rounds_are_called_different_as_often_as_p_says() {
        for (per_round, low, high) in [(4, 0.02, 0.06), (20, 0.035, 0.065)] {
            let rounds: Vec<u32> = (0..3 * per_round).map(|i| i / per_round).collect();
            let found = (0..5000).filter(|&trial| {
                let samples: Vec<f64> = Stream::new(5, trial).uniforms(rounds.len());
                drift(&samples, &rounds).is_some_and(|d| d.p < 0.05)
            });
            let share = found.count() as f64 / 5000.0;
            assert!((low..high).contains(&share), "{per_round} a round: {share}");
        }
    }

    proptest::proptest! {
        #[test]
        fn p_is_a_chance_and_order_within_a_round_does_not_matter(
            samples in proptest::collection::vec(0.1f64..10.0, 0..40), count in 1u32..5,
        ) {
            let rounds: Vec<u32> = (0..samples.len() as u32).map(|i| i % count).collect();
            let found = drift(&samples, &rounds);
            if let Some(d) = found {
                proptest::prop_assert!((0.0..=1.0).contains(&d.p) && d.relative >= 0.0);
            }
            let back = |slice: &[f64]| slice.iter().rev().copied().collect::<Vec<f64>>();
            let rounds_back: Vec<u32> = rounds.iter().rev().copied().collect();
            proptest::prop_assert_eq!(found, drift(&back(&samples), &rounds_back));
        }
    }
}
