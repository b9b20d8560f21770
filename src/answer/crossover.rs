//! From which size on the GPU pays: where the speed-up crosses 1, between the sizes that were measured.
//!
//! Between neighbouring sizes the logarithm of the speed-up is taken to be linear in the logarithm of the size: work
//! and overhead are powers of the size. The interval comes from resampling every time that takes part.

use super::cost::{Cost, Kind};
use super::resample::{Chance, Draws};
use super::{Comparison, Section};
use crate::backend::Side;

/// Resamples from which an interval is taken.
const RESAMPLES: usize = 1000;

/// Seed of the resampling: the same report has the same interval.
const SEED: u64 = 0x6770_7562;

/// A place on the axis of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// At the smallest size already.
    Below,
    /// Between two sizes.
    At(f64),
    /// Not at the largest size either.
    Beyond,
}

impl Place {
    /// A number by which places are in order, whatever the sizes are.
    fn position(self) -> f64 {
        match self {
            Place::Below => f64::NEG_INFINITY,
            Place::At(size) => size,
            Place::Beyond => f64::INFINITY,
        }
    }
}

/// From which size on the GPU wins, for one density and kind of speed-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover {
    /// Share of stored entries of a sparse op.
    pub density: Option<f64>,
    /// What the times include.
    pub kind: Kind,
    /// The smallest size that was compared.
    pub smallest: u64,
    /// The largest.
    pub largest: u64,
    /// The size from which on the GPU wins up to the largest.
    pub from: Place,
    /// The 95 % interval of that size.
    pub interval: [Place; 2],
    /// Every place where the faster side changes, ascending, with the side that is faster above.
    pub changes: Vec<(f64, Side)>,
}

impl Crossover {
    /// Whether the GPU also wins somewhere below the size from which on it always wins, or wins at small sizes only.
    pub fn is_mixed(&self) -> bool {
        self.changes.iter().any(|(_, above)| *above == Side::Cpu)
    }

    /// Whether all that was compared is one size, so that nothing lies between.
    pub fn is_one_size(&self) -> bool {
        self.smallest == self.largest
    }
}

/// The crossovers of a section: one a density and kind that has a size with both sides.
pub fn crossovers(section: &Section<'_>) -> Vec<Crossover> {
    let parts = section.comparisons.chunk_by(|a, b| a.density == b.density);
    let kinds = parts.flat_map(|part| Kind::ALL.map(|kind| (part, kind)));
    kinds.filter_map(|(part, kind)| crossover(part, kind)).collect()
}

/// One size: the logarithms of size and speed-up, and both costs to draw from.
struct Point {
    size: f64,
    ratio: f64,
    cpu: Draws,
    gpu: Draws,
}

/// The crossover of comparisons of one density, in ascending order of size; `None` when no size has both sides.
pub fn crossover(comparisons: &[Comparison<'_>], kind: Kind) -> Option<Crossover> {
    let mut chance = Chance::new(SEED);
    let mut compared = vec![];
    let mut points = vec![];
    for comparison in comparisons {
        let Some(pair) = comparison.pair(kind) else { continue };
        let mut draws = |row| Some(Draws::of(&Cost::of(row, kind)?, &mut chance));
        let (cpu, gpu) = (draws(pair.cpu)?, draws(pair.gpu)?);
        points.push(Point { size: (comparison.n as f64).ln(), ratio: pair.speed_up.0.value.ln(), cpu, gpu });
        compared.push(comparison.n);
    }
    let measured: Vec<(f64, f64)> = points.iter().map(|point| (point.size, point.ratio)).collect();
    let mut places: Vec<Place> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let drawn = points.iter().map(|point| {
            let ratio = point.cpu.draw(&mut chance) / point.gpu.draw(&mut chance);
            (point.size, ratio.ln())
        });
        places.push(from(&drawn.collect::<Vec<_>>()));
    }
    places.sort_by(|a, b| a.position().total_cmp(&b.position()));
    let tail = RESAMPLES / 40;
    Some(Crossover {
        density: comparisons.first()?.density,
        kind,
        smallest: *compared.first()?,
        largest: *compared.last()?,
        from: from(&measured),
        interval: [places[tail], places[RESAMPLES - 1 - tail]],
        changes: changes(&measured),
    })
}

/// The size from which on the logarithm of the speed-up is never below 0; points in ascending order of size.
fn from(points: &[(f64, f64)]) -> Place {
    match points.iter().rposition(|(_, ratio)| *ratio < 0.0) {
        None => Place::Below,
        Some(last) => match points.get(last + 1) {
            None => Place::Beyond,
            Some(&above) => Place::At(zero(points[last], above).exp()),
        },
    }
}

