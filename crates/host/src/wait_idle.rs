//! Waiting until the process is quiet: BLAS and OpenMP threads spin for a while after their work, and would take
//! processors from the next variant.

use std::time::{Duration, Instant};

/// How long the process must have used next to no processor time.
const INTERVAL: Duration = Duration::from_millis(10);
/// The share of one processor that counts as next to none.
const MAX_IDLE_SHARE: f64 = 0.2;
/// Intel's OpenMP threads spin for 200 ms by default; whatever spins longer is not waited for.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// What one look at the process found.
struct Look {
    /// The time that passed meanwhile.
    wall: Duration,
    /// The processor time that all its threads used meanwhile.
    used: Duration,
}

/// Returns once the process has been quiet for `INTERVAL`, or after `MAX_WAIT`.
pub fn wait() {
    wait_while_busy(look);
}

/// Looks until one look finds next to no processor time used, or patience ends. Returns the time of the busy looks.
fn wait_while_busy(mut look: impl FnMut() -> Look) -> Duration {
    let mut waited = Duration::ZERO;
    while waited < MAX_WAIT {
        let Look { wall, used } = look();
        if used.as_secs_f64() < MAX_IDLE_SHARE * wall.as_secs_f64() {
            break;
        }
        waited += wall;
    }
    waited
}

fn look() -> Look {
    let (begun, before) = (Instant::now(), processor_time());
    std::thread::sleep(INTERVAL);
    let used = processor_time().saturating_sub(before);
    Look { wall: begun.elapsed(), used }
}

/// Processor time that all threads of the process have used.
fn processor_time() -> Duration {
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
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// How long a process is waited for whose threads together keep `share` of a processor busy for `spinning`.
    fn waited(share: f64, spinning: Duration) -> Duration {
        let mut now = Duration::ZERO;
        wait_while_busy(|| {
            let busy = spinning.saturating_sub(now).min(INTERVAL);
            now += INTERVAL;
            Look { wall: INTERVAL, used: busy.mul_f64(share) }
        })
    }

    #[test]
    fn threads_that_spin_for_a_while_are_waited_for_and_threads_that_spin_on_are_not() {
        assert_eq!(waited(1.0, Duration::ZERO), Duration::ZERO);
        assert_eq!(waited(1.0, Duration::from_millis(200)), Duration::from_millis(200));
        assert_eq!(waited(16.0, Duration::from_millis(200)), Duration::from_millis(200));
        assert_eq!(waited(1.0, Duration::MAX), MAX_WAIT);
        assert_eq!(waited(0.1, Duration::MAX), Duration::ZERO);
    }

    #[test]
    fn a_look_finds_the_processor_time_of_other_threads() {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            // Where the system is busy the first may see nothing; ten seconds of them cannot.
            let found = (0..1000).map(|_| look()).find(|found| found.used > Duration::ZERO);
            over.store(true, Ordering::Relaxed);
            assert!(found.is_some_and(|found| found.wall >= INTERVAL));
        });
    }
}
