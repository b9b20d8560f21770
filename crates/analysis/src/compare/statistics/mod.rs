//! Tests and estimators on plain numbers: ranks, Student's t, Holm's correction, moderated variances.
//!
//! Each part names its source in the literature.

pub(crate) mod moderation;
pub(crate) mod ranks;
pub(crate) mod shift;

/// Returns the mean of at least one value.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Returns the sample variance of at least two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values.iter().copied());
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Returns the pooled variance within groups and its degrees of freedom; `None` if no group has two values.
pub(crate) fn pooled_variance<'a>(groups: impl IntoIterator<Item = &'a [f64]>) -> Option<(f64, f64)> {
    let (mut squares, mut df) = (0.0, 0.0);
    for group in groups.into_iter().filter(|group| group.len() > 1) {
        let own_df = (group.len() - 1) as f64;
        squares += own_df * variance(group);
        df += own_df;
    }
    (df > 0.0).then(|| (squares / df, df))
}

/// Holm's step-down correction of p-values for the number of hypotheses tested, with a positive weight per hypothesis:
/// the first step tests each hypothesis at its share of `alpha`.
///
/// Each corrected value is at least its raw one, at most 1, and rejecting those at most `alpha` keeps the chance of any
/// false rejection at `alpha`, however the tests depend on each other.
///
/// Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979);
/// section 4 for weights.
pub(crate) fn weighted_holm(p: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| (p[a] / weights[a]).total_cmp(&(p[b] / weights[b])));
    // The weight of each hypothesis and those after it. Sums begin at the end, so that none is a difference.
    let mut remaining = vec![0.0; p.len()];
    let mut sum = 0.0;
    for &index in order.iter().rev() {
        sum += weights[index];
        remaining[index] = sum;
    }
    let mut corrected = vec![1.0; p.len()];
    let mut least = 0.0f64;
    for &index in &order {
        least = least.max(remaining[index] * p[index] / weights[index]).min(1.0);
        corrected[index] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holm(p: &[f64]) -> Vec<f64> {
        weighted_holm(p, &vec![1.0; p.len()])
    }

    #[test]
    fn equal_weights_give_holm_s_step_down_correction() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(corrected.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{corrected:?}");
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn a_weight_is_the_share_of_alpha_that_the_first_step_gives() {
        // Half of alpha for the first hypothesis, a quarter for each of the others; then two thirds for the second.
        let corrected = weighted_holm(&[0.01, 0.02, 0.02], &[0.5, 0.25, 0.25]);
        let expected = [0.02, 0.04, 0.04];
        assert!(corrected.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{corrected:?}");
    }

    proptest! {
        #[test]
        fn corrected_values_keep_their_order_and_lie_between_raw_and_one(p in prop::collection::vec(0.0f64..=1.0, 1..40)) {
            let corrected = holm(&p);
            for (a, b) in p.iter().zip(&corrected) {
                prop_assert!(b >= a && *b <= 1.0);
            }
            for (i, j) in (0..p.len()).flat_map(|i| (0..p.len()).map(move |j| (i, j))) {
                prop_assert!(p[i] > p[j] || corrected[i] <= corrected[j]);
            }
        }
    }
}
