//! Finds unusually slow or fast members among similar ones, by robust statistics of the logarithms of their times.
//!
//! The rule is that of Iglewicz and Hoaglin, *How to Detect and Handle Outliers* (ASQC Quality Press, 1993): a value is an
//! outlier when it lies more than 3.5 robust standard deviations (1.4826 times the median absolute deviation) from the
//! median. Four additions keep false alarms rare: the deviation has a lower bound, because that of few values is often
//! small by chance; a member's offset is also compared with the scatter between cells; the median of few values is itself
//! uncertain, which widens the limits; and for very many values the 3.5 grows so that all of them together raise a false
//! alarm in one fleet of a hundred (Bonferroni).

use gpubench_report::measure::stats::{Summary, median};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Smallest number of members for which outliers can be identified: of two, either may be unusual.
pub(crate) const MIN_MEMBERS: usize = 3;

/// Smallest relative difference that is reported.
pub const MIN_DIFFERENCE: f64 = 0.03;

/// Robust standard deviations beyond which a value is an outlier, by Iglewicz and Hoaglin.
const DEVIATIONS: f64 = 3.5;

/// Lower bound for the relative robust standard deviation: about the variation of similar devices between runs.
const MIN_DEVIATION: f64 = 0.01;

/// Following members with which each is compared for the scatter of cells: all pairs would be millions.
const NEIGHBOURS: usize = 3;

/// Degrees of freedom above which Student's t is treated as normal.
const NEARLY_NORMAL: f64 = 300.0;

/// Lower bound for the degrees of freedom of the scatter of cells.
const MIN_FREEDOM: usize = 3;

/// Probability of a false alarm among all values that are judged together.
const FALSE_ALARM_RATE: f64 = 0.01;

/// Factor from the median absolute deviation to the standard deviation of normal values.
const MAD_TO_SD: f64 = 1.4826;

/// Factor from the median distance between two values to the standard deviation of normal values.
const PAIR_DISTANCE_TO_SD: f64 = 1.0483;

/// Standard error of a median over that of a mean, for normal values: the root of π/2.
const MEDIAN_ERROR: f64 = 1.2533;

/// A time as the logarithm of seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogTime {
    /// Logarithm of the time.
    pub log: f64,
    /// Width of its 95 % interval.
    pub width: f64,
}

impl LogTime {
    /// Converts a positive time in seconds and its interval.
    pub fn of(median_s: f64, [low, high]: [f64; 2]) -> LogTime {
        let low = if low > 0.0 { low } else { median_s };
        LogTime { log: median_s.ln(), width: (high.max(median_s) / low).ln() }
    }
}

/// Finds the outlying members in `times[member][cell]`; all members have the same number of cells.
pub fn find_outliers(times: &[Vec<Option<LogTime>>]) -> Vec<usize> {
    let ratios = Ratios::of(times);
    let (deviation, freedom) = ratios.scatter(times);
    let values: Vec<f64> = ratios.offsets.iter().flatten().copied().collect();
    let centre = median(&values).unwrap_or(0.0);
    let spread = Summary::of(&values).map_or(0.0, |summary| MAD_TO_SD * summary.mad);
    let is_unusual = |member: &usize| {
        let cells = ratios.logs[*member].iter().flatten().count().max(1) as f64;
        let error = MEDIAN_ERROR * deviation / cells.sqrt();
        let limit = limit(values.len(), spread, error, freedom);
        ratios.offsets[*member].is_some_and(|offset| is_far(offset - centre, limit))
    };
    (0..times.len()).filter(is_unusual).collect()
}

/// Returns the median over a member's cells of its time over that of the others, as a logarithm.
pub fn against_others(times: &[Vec<Option<LogTime>>], member: usize) -> Option<f64> {
    let own = times.get(member)?;
    let of_cell = |cell: usize| {
        let others = times.iter().enumerate().filter(|(other, _)| *other != member);
        let others: Vec<f64> = others.filter_map(|(_, cells)| Some(cells[cell]?.log)).collect();
        Some(own[cell]?.log - median(&others)?)
    };
    median(&(0..own.len()).filter_map(of_cell).collect::<Vec<_>>())
}

