//! The cost of the events themselves, and its subtraction from a reading.

/// A corrected reading keeps at least this share of the raw one.
const MIN_SHARE: f64 = 0.1;

/// Seconds in a reading beyond the work itself, measured with kernels that touch no memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EventOverhead {
    /// Two events and the launch between them, after the caches were flushed or after an execution of the same work.
    pub(crate) pair_s: f64,
    /// From the end of one execution to the start of the next, both queued.
    pub(crate) between_s: f64,
    /// Cycles of a multiprocessor per second, of which the durations of these kernels are made.
    pub(crate) cycles_per_s: f64,
}

impl EventOverhead {
    /// Returns the raw and corrected seconds per execution, for `events_s` read around `repeats` executions.
    pub(crate) fn corrected(&self, events_s: f64, repeats: u32) -> (f64, f64) {
        let repeats = f64::from(repeats.max(1));
        let raw = events_s / repeats;
        let corrected = (events_s - self.pair_s - (repeats - 1.0) * self.between_s) / repeats;
        (raw, corrected.max(MIN_SHARE * raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERHEAD: EventOverhead = EventOverhead { pair_s: 3e-6, between_s: 1e-6, cycles_per_s: 2e9 };

    #[test]
    fn a_reading_loses_each_gap_and_the_constant_once_and_keeps_at_least_a_tenth() {
        let batch_s = 3e-6 + 20.0 * 5e-6 + 19.0 * 1e-6;
        for (events_s, repeats, corrected_s) in
            [(13e-6, 1, 10e-6), (batch_s, 20, 5e-6), (2.5e-6, 1, 0.25e-6), (0.0, 0, 0.0)]
        {
            let (raw, corrected) = OVERHEAD.corrected(events_s, repeats);
            assert!((raw - events_s / f64::from(repeats.max(1))).abs() < 1e-12, "{raw}");
            assert!((corrected - corrected_s).abs() < 1e-12, "{corrected} instead of {corrected_s}");
        }
    }
}
