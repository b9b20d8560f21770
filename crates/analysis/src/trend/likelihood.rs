//! Computes the marginal likelihood of the levels of a series whose noise is correlated between successive values.

/// Number of lag-one correlations that are tried: 0, 0.1, ..., 0.9.
const CORRELATIONS: u32 = 10;

/// A series and its noise model: a piecewise constant level plus first-order autoregressive noise,
/// `x_t = rho * x_(t-1) + e_t` with normal `e_t` of standard deviation sigma.
///
/// The levels, sigma and rho are integrated out: levels with a flat prior in units of sigma, sigma with the prior
/// 1/sigma (Zellner and Tiao, "Bayesian analysis of the regression model with autocorrelated errors", Journal of the
/// American Statistical Association 59 (1964)), rho over a grid. A single estimate of rho, as AR1seg takes it (Chakar,
/// Lebarbier, Lévy-Leduc and Robin, "A robust approach for estimating change-points in the mean of an AR(1) process",
/// Bernoulli 23 (2017)), is too uncertain for 10 to 60 values, and an unmodelled step inflates it.
pub(crate) struct Likelihood {
    whitened: Vec<Whitened>,
    pub count: usize,
    min_variance: f64,
}

pub(crate) struct LineFit {
    /// Logarithm of the marginal likelihood, comparable with [`Likelihood::log`].
    pub log: f64,
    /// Expected difference between the end and the beginning of the line.
    pub(crate) rise: f64,
}

/// The series `z_t = y_t - rho * y_(t-1)`, whose noise is uncorrelated.
struct Whitened {
    rho: f64,
    /// Factor for the first value, so that its noise has the variance of the others.
    first: f64,
    /// Sums of the values before each index.
    sums: Vec<f64>,
    squares: f64,
}

impl Likelihood {
    /// Prepares `values`, with `min_noise` as a lower bound for the standard deviation of the noise.
    pub(crate) fn new(values: &[f64], min_noise: f64) -> Self {
        let rhos = (0..CORRELATIONS).map(|index| f64::from(index) / 10.0);
        let whitened = rhos.map(|rho| Whitened::new(values, rho)).collect();
        Likelihood { whitened, count: values.len(), min_variance: min_noise * min_noise }
    }

    /// Logarithm of the marginal likelihood of levels that begin at `cuts`, of which the first is 0, up to a constant.
    pub(crate) fn log(&self, cuts: &[usize]) -> f64 {
        log_sum(&self.over_correlations(cuts.len() > 1, |whitened| self.of_levels(whitened, cuts)))
    }

    /// The marginal likelihood of a straight line instead of levels.
    pub(crate) fn line(&self) -> LineFit {
        let logs = self.over_correlations(true, |whitened| self.of_line(whitened).0);
        let rises = self.whitened.iter().map(|whitened| self.of_line(whitened).1);
        LineFit { log: log_sum(&logs), rise: weighted_mean(rises.zip(logs.iter().copied())) }
    }

    /// Logarithms of prior times likelihood, one per correlation.
    fn over_correlations(&self, has_steps: bool, log: impl Fn(&Whitened) -> f64) -> Vec<f64> {
        // With steps low correlations are likelier: strong correlation alone would explain a clear step.
        let prior = |rho: f64| if has_steps { (1.0 - rho).powi(4) } else { 1.0 };
        let weights: Vec<f64> = self.whitened.iter().map(|whitened| prior(whitened.rho)).collect();
        let all: f64 = weights.iter().sum();
        let each = self.whitened.iter().zip(weights);
        each.map(|(whitened, weight)| (weight / all).ln() + log(whitened)).collect()
    }