/// Returns the difference between two members as a logarithm: the median over the cells that both have.
pub fn pair(first: &[Option<LogTime>], second: &[Option<LogTime>]) -> Option<f64> {
    let both = first.iter().zip(second);
    median(&both.filter_map(|(a, b)| Some(a.as_ref()?.log - b.as_ref()?.log)).collect::<Vec<_>>())
}

/// Returns true if a difference is large enough to report and exceeds `threshold`.
pub fn is_far(log: f64, threshold: f64) -> bool {
    log.abs() > MIN_DIFFERENCE.ln_1p() && log.abs() > threshold
}

/// Times relative to the medians of their cells.
struct Ratios {
    /// The median of each cell, as a logarithm; `None` if fewer than three members have it.
    medians: Vec<Option<f64>>,
    /// `logs[member][cell]`: the logarithm of the time over that median.
    logs: Vec<Vec<Option<f64>>>,
    /// The median of each member's logarithms.
    offsets: Vec<Option<f64>>,
}

impl Ratios {
    fn of(times: &[Vec<Option<LogTime>>]) -> Ratios {
        let cells = 0..times.first().map_or(0, Vec::len);
        let cell_median = |cell: usize| {
            let logs: Vec<f64> = times.iter().filter_map(|member| Some(member[cell]?.log)).collect();
            median(&logs).filter(|_| logs.len() >= MIN_MEMBERS)
        };
        let medians: Vec<Option<f64>> = cells.map(cell_median).collect();
        let ratio = |(time, median): (&Option<LogTime>, &Option<f64>)| Some(time.as_ref()?.log - (*median)?);
        let logs: Vec<Vec<Option<f64>>> =
            times.iter().map(|member| member.iter().zip(&medians).map(ratio).collect()).collect();
        let offset = |logs: &Vec<Option<f64>>| median(&logs.iter().flatten().copied().collect::<Vec<f64>>());
        Ratios { offsets: logs.iter().map(offset).collect(), medians, logs }
    }

    /// Estimates the scatter of single cells from distances between members, less their offsets, as a standard deviation of logarithms of at
    /// least the width of the intervals; and the degrees of freedom of the estimate.
    fn scatter(&self, times: &[Vec<Option<LogTime>>]) -> (f64, f64) {
        let mut distances = vec![];
        let (mut values, mut cells) = (0, 0);
        for cell in 0..self.medians.len() {
            let left = self.logs.iter().zip(&self.offsets);
            let left: Vec<f64> = left.filter_map(|(logs, offset)| Some(logs[cell]? - (*offset)?)).collect();
            for by in 1..left.len().min(NEIGHBOURS + 1) {
                let others = left.iter().cycle().skip(by);
                distances.extend(left.iter().zip(others).map(|(one, other)| (one - other).abs()));
            }
            values += left.len();
            cells += usize::from(!left.is_empty());
        }
        let members = self.offsets.iter().flatten().count();
        let widths: Vec<f64> = times.iter().flatten().flatten().map(|time| time.width / 2.0 / 1.96).collect();
        let distance = PAIR_DISTANCE_TO_SD * median(&distances).unwrap_or(0.0);
        let freedom = (values + 1).saturating_sub(members + cells).max(MIN_FREEDOM) as f64;
        (distance.max(median(&widths).unwrap_or(0.0)), freedom)
    }
}

/// Returns the largest normal distance from the median of `count` values that are judged together, by the spread of the values, and the
/// `error` of one by the scatter of cells.
fn limit(count: usize, spread: f64, error: f64, freedom: f64) -> f64 {
    let share = 1.0 - FALSE_ALARM_RATE / (2.0 * count.max(1) as f64);
    let normal = Normal::new(0.0, 1.0).map_or(DEVIATIONS, |normal| normal.inverse_cdf(share));
    let of_spread = normal.max(DEVIATIONS);
    let student = StudentsT::new(0.0, 1.0, freedom).ok().filter(|_| freedom < NEARLY_NORMAL);
    let of_scatter = student.map_or(of_spread, |student| student.inverse_cdf(share).max(of_spread));
    // The error of the median of few values adds to that of the value itself.
    let uncertain = (1.0 + MEDIAN_ERROR.powi(2) / count.max(1) as f64).sqrt();
    uncertain * (of_spread * spread.max(MIN_DEVIATION)).max(of_scatter * error)
}

#[cfg(test)]
mod tests;
