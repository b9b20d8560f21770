//! The rule driven over synthetic series in virtual time: it ends, and its intervals cover what they claim.

use proptest::prelude::*;
use rayon::prelude::*;

use super::*;
use crate::data::generator::{self, Stream};
use crate::measure::stats::Summary;
use crate::report::example::trials;

/// A cell sampled to its end.
#[derive(Clone, Debug, PartialEq)]
struct Cell {
    samples: Vec<f64>,
    per_round: Vec<usize>,
    reason: Reason,
    spent_s: f64,
}

/// Asks for samples until the rule stops; `series` gives the time of sample `i`, each costs `scale` seconds a unit.
fn sample(rule: &Rule, scale: f64, mut series: impl FnMut(usize) -> f64) -> Cell {
    let mut cell = Cell { samples: Vec::new(), per_round: vec![0], reason: Reason::Fixed, spent_s: 0.0 };
    loop {
        let round = cell.per_round.len() - 1;
        match next(rule, &cell.samples, cell.per_round[round], cell.spent_s, round as u32) {
            Step::Take(count) => {
                assert!(count > 0, "a batch of nothing");
                for _ in 0..count {
                    let sample = series(cell.samples.len());
                    cell.samples.push(sample);
                    cell.spent_s += sample * scale;
                }
                cell.per_round[round] += count as usize;
            }
            Step::EndRound => {
                cell.per_round.push(0);
                assert!(cell.per_round.len() <= rule.rounds.max(1) as usize, "a round too many");
            }
            Step::Stop(reason) => {
                cell.reason = reason;
                return cell;
            }
        }
    }
}

/// Returns a standard normal value for sample `i` of a trial, and a uniform one that is independent of it.
fn normal_and_uniform(stream: Stream, i: usize) -> (f64, f64) {
    let chance = |k: u64| stream.uniform::<f64>(4 * i as u64 + k);
    (generator::normal(chance(0), chance(1)), chance(2))
}

fn normal(stream: Stream, i: usize) -> f64 {
    normal_and_uniform(stream, i).0
}