/// Every place where the sign changes, as a size, with the side that is faster above.
fn changes(points: &[(f64, f64)]) -> Vec<(f64, Side)> {
    let pairs = points.windows(2).filter(|pair| (pair[0].1 < 0.0) != (pair[1].1 < 0.0));
    let side = |ratio: f64| if ratio < 0.0 { Side::Cpu } else { Side::Gpu };
    pairs.map(|pair| (zero(pair[0], pair[1]).exp(), side(pair[1].1))).collect()
}

/// Where the line through two points of different sign meets 0.
fn zero((x0, y0): (f64, f64), (x1, y1): (f64, f64)) -> f64 {
    x0 + (x1 - x0) * y0 / (y0 - y1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::sections;
    use crate::report::{Report, example};

    /// A report of CPU times N³ and GPU times N² times `overhead`: they cross at N = `overhead`.
    fn crossing_at(overhead: f64, sizes: &[u64]) -> Report {
        let mut report = example::empty();
        for &n in sizes {
            let size = n as f64;
            report.rows.push(example::measured("matmul", n, "cpu", "faer", 1e-9 * size.powi(3)));
            report.rows.push(example::measured(
                "matmul",
                n,
                "cuda",
                "cublas",
                1e-9 * overhead * size.powi(2),
            ));
        }
        report
    }

    fn kernel(report: &Report) -> Crossover {
        crossovers(&sections(report)[0]).swap_remove(0)
    }

    #[test]
    fn powers_of_the_size_cross_exactly_between_two_sizes() {
        let found = kernel(&crossing_at(310.0, &[100, 1000, 2000]));
        let Place::At(size) = found.from else { panic!("{found:?}") };
        assert!((size - 310.0).abs() < 1e-6, "{size}");
        let [Place::At(low), Place::At(high)] = found.interval else { panic!("{found:?}") };
        assert!(low < 310.0 && 310.0 < high && high / low < 1.01, "{low} {high}");
        assert_eq!(found.changes.len(), 1);
        assert!(!found.is_mixed());
    }

    #[test]
    fn a_side_that_wins_everywhere_has_no_crossing() {
        let found = kernel(&crossing_at(50.0, &[100, 1000]));
        assert_eq!((found.from, found.interval), (Place::Below, [Place::Below; 2]));
        let found = kernel(&crossing_at(5000.0, &[100, 1000]));
        assert_eq!((found.from, found.interval), (Place::Beyond, [Place::Beyond; 2]));
        assert!(found.changes.is_empty());
    }

    #[test]
    fn an_interval_may_end_outside_the_sizes() {
        let mut report = crossing_at(100.2, &[100, 1000]);
        for row in &mut report.rows {
            let execute = row.execute.as_mut().unwrap();
            let middle = execute.median_s;
            for (index, sample) in execute.samples_s.iter_mut().enumerate() {
                *sample = middle * (0.95 + 0.1 * (index % 12) as f64 / 11.0);
            }
        }
        let found = kernel(&report);
        assert_eq!(found.interval[0], Place::Below);
        assert!(matches!(found.interval[1], Place::At(size) if size > 101.0), "{found:?}");
    }

    #[test]
    fn only_the_last_change_to_the_gpu_counts_and_earlier_ones_are_told() {
        let points = [(0.0, 1.0), (1.0, -1.0), (2.0, 1.0), (3.0, 2.0)];
        assert_eq!(from(&points), Place::At(1.5f64.exp()));
        assert_eq!(changes(&points), [(0.5f64.exp(), Side::Cpu), (1.5f64.exp(), Side::Gpu)]);
        assert_eq!(from(&points[..2]), Place::Beyond);
    }

    /// Times with 2 % of noise: how often the interval has the true size in it.
    #[test]
    fn the_interval_covers_the_true_size() {
        use crate::data::generator::{Stream, normal};
        use crate::measure::stats::Summary;
        let mut covered = 0;
        for trial in 0..400 {
            let mut report = crossing_at(310.0, &[100, 1000]);
            for (place, row) in report.rows.iter_mut().enumerate() {
                let stream = Stream::new(trial, place as u64);
                let execute = row.execute.as_mut().unwrap();
                let middle = execute.samples_s.iter().sum::<f64>() / execute.samples_s.len() as f64;
                let noise = |index: u64| normal(stream.uniform(2 * index), stream.uniform(2 * index + 1));
                let truth = if row.backend == "cpu" { 1e-9 } else { 310.0e-9 / row.case.n as f64 };
                let truth = truth * (row.case.n as f64).powi(3);
                assert!((middle / truth - 1.0).abs() < 0.01);
                execute.samples_s = (0..36).map(|index| truth * (1.0 + 0.02 * noise(index))).collect();
                execute.rounds = vec![0; 36];
                execute.median_s = Summary::of(&execute.samples_s).unwrap().median;
            }
            let [Place::At(low), Place::At(high)] = kernel(&report).interval else { panic!() };
            covered += usize::from(low <= 310.0 && 310.0 <= high);
        }
        assert!((365..=392).contains(&covered), "{covered} of 400");
    }
}
