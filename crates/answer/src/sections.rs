//! Groups the rows of a report into comparisons: per case the best correct variant of each side.
//!
//! A section has one state of the caches, so that comparisons never mix them. Variants of reduced precision are not
//! compared.

use gpubench_model::Side;
use gpubench_model::case::{Cache, DType};
use gpubench_model::measure::grade::Grade;
use gpubench_model::report::{Report, Row};
use gpubench_ops::{self as op, Checked, OPS};
use gpubench_text::grouped::distinct;

use super::cost::{Kind, estimate};
use super::winner::of_winner;
use super::{Estimate, SpeedUp};

/// The cases of one op in one element type and one state of the caches.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// Name of the op.
    pub op: &'a str,
    /// Element type.
    pub dtype: DType,
    /// State of the caches before each execution.
    pub cache: Cache,
    /// One entry per size and density, in ascending order of density, then size.
    pub comparisons: Vec<Comparison<'a>>,
}

impl<'a> Section<'a> {
    /// Returns whether the cases differ in density, so that it must be shown next to the size.
    pub fn has_densities(&self) -> bool {
        let first = self.comparisons.first().and_then(|comparison| comparison.density);
        self.comparisons.iter().any(|comparison| comparison.density != first)
    }

    /// The cases of each density, as sections of their own.
    pub fn by_density(&self) -> impl Iterator<Item = Section<'a>> {
        let parts = self.comparisons.chunk_by(|a, b| a.density == b.density);
        parts.map(|part| Section { comparisons: part.to_vec(), ..*self })
    }

    /// The density that all cases share, if they have one.
    pub fn common_density(&self) -> Option<f64> {
        self.comparisons.first()?.density.filter(|_| !self.has_densities())
    }
}

/// The best of both sides for one case.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// Size N of the case.
    pub n: u64,
    /// Share of stored entries of a sparse op.
    pub density: Option<f64>,
    /// Every row of the case, in the order of the report.
    pub rows: Vec<&'a Row>,
    /// The fastest correct row in full precision on the CPU's side, by its own clock.
    pub cpu: Option<&'a Row>,
    /// The fastest correct row in full precision on the GPU's side, by its own clock.
    pub gpu: Option<&'a Row>,
}

impl<'a> Comparison<'a> {
    /// The fastest variants of both sides by that kind; `None` when a side is missing, or when the op does not compare
    /// sides.
    pub fn pair(&self, kind: Kind) -> Option<Pair<'a>> {
        op::compares_sides(&self.rows.first()?.case.op).then_some(())?;
        let (cpu, gpu) = (self.fastest(Side::Cpu, kind)?, self.fastest(Side::Gpu, kind)?);
        let ratio = cpu.1.over(gpu.1)?;
        Some(Pair { kind, cpu: cpu.0, gpu: gpu.0, cpu_s: cpu.1, gpu_s: gpu.1, speed_up: SpeedUp(ratio) })
    }

    /// The rows that may represent `side`, measured, hence correct, and in full precision, each with its time.
    pub fn candidates(&self, side: Side, kind: Kind) -> impl Iterator<Item = (&'a Row, Estimate)> {
        let rows = self.rows.iter().copied().filter(move |row| row.side == side && row.is_headline());
        rows.filter_map(move |row| Some((row, estimate(row, kind)?)))
    }

    /// The fastest of the rows that may represent `side`, and its time with an interval that allows for the choice.
    fn fastest(&self, side: Side, kind: Kind) -> Option<(&'a Row, Estimate)> {
        let mut found: Vec<(&Row, Estimate)> = self.candidates(side, kind).collect();
        found.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
        let &(row, time) = found.first()?;
        let second = found.get(1).map_or(f64::INFINITY, |(_, second)| second.value);
        Some((row, of_winner(time, second, found.len())))
    }

    /// The rows, the fastest first; those without a time keep the order of the report, after the others.
    pub fn fastest_first(&self) -> Vec<&'a Row> {
        let time = |row: &Row| row.median_s().unwrap_or(f64::INFINITY);
        let mut rows = self.rows.clone();
        rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
        rows
    }

    /// The speed-up of that kind; `None` when a side is missing.
    pub fn speed_up(&self, kind: Kind) -> Option<SpeedUp> {
        Some(self.pair(kind)?.speed_up)
    }

    /// The larger of the two sides' errors, relative to their bounds.
    pub fn error(&self) -> Option<Checked> {
        let errors = [self.cpu, self.gpu].into_iter().flatten().filter_map(|row| row.error);
        errors.reduce(Checked::worse)
    }
}

/// The fastest correct row of each side for one kind of speed-up, both in full precision.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// The phases that the times include.
    pub kind: Kind,
    /// The CPU's row.
    pub cpu: &'a Row,
    /// The GPU's row.
    pub gpu: &'a Row,
    /// Seconds of a call on the CPU; the interval allows for having chosen the fastest.
    pub cpu_s: Estimate,
    /// Seconds of a call on the GPU, likewise.
    pub gpu_s: Estimate,
    /// The first over the second.
    pub speed_up: SpeedUp,
}