/// Student's t with two degrees of freedom, by its quantile function.
fn student2(stream: Stream, i: usize) -> f64 {
    let u: f64 = stream.uniform::<f64>(i as u64).max(1e-12);
    (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt()
}

fn rule(precision: f64) -> Rule {
    Rule { precision, max_samples: 400, max_time_s: 1e9, hard_time_s: 1e9, ..Rule::default() }
}

/// Finished cells of a series, one per trial; a sample of 1 costs a millisecond.
fn cells(seed: u64, trials: u64, rule: &Rule, series: fn(Stream, usize) -> f64) -> Vec<Cell> {
    let cell = |trial| sample(rule, 1e-3, |i| series(Stream::new(seed, trial), i));
    (0..trials).into_par_iter().map(cell).collect()
}

fn share(cells: &[Cell], of: impl Fn(&Cell) -> bool) -> f64 {
    cells.iter().filter(|cell| of(cell)).count() as f64 / cells.len() as f64
}

/// Runs a series whose median over `n` samples is `truth(n)`; the interval must cover it in 95 % of trials, up to 1.35 % and three
/// standard errors of the share.
fn assert_coverage(
    name: &str,
    rule: &Rule,
    counts: std::ops::Range<usize>,
    series: fn(Stream, usize) -> f64,
    truth: fn(usize) -> f64,
) {
    let cells = cells(1, trials(10_000), rule, series);
    let coverage = share(&cells, |cell| {
        let (summary, truth) = (Summary::of(&cell.samples).unwrap(), truth(cell.samples.len()));
        summary.low <= truth && truth <= summary.high
    });
    let margin = 0.0135 + 0.65 / (cells.len() as f64).sqrt();
    assert!((coverage - 0.95).abs() <= margin, "{name}: {coverage}");
    let typical = share(&cells, |cell| counts.contains(&cell.samples.len()));
    assert!(typical >= 0.8, "{name}: {typical} of the cells end within {counts:?}");
}

fn skewed(spread: f64, stream: Stream, i: usize) -> f64 {
    let (z, u) = normal_and_uniform(stream, i);
    1.0 + spread * z.abs() + if u < 0.05 { 1.0 } else { 0.0 }
}

#[test]
fn a_constant_series_ends_at_once_and_exactly() {
    let cell = sample(&rule(0.005), 1e-3, |_| 0.7);
    assert_eq!((cell.reason, &cell.per_round[..]), (Reason::Precise, &[4, 4, 4][..]));
    assert_eq!(relative_half_width(&cell.samples), 0.0);
}

#[test]
fn intervals_of_normal_noise_cover_as_claimed() {
    assert_coverage("1 % of noise", &rule(0.01), 12..28, |s, i| 1.0 + 0.01 * normal(s, i), |_| 1.0);
    assert_coverage("1 %, narrower", &rule(0.005), 18..63, |s, i| 1.0 + 0.01 * normal(s, i), |_| 1.0);
    assert_coverage("3 % of noise", &rule(0.01), 41..141, |s, i| 1.0 + 0.03 * normal(s, i), |_| 1.0);
    assert_coverage("3 %, narrower", &rule(0.007), 62..211, |s, i| 1.0 + 0.03 * normal(s, i), |_| 1.0);
    let hurried = Rule { max_time_s: 0.05, ..rule(0.001) };
    assert_coverage("3 %, 50 ms", &hurried, 45..55, |s, i| 1.0 + 0.03 * normal(s, i), |_| 1.0);
}

#[test]
fn intervals_of_a_bimodal_series_cover_as_claimed() {
    // Phi(0.56595) = 0.5 / 0.7: the median lies in the upper flank of the lower mode.
    let series = |s, i| {
        let (z, u) = normal_and_uniform(s, i);
        if u < 0.7 { 1.0 + 0.01 * z } else { 1.2 + 0.012 * z }
    };
    assert_coverage("70/30, 20 % apart", &rule(0.005), 27..316, series, |_| {
        1.0 + 0.01 * 0.565_948_821_932_863
    });
}

#[test]
fn intervals_of_a_heavy_tailed_series_cover_as_claimed() {
    assert_coverage("t, 1 %", &rule(0.005), 18..94, |s, i| (1.0 + 0.01 * student2(s, i)).max(0.0), |_| 1.0);
    assert_coverage("t, 3 %", &rule(0.01), 41..211, |s, i| (1.0 + 0.03 * student2(s, i)).max(0.0), |_| 1.0);
}

#[test]
fn intervals_of_a_skewed_series_cover_as_claimed() {
    // 0.95 (2 Phi(0.71650) - 1) = 0.5, all outliers lying above.
    const CENTRE: f64 = 0.716_497_500_177_99;
    let rule = rule(0.005);
    assert_coverage("skewed, 1.5 %", &rule, 18..94, |s, i| skewed(0.015, s, i), |_| 1.0 + 0.015 * CENTRE);
    assert_coverage("skewed, 2.5 %", &rule, 41..211, |s, i| skewed(0.025, s, i), |_| 1.0 + 0.025 * CENTRE);
}

#[test]
fn intervals_of_a_slowly_drifting_series_cover_as_claimed() {
    let slow = |s, i| 1.0 + 0.01 * normal(s, i) + 2e-4 * i as f64;
    assert_coverage("0.02 % a sample", &rule(0.005), 18..94, slow, |n| 1.0 + 1e-4 * (n as f64 - 1.0));
    let slower = |s, i| 1.0 + 0.02 * normal(s, i) + 5e-5 * i as f64;
    assert_coverage("0.005 % a sample", &rule(0.005), 62..211, slower, |n| 1.0 + 2.5e-5 * (n as f64 - 1.0));
}

#[test]
fn strong_drift_and_random_walks_end_on_a_plateau() {
    let drifting = cells(2, 500, &rule(0.005), |s, i| 1.0 + 0.01 * normal(s, i) + 0.01 * i as f64);
    assert!(share(&drifting, |cell| cell.reason == Reason::Plateau) > 0.95);
    for trial in 0..500 {
        let (stream, mut level) = (Stream::new(3, trial), 1.0f64);
        let cell = sample(&rule(0.001), 1e-3, |i| {
            level = (level + 0.01 * normal(stream, i)).max(0.1);
            level
        });
        assert!(matches!(cell.reason, Reason::Plateau | Reason::MostSamples), "{:?}", cell.reason);
    }
}

#[test]
fn independent_noise_is_rarely_taken_for_a_plateau() {
    let endless = Rule { max_samples: 2000, ..rule(1e-6) };
    let normal = cells(4, trials(2000), &endless, |s, i| 1.0 + 0.05 * normal(s, i));
    let heavy = cells(5, trials(2000), &endless, |s, i| 10.0 + student2(s, i).max(-9.0));
    for cells in [normal, heavy] {
        let plateaus = share(&cells, |cell| cell.reason == Reason::Plateau);
        assert!(plateaus <= 0.02, "{plateaus}");
    }
}

/// Takes a round after `before` samples in `earlier` rounds, from a device that is `slower` by that factor from the fourth
/// sample without a break. Returns the reason of the end, the samples of the round and the median.
fn last_round_of(slower: f64, before: usize, earlier: u32) -> (Reason, usize, f64) {
    let rule = Rule { rounds: 20, max_samples: 2000, ..rule(0.005) };
    let noise = |at: usize| [1.0, 1.012, 0.988][at % 3];
    let mut samples: Vec<f64> = (0..before).map(noise).collect();
    loop {
        let in_round = samples.len() - before;
        match next(&rule, &samples, in_round, samples.len() as f64 * 1e-3, earlier) {
            Step::Take(count) => {
                let next = in_round..in_round + count as usize;
                samples.extend(next.map(|at| if at < 3 { noise(at) } else { slower * noise(at) }));
            }
            Step::EndRound => panic!("the last round ends with the cell"),
            Step::Stop(reason) => return (reason, in_round, Summary::of(&samples).unwrap().median),
        }
    }
}

#[test]
fn a_last_round_that_differs_is_not_prolonged() {
    let (reason, in_round, median) = last_round_of(1.1, 36, 19);
    assert_eq!((reason, in_round), (Reason::Drift, 26), "at 62 samples in all");
    assert!((0.99..1.02).contains(&median), "{median}");
    assert_eq!(last_round_of(1.0, 36, 19).0, Reason::Precise);
    assert_eq!(last_round_of(1.006, 36, 19).0, Reason::Precise, "less than twice the precision");
}

#[test]
fn a_last_round_that_differs_has_its_share_of_the_samples_first() {
    let rule = Rule { rounds: 3, ..rule(0.005) };
    let noise = |at: usize| [1.0, 1.006, 0.994, 1.0, 1.002][at % 5];
    let mut samples: Vec<f64> = (0..54).map(noise).collect();
    samples.extend((0..8).map(|at| 1.1 * noise(at)));
    let state = |earlier| next(&rule, &samples, 8, 0.1, earlier);
    assert_eq!(state(2), Step::Stop(Reason::Precise), "8 of 62 is less than a third");
    assert_eq!(state(20), Step::Stop(Reason::Drift), "8 is more than the 2 or 3 of each of 20 rounds");
}

#[test]
fn rounds_share_the_samples_a_noisy_cell_needs() {
    let cells = cells(6, 1000, &rule(0.005), |s, i| 1.0 + 0.03 * normal(s, i));
    let total: usize = cells.iter().map(|cell| cell.samples.len()).sum();
    for round in 0..3 {
        let taken: usize = cells.iter().map(|cell| cell.per_round[round]).sum();
        assert!(taken * 5 > total, "round {round} took {taken} of {total}");
    }
    assert!(cells.iter().all(|cell| cell.per_round.iter().all(|&taken| taken >= 4)));
}

#[test]
fn a_fixed_count_is_taken_exactly_and_evenly() {
    for (count, rounds) in [(30, [10, 10, 10]), (11, [4, 4, 3]), (2, [1, 1, 0]), (1, [1, 0, 0])] {
        let fixed = Rule { fixed: Some(count), max_time_s: 1e-9, hard_time_s: 1e-9, ..Rule::default() };
        let cell = sample(&fixed, 1.0, |i| i as f64);
        assert_eq!((cell.reason, &cell.per_round[..]), (Reason::Fixed, &rounds[..]));
    }
}

#[test]
fn time_limits_end_a_slow_cell() {
    let rule = Rule { max_time_s: 2.0, hard_time_s: 20.0, ..Rule::default() };
    let of = |seconds: f64| {
        let cell = sample(&rule, seconds, |i| 1.0 + 0.3 * (i % 2) as f64);
        (cell.reason, cell.per_round)
    };
    for (seconds, taken, why) in [
        (0.5, 4, "the smallest count outlasts the time for the cell"),
        (3.0, 2, "the hard limit is shared by the rounds"),
        (60.0, 1, "one per round at any cost"),
    ] {
        assert_eq!(of(seconds), (Reason::OutOfTime, vec![taken; 3]), "{why}");
    }
    let (reason, per_round) = of(0.02);
    assert_eq!((reason, per_round.len()), (Reason::OutOfTime, 3));
    assert!((80..=90).contains(&per_round.iter().sum::<usize>()), "{per_round:?} in two seconds");
}

#[test]
fn a_further_round_is_like_the_last() {
    let rule = Rule { max_time_s: 1.0, ..rule(1e-3) };
    let samples: Vec<f64> = (0..50).map(|i| 1.0 + 0.1 * f64::from(i % 2)).collect();
    assert_eq!(next(&rule, &samples, 10, 1.0, 3), Step::Stop(Reason::OutOfTime));
    let extended = Rule { max_time_s: 3.0, ..rule };
    assert_eq!(next(&extended, &samples, 0, 1.0, 3), Step::Take(12), "up to the look at 62");
    for in_round in [0, 2, 5, 10] {
        let later = next(&extended, &samples, in_round, 1.0, 7);
        assert_eq!(later, next(&extended, &samples, in_round, 1.0, 2));
    }
}

#[test]
fn the_looks_are_those_documented() {
    let rule = Rule { max_samples: 100, ..Rule::default() };
    let looks: Vec<usize> = [1, 12, 13, 19, 28, 42, 63, 94, 200].map(|total| rule.look_from(total)).to_vec();
    assert_eq!(looks, [12, 12, 18, 27, 41, 62, 93, 100, 100]);
}

fn any_rule() -> impl Strategy<Value = Rule> {
    (proptest::option::of(0u32..50), 0u32..40, 0u32..300, 0.0f64..0.1, 0.0f64..2.0, 0.0f64..20.0, 0u32..6)
        .prop_map(|(fixed, min_samples, max_samples, precision, max_time_s, hard_time_s, rounds)| Rule {
            fixed,
            min_samples,
            max_samples,
            precision,
            max_time_s,
            hard_time_s,
            rounds,
        })
}

proptest! {
    #[test]
    fn any_series_ends_in_bounds(rule in any_rule(), seed: u64, scale in 0.0f64..2.0, kind in 0u32..5) {
        let stream = Stream::new(seed, 0);
        let cell = sample(&rule, scale, |i| match kind {
            0 => 0.0,
            1 => 1.0,
            2 => stream.uniform(i as u64),
            3 => 10f64.powf(60.0 * stream.uniform::<f64>(i as u64) - 30.0),
            _ => if stream.uniform::<f64>(i as u64) < 0.5 { 0.0 } else { 1.0 },
        });
        let most = rule.fixed.unwrap_or(rule.max_samples.max(1)) as usize;
        prop_assert!(cell.samples.len() <= most, "{:?}", cell.per_round);
        prop_assert_eq!(cell.per_round.len(), rule.rounds.max(1) as usize);
        if let Some(count) = rule.fixed {
            prop_assert_eq!((cell.samples.len(), cell.reason), (count as usize, Reason::Fixed));
        }
    }

    #[test]
    fn any_state_has_a_step_and_always_the_same(
        rule in any_rule(), samples in proptest::collection::vec(0.0f64..1e300, 0..80),
        in_round in 0usize..80, spent_s in 0.0f64..30.0, round in 0u32..9,
    ) {
        let step = next(&rule, &samples, in_round, spent_s, round);
        prop_assert_ne!(step, Step::Take(0));
        prop_assert_eq!(step, next(&rule, &samples, in_round, spent_s, round));
        if let Step::Take(count) = step {
            let most = rule.fixed.unwrap_or(rule.max_samples.max(1)) as usize;
            prop_assert!(samples.len() + count as usize <= most);
        }
    }
}
