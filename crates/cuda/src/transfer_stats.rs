//! Compile and copy times of a job, summed up until the runner asks for them.

use std::collections::{BTreeMap, BTreeSet};

use gpubench_backend::{Compile, DevicePhases, HostMemory, Transfer};

/// The repetitions of one copy with each kind of host memory; `None` for a kind that was not timed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CopyRepetitions {
    /// With pageable memory.
    pub pageable: Option<Vec<CopyTime>>,
    /// With pinned memory.
    pub pinned: Option<Vec<CopyTime>>,
}

/// Host and device seconds of one repetition of a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CopyTime {
    /// Host seconds until the data has arrived.
    pub host_s: f64,
    /// Device seconds between the events around the copy.
    pub device_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyDirection {
    /// Host to device.
    Upload,
    /// Device to host.
    Download,
}

/// Compile and copy times of the present job, and the compile times of all sources so far.
#[derive(Debug, Default)]
pub(crate) struct TransferStats {
    /// Compile times by source.
    sources: BTreeMap<&'static str, Compile>,
    used: BTreeSet<&'static str>,
    upload: Totals,
    download: Totals,
    compile_and_copy_s: f64,
}

/// The copies of one direction, summed over all operands, with each kind of host memory.
#[derive(Debug, Default)]
struct Totals {
    pageable: Option<Transfer>,
    pinned: Option<Transfer>,
}

impl Totals {
    fn add(&mut self, bytes: u64, copies: &CopyRepetitions) {
        let kinds = [
            (HostMemory::Pageable, &mut self.pageable, &copies.pageable),
            (HostMemory::Pinned, &mut self.pinned, &copies.pinned),
        ];
        for (memory, total, repetitions) in kinds {
            let Some(repetitions) = repetitions else { continue };
            let total = total.get_or_insert_with(|| Transfer { memory, ..Transfer::default() });
            total.bytes += bytes;
            add_padded(&mut total.host_s, repetitions.iter().map(|copy| copy.host_s));
            add_padded(&mut total.device_s, repetitions.iter().map(|copy| copy.device_s));
        }
    }

    /// The copies of the main kind of memory, then those with pinned memory next to pageable memory, if these cover every
    /// operand: page-locked memory may have been too scarce for some.
    fn take(&mut self) -> [Option<Transfer>; 2] {
        match (self.pageable.take(), self.pinned.take()) {
            (None, pinned) => [pinned, None],
            (Some(pageable), pinned) => {
                let pinned = pinned.filter(|pinned| pinned.bytes == pageable.bytes);
                [Some(pageable), pinned]
            }
        }
    }
}

impl TransferStats {
    /// Notes that a job uses kernels of that source.
    pub(crate) fn uses(&mut self, source: &'static str) {
        self.used.insert(source);
    }

    /// Notes the compile time of a source.
    pub(crate) fn compiled(&mut self, source: &'static str, compile: Compile) {
        self.sources.insert(source, compile);
    }

    /// Adds host seconds spent on compiling or copying, repetitions included.
    pub(crate) fn spent(&mut self, seconds: f64) {
        self.compile_and_copy_s += seconds;
    }

    /// Adds a copy of `bytes`, with its repetitions, to the totals of that direction.
    pub(crate) fn copied(&mut self, direction: CopyDirection, bytes: u64, copies: &CopyRepetitions) {
        match direction {
            CopyDirection::Upload => self.upload.add(bytes, copies),
            CopyDirection::Download => self.download.add(bytes, copies),
        }
    }

    /// Returns all statistics since the last call. `peak_device_bytes` is `None`.
    pub(crate) fn take(&mut self) -> DevicePhases {
        let used = std::mem::take(&mut self.used);
        let compiled: Vec<Compile> = used.iter().filter_map(|name| self.sources.get(name)).copied().collect();
        let ([upload, pinned_upload], [download, pinned_download]) =
            (self.upload.take(), self.download.take());
        DevicePhases {
            compile: (!compiled.is_empty()).then(|| Compile {
                cold_s: compiled.iter().map(|source| source.cold_s).sum(),
                cached_s: compiled.iter().map(|source| source.cached_s).sum(),
            }),
            upload,
            download,
            pinned_upload,
            pinned_download,
            peak_device_bytes: None,
            compile_and_copy_s: std::mem::take(&mut self.compile_and_copy_s),
        }
    }
}

