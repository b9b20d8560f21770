//! What the timer learns of a job: whether it may be held back, and how many executions make a hot batch.

use gpubench_backend::Course;

/// Seconds from which on one execution serves both clocks: a launch gap of some microseconds is then below 0.3 %.
pub(crate) const LONG_S: f64 = 2e-3;
/// Seconds that no first launch of a kernel explains.
const SURELY_LONG_S: f64 = 10.0 * LONG_S;
/// Executions that must all be long before a job counts as long; one may have loaded code or been disturbed.
const TRIES: u32 = 3;
/// Seconds below which a hot execution is repeated within one pair of events.
const BATCHED_BELOW_S: f64 = 20e-6;
/// Seconds that a hot batch is to take. With at least half a microsecond a launch, no batch queues more than about
/// 500, half of what the driver takes before it makes the host wait.
const BATCH_S: f64 = 200e-6;
/// Executions of a batch.
const BATCH: (u32, u32) = (2, 32);

/// The course of a job after an execution on `course` that took `events_s`: only `New` and `Slow` lead to another.
pub(crate) fn after(course: Course, events_s: f64) -> Course {
    let slow = match course {
        Course::New => 0,
        Course::Slow(slow) => slow,
        settled => return settled,
    };
    if events_s < LONG_S {
        Course::Held
    } else if slow > 0 && (events_s >= SURELY_LONG_S || slow + 1 >= TRIES) {
        Course::Together
    } else {
        Course::Slow(slow + 1)
    }
}

/// Executions to a hot sample of a job that takes `estimate_s`.
pub(crate) fn repeats(estimate_s: f64) -> u32 {
    if estimate_s >= BATCHED_BELOW_S {
        return 1;
    }
    // A float beyond the range becomes its end, and an estimate of nothing the most there may be.
    ((BATCH_S / estimate_s).ceil() as u32).clamp(BATCH.0, BATCH.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_execution_settles_at_once_and_a_slow_first_one_does_not() {
        assert_eq!(after(Course::New, 1e-4), Course::Held);
        assert_eq!(after(Course::New, 5.0), Course::Slow(1));
        assert_eq!(after(Course::Slow(1), 1e-4), Course::Held);
        assert_eq!(after(Course::Slow(1), 5.0), Course::Together);
    }

    #[test]
    fn middling_executions_count_as_long_after_three() {
        let mut course = Course::New;
        for _ in 0..TRIES {
            assert!(!matches!(course, Course::Together));
            course = after(course, 3e-3);
        }
        assert_eq!(course, Course::Together);
        assert_eq!(after(course, 1e-6), Course::Together, "settled is settled");
    }

    #[test]
    fn batches_last_a_fifth_of_a_millisecond_within_bounds() {
        assert_eq!(repeats(25e-6), 1);
        assert_eq!(repeats(19e-6), 11);
        assert_eq!(repeats(10e-6), 20);
        assert_eq!(repeats(2e-6), 32);
        assert_eq!(repeats(0.0), 32);
    }
}
