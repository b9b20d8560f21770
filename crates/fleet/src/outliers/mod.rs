//! Which of several like members are unusually slow or fast: robust statistics of logarithms. Knows no report.
//!
//! The rule is that of Iglewicz and Hoaglin, *How to Detect and Handle Outliers* (ASQC Quality Press, 1993): a value is an
//! outlier when it lies more than 3.5 robust standard deviations (1.4826 times the median absolute deviation) from the
//! median. Four additions keep its false alarms rare: the deviation has a floor, since that of few values is often small
//! by chance; a member's offset is also held against the scatter from cell to cell; the median of few values is itself
//! uncertain, which widens the limits; and where very many values are judged at once the 3.5 grows so that all of them
//! together raise a false alarm in one fleet of a hundred (Bonferroni).

use gpubench_model::measure::stats::{Summary, median};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Members from which on one can be told to be unusual: of two it is unknown which.
pub(crate) const MIN_MEMBERS: usize = 3;

/// Difference that is worth telling, relative.
pub(crate) const MIN_DIFFERENCE: f64 = 0.03;

/// Robust standard deviations beyond which a value is an outlier, by Iglewicz and Hoaglin.
const DEVIATIONS: f64 = 3.5;

/// Least robust standard deviation, relative: like devices differ by about as much from run to run.
const MIN_DEVIATION: f64 = 0.01;

/// Members after each that it is held against for the scatter of cells: all pairs of a large fleet would be millions.
const NEIGHBOURS: usize = 3;

/// Degrees of freedom from which on Student's t is taken for normal.
const NEARLY_NORMAL: f64 = 300.0;

/// Degrees of freedom that the scatter of a single cell is taken to have.
const MIN_FREEDOM: usize = 3;

/// Chance of a false alarm among all values that are judged together.
const FALSE_ALARM_RATE: f64 = 0.01;

/// What makes the median absolute deviation a standard deviation where values are normal.
const MAD_TO_SD: f64 = 1.4826;

/// The same for the median of the distances between two values.
const PAIR_DISTANCE_TO_SD: f64 = 1.0483;

/// The standard error of a median over that of a mean where values are normal: the root of π/2.
const MEDIAN_ERROR: f64 = 1.2533;

/// A time and its 95 % interval, as logarithms of seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    pub log: f64,
    pub low: f64,
    pub high: f64,
}

impl Reading {
    /// The reading of a time in seconds; `None` where it is not positive.
    pub(crate) fn of(median_s: f64, [low, high]: [f64; 2]) -> Option<Reading> {
        let low = if low > 0.0 { low } else { median_s };
        (median_s > 0.0).then(|| Reading { log: median_s.ln(), low: low.ln(), high: high.max(median_s).ln() })
    }
}

/// What stands out among like members.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outliers {
    pub members: Vec<usize>,
    /// The unusual cells: member and cell.
    pub cells: Vec<(usize, usize)>,
}

/// Judges like members; `times[member][cell]`, every member with as many cells.
pub(crate) fn find_outliers(times: &[Vec<Option<Reading>>]) -> Outliers {
    let ratios = Ratios::of(times);
    let noise = ratios.noise(times);
    let values: Vec<f64> = ratios.offsets.iter().flatten().copied().collect();
    let (centre, spread) = (median(&values).unwrap_or(0.0), robust(values.iter().copied()));
    let limits = Limits::of(values.len(), noise.freedom);
    let is_unusual = |member: &usize| {
        let cells = ratios.logs[*member].iter().flatten().count().max(1) as f64;
        let error = MEDIAN_ERROR * noise.deviation / cells.sqrt();
        let limit = limits.at(values.len(), spread, error);
        ratios.offsets[*member].is_some_and(|offset| is_far(offset - centre, limit))
    };
    let members: Vec<usize> = (0..times.len()).filter(is_unusual).collect();
    let cells = ratios.unusual_cells(times, &members, noise);
    Outliers { members, cells }
}

/// How far a member lies from the others as a whole, as a logarithm: the median over its cells of its time over the
/// median of the others' times. `None` where they share no cell.
pub(crate) fn against_others(times: &[Vec<Option<Reading>>], member: usize) -> Option<f64> {
    let cells = times.get(member).map_or(0, Vec::len);
    let logs: Vec<f64> = (0..cells).filter_map(|cell| cell_against_others(times, member, cell)).collect();
    median(&logs)
}

/// How far a member's cell lies from the median of the others' times, as a logarithm.
pub(crate) fn cell_against_others(times: &[Vec<Option<Reading>>], member: usize, cell: usize) -> Option<f64> {
    let others = times.iter().enumerate().filter(|(other, _)| *other != member);
    let others: Vec<f64> = others.filter_map(|(_, readings)| Some(readings[cell]?.log)).collect();
    Some(times[member][cell]?.log - median(&others)?)
}

/// How much longer the first of two takes than the second, as a logarithm: the median over the cells that both have.
pub(crate) fn pair(first: &[Option<Reading>], second: &[Option<Reading>]) -> Option<f64> {
    let logs: Vec<f64> =
        first.iter().zip(second).filter_map(|(a, b)| Some(a.as_ref()?.log - b.as_ref()?.log)).collect();
    median(&logs)
}

/// Whether a logarithm is a difference worth telling and larger than `threshold`.
pub(crate) fn is_far(log: f64, threshold: f64) -> bool {
    log.abs() > MIN_DIFFERENCE.ln_1p() && log.abs() > threshold
}

/// Times relative to the medians of their cells.
struct Ratios {
    /// The median of each cell, as a logarithm; `None` where fewer than three members have it.
    medians: Vec<Option<f64>>,
    /// `logs[member][cell]`: the logarithm of the time over that median.
    logs: Vec<Vec<Option<f64>>>,
    /// The median of each member's logarithms.
    offsets: Vec<Option<f64>>,
}

