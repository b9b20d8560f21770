//! Measures the relative speed of the CPUs that the threads of the pool run on: the same arithmetic on all at the same
//! time. Hardware threads that share a core, with each other or with work that the system does not show, take half as
//! long again.

use std::hint::black_box;
use std::time::Instant;

use gpubench_backend::ThreadSpeeds;
use gpubench_report::measure::stats::median;

/// Independent chains of multiplications and additions. As vectors of two they fill sixteen registers and keep the units
/// of a core busy enough to reveal any other user of the core.
const CHAINS: usize = 24;
/// Links per chain, which take about half a millisecond.
const LINKS: usize = 240_000;
/// Repetitions per thread; the median counts.
const REPEATS: usize = 15;

/// Runs the same arithmetic on every thread of the pool at the same time.
pub(crate) fn measure() -> ThreadSpeeds {
    let threads = rayon::broadcast(|_| {
        let seconds: [f64; REPEATS] = std::array::from_fn(|_| timed());
        median(&seconds).unwrap_or(f64::NAN)
    });
    ThreadSpeeds {
        fastest_s: threads.iter().copied().fold(f64::INFINITY, f64::min),
        slowest_s: threads.iter().copied().fold(0.0, f64::max),
    }
}

fn timed() -> f64 {
    let mut sums: [f64; CHAINS] = black_box(std::array::from_fn(|chain| chain as f64));
    let (factor, term) = black_box((0.999_999, 0.5));
    let start = Instant::now();
    for _ in 0..LINKS {
        for sum in &mut sums {
            *sum = *sum * factor + term;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    black_box(sums);
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_takes_a_time_and_the_slowest_the_longest() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let found = pool.install(measure);
        // Each link waits for the previous one: about six cycles.
        assert!(found.fastest_s > 0.5e-9 * LINKS as f64, "{found:?}");
        assert!(found.fastest_s <= found.slowest_s && found.slowest_s < 1.0, "{found:?}");
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(measure);
        assert!(one.fastest_s == one.slowest_s && one.ratio() == 1.0);
    }
}
