//! Reads the file that the recorded processes share, which `interpose/table.h` defines.

use anyhow::{Result, ensure};

/// The beginning of the file.
const MAGIC: u64 = 0x3130_4345_5242_5047;
const SHARDS: usize = 12;
const ENTRIES: usize = 1024;
const BINS: usize = 288;
const OBJECTS: usize = 64;
const ROUTINES: usize = 64;

const ROUTINE_NAME: usize = 16;
const OBJECT: usize = 512;
const ROUTINES_AT: usize = 32;
const OBJECTS_AT: usize = ROUTINES_AT + ROUTINES * ROUTINE_NAME;
const SHARDS_AT: usize = OBJECTS_AT + OBJECTS * OBJECT;
const ENTRIES_AT: usize = 16;
const KEY_AT: usize = 8;
const COUNTS_AT: usize = KEY_AT + 80;
const BINS_AT: usize = COUNTS_AT + 48;
const ENTRY: usize = BINS_AT + 4 * BINS;
const SHARD: usize = ENTRIES_AT + ENTRIES * ENTRY;

/// The size of the file in bytes.
const BYTES: usize = SHARDS_AT + SHARDS * SHARD;

/// The state of an entry or object that has its key.
const READY: u32 = 2;

/// A file in which nothing is recorded yet.
pub(crate) fn empty() -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    bytes[..8].copy_from_slice(&MAGIC.to_ne_bytes());
    bytes[8..12].copy_from_slice(&(BYTES as u32).to_ne_bytes());
    bytes
}

/// What makes two calls the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallKey {
    pub(crate) routine: String,
    /// `s`, `d`, `c` or `z`.
    pub(crate) dtype: char,
    pub(crate) row_major: bool,
    /// Path of the library; empty if unknown.
    pub(crate) library: String,
    /// Threads that the library uses; 0 if it does not say.
    pub(crate) threads: u16,
    /// The characters of the call: transpositions, sides, jobs.
    pub(crate) flags: String,
    /// m, n, k and the number of right-hand sides; of a transform, its extents and the batch.
    pub(crate) dims: [i64; 5],
    /// Leading dimensions, or increments of vectors.
    pub(crate) lds: [i64; 3],
}

/// The calls of one key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counts {
    pub(crate) count: u64,
    pub(crate) total_ns: u64,
    pub(crate) least_ns: u64,
    pub(crate) longest_ns: u64,
    /// Bytes of operands that an earlier recorded call wrote and that had not changed since.
    pub(crate) result_bytes: u64,
    /// Bytes of operands that an earlier recorded call read and that had not changed since.
    pub(crate) repeated_bytes: u64,
    bins: Vec<u32>,
}

impl Counts {
    /// Adds the calls of another shard.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.count += other.count;
        self.total_ns += other.total_ns;
        self.least_ns = self.least_ns.min(other.least_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.result_bytes += other.result_bytes;
        self.repeated_bytes += other.repeated_bytes;
        self.bins.iter_mut().zip(&other.bins).for_each(|(bin, more)| *bin += more);
    }

    /// The median in nanoseconds, to half an eighth of an octave.
    pub(crate) fn median_ns(&self) -> f64 {
        let count: u64 = self.bins.iter().map(|bin| u64::from(*bin)).sum();
        let mut below = 0;
        for (index, bin) in self.bins.iter().enumerate() {
            below += u64::from(*bin);
            if 2 * below >= count.max(1) {
                let middle = f64::midpoint(edge_ns(index), edge_ns(index + 1));
                return middle.clamp(self.least_ns as f64, self.longest_ns as f64);
            }
        }
        self.least_ns as f64
    }
}

/// The least time of a bin: below 8 ns one per nanosecond, then eight per octave.
fn edge_ns(bin: usize) -> f64 {
    match bin.checked_sub(8) {
        None => bin as f64,
        Some(above) => (8 + above % 8) as f64 * 2f64.powi((above / 8) as i32),
    }
}

/// What the recorded processes wrote.
pub(crate) struct RecordedCalls {
    pub(crate) processes: u32,
    pub(crate) threads: u32,
    /// Nanoseconds that recording adds to a call; 0 if no process loaded the recorder.
    pub(crate) overhead_ns: u32,
    pub(crate) calls: Vec<(CallKey, Counts)>,
    /// Calls of further keys, for which there was no room, and their nanoseconds.
    pub(crate) others: (u64, u64),
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|index| self.0[at + index])
    }
    fn u16(&self, at: usize) -> u16 {
        u16::from_ne_bytes(self.array(at))
    }
    fn u32(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.array(at))
    }
    fn u64(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.array(at))
    }
    fn text(&self, at: usize, bytes: usize) -> String {
        let field = &self.0[at..at + bytes];
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(bytes);
        String::from_utf8_lossy(&field[..end]).into_owned()
    }
}