impl Ratios {
    fn of(times: &[Vec<Option<Reading>>]) -> Ratios {
        let cells = times.first().map_or(0, Vec::len);
        let medians: Vec<Option<f64>> = (0..cells)
            .map(|cell| {
                let logs: Vec<f64> = times.iter().filter_map(|member| Some(member[cell]?.log)).collect();
                (logs.len() >= MIN_MEMBERS).then(|| median(&logs)).flatten()
            })
            .collect();
        let ratio = |(time, median): (&Option<Reading>, &Option<f64>)| Some(time.as_ref()?.log - (*median)?);
        let logs: Vec<Vec<Option<f64>>> =
            times.iter().map(|member| member.iter().zip(&medians).map(ratio).collect()).collect();
        let offsets =
            logs.iter().map(|logs| median(&logs.iter().flatten().copied().collect::<Vec<f64>>())).collect();
        Ratios { medians, logs, offsets }
    }

    /// The scatter of single cells: how far members lie apart in a cell beyond their offsets, but not less than the
    /// intervals of the times say.
    fn noise(&self, times: &[Vec<Option<Reading>>]) -> Noise {
        let mut apart = vec![];
        let (mut values, mut cells) = (0, 0);
        for cell in 0..self.medians.len() {
            let left = self.logs.iter().zip(&self.offsets);
            let left: Vec<f64> = left.filter_map(|(logs, offset)| Some(logs[cell]? - (*offset)?)).collect();
            let neighbours = 1..left.len().min(NEIGHBOURS + 1);
            let turned = neighbours.map(|by| left.iter().cycle().skip(by));
            apart.extend(
                turned.flat_map(|others| left.iter().zip(others).map(|(one, other)| (one - other).abs())),
            );
            values += left.len();
            cells += usize::from(!left.is_empty());
        }
        let members = self.offsets.iter().flatten().count();
        let widths =
            times.iter().flatten().flatten().map(|reading| (reading.high - reading.low) / 2.0 / 1.96);
        let widths: Vec<f64> = widths.collect();
        let apart = PAIR_DISTANCE_TO_SD * median(&apart).unwrap_or(0.0);
        let freedom = (values + 1).saturating_sub(members + cells).max(MIN_FREEDOM) as f64;
        Noise { deviation: apart.max(median(&widths).unwrap_or(0.0)), freedom }
    }

    /// Cells that are unusual, and of an unusual member those that are so beyond what it is as a whole.
    fn unusual_cells(
        &self,
        times: &[Vec<Option<Reading>>],
        members: &[usize],
        noise: Noise,
    ) -> Vec<(usize, usize)> {
        let shift = |member: usize| {
            if members.contains(&member) { self.offsets[member].unwrap_or(0.0) } else { 0.0 }
        };
        let values = self.logs.iter().flatten().flatten().count();
        let limits = Limits::of(values, noise.freedom);
        let mut found = vec![];
        for (cell, centre) in self.medians.iter().enumerate() {
            let Some(centre) = centre else { continue };
            let beyond = |member: usize| Some(self.logs[member][cell]? - shift(member));
            let left: Vec<f64> = (0..times.len()).filter_map(beyond).collect();
            let limit = limits.at(left.len(), robust(left.iter().copied()), noise.deviation);
            for (member, readings) in times.iter().enumerate() {
                let (Some(beyond), Some(reading)) = (beyond(member), readings[cell]) else { continue };
                let expected = centre + shift(member);
                let is_sure = reading.low > expected || reading.high < expected;
                // A cell in which a slow member is less slow is no news.
                let is_further_out = beyond * (reading.log - centre) > 0.0;
                if is_sure && is_further_out && is_far(beyond, limit) {
                    found.push((member, cell));
                }
            }
        }
        found
    }
}

/// The scatter of single cells, as a standard deviation of logarithms that was estimated with so many degrees of freedom.
#[derive(Clone, Copy, Debug)]
struct Noise {
    deviation: f64,
    freedom: f64,
}

/// Deviations beyond which a value is an outlier: of a spread that is known, and of a noise that is estimated.
#[derive(Clone, Copy, Debug)]
struct Limits {
    of_spread: f64,
    of_noise: f64,
}

impl Limits {
    /// The limits where so many values are judged together, and the noise has so many degrees of freedom.
    fn of(values: usize, freedom: f64) -> Limits {
        let share = 1.0 - FALSE_ALARM_RATE / (2.0 * values.max(1) as f64);
        let normal = Normal::new(0.0, 1.0).map_or(DEVIATIONS, |normal| normal.inverse_cdf(share));
        let of_spread = normal.max(DEVIATIONS);
        let student = StudentsT::new(0.0, 1.0, freedom).ok().filter(|_| freedom < NEARLY_NORMAL);
        Limits {
            of_spread,
            of_noise: student.map_or(of_spread, |student| student.inverse_cdf(share).max(of_spread)),
        }
    }

    /// How far a value may lie from the median of `among`.
    fn at(self, among: usize, spread: f64, noise: f64) -> f64 {
        // What a median of few values is off by adds to what the value itself is off by.
        let uncertain = (1.0 + MEDIAN_ERROR.powi(2) / among.max(1) as f64).sqrt();
        uncertain * (self.of_spread * spread.max(MIN_DEVIATION)).max(self.of_noise * noise)
    }
}

/// The robust standard deviation of values; 0 for fewer than two.
fn robust(values: impl Iterator<Item = f64>) -> f64 {
    Summary::of(&values.collect::<Vec<f64>>()).map_or(0.0, |summary| MAD_TO_SD * summary.mad)
}

#[cfg(test)]
mod tests;
