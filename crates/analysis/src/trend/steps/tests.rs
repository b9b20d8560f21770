//! Tests of the search for steps on seeded series: false steps, missed steps, and invariance.

use gpubench_report::data::generator::{self, Stream};
use proptest::prelude::*;
use rayon::prelude::*;

use super::*;

const THRESHOLD: f64 = 0.02;

/// The `index`-th standard normal value of a stream.
fn normal(stream: Stream, index: usize) -> f64 {
    let chance = |k: u64| stream.uniform::<f64>(2 * index as u64 + k);
    generator::normal(chance(0), chance(1))
}

/// Times around `level`, with lognormal noise of that standard deviation.
fn series(seed: u64, noise: f64, count: usize, level: impl Fn(usize) -> f64) -> Vec<f64> {
    let stream = Stream::new(seed, 7);
    (0..count).map(|index| level(index) * (noise * normal(stream, index)).exp()).collect()
}

/// The share of `trials` seeded series for which `holds`.
fn share(trials: u64, holds: impl Fn(u64) -> bool + Sync) -> f64 {
    (0..trials).into_par_iter().filter(|&seed| holds(seed)).count() as f64 / trials as f64
}

fn firsts(fit: &Fit) -> Vec<usize> {
    fit.levels.iter().map(|level| level.first).collect()
}

#[test]
fn pure_noise_has_a_step_in_one_series_of_a_hundred_at_most() {
    for (count, most) in [(6, 0.0125), (10, 0.0125), (20, 0.0125), (60, 0.006), (200, 0.0125)] {
        let wrong = share(4000, |seed| fit(&series(seed, 0.02, count, |_| 1e-3), THRESHOLD).levels.len() > 1);
        assert!(wrong <= most, "{count} values: {wrong}");
        let at_end = share(4000, |seed| fit(&series(seed, 0.02, count, |_| 1.0), THRESHOLD).latest.is_some());
        assert!(at_end <= 0.001, "the end of {count} values: {at_end}");
    }
}

#[test]
fn a_step_of_five_percent_in_noise_of_two_is_found_where_it_is() {
    let stepped = |seed| fit(&series(seed, 0.02, 30, |at| if at < 15 { 1.0 } else { 1.05 }), THRESHOLD);
    let found = share(4000, |seed| stepped(seed).levels.len() == 2);
    assert!(found >= 0.90, "{found}");
    let near = share(4000, |seed| {
        let fit = stepped(seed);
        fit.levels.len() == 2 && fit.levels[1].first.abs_diff(15) <= 2
    });
    assert!(near >= 0.87, "{near}");
}

#[test]
fn several_steps_are_found_with_their_levels() {
    let level = |at| [1.0, 1.3, 1.1, 0.7][at / 12];
    let exact = share(500, |seed| {
        let fit = fit(&series(seed, 0.01, 48, level), THRESHOLD);
        let near = |(found, at): (&TimeLevel, usize)| (found.median_s / level(at) - 1.0).abs() < 0.02;
        firsts(&fit) == [0, 12, 24, 36] && fit.levels.iter().zip([0, 12, 24, 36]).all(near)
    });
    assert!(exact > 0.98, "{exact}");
}

#[test]
fn one_or_two_outliers_are_no_step_and_three_values_may_be() {
    for run in 1..=2 {
        let outlying = |at: usize| if (20..20 + run).contains(&at) { 3.0 } else { 1.0 };
        let wrong = share(1000, |seed| fit(&series(seed, 0.02, 40, outlying), THRESHOLD).levels.len() > 1);
        assert!(wrong <= 0.02, "{run} outliers: {wrong}");
    }
    let three = series(1, 0.02, 40, |at| if (20..23).contains(&at) { 1.3 } else { 1.0 });
    assert_eq!(firsts(&fit(&three, THRESHOLD)), [0, 20, 23]);
}

#[test]
fn the_noise_is_that_between_neighbours_despite_steps_and_outliers() {
    let rough = |at: usize| if at % 17 == 5 { 4.0 } else { 1.0 + (at / 50) as f64 };
    let noise = fit(&series(3, 0.02, 200, rough), THRESHOLD).noise.unwrap();
    assert!((0.015..0.028).contains(&noise), "{noise}");
}

#[test]
fn a_slow_drift_is_reported_as_such_and_a_tiny_one_not_at_all() {
    let drift = |total: f64| move |at: usize| 1.0 + total * at as f64 / 59.0;
    let tiny = share(500, |seed| {
        let fit = fit(&series(seed, 0.005, 60, drift(0.01)), THRESHOLD);
        fit.levels.len() > 1 || fit.drift.is_some()
    });
    assert!(tiny <= 0.01, "{tiny}");
    let rising = share(500, |seed| {
        let fit = fit(&series(seed, 0.01, 60, drift(0.3)), THRESHOLD);
        fit.levels.len() == 1 && fit.drift.is_some_and(|ratio| (1.27..1.33).contains(&ratio))
    });
    assert!(rising > 0.99, "{rising}");
    for step in [0.0, 0.05] {
        let stepped = |at| if at < 15 { 1.0 } else { 1.0 + step };
        let wrong = share(1000, |seed| fit(&series(seed, 0.02, 30, stepped), THRESHOLD).drift.is_some());
        assert!(wrong <= 0.005, "step {step}: {wrong}");
    }
}

#[test]
fn deviating_newest_values_are_unconfirmed_until_there_are_three() {
    let jump = |count: usize| series(5, 0.01, 20 + count, |at| if at < 20 { 1.0 } else { 1.3 });
    for count in 1..MIN_LEVEL {
        let found = fit(&jump(count), THRESHOLD);
        assert_eq!(firsts(&found), [0], "{found:?}");
        let latest = found.latest.unwrap();
        assert_eq!(latest.first, 20);
        assert!((latest.ratio - 1.3).abs() < 0.05, "{latest:?}");
    }
    let found = fit(&jump(4), THRESHOLD);
    assert_eq!((firsts(&found), found.latest), (vec![0, 20], None));
}

