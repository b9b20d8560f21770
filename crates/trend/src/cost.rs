//! Computes the L1 cost of a growing set of values around its median, with two heaps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A float with a total order, for heaps.
#[derive(Clone, Copy, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Values in two halves around their median, with the sum of each.
#[derive(Default)]
pub(crate) struct Deviations {
    low: BinaryHeap<Ordered>,
    high: BinaryHeap<Reverse<Ordered>>,
    low_sum: f64,
    high_sum: f64,
}

impl Deviations {
    /// Removes all values and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.low.clear();
        self.high.clear();
        (self.low_sum, self.high_sum) = (0.0, 0.0);
    }

    /// Adds a value, in logarithmic time.
    pub(crate) fn add(&mut self, value: f64) {
        if self.low.peek().is_none_or(|top| value <= top.0) {
            self.low.push(Ordered(value));
            self.low_sum += value;
        } else {
            self.high.push(Reverse(Ordered(value)));
            self.high_sum += value;
        }
        // The lower half holds as many as the upper one, or one more.
        if self.low.len() > self.high.len() + 1 {
            if let Some(Ordered(moved)) = self.low.pop() {
                self.low_sum -= moved;
                self.high_sum += moved;
                self.high.push(Reverse(Ordered(moved)));
            }
        } else if self.low.len() < self.high.len()
            && let Some(Reverse(Ordered(moved))) = self.high.pop()
        {
            self.high_sum -= moved;
            self.low_sum += moved;
            self.low.push(Ordered(moved));
        }
    }

    /// Returns the sum of the values' distances from their median.
    pub(crate) fn cost(&self) -> f64 {
        // Any median gives the same sum, so the upper end of the lower half is as good as the middle.
        let Some(&Ordered(median)) = self.low.peek() else { return 0.0 };
        let (low, high) = (self.low.len() as f64, self.high.len() as f64);
        ((self.high_sum - high * median) + (low * median - self.low_sum)).max(0.0)
    }
}