/// Adds the k-th of `more` to the k-th of `sums`. The shorter list is extended by its last value.
///
/// Large operands are copied fewer times than small ones, and every sum must cover all operands.
fn add_padded(sums: &mut Vec<f64>, more: impl Iterator<Item = f64>) {
    let more: Vec<f64> = more.collect();
    let pad = sums.last().copied().unwrap_or(0.0);
    sums.resize(sums.len().max(more.len()), pad);
    let last = more.last().copied().unwrap_or(0.0);
    for (index, sum) in sums.iter_mut().enumerate() {
        *sum += more.get(index).copied().unwrap_or(last);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn copies(host: &[f64]) -> Option<Vec<CopyTime>> {
        Some(host.iter().map(|&host_s| CopyTime { host_s, device_s: host_s / 2.0 }).collect())
    }

    fn pageable(host: &[f64]) -> CopyRepetitions {
        CopyRepetitions { pageable: copies(host), pinned: None }
    }

    #[test]
    fn each_repetition_is_the_sum_over_all_operands() {
        let mut stats = TransferStats::default();
        let pinned = |host: &[f64]| CopyRepetitions { pageable: None, pinned: copies(host) };
        stats.copied(CopyDirection::Upload, 10, &pinned(&[4.0, 2.0, 2.0]));
        stats.copied(CopyDirection::Upload, 5, &pinned(&[1.0, 1.0, 2.0]));
        let phases = stats.take();
        let upload = phases.upload.unwrap();
        assert_eq!((upload.bytes, upload.memory), (15, HostMemory::Pinned));
        assert_eq!(upload.host_s, [5.0, 3.0, 4.0]);
        assert_eq!(upload.device_s, [2.5, 1.5, 2.0]);
        assert_eq!(phases.pinned_upload, None, "there is no other kind of memory next to it");
    }

    #[test]
    fn copies_with_pinned_memory_come_next_to_the_others_where_they_cover_every_operand() {
        let mut stats = TransferStats::default();
        let both = CopyRepetitions { pageable: copies(&[8.0]), pinned: copies(&[2.0]) };
        stats.copied(CopyDirection::Upload, 10, &both);
        stats.copied(CopyDirection::Download, 10, &both);
        stats.copied(CopyDirection::Download, 10, &pageable(&[8.0]));
        let phases = stats.take();
        let (upload, pinned) = (phases.upload.unwrap(), phases.pinned_upload.unwrap());
        assert_eq!((upload.memory, upload.host_s), (HostMemory::Pageable, vec![8.0]));
        assert_eq!((pinned.memory, pinned.bytes, pinned.host_s), (HostMemory::Pinned, 10, vec![2.0]));
        assert_eq!(phases.download.unwrap().bytes, 20);
        assert_eq!(phases.pinned_download, None);
        assert_eq!(stats.take(), DevicePhases::default());
    }

    proptest! {
        #[test]
        fn every_sum_is_over_all_operands(
            operands in prop::collection::vec(prop::collection::vec(0u32..1000, 1..6), 1..6),
        ) {
            let mut sums = Vec::new();
            for operand in &operands {
                add_padded(&mut sums, operand.iter().copied().map(f64::from));
            }
            prop_assert_eq!(Some(sums.len()), operands.iter().map(Vec::len).max());
            for (index, sum) in sums.iter().enumerate() {
                let of = |operand: &Vec<u32>| operand[index.min(operand.len() - 1)];
                prop_assert_eq!(*sum, f64::from(operands.iter().map(of).sum::<u32>()));
            }
        }
    }

    #[test]
    fn taking_the_statistics_clears_all_but_the_compile_times() {
        let mut stats = TransferStats::default();
        stats.compiled("a", Compile { cold_s: Some(2.0), cached_s: Some(0.5) });
        stats.uses("a");
        stats.spent(2.5);
        let first = stats.take();
        assert_eq!(first.compile, Some(Compile { cold_s: Some(2.0), cached_s: Some(0.5) }));
        assert!((first.compile_and_copy_s - 2.5).abs() < 1e-12);
        assert_eq!(stats.take(), DevicePhases::default());
        stats.uses("a");
        assert_eq!(stats.take().compile, first.compile);
    }

    #[test]
    fn compile_times_are_summed_over_the_sources_and_unknown_if_one_is() {
        let mut stats = TransferStats::default();
        stats.compiled("a", Compile { cold_s: Some(2.0), cached_s: Some(0.5) });
        stats.compiled("b", Compile { cold_s: Some(1.0), cached_s: None });
        stats.compiled("c", Compile { cold_s: Some(9.0), cached_s: Some(9.0) });
        stats.uses("a");
        stats.uses("b");
        stats.uses("a");
        assert_eq!(stats.take().compile, Some(Compile { cold_s: Some(3.0), cached_s: None }));
    }
}
