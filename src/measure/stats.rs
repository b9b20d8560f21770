//! Summaries of samples: order statistics only, since timings are skewed.

use serde::{Deserialize, Serialize};

/// Order statistics of a set of samples, in the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Median; the mean of the middle two for an even count.
    pub median: f64,
    /// Smallest sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// Median absolute deviation from the median, not scaled.
    pub mad: f64,
    /// Lower end of the distribution-free 95 % interval of the median.
    pub low: f64,
    /// Upper end of that interval.
    pub high: f64,
}

impl Summary {
    /// Summarises `samples`; `None` when there is none.
    pub fn of(samples: &[f64]) -> Option<Summary> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let median = median_of_sorted(&sorted);
        let mut deviations: Vec<f64> = sorted.iter().map(|x| (x - median).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        let rank = interval_rank(sorted.len());
        Some(Summary {
            median,
            min,
            max,
            mad: median_of_sorted(&deviations),
            low: sorted[rank],
            high: sorted[sorted.len() - 1 - rank],
        })
    }

    /// Half the width of the interval relative to the median; 0 for a zero median.
    pub fn relative_spread(&self) -> f64 {
        if self.median > 0.0 { (self.high - self.low) / 2.0 / self.median } else { 0.0 }
    }
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// The largest rank `r` such that `[x_(r), x_(n-1-r)]` (zero-based) covers the median with at least 95 %.
///
/// Exact binomial tails; below six samples no rank does and the whole range is taken. Source: Conover,
/// *Practical Nonparametric Statistics*, 3rd ed., section 3.2.
fn interval_rank(n: usize) -> usize {
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    let mut rank = 0;
    for k in 0..n / 2 {
        tail += log_term.exp();
        if 2.0 * tail > 0.05 {
            break;
        }
        rank = k;
        log_term += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_and_odd_counts_have_the_textbook_median() {
        assert_eq!(Summary::of(&[3.0, 1.0, 2.0]).map(|s| s.median), Some(2.0));
        assert_eq!(Summary::of(&[4.0, 1.0, 2.0, 3.0]).map(|s| s.median), Some(2.5));
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn interval_ranks_match_published_tables() {
        // Zero-based lower ranks of the 95 % interval; one-based tables give 1, 1, 1, 2, 6, 10.
        for (n, rank) in [(1, 0), (5, 0), (6, 0), (10, 1), (20, 5), (30, 9)] {
            assert_eq!(interval_rank(n), rank, "n = {n}");
        }
    }
}
