//! The interval of the fastest of several variants, corrected for having been chosen.
//!
//! The smallest of several noisy medians is on average too small: choosing it chooses the one that noise favoured.
//! The interval is the hybrid one of I. Andrews, T. Kitagawa, A. McCloskey, "Inference on winners",
//! Quarterly Journal of Economics 139 (2024). Given that the variant won, its median is a normal value cut off at the
//! median of the runner-up; the interval holds the true times under which the median seen is not extreme, and never
//! leaves the simultaneous interval of all variants. Where the runner-up is far behind, nothing changes. The figure stays
//! the winner's median, so that it is the one in the winner's row.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{Estimate, NORMAL_95, bisected};

/// Chance that all estimates together leave their simultaneous interval: a tenth of the 5 %, as in the paper.
const SIMULTANEOUS: f64 = 0.005;

/// A runner-up this many standard errors behind did not nearly win: the winner's estimate stays as it is.
const FAR_BEHIND: f64 = 6.0;

/// A runner-up counts as at least this many standard errors behind, so that the median is always within its interval. A
/// nearer one is as often the resolution of a clock as it is chance: an exact tie would leave an interval without width.
const MIN_LEAD: f64 = 0.1;

/// The estimate of the `winner`, the smallest of `candidates` estimates, whose runner-up has the value `second`.
pub(crate) fn of_winner(winner: Estimate, second: f64, candidates: usize) -> Estimate {
    let [below, above] = winner.log_distances().map(|distance| distance / NORMAL_95);
    let error = f64::midpoint(below, above);
    let lead = (second / winner.value).ln() / error;
    if candidates < 2 || !error.is_finite() || error <= 0.0 || lead.is_nan() || lead >= FAR_BEHIND {
        return winner;
    }
    let Some([low, high]) = places(lead.max(MIN_LEAD), candidates) else { return winner };
    let (low, high) = (winner.value * (low * below).exp(), winner.value * (high * above).exp());
    Estimate { low: low.min(winner.value), high: high.max(winner.value), ..winner }
}

/// The ends in standard errors from the winner's median, when the runner-up is `lead` standard errors behind.
fn places(lead: f64, candidates: usize) -> Option<[f64; 2]> {
    let normal = Normal::new(0.0, 1.0).ok()?;
    let each = 1.0 - (1.0 - SIMULTANEOUS).powf(1.0 / candidates as f64);
    let reach = normal.inverse_cdf(1.0 - each / 2.0);
    let level = (0.05 - SIMULTANEOUS) / (1.0 - SIMULTANEOUS);
    // The chance of a smaller median than the one seen, if the true time lies at `place`: it falls with the place.
    let chance = |place: f64| {
        let cut = normal.cdf(-reach);
        (normal.cdf(-place) - cut) / (normal.cdf((lead - place).min(reach)) - cut)
    };
    let place_of = |wanted: f64| bisected([-reach, reach], |middle| chance(middle) > wanted);
    Some([1.0 - level / 2.0, level / 2.0].map(place_of))
}

#[cfg(test)]
mod tests;
