//! Chooses the next size to measure, so that it narrows a crossover most.

use super::Comparison;
use super::cost::Kind;
use super::crossover::{Place, crossover};

/// The ratio of an end of an interval to its middle that is near enough: 5 %.
pub const NEAR: f64 = 1.05;

/// A size that would narrow the interval of a crossover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Next {
    /// The size.
    pub n: u64,
    /// The ratio of an end of the present interval to its middle.
    pub times: f64,
}

/// The middle of the interval of the crossover of one family; `None` without one, within [`NEAR`], or if it was measured.
pub fn next_size(comparisons: &[Comparison<'_>], kind: Kind) -> Option<Next> {
    let found = crossover(comparisons, kind)?;
    let (Some(Place::At(_)), [Place::At(low), Place::At(high)]) = (found.from, found.interval) else {
        return None;
    };
    let middle = (low * high).sqrt();
    let (n, times) = (middle.round() as u64, high / middle);
    let is_new = comparisons.iter().all(|one| one.n != n);
    (times > NEAR && is_new).then_some(Next { n, times })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::sections;
    use gpubench_report::report::example;

    #[test]
    fn the_next_size_halves_an_interval_that_is_wide() {
        let mut report = example::of([20, 300].into_iter().flat_map(|n| {
            let size = n as f64;
            example::both_sides("matmul", n, 2e-11 * size.powi(3), 15e-6 + 1e-10 * size.powi(2))
        }));
        let wide = crossover(&sections(&report)[0].comparisons, Kind::Kernel).unwrap();
        let [Place::At(low), Place::At(high)] = wide.interval else { panic!("{wide:?}") };
        let next = next_size(&sections(&report)[0].comparisons, Kind::Kernel);
        assert_eq!(next.map(|next| next.n), Some((low * high).sqrt().round() as u64), "{wide:?}");
        report.rows.truncate(2);
        let next = next_size(&sections(&report)[0].comparisons, Kind::Kernel);
        assert_eq!(next, None, "one size has no crossing");
    }

    #[test]
    fn a_crossing_that_is_known_well_needs_no_more() {
        let report = example::of([100, 1000, 2000].into_iter().flat_map(|n| {
            let size = n as f64;
            example::both_sides("matmul", n, 1e-9 * size.powi(3), 310e-9 * size.powi(2))
        }));
        assert_eq!(next_size(&sections(&report)[0].comparisons, Kind::Kernel), None);
    }
}
