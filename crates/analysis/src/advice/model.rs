//! A time as a sum of a start-up, FLOP and bytes, corrected by what measured problems nearby took more or less than that.

use std::collections::BTreeMap;

use gpubench_report::Work;
use gpubench_report::case::{Case, DType};

use super::problem::sizes;
use crate::answer::Estimate;

/// A measured time of a problem.
#[derive(Clone, Debug)]
pub(super) struct MeasuredTime {
    pub case: Case,
    pub work: Work,
    pub seconds: f64,
}

/// A model of the times of one op on one side.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimeModel {
    /// Per element type: seconds per call, per FLOP and per byte, none of them negative.
    trends: BTreeMap<DType, [f64; 3]>,
    residuals: Option<ResidualModel>,
    /// How many standard deviations of a logarithm an interval reaches to each side.
    width: f64,
}

/// Times of an element type that a trend needs.
const LEAST_FOR_TREND: usize = 3;

/// Times from which deviations from the trend are modelled.
const LEAST_FOR_RESIDUALS: usize = 8;

fn features(work: Work) -> [f64; 3] {
    [1.0, work.flop, work.bytes]
}

fn trend_of(terms: [f64; 3], work: Work) -> f64 {
    terms.iter().zip(features(work)).map(|(term, feature)| term * feature).sum()
}

/// Coordinates in which similar problems are near each other: logarithms of extents and work; layouts and element types some octaves apart.
fn coordinates(case: &Case, work: Work) -> Vec<f64> {
    let (extents, layout) = sizes(case);
    let amounts = [work.flop.max(1.0), work.bytes.max(1.0)];
    let logarithms = extents.iter().map(|extent| *extent as f64).chain(amounts).map(f64::log2);
    let transposed = layout.chars().map(|letter| if letter == 't' { 2.0 } else { 0.0 });
    logarithms.chain(transposed).chain(type_coordinates(case.dtype)).collect()
}

/// Three octaves for twice the length of a number, for complex numbers and for the other of two types of one length.
fn type_coordinates(dtype: DType) -> [f64; 3] {
    let parts = if dtype.is_complex() { 2 } else { 1 };
    let length = (dtype.bytes() / parts) as f64;
    [length.log2(), f64::from(dtype.is_complex()), f64::from(dtype == DType::Bf16)]
        .map(|octaves| 3.0 * octaves)
}

impl TimeModel {
    /// Fits measured times. An interval reaches as far as nine of ten measured times are from what the others predict for them (jackknife), of
    /// fewer than ten all, in standard deviations of the prediction. `None` with too few times.
    pub(super) fn fit(times: &[MeasuredTime]) -> Option<TimeModel> {
        let mut trends = BTreeMap::new();
        let (mut points, mut residuals, mut left_out) = (vec![], vec![], vec![]);
        for &dtype in DType::ALL {
            let alike: Vec<&MeasuredTime> = times.iter().filter(|time| time.case.dtype == dtype).collect();
            let of_trend: Vec<_> = alike.iter().map(|time| (time.work, time.seconds)).collect();
            if alike.len() < LEAST_FOR_TREND {
                continue;
            }
            let trend = least_squares(&of_trend)?;
            for (index, time) in alike.iter().enumerate() {
                let others = [&of_trend[..index], &of_trend[index + 1..]].concat();
                points.push(coordinates(&time.case, time.work));
                residuals.push((time.seconds / trend_of(trend, time.work)).ln());
                left_out.push((time.seconds / trend_of(least_squares(&others)?, time.work)).ln());
            }
            trends.insert(dtype, trend);
        }
        let is_enough = points.len() >= LEAST_FOR_RESIDUALS;
        let nearby = if is_enough { ResidualModel::fit(points, &residuals) } else { None };
        let error = |index: usize| {
            let moved = left_out[index] - residuals[index];
            let (error, deviation) =
                nearby.as_ref().map_or((residuals[index], 1.0), |model| model.left_out(index));
            (moved + error).abs() / deviation
        };
        let mut errors: Vec<f64> = (0..residuals.len()).map(error).collect();
        errors.sort_by(f64::total_cmp);
        let position = (9 * (errors.len() + 1)).div_ceil(10).min(errors.len()).checked_sub(1)?;
        let width = errors[position];
        width.is_finite().then_some(TimeModel { trends, residuals: nearby, width })
    }

