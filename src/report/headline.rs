//! The headline: the best correct variant of each side, case by case, and how they compare. Knows rows only.
//!
//! A comparison never mixes states of the caches: a section is about one of them.
//!
//! The speed-up here is the *kernel* speed-up: each side by the clock that stands for it (a GPU's own clock, the
//! host's for a CPU), operands resident, no transfer. Variants of reduced precision take no part.

use std::fmt;

use super::quantity::factor_within;
use super::{Outcome, Report, Row};
use crate::backend::Side;
use crate::case::{Cache, DType};
use crate::measure::stats::significant_digits;
use crate::op::{Checked, OPS};

/// The cases of one op in one element type and one state of the caches.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// Name of the op.
    pub op: &'a str,
    /// Element type.
    pub dtype: DType,
    /// State of the caches before each execution.
    pub cache: Cache,
    /// One entry a size and density, in ascending order of density, then size.
    pub comparisons: Vec<Comparison<'a>>,
}

impl Section<'_> {
    /// Whether the cases differ in density, so that it must be told beside the size.
    pub fn has_densities(&self) -> bool {
        let first = self.comparisons.first().and_then(|comparison| comparison.density);
        self.comparisons.iter().any(|comparison| comparison.density != first)
    }

    /// The density that all cases share, if they have one.
    pub fn common_density(&self) -> Option<f64> {
        self.comparisons.first()?.density.filter(|_| !self.has_densities())
    }
}

/// The best of both sides for one case.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// Side of the operands.
    pub n: u64,
    /// Share of stored entries of a sparse op.
    pub density: Option<f64>,
    /// Every row of the case, in the order of the report.
    pub rows: Vec<&'a Row>,
    /// The fastest correct row in full precision on the CPU's side.
    pub cpu: Option<&'a Row>,
    /// The fastest correct row in full precision on the GPU's side.
    pub gpu: Option<&'a Row>,
}

impl Comparison<'_> {
    /// How many times one side is faster; `None` when a side is missing.
    pub fn speed_up(&self) -> Option<SpeedUp> {
        let (cpu, gpu) = (self.cpu?.execute.as_ref()?, self.gpu?.execute.as_ref()?);
        let ratio = cpu.median_s / gpu.median_s;
        let low = cpu.ci95_s[0] / gpu.ci95_s[1];
        let high = cpu.ci95_s[1] / gpu.ci95_s[0];
        let usable = [ratio, low, high].iter().all(|figure| figure.is_finite() && *figure > 0.0);
        usable.then_some(SpeedUp { ratio, low, high })
    }

    /// Of the errors found on the two sides, the one nearer to its bound (or further beyond it).
    pub fn error(&self) -> Option<Checked> {
        let errors = [self.cpu, self.gpu].into_iter().flatten().filter_map(|row| row.error);
        errors.reduce(Checked::worse)
    }
}

/// Time on the CPU over time on the GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedUp {
    /// The ratio of the medians: above 1 the GPU is faster, below 1 the CPU.
    pub ratio: f64,
    /// The ratio when the CPU's median is as low and the GPU's as high as their 95 % intervals allow.
    pub low: f64,
    /// The ratio at the other ends.
    pub high: f64,
}

impl SpeedUp {
    /// The side that is faster.
    pub fn winner(&self) -> Side {
        if self.ratio >= 1.0 { Side::Gpu } else { Side::Cpu }
    }

    /// How many times faster the winner is, at least 1.
    pub fn factor(&self) -> f64 {
        if self.ratio >= 1.0 { self.ratio } else { 1.0 / self.ratio }
    }

    /// Significant digits that the interval of the factor allows, but at least two: one would hide who wins.
    fn digits(&self) -> usize {
        let (low, high) =
            if self.ratio >= 1.0 { (self.low, self.high) } else { (1.0 / self.high, 1.0 / self.low) };
        match (high - low) / 2.0 {
            half_width if half_width > 0.0 => significant_digits(self.factor(), half_width).max(2),
            // Single samples have no interval.
            _ => 3,
        }
    }
}

/// `GPU 12.3x` or `CPU 2.9x`: the winner and a factor, never below 1.
impl fmt::Display for SpeedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let winner = match self.winner() {
            Side::Cpu => "CPU",
            Side::Gpu => "GPU",
        };
        f.pad(&format!("{winner} {}", factor_within(self.factor(), self.digits())))
    }
}

