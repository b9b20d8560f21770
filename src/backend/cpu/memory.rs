//! How much memory the process may still take: the machine's, and that of its control groups.

use std::path::{Path, PathBuf};

use crate::error::CellError;

/// Fails with the figures unless `needed` bytes are free; succeeds where the system does not tell.
pub fn require(needed: u128) -> Result<(), CellError> {
    match free(Path::new("/")) {
        Some(free) if needed > u128::from(free) => {
            Err(CellError::OutOfMemory { place: "host", needed, free: free.into() })
        }
        _ => Ok(()),
    }
}

/// Bytes that can be taken without swapping or exceeding a limit; `root` stands for `/`.
fn free(root: &Path) -> Option<u64> {
    let machine = std::fs::read_to_string(root.join("proc/meminfo")).ok();
    let machine = machine.and_then(|text| Some(field(&text, "MemAvailable:")? * 1024));
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().filter_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        match controllers {
            "" => Some(tightest(root, "sys/fs/cgroup", group, VERSION_2)),
            "memory" => Some(tightest(root, "sys/fs/cgroup/memory", group, VERSION_1)),
            _ => None,
        }
    });
    machine.into_iter().chain(limits.flatten()).min()
}

/// Names of a control group's files: its limit, its use, and the part of its use that is reclaimable cache.
type Files = (&'static str, &'static str, &'static str);
const VERSION_1: Files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
const VERSION_2: Files = ("memory.max", "memory.current", "inactive_file");

/// The least that is free in `group` and the groups around it. In a container the group's own folder may
/// be hidden and its limit stand at the mount point.
fn tightest(root: &Path, mount: &str, group: &str, files: Files) -> Option<u64> {
    let mount = root.join(mount);
    let group: PathBuf = mount.join(group.trim_start_matches('/'));
    let folders = group.ancestors().take_while(|folder| folder.starts_with(&mount));
    folders.filter_map(|folder| free_in_group(folder, files)).min()
}

fn free_in_group(folder: &Path, (limit, used, cache): Files) -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let limit: u64 = read(limit)?.trim().parse().ok()?;
    let used: u64 = read(used)?.trim().parse().ok()?;
    let cache = read("memory.stat").and_then(|text| field(&text, cache)).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

/// The number after `name` at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| if words.next() == Some(name) { words.next()?.parse().ok() } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_cell_that_does_not_fit_is_refused_with_figures() {
        let refused = require(u128::MAX).unwrap_err();
        assert!(matches!(refused, CellError::OutOfMemory { place: "host", free, .. } if free > 0));
        require(1).unwrap();
    }

    #[test]
    fn the_tightest_of_machine_and_groups_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(free(root), None);
        write(root, "proc/meminfo", "MemTotal: 900 kB\nMemAvailable:    500 kB\n");
        assert_eq!(free(root), Some(512_000));
        write(root, "proc/self/cgroup", "0::/outer/inner\n");
        write(root, "sys/fs/cgroup/outer/inner/memory.max", "max\n");
        write(root, "sys/fs/cgroup/outer/memory.max", "300000\n");
        write(root, "sys/fs/cgroup/outer/memory.current", "120000\n");
        write(root, "sys/fs/cgroup/outer/memory.stat", "anon 100\ninactive_file 20000\n");
        assert_eq!(free(root), Some(200_000));
        write(root, "proc/self/cgroup", "5:cpu:/\n4:memory:/hidden\n");
        write(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n");
        write(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "2000\n");
        assert_eq!(free(root), Some(0));
    }
}