    /// The predicted time of a problem, with its interval. `None` if too few times of its element type were measured.
    pub(super) fn predict(&self, case: &Case, work: Work) -> Option<Estimate> {
        let trend = trend_of(*self.trends.get(&case.dtype)?, work);
        let (mean, deviation) =
            self.residuals.as_ref().map_or((0.0, 1.0), |model| model.at(&coordinates(case, work)));
        let (value, factor) = (trend * mean.exp(), (self.width * deviation).exp());
        Some(Estimate { value, low: value / factor, high: value * factor })
    }
}

/// Gaussian process regression of deviations from the trend, with the Matérn kernel of smoothness 3/2. C. E. Rasmussen, C. K. I. Williams,
/// "Gaussian Processes for Machine Learning" (2006), sections 2.2, 4.2.1 and 5.4.2.
#[derive(Clone, Debug, PartialEq)]
struct ResidualModel {
    points: Vec<Vec<f64>>,
    /// Distance at which deviations have little to do with each other.
    length: f64,
    /// Variance of what similar problems do not share, relative to what they do.
    noise: f64,
    /// Inverse of the covariance matrix of the points, relative to `variance`.
    inverse: Vec<Vec<f64>>,
    /// The inverse, times the deviations.
    weights: Vec<f64>,
    variance: f64,
}

/// Points by which length and noise are chosen: the time for a matrix grows with the third power.
const MOST_FOR_CHOICE: usize = 150;

/// No time is known better than this, as a share.
const LEAST_DEVIATION: f64 = 1e-3;

impl ResidualModel {
    /// Fits with the length and noise that make each point likeliest by the others.
    fn fit(points: Vec<Vec<f64>>, residuals: &[f64]) -> Option<ResidualModel> {
        let count = points.len().min(MOST_FOR_CHOICE);
        let chosen: Vec<usize> = (0..count).map(|index| index * points.len() / count).collect();
        let some: Vec<_> = chosen.iter().map(|index| points[*index].clone()).collect();
        let of_some: Vec<f64> = chosen.iter().map(|index| residuals[*index]).collect();
        let choices = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
            .into_iter()
            .flat_map(|length| [0.03, 0.1, 0.3, 1.0].map(|noise: f64| (length, noise * noise)));
        let fitted = choices.filter_map(|choice| Self::with(some.clone(), &of_some, choice));
        let best = fitted.max_by(|a, b| a.likelihood().total_cmp(&b.likelihood()))?;
        Self::with(points, residuals, (best.length, best.noise))
    }

    fn with(points: Vec<Vec<f64>>, residuals: &[f64], (length, noise): (f64, f64)) -> Option<ResidualModel> {
        let count = points.len();
        let mut system: Vec<Vec<f64>> = (0..count)
            .map(|row| {
                let mut values: Vec<f64> =
                    points.iter().map(|point| kernel(&points[row], point, length)).collect();
                values[row] += noise;
                values.resize(2 * count, 0.0);
                values[count + row] = 1.0;
                values
            })
            .collect();
        eliminate(&mut system)?;
        let inverse: Vec<Vec<f64>> = system
            .iter()
            .enumerate()
            .map(|(index, row)| row[count..].iter().map(|value| value / row[index]).collect())
            .collect();
        let weights: Vec<f64> = inverse.iter().map(|row| dot(row, residuals)).collect();
        let squares =
            weights.iter().enumerate().map(|(index, weight)| weight * weight / inverse[index][index]);
        let variance = squares.sum::<f64>() / count as f64;
        Some(ResidualModel { points, length, noise, inverse, weights, variance })
    }