/// A factor with few digits: `1.4x`, `12.3x`, `271x`, `1.4e7x`.
pub fn factor_text(factor: f64) -> String {
    match factor {
        factor if factor < 99.95 => format!("{factor:.1}x"),
        factor if factor < 1e6 => format!("{factor:.0}x"),
        _ => format!("{factor:.1e}x"),
    }
}

/// The sections of a report, in the order of [`OPS`], [`DType::ALL`] and [`Cache::ALL`]; ops unknown here come last.
pub fn sections(report: &Report) -> Vec<Section<'_>> {
    let mut ops: Vec<&str> = OPS.iter().map(|op| op.name()).collect();
    for row in &report.rows {
        if !ops.contains(&row.case.op.as_str()) {
            ops.push(&row.case.op);
        }
    }
    let mut sections = vec![];
    for op in ops {
        for &dtype in DType::ALL {
            for cache in Cache::ALL {
                let comparisons = comparisons(report, op, dtype, cache);
                if !comparisons.is_empty() {
                    sections.push(Section { op, dtype, cache, comparisons });
                }
            }
        }
    }
    sections
}

/// Whether rows of both states of the caches occur, so that the state must be told with each.
pub fn has_both_caches(report: &Report) -> bool {
    Cache::ALL.iter().all(|cache| report.rows.iter().any(|row| row.cache == *cache))
}

fn comparisons<'a>(report: &'a Report, op: &str, dtype: DType, cache: Cache) -> Vec<Comparison<'a>> {
    let mut found: Vec<Comparison<'a>> = Vec::new();
    let belongs = |row: &Row| row.case.op == op && row.case.dtype == dtype && row.cache == cache;
    for row in report.rows.iter().filter(|row| belongs(row)) {
        let (n, density) = (row.case.n, row.case.density);
        match found.iter_mut().find(|comparison| comparison.n == n && comparison.density == density) {
            Some(comparison) => comparison.rows.push(row),
            None => found.push(Comparison { n, density, rows: vec![row], cpu: None, gpu: None }),
        }
    }
    for comparison in &mut found {
        comparison.cpu = best(&comparison.rows, Side::Cpu);
        comparison.gpu = best(&comparison.rows, Side::Gpu);
    }
    let key = |comparison: &Comparison<'_>| comparison.density.unwrap_or(0.0);
    found.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.n.cmp(&b.n)));
    found
}

