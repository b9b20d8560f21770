//! A time as a sum of a start-up, FLOP and bytes, fitted to measured times.

use gpubench_report::Work;

use crate::answer::Estimate;

/// Seconds per call, per FLOP and per byte, none of them negative, with the error that points left out of the fit had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeModel {
    terms: [f64; 3],
    /// By which factor a time may differ from the prediction.
    error: f64,
}

/// KnownTimes that a model needs.
const LEAST_POINTS: usize = 3;

fn features(work: Work) -> [f64; 3] {
    [1.0, work.flop, work.bytes]
}

fn predicted(terms: [f64; 3], work: Work) -> f64 {
    terms.iter().zip(features(work)).map(|(term, feature)| term * feature).sum()
}

impl TimeModel {
    /// Fits measured times in seconds. The error is the largest of those of a point that the other points predict (jackknife), so the
    /// interval of a prediction is wide where few sizes were measured. `None` with too few points.
    pub(super) fn fit(points: &[(Work, f64)]) -> Option<TimeModel> {
        if points.len() < LEAST_POINTS {
            return None;
        }
        let left_out = |index: usize| {
            let (work, time) = points[index];
            let others: Vec<_> = points
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != index)
                .map(|(_, point)| *point)
                .collect();
            let ratio = predicted(least_squares(&others)?, work) / time;
            Some(ratio.max(1.0 / ratio))
        };
        let mut errors: Vec<f64> = (0..points.len()).map(left_out).collect::<Option<_>>()?;
        errors.sort_by(f64::total_cmp);
        // Of many points, the error that nine of ten stay below.
        let position = (9 * (errors.len() + 1)).div_ceil(10).min(errors.len()) - 1;
        let error = errors[position];
        error.is_finite().then_some(TimeModel { terms: least_squares(points)?, error })
    }

    /// The predicted time of some work, with its interval.
    pub(super) fn predict(&self, work: Work) -> Estimate {
        let value = predicted(self.terms, work);
        Estimate { value, low: value / self.error, high: value * self.error }
    }
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
            points.iter().map(|(work, time)| (predicted(terms, *work) / time - 1.0).powi(2)).sum();
        found.iter().all(|term| *term >= 0.0).then_some((error, terms))
    });
    fits.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, terms)| terms)
}

/// Solves the normal equations of rows whose right-hand side is 1, with columns scaled to one length, by Gaussian elimination.
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
    for pivot in 0..count {
        // Columns that hardly differ have no meaningful terms.
        if system[pivot][pivot] < 1e-9 {
            return None;
        }
        for row in 0..count {
            if row != pivot {
                let factor = system[row][pivot] / system[pivot][pivot];
                let (from, to) = (system[pivot].clone(), &mut system[row]);
                to.iter_mut().zip(&from).for_each(|(value, other)| *value -= factor * other);
            }
        }
    }
    Some((0..count).map(|row| system[row][count] / system[row][row] / scales[row]).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn points(terms: [f64; 3], noise: impl Fn(usize) -> f64) -> Vec<(Work, f64)> {
        let works =
            (0..8).map(|index| Work { flop: 10f64.powi(index + 2), bytes: 7.0 * 4f64.powi(index + 3) });
        works.enumerate().map(|(index, work)| (work, predicted(terms, work) * noise(index))).collect()
    }

    #[test]
    fn too_few_times_make_no_model() {
        assert_eq!(TimeModel::fit(&points([1e-6, 1e-12, 1e-11], |_| 1.0)[..2]), None);
    }

    #[test]
    fn an_error_of_every_second_time_widens_the_interval() {
        let model =
            TimeModel::fit(&points([1e-6, 1e-12, 1e-11], |index| if index % 2 == 0 { 1.0 } else { 1.3 }))
                .unwrap();
        let found = model.predict(Work { flop: 1e6, bytes: 1e5 });
        assert!(found.high / found.value > 1.1 && found.high / found.value < 2.0, "{found:?}");
    }

    proptest! {
        #[test]
        fn exact_times_are_predicted(start in -7.0..-4.0f64, flop in -12.0..-9.0f64, byte in -12.0..-9.0f64, size in 2.0..9.0f64) {
            let terms = [start, flop, byte].map(|power| 10f64.powf(power));
            let model = TimeModel::fit(&points(terms, |_| 1.0)).unwrap();
            let work = Work { flop: 10f64.powf(size), bytes: 10f64.powf(size - 1.0) };
            let found = model.predict(work);
            prop_assert!((found.value / predicted(terms, work) - 1.0).abs() < 1e-3, "{found:?}");
            prop_assert!(found.low <= found.value && found.value <= found.high);
        }
    }
}
