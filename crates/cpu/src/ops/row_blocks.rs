//! Divides the rows of a sparse matrix into blocks of about equal work.

/// Blocks per thread: enough to even out rows of unequal cost, few enough that their overhead is negligible.
pub(super) const BLOCKS_PER_THREAD: usize = 8;

/// Divides rows into at most `blocks` blocks of about equal work. Returns their bounds, from 0 to the number of rows.
///
/// `work[i]` is the work of all rows before row `i` (length: rows + 1).
pub(super) fn balanced<W: Copy + Into<i64>>(work: &[W], blocks: usize) -> Vec<usize> {
    let rows = work.len() - 1;
    let total: i64 = work[rows].into();
    let mut bounds = vec![0];
    for block in 1..blocks as i64 {
        let target = total / blocks as i64 * block;
        let bound = work.partition_point(|&before| before.into() < target).min(rows);
        if bounds.last().is_some_and(|&last| bound > last) && bound < rows {
            bounds.push(bound);
        }
    }
    bounds.push(rows);
    bounds
}

/// Splits `slice` between consecutive `bounds`, which rise from 0 to its length.
pub(super) fn split<X>(mut slice: &mut [X], bounds: impl IntoIterator<Item = usize>) -> Vec<&mut [X]> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for bound in bounds.into_iter().skip(1) {
        let (piece, rest) = slice.split_at_mut(bound - start);
        pieces.push(piece);
        (slice, start) = (rest, bound);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bounds_rise_from_the_first_row_to_the_last(
            weights in prop::collection::vec(0i64..1000, 1..80),
            blocks in 1usize..20,
        ) {
            let mut work = vec![0];
            work.extend(weights.iter().scan(0, |sum, weight| { *sum += weight; Some(*sum) }));
            let bounds = balanced(&work, blocks);
            prop_assert_eq!((bounds[0], bounds[bounds.len() - 1]), (0, weights.len()));
            prop_assert!(bounds.windows(2).all(|pair| pair[0] < pair[1]) && bounds.len() <= blocks + 1);
            let mut rows: Vec<usize> = (0..weights.len()).collect();
            let lengths: Vec<usize> = split(&mut rows, bounds.iter().copied()).iter().map(|p| p.len()).collect();
            prop_assert_eq!(lengths, bounds.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>());
        }
    }
}