#[test]
fn steps_below_the_threshold_are_ignored_even_if_clear() {
    let clear: Vec<f64> = (0..40).map(|at| if at < 20 { 1.0 } else { 1.015 }).collect();
    assert_eq!(firsts(&fit(&clear, 0.02)), [0]);
    assert_eq!(firsts(&fit(&clear, 0.01)), [0, 20]);
}

#[test]
fn short_series_have_one_level_and_none_at_all_has_none() {
    assert_eq!(fit(&[], THRESHOLD), Fit::default());
    for count in 1..2 * MIN_LEVEL {
        let growing: Vec<f64> = (0..count).map(|at| 2f64.powi(at as i32)).collect();
        assert_eq!(firsts(&fit(&growing, THRESHOLD)), [0]);
    }
}

/// Times around `level` with lognormal noise of standard deviation `noise` and that lag-one correlation: a stationary
/// autoregressive process of first order.
fn correlated(
    seed: u64,
    noise: f64,
    correlation: f64,
    count: usize,
    level: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let stream = Stream::new(seed, 11);
    let fresh = (1.0 - correlation * correlation).sqrt();
    let mut state = normal(stream, 0);
    let mut times = vec![];
    for index in 0..count {
        times.push(level(index) * (noise * state).exp());
        state = correlation * state + fresh * normal(stream, index + 1);
    }
    times
}

/// Returns true if a step is further than `reach` values from all of `positions`, or if there are more steps than positions.
fn has_false_step(fit: &Fit, positions: &[usize], reach: usize) -> bool {
    let is_near = |first: &usize| positions.iter().any(|position| first.abs_diff(*position) <= reach);
    fit.levels.len() > 1 + positions.len() || !firsts(fit)[1..].iter().all(is_near)
}

#[test]
fn correlated_noise_has_a_step_in_one_series_of_fifty_at_most() {
    for (trials, noise, correlation, count, most) in [
        (1500, 0.02, 0.6, 10, 0.02),
        (1500, 0.02, 0.6, 30, 0.02),
        (800, 0.02, 0.6, 60, 0.02),
        (200, 0.02, 0.6, 150, 0.02),
        (1500, 0.02, 0.3, 30, 0.015),
        (800, 0.08, 0.6, 30, 0.02),
        (800, 0.02, 0.8, 40, 0.025),
        (800, 0.02, 0.95, 40, 0.025),
    ] {
        let wrong = share(trials, |seed| {
            fit(&correlated(seed, noise, correlation, count, |_| 1e-3), THRESHOLD).levels.len() > 1
        });
        assert!(wrong <= most, "{count} values, noise {noise}, correlation {correlation}: {wrong}");
    }
}

#[test]
fn a_clear_step_in_correlated_noise_is_found() {
    let stepped = |seed| correlated(seed, 0.01, 0.6, 40, |at| if at < 20 { 1.0 } else { 1.05 });
    let found = share(600, |seed| {
        let fit = fit(&stepped(seed), THRESHOLD);
        fit.levels.len() == 2 && !has_false_step(&fit, &[20], 2)
    });
    assert!(found >= 0.9, "{found}");
}

#[test]
fn a_small_step_raises_no_false_one_nearby() {
    // In noise as large as the step its position is hardly known: better no step than one somewhere near.
    let alone = |at: usize| if at < 30 { 1.0 } else { 1.02 };
    let wrong = share(1000, |seed| has_false_step(&fit(&series(seed, 0.02, 60, alone), THRESHOLD), &[30], 5));
    assert!(wrong <= 0.02, "alone: {wrong}");
    let after = |at: usize| [1.0, 1.05, 1.05 * 1.02][at / 20];
    for noise in [0.01, 0.02] {
        let found = |seed| fit(&series(seed, noise, 60, after), THRESHOLD);
        let wrong = share(1000, |seed| has_false_step(&found(seed), &[20, 40], 5));
        assert!(wrong <= 0.02, "after a step of 5 %, noise {noise}: {wrong}");
        let large = share(1000, |seed| firsts(&found(seed))[1..].iter().any(|first| first.abs_diff(20) <= 3));
        assert!(large >= 0.85, "the step of 5 %, noise {noise}: {large}");
    }
}

proptest! {
    #[test]
    fn no_finite_series_panics_and_levels_cover_it_in_order(
        values in proptest::collection::vec(5e-324..f64::MAX, 0..40), threshold in 1e-4..1.0f64,
    ) {
        let found = fit(&values, threshold);
        let mut next = 0;
        for level in &found.levels {
            prop_assert_eq!(level.first, next);
            prop_assert!(level.count >= 1);
            next += level.count;
        }
        prop_assert_eq!(next, found.latest.map_or(values.len(), |latest| latest.first));
    }

    #[test]
    fn the_unit_of_time_does_not_matter(
        logs in proptest::collection::vec(-1.0..1.0f64, 1..40), power in -60i32..60,
    ) {
        let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        let scaled: Vec<f64> = values.iter().map(|value| value * 2f64.powi(power)).collect();
        let (a, b) = (fit(&values, 0.02), fit(&scaled, 0.02));
        prop_assert_eq!((firsts(&a), a.latest, a.noise), (firsts(&b), b.latest, b.noise));
        for (one, other) in a.levels.iter().zip(&b.levels) {
            prop_assert_eq!(one.median_s * 2f64.powi(power), other.median_s);
        }
    }
}
