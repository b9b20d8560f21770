//! Empties the caches by reading other data through every cache of the CPUs, for jobs whose memory cannot be flushed.

use std::hint::black_box;

use crate::{CellError, CellResult};
use gpubench_backend::host::threads::bind;
use gpubench_backend::host::{memory, processors};

/// Bytes read per cache, in multiples of its size: twice, because replacement is only roughly least recently used.
const TIMES: usize = 2;
/// Assumed size of the last-level cache in bytes if the system does not report it.
const UNKNOWN_LAST_LEVEL: usize = 32 << 20;
/// Minimum bytes that each CPU reads: twice the largest private cache in use.
const MIN_BYTES_PER_CPU: usize = 8 << 20;

/// Data to read, divided among the CPUs.
///
/// The data is only read: written lines would be written back during the timed work. The method is the cache flush of
/// gearshifft and of Triton's CPU driver, which use one thread; caches private to a core need one thread on each.
pub(crate) struct CacheReader {
    data: Vec<u64>,
    processors: Vec<usize>,
}

impl CacheReader {
    /// Allocates the data and touches all of it. Fails if the host has too little memory.
    pub(crate) fn new() -> CellResult<Self> {
        let processors = match processors::allowed() {
            none if none.is_empty() => vec![0],
            some => some,
        };
        let bytes = processors::last_level_cache_bytes().and_then(|bytes| usize::try_from(bytes).ok());
        let bytes = (TIMES * bytes.unwrap_or(UNKNOWN_LAST_LEVEL)).max(MIN_BYTES_PER_CPU * processors.len());
        Ok(CacheReader { data: allocate(bytes, memory::free_host_bytes())?, processors })
    }

    /// Reads all data, each CPU its part. The threads have ended when this returns, so none spins while something is
    /// timed.
    pub(crate) fn flush(&self) {
        let part = self.data.len().div_ceil(self.processors.len());
        std::thread::scope(|scope| {
            for (&processor, part) in self.processors.iter().zip(self.data.chunks(part)) {
                let read = move || {
                    // If binding fails, the thread runs where the system puts it, most likely on its own CPU.
                    let _ = bind(0, processor);
                    black_box(part.iter().fold(0u64, |sum, word| sum.wrapping_add(*word)));
                };
                let thread = std::thread::Builder::new().spawn_scoped(scope, read);
                // The caches of that CPU would keep the data; as a panic, this costs the cell.
                thread.expect("the cache of a CPU is flushed by a thread of its own (ulimit -u, pids.max)");
            }
        });
    }
}

/// Allocates `bytes` bytes and touches all of them, if no more than `free`.
fn allocate(bytes: usize, free: Option<u128>) -> CellResult<Vec<u64>> {
    let short = |free| CellError::OutOfMemory { place: "host", needed: Some(bytes as u128), free };
    if let Some(free) = free.filter(|free| bytes as u128 > *free) {
        return Err(short(free));
    }
    let mut data = vec![];
    data.try_reserve_exact(bytes / 8).map_err(|_| short(free.unwrap_or(0)))?;
    data.extend(0..bytes as u64 / 8);
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn flushed_data_takes_longer_to_read() {
        // Half a megabyte: more than fits in a first-level cache, less than a second level of today.
        let reader = CacheReader::new().unwrap();
        let data: Vec<u64> = (0..1 << 16).collect();
        let read = || {
            let start = Instant::now();
            black_box(data.iter().fold(0u64, |sum, word| sum.wrapping_add(*word)));
            start.elapsed()
        };
        // Alternating, so that a busy machine slows both.
        let (mut cold, mut hot) = (Duration::MAX, Duration::MAX);
        for _ in 0..15 {
            reader.flush();
            cold = cold.min(read());
            hot = hot.min(read());
        }
        assert!(cold > hot, "cold {cold:?}, hot {hot:?}");
    }

    #[test]
    fn data_that_does_not_fit_is_not_allocated() {
        let error = allocate(1 << 20, Some(1 << 19)).unwrap_err();
        assert_eq!(error.to_string(), "needs 1.00 MiB of host memory, 512 KiB is free");
        assert!(matches!(allocate(usize::MAX / 4, None), Err(CellError::OutOfMemory { place: "host", .. })));
        assert_eq!(allocate(32, Some(32)).unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn the_calling_thread_stays_free_to_run_anywhere() {
        let before = processors::allowed();
        CacheReader::new().unwrap().flush();
        assert_eq!(processors::allowed(), before);
    }
}
