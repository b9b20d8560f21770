//! The exact permutation test of Wilcoxon, Mann and Whitney on the ranks of two groups.

/// Smallest group that can reject at 5 %: of the 70 arrangements of 4 and 4 values, the two extremes make 2.9 %.
const MIN_VALUES: usize = 4;

/// Maximum number of values per group, which bounds the cost of counting; larger groups are thinned evenly.
const MAX_VALUES: usize = 60;

/// Returns the two-sided p-value of the rank sum if both groups have the same distribution; `None` if a group has fewer
/// than four values, with which the test cannot reject at 5 %.
///
/// Exact, ties included: with mid-ranks doubled to integers, the arrangements of each sum are counted by dynamic
/// programming. Sources: Mann and Whitney, Annals of Mathematical Statistics 18 (1947); for ties, Streitberg and Röhmel,
/// "Exact distributions for permutation and rank tests", Statistical Software Newsletter 12 (1986).
pub(crate) fn rank_test(old: &[f64], new: &[f64]) -> Option<f64> {
    let (old, new) = (thinned(old), thinned(new));
    if old.len() < MIN_VALUES || new.len() < MIN_VALUES {
        return None;
    }
    let mut ranks = doubled_ranks(&old, &new);
    if ranks.iter().all(|rank| rank % 2 == 0) {
        // Without ties no doubling is needed, and there are half as many sums.
        ranks.iter_mut().for_each(|rank| *rank /= 2);
    }
    let observed: usize = ranks[old.len()..].iter().sum();
    let total: usize = ranks.iter().sum();
    let arrangements = sums(&ranks, new.len(), total);
    let all: f64 = arrangements.iter().sum();
    // Distances from the mean, in units that keep them integers.
    let (n, size) = (new.len(), ranks.len());
    let distance = |sum: usize| (sum * size).abs_diff(total * n);
    let found = distance(observed);
    let extreme = arrangements.iter().enumerate().filter(|(sum, _)| distance(*sum) >= found);
    Some((extreme.map(|(_, count)| count).sum::<f64>() / all).min(1.0))
}

fn thinned(values: &[f64]) -> Vec<f64> {
    let take = values.len().min(MAX_VALUES);
    (0..take).map(|k| values[k * values.len() / take]).collect()
}

/// Returns twice the mid-rank of each value among all values, those of `old` first.
fn doubled_ranks(old: &[f64], new: &[f64]) -> Vec<usize> {
    let all: Vec<f64> = old.iter().chain(new).copied().collect();
    let rank = |value: &f64| {
        let below = all.iter().filter(|other| other.total_cmp(value).is_lt()).count();
        let equal = all.iter().filter(|other| other.total_cmp(value).is_eq()).count();
        2 * below + equal + 1
    };
    all.iter().map(rank).collect()
}

/// Counts the ways to choose `count` of the ranks, for each sum up to `total`.
fn sums(ranks: &[usize], count: usize, total: usize) -> Vec<f64> {
    let mut ways = vec![vec![0.0; total + 1]; count + 1];
    ways[0][0] = 1.0;
    let mut reached = 0;
    for (index, &rank) in ranks.iter().enumerate() {
        for chosen in (1..=count.min(index + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(chosen);
            // The ranks so far sum up to `reached` at most.
            let (fewer, more) = (&fewer[chosen - 1][..=reached], &mut more[0][rank..=reached + rank]);
            more.iter_mut().zip(fewer).for_each(|(more, fewer)| *more += fewer);
        }
        reached += rank;
    }
    ways.swap_remove(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn separate_groups_have_the_chance_of_the_two_extreme_arrangements() {
        for (n, arrangements) in [(4, 70.0), (5, 252.0), (6, 924.0), (9, 48620.0)] {
            let old: Vec<f64> = (0..n).map(f64::from).collect();
            let new: Vec<f64> = old.iter().map(|value| value + 100.0).collect();
            for (a, b) in [(&old, &new), (&new, &old)] {
                let p = rank_test(a, b).unwrap();
                assert!((p - 2.0 / arrangements).abs() < 1e-12, "{n}: {p}");
            }
        }
    }

    #[test]
    fn the_published_example_of_mann_and_whitney_s_u_comes_out() {
        // U = 3 of 4 and 5 values: P(U <= 3) = 0.056 by the table of Mann and Whitney (1947), n = 5, m = 4.
        let old = [1.0, 2.0, 4.0, 6.0];
        let new = [3.0, 5.0, 7.0, 8.0, 9.0];
        assert!((rank_test(&old, &new).unwrap() / 2.0 - 7.0 / 126.0).abs() < 1e-12);
    }

    #[test]
    fn three_rounds_give_no_result_and_equal_values_no_difference() {
        assert_eq!(rank_test(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0, 7.0]), None);
        assert_eq!(rank_test(&[1.0; 5], &[1.0; 5]), Some(1.0));
    }

    proptest! {
        #[test]
        fn the_p_value_is_a_probability_and_ignores_order_scale_and_sides(
            old in prop::collection::vec(1u8..20, 4..9), new in prop::collection::vec(1u8..20, 4..9),
        ) {
            let scaled = |values: &[u8], by: f64| values.iter().map(|v| by * f64::from(*v)).collect::<Vec<f64>>();
            let (a, b) = (scaled(&old, 1.0), scaled(&new, 1.0));
            let p = rank_test(&a, &b).unwrap();
            prop_assert!(p > 0.0 && p <= 1.0);
            prop_assert!((rank_test(&b, &a).unwrap() - p).abs() < 1e-9);
            prop_assert!((rank_test(&scaled(&old, 7.5), &scaled(&new, 7.5)).unwrap() - p).abs() < 1e-9);
            let reversed: Vec<f64> = a.iter().rev().copied().collect();
            prop_assert!((rank_test(&reversed, &b).unwrap() - p).abs() < 1e-9);
        }
    }
}
