//! Measures the bandwidth at which all threads together read, copy and add, by the method of STREAM.
//!
//! J. D. McCalpin, "Memory bandwidth and machine balance in current high performance computers", IEEE TCCA Newsletter
//! (1995): arrays of at least four times the last-level cache, each part first touched by the thread that works on
//! it, the best of several repetitions. Bytes are counted as STREAM does: those that the program reads and writes,
//! and not the lines that ordinary stores read before they overwrite them.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use gpubench_backend::Peaks;

use super::line::{Line, Writer};
use super::lines;

/// Size of an array, in multiples of the last-level cache.
const CACHES: u64 = 4;
/// Assumed size of the last-level cache in bytes if the system does not report it.
const UNKNOWN_CACHE: u64 = 64 << 20;
/// Minimum and maximum size of an array in bytes.
const MIN_BYTES: u64 = 64 << 20;
const MAX_BYTES: u64 = 4 << 30;
/// The arrays together take at most free memory divided by this.
const SHARE_OF_FREE: u64 = 8;
const ARRAYS: u64 = 3;
/// Minimum seconds per repetition: waking the threads takes up to 0.1 ms.
const REPETITION_S: f64 = 0.015;
/// Minimum number of repetitions.
const REPETITIONS: u32 = 3;

/// Returns the size in bytes of each of the three arrays, for a last-level cache of `cache` bytes and `free` bytes of
/// free memory. `None` when memory is too small to exceed the caches by the required factor.
pub(crate) fn bytes_each(cache: Option<u64>, free: Option<u64>) -> Option<u64> {
    let beyond_caches = CACHES.saturating_mul(cache.unwrap_or(UNKNOWN_CACHE));
    let max = free.map_or(MAX_BYTES, |free| (free / SHARE_OF_FREE / ARRAYS).min(MAX_BYTES));
    let each = beyond_caches.max(MIN_BYTES).min(max);
    (ARRAYS * each >= beyond_caches.max(MIN_BYTES)).then_some(each)
}

/// One thread's part of the arrays.
struct Part {
    a: Vec<Line>,
    b: Vec<Line>,
    c: Vec<Line>,
}

/// Three arrays, a part for each thread of the pool.
pub(crate) struct Arrays {
    parts: Vec<Mutex<Part>>,
    /// Size of one array in bytes.
    bytes: f64,
}

impl Arrays {
    /// Allocates arrays of the given size; every thread allocates and touches its own part.
    pub(crate) fn touch(bytes: u64) -> Arrays {
        let lines = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<Line>();
        let lines = lines.div_ceil(rayon::current_num_threads());
        let array = |value| vec![Line([value; 8]); lines];
        let part = || Part { a: array(1.0), b: array(2.0), c: array(0.5) };
        let parts = rayon::broadcast(|_| Mutex::new(part()));
        let bytes = (parts.len() * lines * size_of::<Line>()) as f64;
        Arrays { parts, bytes }
    }

    /// Measures reading, copying and the triad in bytes per second, each for the given number of seconds.
    pub(crate) fn rates(&self, seconds: f64) -> Peaks {
        let read = |part: &mut Part| {
            for array in [&part.a, &part.b, &part.c] {
                black_box(lines::sum(black_box(array)));
            }
        };
        let by = |ways: Vec<Writer>| {
            let share = seconds / ways.len() as f64;
            let times = ways.into_iter().map(|way| {
                self.min_s(share, |Part { a, b, c }| way(black_box(a), black_box(b), black_box(c)))
            });
            times.fold(f64::INFINITY, f64::min)
        };
        Peaks {
            read: Some(3.0 * self.bytes / self.min_s(seconds, read)),
            copy: Some(2.0 * self.bytes / by(lines::copies())),
            triad: Some(3.0 * self.bytes / by(lines::triads())),
            ..Peaks::default()
        }
    }

    /// Returns the shortest time in seconds of one pass of `work` over all parts, from repetitions that take the given
    /// time together.
    fn min_s(&self, seconds: f64, work: impl Fn(&mut Part) + Sync) -> f64 {
        let begun = Instant::now();
        let passes = (REPETITION_S / self.pass_s(1, &work)).ceil().clamp(1.0, 1000.0) as u32;
        let (mut least, mut repetitions) = (f64::INFINITY, 0);
        while repetitions < REPETITIONS || begun.elapsed().as_secs_f64() < seconds {
            least = self.pass_s(passes, &work).min(least);
            repetitions += 1;
        }
        least
    }

    /// Returns the seconds per pass when every thread makes `passes` passes over its part.
    fn pass_s(&self, passes: u32, work: &(impl Fn(&mut Part) + Sync)) -> f64 {
        let begun = Instant::now();
        rayon::broadcast(|context| {
            let mut part = self.parts[context.index()].lock().unwrap_or_else(PoisonError::into_inner);
            (0..passes).for_each(|_| work(&mut part));
        });
        begun.elapsed().as_secs_f64() / f64::from(passes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_exceed_the_caches_or_there_are_none() {
        assert_eq!(bytes_each(Some(32 << 20), Some(64 << 30)), Some(128 << 20));
        assert_eq!(bytes_each(Some(1 << 20), None), Some(MIN_BYTES));
        assert_eq!(bytes_each(None, Some(64 << 30)), Some(256 << 20));
        // Two sockets of 1152 MiB, as AMD's EPYC 9684X has them.
        assert_eq!(bytes_each(Some(2304 << 20), Some(768 << 30)), Some(MAX_BYTES));
        // Of 4 GiB an eighth is 512 MiB, which three arrays share.
        assert_eq!(bytes_each(Some(64 << 20), Some(4 << 30)), Some((512 << 20) / 3));
        assert_eq!(bytes_each(Some(256 << 20), Some(4 << 30)), None);
        assert_eq!(bytes_each(Some(1 << 20), Some(1 << 20)), None);
    }

    #[test]
    fn every_thread_has_its_part_and_every_figure_is_a_rate() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            let arrays = Arrays::touch(1 << 16);
            assert_eq!((arrays.parts.len(), arrays.bytes), (2, f64::from(1 << 16)));
            let rates = arrays.rates(0.0);
            for rate in [rates.read, rates.copy, rates.triad] {
                // No memory and no cache is that fast.
                assert!(rate.is_some_and(|rate| rate > 1e3 && rate < 1e15), "{rates:?}");
            }
        });
    }
}
