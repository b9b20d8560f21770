//! The time limit for the start of a worker.

use std::time::Duration;

/// Minimum time limit for a worker's start, since creating a device's context can take seconds.
const MIN_START_LIMIT: Duration = Duration::from_secs(30);

/// Maximum time limit for a worker's start: a driver that hangs may hold up the end of the run until then.
const MAX_START_LIMIT: Duration = Duration::from_secs(60);

/// Environment variable with another time limit for a worker's start, in seconds.
const START_LIMIT_VARIABLE: &str = "GPUBENCH_START_LIMIT";

/// Returns the time limit for a worker's start: that of a cell within the bounds above, unless the user has set another.
pub(crate) fn start_limit(cell_timeout: Duration) -> Duration {
    let set = std::env::var(START_LIMIT_VARIABLE).ok().and_then(|seconds| parse_limit(&seconds));
    set.unwrap_or_else(|| cell_timeout.clamp(MIN_START_LIMIT, MAX_START_LIMIT))
}

/// Parses a positive number of seconds.
fn parse_limit(seconds: &str) -> Option<Duration> {
    let seconds = seconds.parse().ok().filter(|seconds| *seconds > 0.0)?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_may_take_as_long_as_a_cell_within_bounds() {
        let limit = |seconds| start_limit(Duration::from_secs(seconds)).as_secs();
        assert_eq!([limit(1), limit(45), limit(300)], [30, 45, 60]);
    }

    #[test]
    fn only_a_positive_number_of_seconds_sets_another_limit() {
        assert_eq!(parse_limit("2.5"), Some(Duration::from_millis(2500)));
        for text in ["", "0", "-1", "nan", "inf", "1e300", "2m"] {
            assert_eq!(parse_limit(text), None, "{text}");
        }
    }
}
