//! Simulates reports of sweeps: seeded times with the noise of real runs, to test the comparison.

use gpubench_report::case::{Cache, Case, Cell, DType};
use gpubench_report::data::generator::{self, Stream};
use gpubench_report::measure::stopping::{self, Rule, Step};
use gpubench_report::report::{Clock, Environment, Execute, Host, Outcome, Report, Row, SCHEMA_VERSION};
use gpubench_report::{Accuracy, Side};

/// Ops and sizes of the sweep; with two backends these are sixty cells.
const OPS: [&str; 6] = ["matmul", "elementwise", "reduction", "fft", "solve", "spgemm"];
const SIZES: [u64; 5] = [500, 1000, 2000, 4000, 8000];

/// Noise of the times of samples and of runs, as standard deviations of the logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    pub sample: f64,
    pub run: f64,
}

/// Noise of runs on a quiet machine.
pub(crate) const REALISTIC: Noise = Noise { sample: 0.02, run: 0.004 };

/// Noise of rounds, and the change from the first to the last round of each cell, with a random sign.
const ROUND: f64 = 0.003;
const DRIFT: f64 = 0.003;

/// The share of samples that are outliers, and the factor by which they take longer.
const OUTLIERS: f64 = 0.01;
const OUTLIER_FACTOR: f64 = 3.0;

/// Simulates a run of the sweep; equal seeds give equal runs. `factor` multiplies the time of a cell.
pub(crate) fn run(seed: u64, noise: &Noise, factor: &dyn Fn(&Cell) -> f64) -> Report {
    let mut rows = Vec::new();
    for (op, n) in OPS.iter().flat_map(|op| SIZES.iter().map(move |n| (*op, *n))) {
        for (backend, side, base_s) in [("cpu", Side::Cpu, 4e-9), ("cuda", Side::Gpu, 1e-10)] {
            let case = Case::square(op, n, DType::F32, 42);
            let cell =
                Cell { case, backend: backend.into(), variant: "simulated".into(), cache: Cache::Cold };
            let typical_s = base_s * (n as f64).powi(2) * factor(&cell);
            let execute = execute(RandomNumbers::new(seed, rows.len() as u64), noise, side, typical_s);
            rows.push(Row {
                outcome: Outcome::Measured,
                execute: Some(execute),
                ..Row::blank(cell, side, Accuracy::Ieee)
            });
        }
    }
    let host = Host { name: "simulated".into(), ..Host::default() };
    let environment = Environment {
        gpubench_version: env!("CARGO_PKG_VERSION").into(),
        // Distinct starts make runs distinct reports.
        started: format!("2026-01-01T{:02}:{:02}:{:02}Z", seed / 3600 % 24, seed / 60 % 60, seed % 60),
        argv: vec!["gpubench".into(), "simulated".into(), seed.to_string()],
        host,
        ..Environment::default()
    };
    Report { schema_version: SCHEMA_VERSION, environment, rows }
}

/// Draws as many samples as the stop rule of real runs requires, at the precision of the GPU or the CPU.
fn execute(mut random: RandomNumbers, noise: &Noise, side: Side, typical_s: f64) -> Execute {
    let precision = if side == Side::Gpu { 0.005 } else { 0.01 };
    let rule = Rule { precision, ..Rule::default() };
    let of_run = typical_s * (noise.run * random.normal()).exp();
    let slope = DRIFT * if random.uniform() < 0.5 { -1.0 } else { 1.0 };
    let (mut samples, mut rounds) = (Vec::<f64>::new(), Vec::new());
    for round in 0..rule.rounds {
        let share = f64::from(round) / f64::from(rule.rounds.max(2) - 1);
        let of_round = of_run * (ROUND * random.normal() + slope * share).exp();
        let mut in_round = 0;
        while let Step::Take(count) = stopping::next(&rule, &samples, in_round, samples.iter().sum(), round) {
            for _ in 0..count {
                let outlier = if random.uniform() < OUTLIERS { OUTLIER_FACTOR } else { 1.0 };
                samples.push(of_round * (noise.sample * random.normal()).exp() * outlier);
                rounds.push(round);
            }
            in_round += count as usize;
        }
    }
    Execute {
        clock: if side == Side::Gpu { Clock::DeviceEvents } else { Clock::Host },
        rounds,
        blocked: (side == Side::Gpu).then_some(true),
        ..Execute::of(samples.clone(), samples).unwrap_or_default()
    }
}

/// A sequence of random numbers.
struct RandomNumbers {
    stream: Stream,
    used: u64,
}

impl RandomNumbers {
    fn new(seed: u64, cell: u64) -> RandomNumbers {
        RandomNumbers { stream: Stream::new(seed, cell), used: 0 }
    }

    fn uniform(&mut self) -> f64 {
        self.used += 1;
        self.stream.uniform(self.used)
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        generator::normal(u, v)
    }
}

/// Returns a standard normal value for `seed` and `place`.
pub(crate) fn normal(seed: u64, place: u64) -> f64 {
    RandomNumbers::new(seed, place).normal()
}
