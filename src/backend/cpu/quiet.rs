//! Waiting until the process is quiet: BLAS and OpenMP threads spin for a while after their work, and would take
//! processors from the next variant.

use std::time::{Duration, Instant};

/// How long the process must have used next to no processor time.
const QUIET: Duration = Duration::from_millis(10);
/// The share of one processor that counts as next to none.
const IDLE_SHARE: f64 = 0.2;
/// Intel's OpenMP threads spin for 200 ms by default; whatever spins longer is not waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// Returns once the process has been quiet for [`QUIET`], or after [`PATIENCE`].
pub fn wait() {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let (wall, used) = (Instant::now(), processor_time());
        std::thread::sleep(QUIET);
        if processor_time().saturating_sub(used).as_secs_f64() < IDLE_SHARE * wall.elapsed().as_secs_f64() {
            return;
        }
    }
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

    #[test]
    fn a_thread_that_spins_for_a_while_is_waited_for_and_one_that_spins_on_is_not() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let begun = Instant::now();
        let spinner = std::thread::spawn(move || {
            while !STOP.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(10) {
                std::hint::spin_loop();
            }
        });
        wait();
        assert!(begun.elapsed() >= PATIENCE && begun.elapsed() < 10 * PATIENCE);
        STOP.store(true, Ordering::Relaxed);
        spinner.join().unwrap();
    }
}
