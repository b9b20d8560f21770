//! Finds the control groups of this process, and reads their CPU quota and how often it paused them. See cgroups(7) and, for version
//! 1, <https://docs.kernel.org/scheduler/sched-bwc.html>.

use std::fs;
use std::path::{Path, PathBuf};

use gpubench_report::report::QuotaPauses;

/// Returns the CPU time that the control groups of this process allow, in CPUs; `None` without a limit.
pub(crate) fn quota() -> Option<f64> {
    smallest(&control_groups("cpu")).map(|(cpus, _)| cpus)
}

/// The pauses by the quota since a moment.
#[derive(Clone, Debug)]
pub struct QuotaWatch {
    /// The quota, in CPUs.
    pub cpus: f64,
    /// The control group that has it.
    group: PathBuf,
    begun: QuotaPauses,
}

impl QuotaWatch {
    /// Begins to count; `None` without a quota, or where the system does not count pauses.
    pub fn begin() -> Option<QuotaWatch> {
        QuotaWatch::of(&control_groups("cpu"))
    }

    fn of(groups: &[PathBuf]) -> Option<QuotaWatch> {
        let (cpus, group) = smallest(groups)?;
        let begun = parse_pauses(&read(&group, "cpu.stat")?)?;
        Some(QuotaWatch { cpus, group, begun })
    }

    /// Returns the pauses since the beginning.
    pub fn pauses(&self) -> Option<QuotaPauses> {
        let now = parse_pauses(&read(&self.group, "cpu.stat")?)?;
        Some(QuotaPauses {
            periods: now.periods.saturating_sub(self.begun.periods),
            paused: now.paused.saturating_sub(self.begun.paused),
        })
    }
}

/// Returns the folders of the control groups that limit this process by a controller, such as `cpu`.
pub(crate) fn control_groups(controller: &str) -> Vec<PathBuf> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    groups(controller, &read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
}

/// Returns the folders of the control groups of the processes in `cgroup`, of the version 1 controller and of version 2, each
/// with the groups around it up to the mount. `mountinfo` lists the mounts: see proc_pid_mountinfo(5).
fn groups(controller: &str, cgroup: &str, mountinfo: &str) -> Vec<PathBuf> {
    let of_line = |line: &str| -> Option<Vec<PathBuf>> {
        let (_, rest) = line.split_once(':')?;
        let (controllers, group) = rest.split_once(':')?;
        let is_v2 = controllers.is_empty();
        (is_v2 || controllers.split(',').any(|name| name == controller)).then_some(())?;
        let (root, mount) = mountinfo.lines().find_map(|line| mount_of(line, is_v2, controller))?;
        // In a container the mount may begin at the container's group, or the group be named from outside.
        let inner = Path::new(group).strip_prefix(root).unwrap_or(Path::new(group));
        let inner = inner.strip_prefix("/").unwrap_or(inner);
        Some(inner.ancestors().map(|part| Path::new(mount).join(part)).collect())
    };
    cgroup.lines().filter_map(of_line).flatten().collect()
}

/// Returns the root and the folder of a mount of control groups of that version.
fn mount_of<'a>(line: &'a str, is_v2: bool, controller: &str) -> Option<(&'a str, &'a str)> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut file_system = file_system.split(' ');
    let kind = file_system.next()?;
    let has_it = file_system.nth(1)?.split(',').any(|option| option == controller);
    let mut mount = mount.split(' ').skip(3);
    let (root, folder) = (mount.next()?, mount.next()?);
    (if is_v2 { kind == "cgroup2" } else { kind == "cgroup" && has_it }).then_some((root, folder))
}

