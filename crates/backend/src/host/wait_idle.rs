//! Waits until the process is idle: BLAS and OpenMP threads spin for a while after their work, and would take CPU time
//! from the next variant.

use std::time::{Duration, Instant};

/// Length of an interval in which the process must have been idle.
const INTERVAL: Duration = Duration::from_millis(2);
/// An interval counts as idle if all threads together used less than this share of one CPU.
const MAX_IDLE_SHARE: f64 = 0.2;
/// Longest wait: Intel's OpenMP threads spin for 200 ms by default, and threads that spin longer are not waited for.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Returns once the process has been idle for `INTERVAL`, or after `MAX_WAIT`.
pub fn wait() {
    wait_while_busy(measure_interval);
}

/// Measures intervals, as [`measure_interval`] does, until one is idle, or `MAX_WAIT` has passed. Returns the total time of the
/// busy ones.
fn wait_while_busy(mut measure: impl FnMut() -> [Duration; 2]) -> Duration {
    let mut waited = Duration::ZERO;
    while waited < MAX_WAIT {
        let [wall, used] = measure();
        if used.as_secs_f64() < MAX_IDLE_SHARE * wall.as_secs_f64() {
            break;
        }
        waited += wall;
    }
    waited
}

/// Returns the elapsed time of an interval, and the CPU time that all threads used in it.
fn measure_interval() -> [Duration; 2] {
    let (begun, before) = (Instant::now(), cpu_time());
    std::thread::sleep(INTERVAL);
    let used = cpu_time().saturating_sub(before);
    [begun.elapsed(), used]
}

/// Returns the CPU time that all threads of the process have used.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every system this builds for, and `time` is a valid place for its reading.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    if status != 0 {
        return Duration::ZERO;
    }
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test may end where no thread can be started")]

    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Returns the wait for a process whose threads together keep `share` of a CPU busy for `spinning`.
    fn waited(share: f64, spinning: Duration) -> Duration {
        let mut now = Duration::ZERO;
        wait_while_busy(|| {
            let busy = spinning.saturating_sub(now).min(INTERVAL);
            now += INTERVAL;
            [INTERVAL, busy.mul_f64(share)]
        })
    }

    #[test]
    fn threads_that_spin_are_waited_for_up_to_a_limit() {
        assert_eq!(waited(1.0, Duration::ZERO), Duration::ZERO);
        assert_eq!(waited(1.0, Duration::from_millis(200)), Duration::from_millis(200));
        assert_eq!(waited(16.0, Duration::from_millis(200)), Duration::from_millis(200));
        assert_eq!(waited(1.0, Duration::MAX), MAX_WAIT);
        assert_eq!(waited(0.1, Duration::MAX), Duration::ZERO);
    }

    #[test]
    fn an_interval_includes_the_cpu_time_of_other_threads() {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            // On a busy system the first measurement may find nothing; ten seconds of them must find something.
            let found = (0..1000).map(|_| measure_interval()).find(|[_, used]| *used > Duration::ZERO);
            over.store(true, Ordering::Relaxed);
            assert!(found.is_some_and(|[wall, _]| wall >= INTERVAL));
        });
    }
}
