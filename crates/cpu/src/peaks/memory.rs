//! Measures the bandwidth at which all threads together read, copy and add, by the method of STREAM.
//!
//! J. D. McCalpin, "Memory bandwidth and machine balance in current high performance computers", IEEE TCCA Newsletter
//! (1995): arrays that exceed the last-level cache, each part first touched by the thread that works on it, the best of
//! several repetitions. Bytes are counted as STREAM does: those that the program reads and writes, and not the lines that
//! ordinary stores read before they overwrite them.
//!
//! STREAM's arrays have four times the cache each. A virtual machine reports the whole cache of its host, and touching
//! memory that it has not used yet takes a second per GB. So smaller arrays come first, of which one half would fit in the
//! cache; if reading that half is no faster than reading all, the cache has no part in the rates.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use gpubench_backend::Peaks;

use super::lines::{self, CacheLine, Writer};
use super::shortest_s;

/// Size of an array in multiples of the last-level cache, where the cache has a part in the rates of smaller ones.
const CACHES: u64 = 4;
/// The cache has a part in the rates if half of the arrays is read at more than this multiple of the rate of all. Where
/// lines are evicted at random from a cache with twice the bandwidth of memory, reading all gains 3 % where reading half
/// gains 27 %.
const CACHED: f64 = 1.2;
/// Assumed size of the last-level cache in bytes if the system does not report it.
const UNKNOWN_CACHE: u64 = 64 << 20;
/// Minimum size of an array in bytes.
const MIN_BYTES: u64 = 64 << 20;
/// Maximum size of an array in bytes.
const MAX_BYTES: u64 = 4 << 30;
/// The arrays together take at most free memory divided by this.
const SHARE_OF_FREE: u64 = 8;
const ARRAYS: u64 = 3;
/// Minimum seconds per repetition: waking the threads takes up to 0.1 ms.
const REPETITION_S: f64 = 0.015;
/// An implementation whose first pass takes more than this multiple of another's time is not repeated.
const BEHIND: f64 = 1.25;

/// Parts of the arrays that a measurement reads: all, or one half.
const WHOLE: usize = 1;
const HALF: usize = 2;

/// Measures the rates, each in at most about the given number of seconds, with a last-level cache of `cache` bytes and
/// `free` bytes of free memory. There are none if memory is too small to exceed the caches.
pub(crate) fn rates(cache: Option<u64>, free: Option<u64>, seconds: f64) -> Peaks {
    for (bytes, may_be_cached) in sizes(cache, free) {
        let arrays = StreamArrays::touch(bytes);
        let read = arrays.read_rate(WHOLE, seconds);
        if !may_be_cached || arrays.read_rate(HALF, seconds) <= CACHED * read {
            return Peaks { read: Some(read), ..arrays.write_rates(seconds) };
        }
    }
    Peaks::default()
}

/// Returns the sizes in bytes of each of the three arrays, in the order in which they are tried, and whether the cache may
/// have a part in the rates. Sizes for which memory is too small are left out.
fn sizes(cache: Option<u64>, free: Option<u64>) -> Vec<(u64, bool)> {
    let cache = cache.unwrap_or(UNKNOWN_CACHE);
    let max = free.map_or(MAX_BYTES, |free| (free / SHARE_OF_FREE / ARRAYS).min(MAX_BYTES));
    // One half of the three arrays has three quarters of the cache's size, and a copy's two arrays have all of it.
    let small = (cache / 2).max(MIN_BYTES);
    let beyond_caches = CACHES.saturating_mul(cache).max(MIN_BYTES);
    let large = beyond_caches.min(max);
    let small = (small <= max).then_some((small, true));
    let large = (ARRAYS * large >= beyond_caches).then_some((large, false));
    small.into_iter().chain(large).collect()
}

/// One thread's part of the arrays.
struct ThreadArrays {
    a: Vec<CacheLine>,
    b: Vec<CacheLine>,
    c: Vec<CacheLine>,
}

/// Three arrays, a part for each thread of the pool.
struct StreamArrays {
    parts: Vec<Mutex<ThreadArrays>>,
    /// Size of one array in bytes.
    bytes: f64,
}

impl StreamArrays {
    /// Allocates arrays of the given size; every thread allocates and touches its own part.
    fn touch(bytes: u64) -> StreamArrays {
        let lines = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<CacheLine>();
        let lines = lines.div_ceil(rayon::current_num_threads());
        let array = |value| vec![CacheLine([value; 8]); lines];
        let part = || ThreadArrays { a: array(1.0), b: array(2.0), c: array(0.5) };
        let parts = rayon::broadcast(|_| Mutex::new(part()));
        let bytes = (parts.len() * lines * size_of::<CacheLine>()) as f64;
        StreamArrays { parts, bytes }
    }

