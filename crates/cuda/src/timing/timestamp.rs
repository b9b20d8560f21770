//! The clock of the multiprocessors, computed from two timestamps around the work.

/// A sample counts as throttled below this share of the rated clock.
///
/// The default of nvbench (`throttle_threshold`, 75 % of `cudaDevAttrClockRate`).
const THROTTLED: f64 = 0.75;

/// Nanoseconds and cycles of one timestamp; zeros if no block ran on multiprocessor 0.
pub(crate) type Timestamp = (u64, u64);

/// Returns cycles per microsecond between two timestamps, or `None` when one is missing or they are out of order.
pub(crate) fn mhz(first: Timestamp, second: Timestamp) -> Option<f64> {
    if first.0 == 0 || second.0 == 0 {
        return None;
    }
    let ns = second.0.checked_sub(first.0).filter(|ns| *ns > 0)?;
    let cycles = second.1.checked_sub(first.1).filter(|cycles| *cycles > 0)?;
    Some(1e3 * cycles as f64 / ns as f64)
}

/// Returns whether the clock was throttled. Returns `false` when either clock is unknown.
pub(crate) fn is_throttled(sm_mhz: Option<f64>, rated_mhz: Option<f64>) -> bool {
    sm_mhz.zip(rated_mhz).is_some_and(|(now, rated)| now < THROTTLED * rated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_cycles_over_time_and_absent_where_a_stamp_is() {
        assert_eq!(mhz((1_000, 5_000), (51_000, 104_000)), Some(1980.0));
        assert_eq!(mhz((0, 0), (51_000, 104_000)), None);
        assert_eq!(mhz((1_000, 5_000), (0, 0)), None);
        assert_eq!(mhz((1_000, 5_000), (1_000, 6_000)), None);
        assert_eq!(mhz((1_000, 5_000), (2_000, 4_000)), None);
    }

    #[test]
    fn only_a_known_clock_well_below_the_rated_one_is_throttled() {
        assert!(is_throttled(Some(1400.0), Some(1980.0)));
        assert!(!is_throttled(Some(1500.0), Some(1980.0)));
        assert!(!is_throttled(None, Some(1980.0)) && !is_throttled(Some(100.0), None));
    }
}