/// Returns the smallest quota of these groups, in CPUs, with its group.
fn smallest(groups: &[PathBuf]) -> Option<(f64, PathBuf)> {
    let limits = groups.iter().filter_map(|group| Some((limit(group)?, group.clone())));
    limits.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Returns the quota of a group itself, in CPUs.
fn limit(group: &Path) -> Option<f64> {
    let [quota, period] = match read(group, "cpu.max") {
        Some(text) => {
            let (quota, period) = text.trim().split_once(' ')?;
            [quota.to_owned(), period.to_owned()]
        }
        None => [read(group, "cpu.cfs_quota_us")?, read(group, "cpu.cfs_period_us")?],
    };
    // Without a limit version 2 has `max`, and version 1 has -1.
    let [quota, period]: [f64; 2] = [quota.trim().parse().ok()?, period.trim().parse().ok()?];
    (quota >= 0.0 && period > 0.0).then_some(quota / period)
}

/// Returns the counts in a `cpu.stat`, which both versions name alike.
fn parse_pauses(stat: &str) -> Option<QuotaPauses> {
    let count = |name: &str| {
        stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
    };
    Some(QuotaPauses { periods: count("nr_periods")?, paused: count("nr_throttled")? })
}

fn read(group: &Path, file: &str) -> Option<String> {
    fs::read_to_string(group.join(file)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "32 31 0:29 / ROOT/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
                      35 31 0:32 / ROOT/memory rw - cgroup cgroup rw,memory\n41 31 0:38 / ROOT/unified rw - cgroup2 cgroup2 rw\n";
    const V2: &str = "25 31 0:38 / ROOT rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

    /// Writes files below a folder, and returns the groups of a process there.
    fn groups_in(folder: &Path, files: &[(&str, &str)], cgroup: &str, mounts: &str) -> Vec<PathBuf> {
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        groups("cpu", cgroup, &mounts.replace("ROOT", &folder.display().to_string()))
    }

    #[test]
    fn the_smallest_quota_on_the_path_counts_in_both_versions() {
        let v1 = [
            ("cpu/cpu.cfs_quota_us", "-1\n"),
            ("cpu/cpu.cfs_period_us", "100000\n"),
            ("cpu/a/cpu.cfs_quota_us", "50000\n"),
            ("cpu/a/cpu.cfs_period_us", "100000\n"),
            ("cpu/a/b/cpu.cfs_quota_us", "150000\n"),
            ("cpu/a/b/cpu.cfs_period_us", "100000\n"),
            ("cpu/other/cpu.cfs_quota_us", "1000\n"),
            ("cpu/other/cpu.cfs_period_us", "100000\n"),
        ];
        let v2 =
            [("cpu.max", "max 100000\n"), ("a/cpu.max", "50000 100000\n"), ("a/b/cpu.max", "max 100000\n")];
        let in_v1 = "4:memory:/a/b\n1:cpu,cpuacct:/a/b\n0::/\n";
        for (files, cgroup, mounts) in [(&v1[..], in_v1, V1), (&v2[..], "0::/a/b\n", V2)] {
            let folder = tempfile::tempdir().unwrap();
            let found = groups_in(folder.path(), files, cgroup, mounts);
            assert_eq!(smallest(&found).map(|(cpus, _)| cpus), Some(0.5), "{found:?}");
            assert_eq!(smallest(&groups_in(folder.path(), &[], "0::/\n1:cpu:/\n", mounts)), None);
        }
    }

    #[test]
    fn a_mount_that_begins_at_the_container_s_group_is_read_from_there() {
        let mounts = "25 31 0:38 /docker/abc ROOT rw - cgroup2 cgroup2 rw\n";
        for cgroup in ["0::/docker/abc/q\n", "0::/q\n"] {
            let folder = tempfile::tempdir().unwrap();
            let files = [("q/cpu.max", "max 100000"), ("cpu.max", "200000 100000")];
            let found = groups_in(folder.path(), &files, cgroup, mounts);
            assert_eq!(smallest(&found).map(|(cpus, _)| cpus), Some(2.0), "{found:?}");
        }
    }

    #[test]
    fn pauses_are_counted_from_the_beginning_in_the_group_of_the_quota() {
        let stat = |periods: u32, paused: u32| {
            format!("usage_usec 5\nnr_periods {periods}\nnr_throttled {paused}\nthrottled_usec 9\n")
        };
        let folder = tempfile::tempdir().unwrap();
        let files =
            [("a/cpu.max", "50000 100000"), ("a/cpu.stat", &stat(10, 4)), ("a/b/cpu.stat", &stat(0, 0))];
        let found = groups_in(folder.path(), &files, "0::/a/b\n", V2);
        let watch = QuotaWatch::of(&found).unwrap();
        fs::write(folder.path().join("a/cpu.stat"), stat(122, 107)).unwrap();
        assert_eq!((watch.cpus, watch.pauses()), (0.5, Some(QuotaPauses { periods: 112, paused: 103 })));
        fs::write(folder.path().join("a/cpu.stat"), "").unwrap();
        assert_eq!(watch.pauses(), None);
        assert!(QuotaWatch::of(&[]).is_none());
    }
}
