//! Measures the free host memory, and returns freed memory to the system.

use std::fs;
use std::path::PathBuf;

use crate::host::cpu_quota;

// Its C library is linked with the crate, also where a test uses the system's allocator.
use mimalloc as _;

/// Returns the bytes of free host memory: the kernel's figure, or the rest of this process's control group if that is less. `None`
/// where the system does not report it.
pub fn free_host_bytes() -> Option<u128> {
    let system = fs::read_to_string("/proc/meminfo").ok().and_then(|text| amount(&text, "MemAvailable:"));
    let group = group_free(&cpu_quota::control_groups("memory"));
    system.into_iter().chain(group).min()
}

/// Returns memory that the allocator keeps to the system, since no other process could use it while this one is idle.
pub fn return_freed() {
    unsafe extern "C" {
        fn mi_collect(force: bool);
    }
    // SAFETY: mimalloc's routine takes any flag, may be called at any time, and reads and writes freed memory alone.
    unsafe { mi_collect(true) }
}

/// Returns an amount in a `/proc/meminfo`, in bytes.
pub(crate) fn amount(text: &str, name: &str) -> Option<u128> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u128>().ok().map(|kib| kib * 1024)
}

/// Names of a control group's limit and use of memory, and of its reclaimable pages in `memory.stat`: in version 2, and in version 1.
const GROUP_FILES: [[&str; 3]; 2] = [
    ["memory.max", "memory.current", "inactive_file"],
    ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"],
];

/// Returns the minimum that the memory limits of these control groups leave. Inactive file pages do not count as used.
fn group_free(groups: &[PathBuf]) -> Option<u128> {
    let left = |group: &PathBuf, [limit, usage, inactive]: [&str; 3]| {
        let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u128>().ok();
        let reclaimable = fs::read_to_string(group.join("memory.stat")).ok().and_then(|text| {
            let mut words = text.lines().filter_map(|line| line.split_once(' '));
            words.find(|(name, _)| *name == inactive)?.1.trim().parse::<u128>().ok()
        });
        let used = number(usage)?.saturating_sub(reclaimable.unwrap_or(0));
        Some(number(limit)?.saturating_sub(used))
    };
    groups.iter().flat_map(|group| GROUP_FILES.map(|files| left(group, files))).flatten().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_bytes() {
        let meminfo = "MemTotal: 8 kB\nMemAvailable:    1024 kB\n";
        assert_eq!((amount(meminfo, "MemAvailable:"), amount(meminfo, "MemFree:")), (Some(1 << 20), None));
    }

    #[test]
    fn the_tightest_group_counts_and_idle_file_pages_do_not() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        fs::write(inner.join("memory.current"), "10\n").unwrap();
        fs::write(root.path().join("a/memory.max"), "1000\n").unwrap();
        fs::write(root.path().join("a/memory.current"), "600\n").unwrap();
        fs::write(root.path().join("a/memory.stat"), "anon 5\ninactive_file 100\n").unwrap();
        let groups = [inner, root.path().join("a"), root.path().to_owned()];
        assert_eq!((group_free(&groups), group_free(&groups[2..])), (Some(500), None));
    }

    #[test]
    fn linux_always_reports_them() {
        assert!(free_host_bytes().is_some_and(|bytes| bytes > 0));
    }
}