impl Pair<'_> {
    /// Returns `GPU 34x`; `GPU 1.1x?` where the interval includes 1, `GPU 34x!` where a time has grade D, `GPU 1.1x?!` for
    /// both.
    pub fn speed_up_text(&self) -> String {
        format!("{}{}", self.speed_up, if self.has_grade_d() { "!" } else { "" })
    }

    /// Returns whether one of the times has grade D.
    pub fn has_grade_d(&self) -> bool {
        let unreliable =
            |row: &Row| row.execute.as_ref().is_some_and(|execute| execute.grade == Some(Grade::D));
        unreliable(self.cpu) || unreliable(self.gpu)
    }
}

/// The sections of a report, in the order of [`OPS`], [`DType::ALL`] and [`Cache::ALL`]; ops unknown here come last.
pub fn sections(report: &Report) -> Vec<Section<'_>> {
    let of_rows = report.rows.iter().map(|row| row.case.op.as_str());
    let mut sections = vec![];
    for op in distinct(OPS.iter().map(|op| op.name()).chain(of_rows)) {
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

/// Returns whether rows of both cache states occur, so that the state must be shown with each.
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
        comparison.cpu = comparison.fastest(Side::Cpu, Kind::Kernel).map(|found| found.0);
        comparison.gpu = comparison.fastest(Side::Gpu, Kind::Kernel).map(|found| found.0);
    }
    let key = |comparison: &Comparison<'_>| comparison.density.unwrap_or(0.0);
    found.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.n.cmp(&b.n)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::Accuracy;
    use gpubench_model::report::{Outcome, example};

    #[test]
    fn a_variant_with_fewer_threads_never_represents_the_cpu() {
        let report = example::of([
            example::measured("fft", 10, "cpu", "realfft", 4e-3),
            example::measured("fft", 10, "cpu", "realfft@1", 1e-3),
            example::measured("fft", 10, "cuda", "r2c", 1e-3),
        ]);
        let sections = sections(&report);
        let comparison = &sections[0].comparisons[0];
        assert_eq!(comparison.cpu.unwrap().variant, "realfft");
        assert_eq!(comparison.speed_up(Kind::Kernel).map(|found| found.0.value), Some(4.0));
        assert_eq!(comparison.rows.len(), 3, "the row is there all the same");
    }

    #[test]
    fn a_comparison_never_mixes_states_of_the_caches() {
        let mut report = example::of(example::both_sides("fft", 10, 4e-3, 1e-3));
        report.rows.push(example::measured("fft", 10, "cpu", "faer", 2e-3));
        assert!(!has_both_caches(&report));
        report.rows[2].cache = Cache::Hot;
        assert!(has_both_caches(&report));
        let ratio = |section: &Section<'_>| Some(section.comparisons[0].speed_up(Kind::Kernel)?.0.value);
        let found: Vec<(Cache, Option<f64>)> =
            sections(&report).iter().map(|section| (section.cache, ratio(section))).collect();
        assert_eq!(found, [(Cache::Cold, Some(4.0)), (Cache::Hot, None)]);
    }

    #[test]
    fn the_headline_takes_the_fastest_correct_variant_in_full_precision() {
        let mut report = example::of([
            example::measured("matmul", 1000, "cpu", "mkl", 0.72e-3),
            example::measured("matmul", 1000, "cpu", "openblas", 1.16e-3),
            example::measured("matmul", 1000, "cuda", "cublas", 58.1e-6),
            example::measured("matmul", 1000, "cuda", "cublas-tf32", 23.5e-6),
            example::without_time("matmul", 1000, "cuda", "tiled", Outcome::Incorrect, "wrong", None),
        ]);
        report.rows[3].accuracy = Accuracy::Tf32;
        let sections = sections(&report);
        let comparison = &sections[0].comparisons[0];
        let best = [comparison.cpu, comparison.gpu].map(|row| row.unwrap().variant.as_str());
        assert_eq!(best, ["mkl", "cublas"]);
        assert_eq!(comparison.speed_up(Kind::Kernel).unwrap().to_string(), "GPU 12.4x");
    }

    #[test]
    fn a_missing_side_has_no_speed_up() {
        let report = example::of([example::measured("fft", 100, "cpu", "realfft", 1e-3)]);
        assert_eq!(sections(&report)[0].comparisons[0].speed_up(Kind::Kernel), None);
    }

    #[test]
    fn sections_follow_the_order_of_the_ops_and_unknown_ops_come_last() {
        let names = ["stencil", "svd", "matmul"];
        let report = example::of(names.map(|op| example::measured(op, 10, "cpu", "v", 1e-3)));
        let found: Vec<&str> = sections(&report).iter().map(|section| section.op).collect();
        assert_eq!(found, ["matmul", "svd", "stencil"]);
    }
}