impl RecordedCalls {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// The file is not of this layout.
    pub(crate) fn read(bytes: &[u8]) -> Result<RecordedCalls> {
        let file = Bytes(bytes);
        ensure!(
            bytes.len() == BYTES && file.u64(0) == MAGIC,
            "the record of the calls is damaged: record again"
        );
        let mut calls: Vec<(CallKey, Counts)> = vec![];
        let mut others = (0, 0);
        for shard in (0..SHARDS).map(|index| SHARDS_AT + index * SHARD) {
            others.0 += file.u64(shard);
            others.1 += file.u64(shard + 8);
            for entry in (0..ENTRIES).map(|index| shard + ENTRIES_AT + index * ENTRY) {
                let routine = usize::from(file.u16(entry + KEY_AT));
                if file.u32(entry) != READY || routine >= ROUTINES {
                    continue;
                }
                let key = file.key(entry + KEY_AT);
                let counts = file.counts(entry);
                // The recorder's measurement of itself has no name, and a killed thread may have claimed an entry alone.
                if key.routine.is_empty() || counts.count == 0 {
                    continue;
                }
                match calls.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, known)) => known.add(&counts),
                    None => calls.push((key, counts)),
                }
            }
        }
        calls.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.total_ns));
        Ok(RecordedCalls {
            processes: file.u32(12),
            threads: file.u32(16),
            overhead_ns: file.u32(20),
            calls,
            others,
        })
    }
}

impl Bytes<'_> {
    fn key(&self, at: usize) -> CallKey {
        let object = usize::from(self.u16(at + 4));
        let library = match object {
            1..=OBJECTS => self.text(OBJECTS_AT + (object - 1) * OBJECT + 4, OBJECT - 4),
            _ => String::new(),
        };
        CallKey {
            routine: self.text(ROUTINES_AT + usize::from(self.u16(at)) * ROUTINE_NAME, ROUTINE_NAME),
            dtype: char::from(self.0[at + 2]),
            row_major: self.0[at + 3] != 0,
            library,
            threads: self.u16(at + 6),
            flags: self.text(at + 8, 8),
            dims: std::array::from_fn(|index| self.u64(at + 16 + 8 * index).cast_signed()),
            lds: std::array::from_fn(|index| self.u64(at + 56 + 8 * index).cast_signed()),
        }
    }

    fn counts(&self, entry: usize) -> Counts {
        let count = |index: usize| self.u64(entry + COUNTS_AT + 8 * index);
        Counts {
            count: count(0),
            total_ns: count(1),
            least_ns: count(2),
            longest_ns: count(3),
            result_bytes: count(4),
            repeated_bytes: count(5),
            bins: (0..BINS).map(|index| self.u32(entry + BINS_AT + 4 * index)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ns: &[u64]) -> Counts {
        let mut bins = vec![0; BINS];
        for &ns in ns {
            let bin = (0..BINS).rev().find(|bin| edge_ns(*bin) <= ns as f64).unwrap();
            bins[bin] += 1;
        }
        let (least_ns, longest_ns) = (*ns.iter().min().unwrap(), *ns.iter().max().unwrap());
        let (count, total_ns) = (ns.len() as u64, ns.iter().sum());
        Counts { count, total_ns, least_ns, longest_ns, result_bytes: 0, repeated_bytes: 0, bins }
    }

    #[test]
    fn the_median_is_within_half_a_bin() {
        for median in [17u64, 990, 12_345, 7_000_000, 1_000_000_007] {
            let found = counts(&[median / 2 + 1, median, median * 3]).median_ns();
            assert!((found / median as f64 - 1.0).abs() < 0.0625, "{median}: {found}");
        }
    }

    #[test]
    fn bins_ascend_without_gaps() {
        assert!((0..BINS).all(|bin| edge_ns(bin) < edge_ns(bin + 1)));
        assert_eq!((edge_ns(8), edge_ns(16), edge_ns(17)), (8.0, 16.0, 18.0));
    }

    #[test]
    fn a_file_of_another_layout_is_refused() {
        assert!(RecordedCalls::read(&[]).is_err());
        assert!(RecordedCalls::read(&vec![0; BYTES]).is_err());
        assert!(RecordedCalls::read(&empty()).unwrap().calls.is_empty());
    }
}
