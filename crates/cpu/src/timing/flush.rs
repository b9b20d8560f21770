//! Flushes the memory of a job from every cache, line by line, for samples with cold caches.

use std::mem::MaybeUninit;

use gpubench_backend::Job;

/// Flushes all memory that `job` shows. Returns `false` if the job shows none.
pub(crate) fn flush(job: &dyn Job) -> bool {
    let instruction = FlushInstruction::detect();
    let mut shown = false;
    job.buffers(&mut |memory| {
        instruction.flush(memory);
        shown |= !memory.is_empty();
    });
    shown
}

/// From this number of bytes upward several threads share a buffer: flushing it on one thread takes as long as
/// starting them.
const SHARED: usize = 1 << 20;
/// Bytes per cache line, the same on every x86-64 CPU so far.
const LINE: usize = 64;

/// The instruction that flushes a line from the caches of all CPUs, after writing it back if necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlushInstruction {
    /// Flushes many lines at the same time.
    Clflushopt,
    /// Flushes one line after another.
    Clflush,
}

impl FlushInstruction {
    /// Bit 23 of EBX of CPUID leaf 7 reports `CLFLUSHOPT` (Intel, Software Developer's Manual, volume 2A); `CLFLUSH`
    /// came with SSE2.
    #[allow(unused_unsafe, reason = "CPUID became a safe function after the oldest supported compiler")]
    fn detect() -> Self {
        use std::arch::x86_64::{__cpuid, __cpuid_count};
        static FOUND: std::sync::OnceLock<FlushInstruction> = std::sync::OnceLock::new();
        *FOUND.get_or_init(|| {
            // SAFETY: every x86-64 CPU has CPUID; leaf 7 is asked for where leaf 0 says that it exists.
            let newer = unsafe { __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx >> 23 & 1 == 1 };
            if newer { FlushInstruction::Clflushopt } else { FlushInstruction::Clflush }
        })
    }

    /// Flushes `memory`, large parts on one thread per CPU. The threads have ended when this returns, so none spins
    /// while something is timed.
    fn flush(self, memory: &[MaybeUninit<u8>]) {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let share = memory.len().div_ceil(processors).max(SHARED / 2).next_multiple_of(LINE);
        if memory.len() <= SHARED || processors == 1 {
            return self.flush_part(memory);
        }
        std::thread::scope(|scope| {
            for part in memory.chunks(share) {
                let flush = move || self.flush_part(part);
                // Where no thread can be started, the calling one flushes the part: any CPU can.
                if std::thread::Builder::new().spawn_scoped(scope, flush).is_err() {
                    flush();
                }
            }
        });
    }

    /// Flushes every line in which a byte of `part` lies, on the calling thread.
    fn flush_part(self, part: &[MaybeUninit<u8>]) {
        use std::arch::{asm, x86_64};
        if part.is_empty() {
            return;
        }
        let past = part.as_ptr().align_offset(LINE);
        let whole = part.get(past..).unwrap_or_default();
        // The line of a first, partial line, and every line that begins within the part.
        let lines = part[..past.min(1)].iter().chain(whole.iter().step_by(LINE));
        // SAFETY: the instructions write back and drop the lines of bytes that are borrowed, which changes no
        // memory; the fences need SSE2, which every x86-64 CPU has, and CLFLUSHOPT was detected. By Intel's
        // manual CLFLUSHOPT is ordered with other lines' accesses by fences alone: the first keeps what was written
        // before ahead of it, the second keeps the timed work behind.
        unsafe {
            x86_64::_mm_mfence();
            match self {
                FlushInstruction::Clflushopt => lines.for_each(
                    |byte| asm!("clflushopt [{}]", in(reg) byte.as_ptr(), options(nostack, preserves_flags)),
                ),
                FlushInstruction::Clflush => lines.for_each(|byte| x86_64::_mm_clflush(byte.as_ptr())),
            }
            x86_64::_mm_mfence();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::time::Instant;

    use super::*;
    use crate::operands::memory;

    fn read(data: &[u64]) {
        black_box(data.iter().step_by(LINE / 8).fold(0u64, |sum, word| sum.wrapping_add(*word)));
    }

    /// The shortest of several reads of half a megabyte, one read per line and `before` ahead of each: more than fits in
    /// a first-level cache, less than a second level of today.
    fn least(data: &[u64], before: impl Fn(&[u64])) -> std::time::Duration {
        let times = (0..15).map(|_| {
            before(data);
            let start = Instant::now();
            read(data);
            start.elapsed()
        });
        times.min().unwrap_or_default()
    }

    #[test]
    fn flushed_data_reads_slower_than_hot_data_by_either_instruction() {
        let data: Vec<u64> = (0..1 << 16).collect();
        let hot = least(&data, read);
        for instruction in [FlushInstruction::detect(), FlushInstruction::Clflush] {
            let cold = least(&data, |data| instruction.flush(memory(data)));
            assert!(data.iter().zip(0..).all(|(word, value)| *word == value), "a flush keeps the data");
            assert!(cold > hot * 3 / 2, "{instruction:?}: cold {cold:?}, hot {hot:?}");
        }
    }
}
