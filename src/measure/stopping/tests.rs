//! The rule driven over synthetic series in virtual time: it ends, and its intervals cover what they claim.

use std::f64::consts::TAU;

use proptest::prelude::*;
use rayon::prelude::*;

use super::*;
use crate::data::generator::Stream;
use crate::measure::stats::Summary;

const TRIALS: u64 = 10_000;

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

/// Two uniforms for sample `i` of a trial; the first is never 0.
fn uniforms(stream: Stream, i: usize) -> (f64, f64) {
    (1.0 - stream.uniform::<f64>(2 * i as u64), stream.uniform(2 * i as u64 + 1))
}

/// A standard normal value and a uniform one that is independent of it (Box and Muller 1958).
fn normal_and_uniform(stream: Stream, i: usize) -> (f64, f64) {
    let (u, v) = uniforms(stream, 2 * i);
    ((-2.0 * u.ln()).sqrt() * (TAU * v).cos(), stream.uniform(4 * i as u64 + 2))
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

/// Share of trials, by what `of` says of a finished cell.
fn share(seed: u64, rule: &Rule, series: fn(Stream, usize) -> f64, of: impl Fn(&Cell) -> bool + Sync) -> f64 {
    let hits = (0..TRIALS)
        .into_par_iter()
        .filter(|&trial| {
            let stream = Stream::new(seed, trial);
            of(&sample(rule, 1e-3, |i| series(stream, i)))
        })
        .count();
    hits as f64 / TRIALS as f64
}
#[test]
fn explore() {
    let cases: &[(&str, f64, fn(Stream, usize) -> f64, fn(usize) -> f64)] = &[
        ("normal 1%", 0.005, |s, i| 1.0 + 0.01 * normal(s, i), |_| 1.0),
        ("normal 1% at 1%", 0.01, |s, i| 1.0 + 0.01 * normal(s, i), |_| 1.0),
        ("normal 3%", 0.01, |s, i| 1.0 + 0.03 * normal(s, i), |_| 1.0),
        ("normal 3% .7", 0.007, |s, i| 1.0 + 0.03 * normal(s, i), |_| 1.0),
        ("normal 3% .5", 0.005, |s, i| 1.0 + 0.03 * normal(s, i), |_| 1.0),
        ("bimodal", 0.005, |s, i| { let (z, u) = normal_and_uniform(s, i); if u < 0.7 { 1.0 + 0.01 * z } else { 1.2 + 0.01 * z } }, |_| 1.0 + 0.01 * 0.565_948_821_932_862_8),
        ("t2", 0.005, |s, i| 1.0 + 0.01 * student2(s, i), |_| 1.0),
        ("t2 .01 .02", 0.01, |s, i| 1.0 + 0.02 * student2(s, i), |_| 1.0),
        ("drift", 0.005, |s, i| 1.0 + 0.01 * normal(s, i) + 2e-4 * i as f64, |n| 1.0 + 1e-4 * (n as f64 - 1.0)),
        ("drift", 0.005, |s, i| 1.0 + 0.02 * normal(s, i) + 1e-4 * i as f64, |n| 1.0 + 0.5e-4 * (n as f64 - 1.0)),
        ("skewed", 0.005, |s, i| { let (z, u) = normal_and_uniform(s, i); 1.0 + 0.015 * z.abs() + if u < 0.05 { 1.0 } else { 0.0 } }, |_| 1.0 + 0.015 * 0.716_497_500_177_99),
        ("skewed", 0.005, |s, i| { let (z, u) = normal_and_uniform(s, i); 1.0 + 0.025 * z.abs() + if u < 0.05 { 1.0 } else { 0.0 } }, |_| 1.0 + 0.025 * 0.716_497_500_177_99),
    ];
    for (name, precision, series, truth) in cases {
        let start = std::time::Instant::now();
        let rule = rule(*precision);
        let cells: Vec<Cell> = (0..TRIALS).into_par_iter().map(|t| { let s = Stream::new(1, t); sample(&rule, 1e-3, |i| series(s, i)) }).collect();
        let covered = cells.iter().filter(|c| { let s = Summary::of(&c.samples).unwrap(); let t = truth(c.samples.len()); s.low <= t && t <= s.high }).count() as f64 / TRIALS as f64;
        let mut counts: Vec<f64> = cells.iter().map(|c| c.samples.len() as f64).collect();
        counts.sort_by(f64::total_cmp);
        let q = |p| crate::measure::stats::quantile(&counts, p);
        let by = |r| cells.iter().filter(|c| c.reason == r).count() as f64 / TRIALS as f64;
        std::io::Write::write_fmt(&mut std::io::stdout(), format_args!("{name}: {covered:.4} n {} {} {} {} {} precise {:.3} plateau {:.4} most {:.3}; {:?}\n", q(0.0), q(0.05), q(0.5), q(0.95), q(1.0), by(Reason::Precise), by(Reason::Plateau), by(Reason::MostSamples), start.elapsed())).unwrap();
    }
}
