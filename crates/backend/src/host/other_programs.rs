//! Measures the share of CPU time that other programs use now, from Linux's counts of CPU time in /proc.
//!
//! The load average is no such measure: it counts the run that ended a moment ago, for a minute.

use std::fs;
use std::time::{Duration, Instant};

use crate::host::process::{TICKS, stat_column};
use crate::host::processors;
use crate::host::usage::usage_of;

/// Minimum time over which the share is measured: the counts have a resolution of 10 ms.
const MIN_WINDOW: Duration = Duration::from_millis(200);

/// The CPU time used until a moment.
#[derive(Clone, Copy, Debug)]
struct CpuTimes {
    at: Instant,
    /// Seconds that the allowed CPUs were busy, for any program.
    busy_s: f64,
    /// Seconds that this process, its ended children and its workers used.
    own_s: f64,
}

/// A measurement that has begun.
#[derive(Clone, Debug)]
pub struct OtherPrograms {
    cpus: Vec<usize>,
    begun: CpuTimes,
}

impl OtherPrograms {
    /// Begins to measure; `None` where the system does not report CPU time. No worker may have started.
    pub fn begin() -> Option<OtherPrograms> {
        let cpus = processors::allowed();
        let begun = cpu_times(&cpus, &[])?;
        Some(OtherPrograms { cpus, begun })
    }

    /// Returns the share, from 0 to 1, of the allowed CPUs' time since the beginning that went to programs other than
    /// this process, its ended children and the running `workers`. Waits if less than 0.2 s have passed.
    pub fn share(&self, workers: &[u32]) -> Option<f64> {
        std::thread::sleep(MIN_WINDOW.saturating_sub(self.begun.at.elapsed()));
        let now = cpu_times(&self.cpus, workers)?;
        let others_s = (now.busy_s - self.begun.busy_s) - (now.own_s - self.begun.own_s);
        let whole_s = (now.at - self.begun.at).as_secs_f64() * self.cpus.len() as f64;
        Some((others_s / whole_s).clamp(0.0, 1.0))
    }
}

fn cpu_times(cpus: &[usize], workers: &[u32]) -> Option<CpuTimes> {
    let ticks_per_s = ticks_per_s()?;
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let ticks = workers.iter().flat_map(|pid| TICKS.map(|column| stat_column::<u64>(pid, column)));
    let of_workers = ticks.flatten().sum::<u64>();
    Some(CpuTimes {
        at: Instant::now(),
        busy_s: busy_ticks(&stat, cpus)? as f64 / ticks_per_s,
        own_s: used_s(libc::RUSAGE_SELF)? + used_s(libc::RUSAGE_CHILDREN)? + of_workers as f64 / ticks_per_s,
    })
}

/// Returns the ticks that `cpus` were busy, from the text of /proc/stat: its columns are user, nice, system, idle, iowait,
/// irq, softirq, steal, guest, guest_nice; the guests' ticks are in the users'. See proc_stat(5).
fn busy_ticks(stat: &str, cpus: &[usize]) -> Option<u64> {
    const BUSY: [usize; 5] = [0, 1, 2, 5, 6];
    let of_cpu = |line: &str| {
        let mut columns = line.strip_prefix("cpu")?.split_ascii_whitespace();
        let cpu: usize = columns.next()?.parse().ok()?;
        let ticks: Vec<u64> = columns.map_while(|column| column.parse().ok()).collect();
        cpus.contains(&cpu).then(|| BUSY.iter().filter_map(|column| ticks.get(*column)).sum::<u64>())
    };
    let found: Vec<u64> = stat.lines().filter(|line| line.starts_with("cpu")).filter_map(of_cpu).collect();
    (!found.is_empty()).then(|| found.iter().sum())
}

fn ticks_per_s() -> Option<f64> {
    // SAFETY: `sysconf` reads a constant of the system and writes no memory.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (ticks > 0).then_some(ticks as f64)
}

/// Returns the seconds of CPU time of this process, or of its ended children.
fn used_s(whose: libc::c_int) -> Option<f64> {
    let usage = usage_of(whose)?;
    let seconds = |time: libc::timeval| time.tv_sec as f64 + 1e-6 * time.tv_usec as f64;
    Some(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_busy_ticks_of_allowed_cpus_count() {
        let stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 100 100 4 5 50 1 1\ncpu1 10 0 0 7 0 0 0 0 0 0\n\
                    cpu10 1000 0 0 0 0 0 0\nintr 5\n";
        assert_eq!(busy_ticks(stat, &[0]), Some(15));
        assert_eq!(busy_ticks(stat, &[0, 1]), Some(25));
        assert_eq!(busy_ticks(stat, &[2]), None);
        assert_eq!(busy_ticks("", &[0]), None);
    }

    #[test]
    fn a_program_counts_unless_it_is_a_worker() {
        let Some(others) = OtherPrograms::begin() else { return };
        let mut program =
            std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        std::thread::sleep(2 * MIN_WINDOW);
        let [with, without] = [&[][..], &[program.id()]].map(|workers| others.share(workers));
        program.kill().and_then(|()| program.wait()).unwrap();
        assert!(with > without && with.unwrap() <= 1.0, "{with:?} {without:?}");
    }
}