    /// Returns the bytes per second at which all threads read the first `1 / parts` of each of their arrays.
    fn read_rate(&self, parts: usize, seconds: f64) -> f64 {
        let read = |part: &mut ThreadArrays| {
            for array in [&part.a, &part.b, &part.c] {
                black_box(lines::sum(black_box(&array[..array.len() / parts])));
            }
        };
        ARRAYS as f64 * self.bytes / parts as f64 / self.min_s(seconds, f64::INFINITY, read)
    }

    /// Measures copying and the triad in bytes per second.
    fn write_rates(&self, seconds: f64) -> Peaks {
        let by = |ways: Vec<Writer>| {
            ways.into_iter().fold(f64::INFINITY, |best_s, way| {
                let work = |ThreadArrays { a, b, c }: &mut ThreadArrays| {
                    way(black_box(a), black_box(b), black_box(c))
                };
                self.min_s(seconds, best_s, work).min(best_s)
            })
        };
        Peaks {
            copy: Some(2.0 * self.bytes / by(lines::copies())),
            triad: Some(3.0 * self.bytes / by(lines::triads())),
            ..Peaks::default()
        }
    }

    /// Returns the shortest time in seconds of one pass of `work` over all parts, from repetitions that take at most about
    /// the given time together. The first pass is the only one if it is far behind `best_s`.
    fn min_s(&self, seconds: f64, best_s: f64, work: impl Fn(&mut ThreadArrays) + Sync) -> f64 {
        let first_s = self.pass_s(1, &work);
        if first_s > BEHIND * best_s {
            return first_s;
        }
        let passes = (REPETITION_S / first_s).ceil().clamp(1.0, 1000.0) as u32;
        let Ok(least_s) = shortest_s(seconds, || Ok::<_, Infallible>(self.pass_s(passes, &work)));
        least_s.min(first_s)
    }

    /// Returns the seconds per pass when every thread makes `passes` passes over its part.
    fn pass_s(&self, passes: u32, work: &(impl Fn(&mut ThreadArrays) + Sync)) -> f64 {
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
        const MIB: u64 = 1 << 20;
        const GIB: u64 = 1 << 30;
        let of = |cache, free| sizes(cache, free).into_iter().map(|(bytes, _)| bytes).collect::<Vec<_>>();
        assert_eq!(of(Some(32 * MIB), Some(64 * GIB)), [MIN_BYTES, 128 * MIB]);
        assert_eq!(of(Some(MIB), None), [MIN_BYTES, MIN_BYTES]);
        assert_eq!(of(None, Some(64 * GIB)), [MIN_BYTES, 256 * MIB]);
        assert_eq!(of(Some(480 * MIB), Some(64 * GIB)), [240 * MIB, 1920 * MIB]);
        // Two sockets of 1152 MiB, as AMD's EPYC 9684X has them.
        assert_eq!(of(Some(2304 * MIB), Some(768 * GIB)), [1152 * MIB, MAX_BYTES]);
        // Of 4 GiB an eighth is 512 MiB, which three arrays share.
        assert_eq!(of(Some(64 * MIB), Some(4 * GIB)), [MIN_BYTES, 512 * MIB / 3]);
        assert_eq!(of(Some(256 * MIB), Some(4 * GIB)), [128 * MIB]);
        assert!(of(Some(MIB), Some(MIB)).is_empty());
        let may_be_cached = |(_, may_be_cached): &(u64, bool)| *may_be_cached;
        assert!(sizes(Some(256 * MIB), Some(4 * GIB)).iter().all(may_be_cached));
    }

    #[test]
    fn every_thread_has_its_part_and_every_figure_is_a_rate() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            let arrays = StreamArrays::touch(1 << 16);
            assert_eq!((arrays.parts.len(), arrays.bytes), (2, f64::from(1 << 16)));
            let Peaks { copy, triad, .. } = arrays.write_rates(0.0);
            let read = |parts| Some(arrays.read_rate(parts, 0.0));
            for rate in [read(WHOLE), read(HALF), copy, triad] {
                // No memory and no cache is that fast.
                assert!(rate.is_some_and(|rate| rate > 1e3 && rate < 1e15), "{rate:?}");
            }
        });
    }
}