    /// By how much a point differs from what the others predict, and the standard deviation of that.
    fn left_out(&self, index: usize) -> (f64, f64) {
        let precision = self.inverse[index][index];
        (self.weights[index] / precision, (self.variance / precision).sqrt().max(LEAST_DEVIATION))
    }

    /// Logarithm of the probability density of each point by the others, summed.
    fn likelihood(&self) -> f64 {
        let density = |index| {
            let (error, deviation) = self.left_out(index);
            -deviation.ln() - 0.5 * (error / deviation).powi(2)
        };
        (0..self.points.len()).map(density).sum()
    }

    /// The expected deviation at some coordinates, and its standard deviation.
    fn at(&self, point: &[f64]) -> (f64, f64) {
        let covariance: Vec<f64> =
            self.points.iter().map(|known| kernel(known, point, self.length)).collect();
        let explained: f64 =
            self.inverse.iter().zip(&covariance).map(|(row, by)| by * dot(row, &covariance)).sum();
        let variance = self.variance * (1.0 + self.noise - explained).max(0.0);
        (dot(&self.weights, &covariance), variance.sqrt().max(LEAST_DEVIATION))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn kernel(a: &[f64], b: &[f64], length: f64) -> f64 {
    let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    let distance = (3.0 * square).sqrt() / length;
    (1.0 + distance) * (-distance).exp()
}

/// The terms with the least squares of relative errors that are not negative: the best of the fits with each choice of terms.
/// C. L. Lawson, R. J. Hanson, "Solving Least Squares Problems" (1974), chapter 23; three terms allow to try every choice.
fn least_squares(points: &[(Work, f64)]) -> Option<[f64; 3]> {
    let fits = (1..8usize).filter_map(|choice| {
        let chosen: Vec<usize> = (0..3).filter(|term| choice >> term & 1 == 1).collect();
        if chosen.len() > points.len() {
            return None;
        }
        let rows: Vec<Vec<f64>> = points
            .iter()
            .map(|(work, time)| chosen.iter().map(|term| features(*work)[*term] / time).collect())
            .collect();
        let found = solve(&rows)?;
        let mut terms = [0.0; 3];
        chosen.iter().zip(&found).for_each(|(term, value)| terms[*term] = *value);
        let error: f64 =
            points.iter().map(|(work, time)| (trend_of(terms, *work) / time - 1.0).powi(2)).sum();
        found.iter().all(|term| *term >= 0.0).then_some((error, terms))
    });
    fits.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, terms)| terms)
}

/// Solves the normal equations of rows whose right-hand side is 1, with columns scaled to one length.
fn solve(rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let count = rows.first()?.len();
    let scales: Vec<f64> = (0..count)
        .map(|column| rows.iter().map(|row| row[column] * row[column]).sum::<f64>().sqrt())
        .collect();
    if !scales.iter().all(|scale| *scale > 0.0 && scale.is_finite()) {
        return None;
    }
    let scaled = |row: &[f64], column: usize| row[column] / scales[column];
    let mut system: Vec<Vec<f64>> = (0..count)
        .map(|i| {
            let product = |j: usize| rows.iter().map(|row| scaled(row, i) * scaled(row, j)).sum::<f64>();
            (0..count).map(product).chain([rows.iter().map(|row| scaled(row, i)).sum()]).collect()
        })
        .collect();
    eliminate(&mut system)?;
    Some((0..count).map(|row| system[row][count] / system[row][row] / scales[row]).collect())
}

