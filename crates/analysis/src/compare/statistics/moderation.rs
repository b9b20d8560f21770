//! Moderated variances: cells with few runs borrow information about their variance from the other cells of the sweep.

use statrs::function::gamma::digamma;

/// The prior distribution of a cell's variance, from all cells of the sweep: a scaled inverse chi-square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prior {
    pub(crate) variance: f64,
    /// Degrees of freedom of the variance: near 0 if cells differ widely, many if they are similar.
    pub(crate) df: f64,
}

/// Smallest number of cells for which a prior is fitted.
pub(crate) const MIN_CELLS: usize = 8;

/// Upper bound of the degrees of freedom, so that a cell's own runs always count.
const MAX_DF: f64 = 50.0;

/// Typical scatter of the logarithms of variances, as measured: that of a prior with about six degrees of freedom.
const USUAL_SCATTER: f64 = 0.4;

const SCATTER_SD: f64 = 0.6;

/// Lower bound for standard deviations: clocks with a coarse resolution make some exactly zero.
const MIN_SD: f64 = 1e-4;

/// Fits a prior to the variances of a sweep's cells, each with its degrees of freedom.
///
/// By the moments of the logarithms of the variances: Smyth, "Linear models and empirical Bayes methods for assessing
/// differential expression in microarray experiments", Statistical Applications in Genetics and Molecular Biology 3
/// (2004), section 6.2. Two runs per cell cannot show how much cells differ, so the measured scatter is averaged with a typical
/// one, weighted by the precision of both. `None` for fewer than eight cells.
pub(crate) fn fit(variances: &[(f64, f64)]) -> Option<Prior> {
    let n = variances.len() as f64;
    if variances.len() < MIN_CELLS || variances.iter().any(|(_, df)| *df <= 0.0) {
        return None;
    }
    let logs = variances
        .iter()
        .map(|(variance, df)| variance.max(MIN_SD * MIN_SD).ln() - digamma(df / 2.0) + (df / 2.0).ln());
    let logs: Vec<f64> = logs.collect();
    let mean = logs.iter().sum::<f64>() / n;
    let of_df = |f: fn(f64) -> f64| variances.iter().map(|(_, df)| f(df / 2.0)).sum::<f64>() / n;
    let (expected, fourth) = (of_df(trigamma), of_df(pentagamma));
    let found = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0) - expected;
    // The variance of a variance, from the fourth cumulant of a chi-square's logarithm.
    let precision = n / (fourth + 2.0 * expected.powi(2));
    let usual = SCATTER_SD.powi(-2);
    let scatter = (precision * found + usual * USUAL_SCATTER) / (precision + usual);
    let df = if scatter > 0.0 { (2.0 * trigamma_inverse(scatter)).min(MAX_DF) } else { MAX_DF };
    Some(Prior { variance: (mean + digamma(df / 2.0) - (df / 2.0).ln()).exp(), df })
}

/// Combines a cell's own variance with the prior; returns the moderated variance and its degrees of freedom.
pub(crate) fn moderate(prior: Prior, (variance, df): (f64, f64)) -> (f64, f64) {
    let all = prior.df + df;
    ((prior.df * prior.variance + df * variance) / all, all)
}

/// Second derivative of the logarithm of the gamma function, for x > 0: by its recurrence up to 10, then its
/// asymptotic series; Abramowitz and Stegun 6.4.6 and 6.4.12.
fn trigamma(x: f64) -> f64 {
    let mut x = x;
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x
        + square / 2.0
        + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0)))
}

/// Fourth derivative of the logarithm of the gamma function, by the same method; Abramowitz and Stegun 6.4.6 and 6.4.14.
fn pentagamma(x: f64) -> f64 {
    let mut x = x;
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 6.0 / x.powi(4);
        x += 1.0;
    }
    sum + 2.0 / x.powi(3) + 3.0 / x.powi(4) + 2.0 / x.powi(5) - 1.0 / x.powi(7)
}

/// Inverts trigamma for x > 0 by bisection of the logarithm of x: trigamma falls from infinity to zero.
fn trigamma_inverse(y: f64) -> f64 {
    let (mut low, mut high) = (1e-8f64.ln(), 1e8f64.ln());
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if trigamma(middle.exp()) > y { low = middle } else { high = middle }
    }
    low.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::simulated_runs::normal;

    /// Variances of `df` + 1 normal values each; cell k has the standard deviation `sd(k)`.
    fn variances(cells: u64, df: u64, sd: impl Fn(u64) -> f64) -> Vec<(f64, f64)> {
        let of_cell = |cell: u64| {
            let values: Vec<f64> = (0..=df).map(|k| sd(cell) * normal(7 + k, cell)).collect();
            (crate::compare::statistics::variance(&values), df as f64)
        };
        (0..cells).map(of_cell).collect()
    }

    #[test]
    fn trigamma_has_its_known_values_and_an_inverse() {
        let pi2 = std::f64::consts::PI.powi(2);
        assert!((trigamma(1.0) - pi2 / 6.0).abs() < 1e-10);
        assert!((trigamma(0.5) - pi2 / 2.0).abs() < 1e-10);
        assert!(
            (pentagamma(1.0) - pi2 * pi2 / 15.0).abs() < 1e-6 && (pentagamma(0.5) - pi2 * pi2).abs() < 1e-6
        );
        for x in [0.01, 0.5, 1.0, 3.0, 50.0] {
            assert!((trigamma_inverse(trigamma(x)) / x - 1.0).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn similar_cells_make_a_strong_prior_of_their_common_variance() {
        let prior = fit(&variances(200, 4, |_| 0.01)).unwrap();
        assert!(prior.df > 8.0 && (prior.variance.sqrt() / 0.01 - 1.0).abs() < 0.1, "{prior:?}");
    }

    #[test]
    fn cells_that_differ_tenfold_make_a_weak_one() {
        let prior = fit(&variances(200, 4, |cell| if cell % 2 == 0 { 0.003 } else { 0.03 })).unwrap();
        assert!(prior.df < 4.5, "{prior:?}");
    }

    #[test]
    fn two_runs_per_cell_give_a_prior_of_typical_strength() {
        for seed in 0..20 {
            let few: Vec<(f64, f64)> =
                variances(500, 1, |_| 0.03).into_iter().skip(25 * seed).take(25).collect();
            let prior = fit(&few).unwrap();
            assert!((3.0..12.0).contains(&prior.df), "{prior:?}");
        }
    }

    #[test]
    fn seven_cells_make_none_and_zero_variances_no_nonsense() {
        assert_eq!(fit(&variances(7, 4, |_| 0.01)), None);
        let prior = fit(&[(0.0, 2.0); 20]).unwrap();
        assert!(prior.variance > 0.0 && prior.variance.is_finite(), "{prior:?}");
        let (variance, df) = moderate(Prior { variance: 1.0, df: 3.0 }, (5.0, 1.0));
        assert_eq!((variance, df), (2.0, 4.0));
    }
}