    /// Logarithm of the likelihood at one correlation: a regression on whitened indicators, with a tridiagonal matrix.
    fn of_levels(&self, whitened: &Whitened, cuts: &[usize]) -> f64 {
        let rho = whitened.rho;
        let ends = cuts.iter().skip(1).copied().chain([self.count]);
        // Elimination of the matrix's lower diagonal, level by level.
        let (mut pivot, mut rest) = (f64::INFINITY, 0.0);
        let (mut log_determinant, mut explained) = (0.0, 0.0);
        for (&begin, end) in cuts.iter().zip(ends) {
            let first = if begin == 0 { whitened.first } else { 1.0 };
            let mut diagonal = first * first + (end - begin - 1) as f64 * (1.0 - rho).powi(2);
            let mut right =
                first * whitened.sum(begin, begin + 1) + (1.0 - rho) * whitened.sum(begin + 1, end);
            if end < self.count {
                diagonal += rho * rho;
                right -= rho * whitened.sum(end, end + 1);
            }
            let factor = rho / pivot;
            (pivot, rest) = (diagonal - rho * factor, right + rest * factor);
            log_determinant += pivot.ln();
            explained += rest * rest / pivot;
        }
        self.of_regression(whitened, log_determinant, explained)
    }

    /// Returns the likelihood of a regression on a constant and a line that rises by 1 over the whole series, with the rise.
    fn of_line(&self, whitened: &Whitened) -> (f64, f64) {
        let rho = whitened.rho;
        let span = (self.count - 1) as f64;
        // The line is 0 in the middle: the constant and the line are all but orthogonal.
        let height = |index: usize| index as f64 / span - 0.5;
        let columns = (0..self.count).map(|index| match index {
            0 => (whitened.first, whitened.first * height(0)),
            _ => (1.0 - rho, height(index) - rho * height(index - 1)),
        });
        let (mut flat, mut mixed, mut rising) = (0.0, 0.0, 0.0);
        let (mut of_flat, mut of_rising) = (0.0, 0.0);
        for (index, (one, line)) in columns.enumerate() {
            let z = whitened.sum(index, index + 1);
            flat += one * one;
            mixed += one * line;
            rising += line * line;
            of_flat += one * z;
            of_rising += line * z;
        }
        let pivot = rising - mixed * mixed / flat;
        let rest = of_rising - mixed / flat * of_flat;
        let explained = of_flat * of_flat / flat + rest * rest / pivot;
        (self.of_regression(whitened, flat.ln() + pivot.ln(), explained), rest / pivot)
    }

    /// Returns the likelihood from the determinant of the normal matrix and the sum of squares that the regression explains.
    fn of_regression(&self, whitened: &Whitened, log_determinant: f64, explained: f64) -> f64 {
        let count = self.count as f64;
        let variance = (whitened.squares - explained).max(0.0) / count + self.min_variance;
        whitened.first.ln() - 0.5 * log_determinant - 0.5 * (count - 1.0) * variance.ln()
    }
}

fn largest(logs: impl Iterator<Item = f64>) -> f64 {
    logs.fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the mean of values, each with the logarithm of its weight.
pub(crate) fn weighted_mean(values: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let largest = largest(values.clone().map(|(_, log)| log));
    let weighted = values.map(|(value, log)| (value, (log - largest).exp()));
    let (sum, all) =
        weighted.fold((0.0, 0.0), |(sum, all), (value, weight)| (sum + value * weight, all + weight));
    sum / all
}

fn log_sum(logs: &[f64]) -> f64 {
    let largest = largest(logs.iter().copied());
    largest + logs.iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
}

impl Whitened {
    fn new(values: &[f64], rho: f64) -> Self {
        let first = (1.0 - rho * rho).sqrt();
        let (mut sums, mut squares) = (vec![0.0], 0.0);
        let mut sum = 0.0;
        for (index, value) in values.iter().enumerate() {
            let z = if index == 0 { first * value } else { value - rho * values[index - 1] };
            sum += z;
            squares += z * z;
            sums.push(sum);
        }
        Whitened { rho, first, sums, squares }
    }

    fn sum(&self, begin: usize, end: usize) -> f64 {
        self.sums[end] - self.sums[begin]
    }
}