/// Makes the left part of a system with a positive definite matrix diagonal. `None` if its columns hardly differ.
fn eliminate(system: &mut [Vec<f64>]) -> Option<()> {
    for pivot in 0..system.len() {
        let from = system[pivot].clone();
        if from[pivot].is_nan() || from[pivot] < 1e-9 {
            return None;
        }
        for (row, values) in system.iter_mut().enumerate() {
            if row != pivot {
                let factor = values[pivot] / from[pivot];
                values.iter_mut().zip(&from).for_each(|(value, other)| *value -= factor * other);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A product of m x 1 x 1 with other work than its own, so that the terms differ.
    fn measured(m: u64, work: Work, seconds: f64) -> MeasuredTime {
        MeasuredTime { case: Case::square("matmul", m, DType::F64, 0), work, seconds }
    }

    fn times(terms: [f64; 3], count: i32, noise: impl Fn(i32) -> f64) -> Vec<MeasuredTime> {
        let of = |index: i32| {
            let work = Work { flop: 10f64.powi(index % 8 + 2), bytes: 7.0 * 4f64.powi(index % 8 + 3) };
            measured(1 << (index % 8), work, trend_of(terms, work) * noise(index))
        };
        (0..count).map(of).collect()
    }

    const TERMS: [f64; 3] = [1e-6, 1e-12, 1e-11];

    fn predicted(model: &TimeModel, m: u64, work: Work) -> Estimate {
        model.predict(&Case::square("matmul", m, DType::F64, 0), work).unwrap()
    }

    #[test]
    fn too_few_times_make_no_model() {
        assert_eq!(TimeModel::fit(&times(TERMS, 2, |_| 1.0)), None);
        let of_other_type = TimeModel::fit(&times(TERMS, 8, |_| 1.0)).unwrap();
        let single = Case::square("matmul", 8, DType::F32, 0);
        assert_eq!(of_other_type.predict(&single, Work { flop: 1e3, bytes: 1e3 }), None);
    }

    #[test]
    fn each_element_type_has_coordinates_of_its_own() {
        for (index, one) in DType::ALL.iter().enumerate() {
            for other in &DType::ALL[..index] {
                assert_ne!(type_coordinates(*one), type_coordinates(*other), "{one:?} {other:?}");
            }
        }
        assert_eq!(type_coordinates(DType::F64)[0] - type_coordinates(DType::F32)[0], 3.0);
    }

    #[test]
    fn an_error_of_every_second_time_widens_the_interval() {
        let is_late = |index: i32| (index / 8 + index) % 2 == 0;
        let model =
            TimeModel::fit(&times(TERMS, 32, |index| if is_late(index) { 1.0 } else { 1.3 })).unwrap();
        let found = predicted(&model, 16, Work { flop: 1e6, bytes: 1e5 });
        assert!(found.high / found.value > 1.1 && found.high / found.value < 2.0, "{found:?}");
    }

    #[test]
    fn problems_nearby_correct_the_trend() {
        // Small and large problems take three times as long as the trend says, those between a third.
        let factor = |index: i32| if (2..6).contains(&(index % 8)) { 1.0 / 3.0 } else { 3.0 };
        let model = TimeModel::fit(&times(TERMS, 8, factor)).unwrap();
        let work = |power: i32| Work { flop: 10f64.powi(power + 2), bytes: 7.0 * 4f64.powi(power + 3) };
        for power in [0, 3, 4, 7] {
            let (found, truth) =
                (predicted(&model, 1 << power, work(power)), trend_of(TERMS, work(power)) * factor(power));
            assert!((found.value / truth).ln().abs() < 0.3, "{power}: {found:?}, not {truth}");
        }
    }

    proptest! {
        #[test]
        fn exact_times_are_predicted(start in -7.0..-4.0f64, flop in -12.0..-9.0f64, byte in -12.0..-9.0f64, size in 2.0..9.0f64) {
            let terms = [start, flop, byte].map(|power| 10f64.powf(power));
            let model = TimeModel::fit(&times(terms, 8, |_| 1.0)).unwrap();
            let work = Work { flop: 10f64.powf(size), bytes: 10f64.powf(size - 1.0) };
            let found = predicted(&model, 100, work);
            prop_assert!((found.value / trend_of(terms, work) - 1.0).abs() < 1e-3, "{found:?}");
            prop_assert!(found.low <= found.value && found.value <= found.high);
        }
    }
}
