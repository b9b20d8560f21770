//! Tests with noise that is correlated between successive reports: the rates of false and missed steps.

use super::*;

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

/// Returns the share of series without a step in which one is found.
fn false_steps(trials: u64, noise: f64, correlation: f64, count: usize) -> f64 {
    share(trials, |seed| {
        fit(&correlated(seed, noise, correlation, count, |_| 1e-3), THRESHOLD).levels.len() > 1
    })
}

/// Returns true if a step is further than `reach` values from all of `places`, or if there are more steps than places.
fn has_false_step(fit: &Fit, places: &[usize], reach: usize) -> bool {
    let is_near = |first: &usize| places.iter().any(|place| first.abs_diff(*place) <= reach);
    fit.levels.len() > 1 + places.len() || !firsts(fit)[1..].iter().all(is_near)
}

#[test]
fn correlated_noise_passes_for_a_step_in_one_series_of_fifty_at_most() {
    for (count, trials) in [(10, 1500), (30, 1500), (60, 800), (150, 200)] {
        let wrong = false_steps(trials, 0.02, 0.6, count);
        assert!(wrong <= 0.02, "{count} values: {wrong}");
    }
    let wrong = false_steps(1500, 0.02, 0.3, 30);
    assert!(wrong <= 0.015, "correlation 0.3: {wrong}");
    let wrong = false_steps(800, 0.08, 0.6, 30);
    assert!(wrong <= 0.02, "noise 8 %: {wrong}");
}

#[test]
fn strongly_correlated_noise_hides_steps_rather_than_making_some() {
    for correlation in [0.8, 0.95] {
        let wrong = false_steps(800, 0.02, correlation, 40);
        assert!(wrong <= 0.025, "{correlation}: {wrong}");
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
    // In noise as large as the step its place is hardly known: better no step than one somewhere near.
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

#[test]
fn the_correlation_is_reported_for_at_least_twenty_values() {
    let found = |count| fit(&correlated(1, 0.02, 0.6, count, |_| 1.0), THRESHOLD).correlation;
    assert_eq!(found(19), None);
    let found = found(400).unwrap();
    assert!((found - 0.6).abs() < 0.15, "{found}");
    let stepped = correlated(1, 0.02, 0.0, 100, |at| if at < 50 { 1.0 } else { 1.3 });
    let found = fit(&stepped, THRESHOLD).correlation.unwrap();
    assert!(found < 0.25, "{found}");
}

/// The rates of `docs/trend.md`: `cargo test --release --lib the_rates_of_the_document -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes; the rates it prints are those of docs/trend.md"]
#[allow(clippy::print_stdout)]
fn the_rates_of_the_document() {
    const TRIALS: u64 = 20_000;
    for correlation in [0.0, 0.3, 0.6, 0.8] {
        let each = |count: &usize| format!("{:.1} %", 100.0 * false_steps(TRIALS, 0.02, correlation, *count));
        let rates: Vec<String> = [6, 10, 20, 30, 60, 100, 200].iter().map(each).collect();
        println!("no step, correlation {correlation}, 6 10 20 30 60 100 200 reports: {}", rates.join(" | "));
    }
    for (before, after, step, noise) in [
        (15, 15, 0.05, 0.02),
        (20, 20, 0.05, 0.02),
        (30, 8, 0.05, 0.02),
        (30, 30, 0.05, 0.02),
        (10, 10, 0.05, 0.02),
        (7, 7, 0.05, 0.01),
        (5, 5, 0.1, 0.02),
        (3, 3, 0.3, 0.02),
        (20, 3, 0.1, 0.02),
        (30, 30, 0.03, 0.02),
        (30, 30, 0.02, 0.02),
        (30, 30, 0.02, 0.01),
    ] {
        let level = |at| if at < before { 1.0 } else { 1.0 + step };
        let rates = [0.0, 0.3, 0.6].map(|correlation| {
            let fit = |seed| fit(&correlated(seed, noise, correlation, before + after, level), THRESHOLD);
            let found = share(TRIALS, |seed| fit(seed).levels.len() == 2);
            let wrong =
                [3, 5].map(|reach| share(TRIALS, |seed| has_false_step(&fit(seed), &[before], reach)));
            format!("{:.1} % (false {:.1} %, {:.1} %)", 100.0 * found, 100.0 * wrong[0], 100.0 * wrong[1])
        });
        println!("{step} in {noise}, {before}|{after}, correlation 0 0.3 0.6: {}", rates.join(" | "));
    }
    for (noise, correlation) in [(0.01, 0.0), (0.02, 0.0), (0.01, 0.6), (0.02, 0.6)] {
        let after = |at: usize| [1.0, 1.05, 1.05 * 1.02][at / 20];
        let fit = |seed| fit(&correlated(seed, noise, correlation, 60, after), THRESHOLD);
        let wrong = [3, 5].map(|reach| share(TRIALS, |seed| has_false_step(&fit(seed), &[20, 40], reach)));
        let large = share(TRIALS, |seed| firsts(&fit(seed))[1..].iter().any(|first| first.abs_diff(20) <= 3));
        println!("5 % at 20, 2 % at 40, {noise}, {correlation}: {large:.3}, false {wrong:?}");
    }
    for slow in [0.9, 0.95] {
        let half =
            |seed, count, correlation| correlated(seed, 0.02 * 0.5f64.sqrt(), correlation, count, |_| 1.0);
        let both = |seed, count: usize| -> Vec<f64> {
            half(seed, count, slow)
                .iter()
                .zip(half(seed + 1_000_000, count, 0.0))
                .map(|(a, b)| a * b)
                .collect()
        };
        let rates = [20, 30, 60, 100]
            .map(|count| share(TRIALS / 4, |seed| fit(&both(seed, count), THRESHOLD).levels.len() > 1));
        println!("half slow ({slow}), half uncorrelated, 20 30 60 100: {rates:?}");
    }
}