/// The fastest of the rows that may stand for `side`: measured, hence correct, and in full precision.
fn best<'a>(rows: &[&'a Row], side: Side) -> Option<&'a Row> {
    rows.iter()
        .copied()
        .filter(|row| row.side == side && row.accuracy.is_headline() && row.outcome == Outcome::Measured)
        .filter_map(|row| Some((row, row.median_s()?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(row, _)| row)
}

/// How rows are called: by variant alone where a side has one backend, else by backend and variant.
pub struct Names {
    several: [bool; 2],
}

impl Names {
    /// The names for the rows of a report.
    pub fn of(report: &Report) -> Names {
        let several = [Side::Cpu, Side::Gpu].map(|side| {
            let mut backends = report.rows.iter().filter(|row| row.side == side).map(|row| &row.backend);
            let first = backends.next();
            backends.any(|backend| Some(backend) != first)
        });
        Names { several }
    }

    /// The name of a row's variant.
    pub fn name(&self, row: &Row) -> String {
        let several = match row.side {
            Side::Cpu => self.several[0],
            Side::Gpu => self.several[1],
        };
        if several { format!("{}/{}", row.backend, row.variant) } else { row.variant.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Accuracy;
    use crate::report::example;

    fn speed_up(ratio: f64) -> SpeedUp {
        SpeedUp { ratio, low: ratio, high: ratio }
    }

    #[test]
    fn speed_ups_name_the_winner_and_are_never_below_one() {
        assert_eq!(speed_up(12.34).to_string(), "GPU 12.3x");
        assert_eq!(speed_up(1.0 / 2.9).to_string(), "CPU 2.90x");
        assert_eq!(speed_up(1.0).to_string(), "GPU 1.00x");
        assert_eq!(speed_up(0.999).to_string(), "CPU 1.00x");
        assert_eq!(speed_up(270.85).to_string(), "GPU 271x");
        assert_eq!(speed_up(99.97).to_string(), "GPU 100x");
        assert_eq!(speed_up(1e-300).to_string(), "CPU 1.0e300x");
    }

    #[test]
    fn speed_ups_have_the_digits_that_their_own_interval_allows() {
        let within = |ratio: f64, relative: f64| {
            SpeedUp { ratio, low: ratio * (1.0 - relative), high: ratio * (1.0 + relative) }.to_string()
        };
        assert_eq!(within(12.34, 1e-4), "GPU 12.34x");
        assert_eq!(within(12.34, 0.01), "GPU 12x");
        assert_eq!(within(1.0 / 2.9, 0.003), "CPU 2.90x");
        assert_eq!(within(1.42, 0.3), "GPU 1.4x");
        assert_eq!(within(270.85, 0.05), "GPU 270x");
    }

    #[test]
    fn a_comparison_never_mixes_states_of_the_caches() {
        let mut report = example::empty();
        report.rows = vec![
            example::measured("fft", 10, "cpu", "realfft", 4e-3),
            example::measured("fft", 10, "cuda", "r2c", 1e-3),
            example::measured("fft", 10, "cpu", "realfft", 2e-3),
        ];
        assert!(!has_both_caches(&report));
        report.rows[2].cache = Cache::Hot;
        assert!(has_both_caches(&report));
        let found: Vec<(Cache, Option<f64>)> = sections(&report)
            .iter()
            .map(|section| (section.cache, section.comparisons[0].speed_up().map(|found| found.ratio)))
            .collect();
        assert_eq!(found, [(Cache::Cold, Some(4.0)), (Cache::Hot, None)]);
    }

    #[test]
    fn the_headline_takes_the_fastest_correct_variant_in_full_precision() {
        let mut report = example::empty();
        report.rows = vec![
            example::measured("matmul", 1000, "cpu", "mkl", 0.72e-3),
            example::measured("matmul", 1000, "cpu", "openblas", 1.16e-3),
            example::measured("matmul", 1000, "cuda", "cublas", 58.1e-6),
            example::measured("matmul", 1000, "cuda", "cublas-tf32", 23.5e-6),
            example::without_time("matmul", 1000, "cuda", "tiled", Outcome::Incorrect, "wrong", None),
        ];
        report.rows[3].accuracy = Accuracy::Tf32;
        let sections = sections(&report);
        let comparison = &sections[0].comparisons[0];
        assert_eq!(comparison.cpu.map(|row| row.variant.as_str()), Some("mkl"));
        assert_eq!(comparison.gpu.map(|row| row.variant.as_str()), Some("cublas"));
        assert_eq!(comparison.speed_up().map(|found| found.to_string()), Some("GPU 12.4x".into()));
    }

    #[test]
    fn a_missing_side_has_no_speed_up() {
        let mut report = example::empty();
        report.rows = vec![example::measured("fft", 100, "cpu", "realfft", 1e-3)];
        assert_eq!(sections(&report)[0].comparisons[0].speed_up(), None);
    }

    #[test]
    fn sections_follow_the_order_of_the_ops_and_unknown_ops_come_last() {
        let mut report = example::empty();
        let names = ["stencil", "svd", "matmul"];
        report.rows = names.map(|op| example::measured(op, 10, "cpu", "v", 1e-3)).to_vec();
        let found: Vec<&str> = sections(&report).iter().map(|section| section.op).collect();
        assert_eq!(found, ["matmul", "svd", "stencil"]);
    }

    #[test]
    fn names_carry_the_backend_only_where_a_side_has_several() {
        let mut report = example::empty();
        report.rows = vec![
            example::measured("fft", 10, "cpu", "realfft", 1e-3),
            example::measured("fft", 10, "cuda", "r2c", 1e-3),
            example::measured("fft", 10, "cupy", "fft2", 1e-3),
        ];
        let names = Names::of(&report);
        let found: Vec<String> = report.rows.iter().map(|row| names.name(row)).collect();
        assert_eq!(found, ["realfft", "cuda/r2c", "cupy/fft2"]);
    }
}
