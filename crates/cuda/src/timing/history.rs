//! Decides from a job's past samples whether it may be blocked and how many executions make a hot batch.

use gpubench_backend::SamplingMode;

/// From this many seconds upward, one execution serves both clocks: a launch gap of some microseconds is below 0.3 %.
pub(crate) const LONG_S: f64 = 2e-3;
/// Seconds that loading code at a first launch cannot explain.
const VERY_LONG_S: f64 = 10.0 * LONG_S;
/// Consecutive long executions before a job counts as long, since one may have loaded code or been disturbed.
const LONG_EXECUTIONS: u32 = 3;
/// Hot executions shorter than this many seconds are repeated within one pair of events.
const MAX_BATCHED_S: f64 = 20e-6;
/// Target seconds of a hot batch. A launch takes at least half a microsecond, so a batch queues at most about 500
/// launches, half of the queue length at which the driver makes the host wait.
const BATCH_S: f64 = 200e-6;
/// Minimum and maximum number of executions in a batch.
const BATCH: (u32, u32) = (2, 32);

/// Returns the mode after an execution in `mode` that took `events_s`. Only `New` and `Slow` change.
pub(crate) fn next_mode(mode: SamplingMode, events_s: f64) -> SamplingMode {
    let slow = match mode {
        SamplingMode::New => 0,
        SamplingMode::Slow(slow) => slow,
        settled => return settled,
    };
    if events_s < LONG_S {
        SamplingMode::Blocked
    } else if slow > 0 && (events_s >= VERY_LONG_S || slow + 1 >= LONG_EXECUTIONS) {
        SamplingMode::BothClocks
    } else {
        SamplingMode::Slow(slow + 1)
    }
}

/// Returns the number of executions in a hot sample of a job that takes `estimate_s`.
pub(crate) fn batch_size(estimate_s: f64) -> u32 {
    if estimate_s >= MAX_BATCHED_S {
        return 1;
    }
    // The float-to-integer cast saturates, so an estimate of zero gives the maximum.
    ((BATCH_S / estimate_s).ceil() as u32).clamp(BATCH.0, BATCH.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_execution_settles_the_mode_and_a_slow_first_one_does_not() {
        assert_eq!(next_mode(SamplingMode::New, 1e-4), SamplingMode::Blocked);
        assert_eq!(next_mode(SamplingMode::New, 5.0), SamplingMode::Slow(1));
        assert_eq!(next_mode(SamplingMode::Slow(1), 1e-4), SamplingMode::Blocked);
        assert_eq!(next_mode(SamplingMode::Slow(1), 5.0), SamplingMode::BothClocks);
    }

    #[test]
    fn a_job_counts_as_long_after_three_medium_executions() {
        let mut mode = SamplingMode::New;
        for _ in 0..LONG_EXECUTIONS {
            assert!(!matches!(mode, SamplingMode::BothClocks));
            mode = next_mode(mode, 3e-3);
        }
        assert_eq!(mode, SamplingMode::BothClocks);
        assert_eq!(next_mode(mode, 1e-6), SamplingMode::BothClocks, "settled is settled");
    }

    #[test]
    fn batches_last_a_fifth_of_a_millisecond_within_bounds() {
        assert_eq!(batch_size(25e-6), 1);
        assert_eq!(batch_size(19e-6), 11);
        assert_eq!(batch_size(10e-6), 20);
        assert_eq!(batch_size(2e-6), 32);
        assert_eq!(batch_size(0.0), 32);
    }
}
