//! The order in which the cells of a block take their turns: another one in each round, fixed by the seed.

use std::ops::Range;

use crate::data::generator::Stream;

/// Sets these streams apart from those of operands.
const PURPOSE: u64 = 0x0072_6F75_6E64_7321;

/// The positions of `block` in a chance order (Fisher and Yates' shuffle) that `seed` and `round` fix.
pub fn shuffled(block: Range<usize>, seed: u64, round: u32) -> Vec<usize> {
    let stream = Stream::new(seed ^ PURPOSE, u64::from(round));
    let first = block.start as u64;
    let mut order: Vec<usize> = block.collect();
    for last in (1..order.len()).rev() {
        // The bias of the remainder is below 2^-40 for any plan.
        let other = stream.bits(first + last as u64) % (last as u64 + 1);
        order.swap(last, usize::try_from(other).unwrap_or(last));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_holds_every_position_once_and_depends_on_seed_and_round() {
        let order = shuffled(10..60, 42, 0);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (10..60).collect::<Vec<_>>());
        assert_ne!(order, sorted);
        assert_eq!(order, shuffled(10..60, 42, 0));
        assert_ne!(order, shuffled(10..60, 42, 1));
        assert_ne!(order, shuffled(10..60, 43, 0));
        assert!(shuffled(3..3, 1, 1).is_empty());
    }
}
