//! Reads the CPUs that this process may use, their caches and NUMA nodes from Linux.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const CPUS: &str = "/sys/devices/system/cpu";

/// Returns the CPUs that this process may run on, ascending; empty where the system does not report them.
pub fn allowed() -> Vec<usize> {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return vec![] };
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.map(|list| parse_list(list.trim())).unwrap_or_default()
}

/// Returns the allowed CPUs, ordered so that one CPU of each core comes before the second of any core.
pub fn cores_first() -> Vec<usize> {
    let allowed = allowed();
    let rank = |cpu: &usize| {
        let file = Path::new(CPUS).join(format!("cpu{cpu}/topology/thread_siblings_list"));
        let siblings = parse_list(fs::read_to_string(file).unwrap_or_default().trim());
        siblings.into_iter().filter(|sibling| sibling < cpu && allowed.contains(sibling)).count()
    };
    let mut ranked: Vec<(usize, usize)> = allowed.iter().map(|cpu| (rank(cpu), *cpu)).collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, cpu)| cpu).collect()
}

/// Returns the total bytes of the last-level caches of the allowed CPUs.
pub fn last_level_cache_bytes() -> Option<u64> {
    let caches: BTreeSet<(String, u64)> = allowed().into_iter().filter_map(last_level_cache).collect();
    let bytes = caches.iter().map(|(_, bytes)| bytes).sum();
    (bytes > 0).then_some(bytes)
}

/// Returns the CPUs that share the last-level cache with `cpu`, as the kernel lists them, and its bytes.
fn last_level_cache(cpu: usize) -> Option<(String, u64)> {
    let folder = Path::new(CPUS).join(format!("cpu{cpu}/cache"));
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let caches = entries.filter_map(|entry| {
        let value = |name: &str| Some(fs::read_to_string(entry.path().join(name)).ok()?.trim().to_owned());
        let level: u32 = value("level")?.parse().ok()?;
        (value("type")? != "Instruction").then_some(())?;
        Some((level, value("shared_cpu_list")?, parse_bytes(&value("size")?)?))
    });
    caches.max_by_key(|(level, _, _)| *level).map(|(_, shared, bytes)| (shared, bytes))
}

/// Returns whether several CPUs share a core.
pub fn smt() -> Option<bool> {
    match fs::read_to_string(Path::new(CPUS).join("smt/active")).ok()?.trim() {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// A NUMA node and its CPUs.
type NumaNode = (usize, Vec<usize>);

/// Returns the NUMA nodes with CPUs, ascending; empty where the system does not report them.
fn nodes() -> Vec<NumaNode> {
    let entries = fs::read_dir("/sys/devices/system/node").into_iter().flatten().filter_map(Result::ok);
    let with_cpus = entries.filter_map(|entry| {
        let number = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
        let cpus = parse_list(fs::read_to_string(entry.path().join("cpulist")).ok()?.trim());
        (!cpus.is_empty()).then_some((number, cpus))
    });
    let mut nodes: Vec<NumaNode> = with_cpus.collect();
    nodes.sort_unstable();
    nodes
}

/// Returns the number of NUMA nodes with CPUs.
pub fn numa_nodes() -> Option<u64> {
    Some(nodes().len() as u64).filter(|count| *count > 0)
}

/// Returns the NUMA nodes over which `threads` spread; empty if one node has enough allowed CPUs.
pub fn nodes_spanned(threads: usize) -> Vec<usize> {
    spanned(&nodes(), &allowed(), threads)
}

fn spanned(nodes: &[NumaNode], allowed: &[usize], threads: usize) -> Vec<usize> {
    let usable =
        |(number, cpus): &NumaNode| (*number, cpus.iter().filter(|cpu| allowed.contains(cpu)).count());
    let usable: Vec<(usize, usize)> = nodes.iter().map(usable).filter(|(_, count)| *count > 0).collect();
    if usable.len() < 2 || usable.iter().any(|(_, count)| *count >= threads) {
        return vec![];
    }
    usable.into_iter().map(|(number, _)| number).collect()
}

/// Returns the average number of runnable processes over the last minute.
pub fn load_average() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Parses a list such as `0-3,8`.
fn parse_list(list: &str) -> Vec<usize> {
    let ranges = list.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    });
    ranges.flatten().collect()
}

/// Parses `32768K`, `2M` or a number of bytes.
fn parse_bytes(size: &str) -> Option<u64> {
    let (number, factor) = match size.strip_suffix(['K', 'M', 'G']) {
        Some(number) if size.ends_with('K') => (number, 1 << 10),
        Some(number) if size.ends_with('M') => (number, 1 << 20),
        Some(number) => (number, 1 << 30),
        None => (size, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_notations_are_understood() {
        assert_eq!(parse_list("0-3,8,10-11"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(parse_list(""), [0usize; 0]);
        assert_eq!(parse_bytes("32768K"), Some(32 << 20));
        assert_eq!(parse_bytes("2M"), Some(2 << 20));
        assert_eq!(parse_bytes("x"), None);
    }

    #[test]
    fn threads_span_nodes_when_no_node_has_cpus_for_all() {
        let nodes = [(0, vec![0, 1, 2, 3]), (1, vec![4, 5, 6, 7]), (3, vec![8, 9])];
        let all: Vec<usize> = (0..10).collect();
        assert_eq!(spanned(&nodes, &all, 4), [0usize; 0]);
        assert_eq!(spanned(&nodes, &all, 5), [0, 1, 3]);
        assert_eq!(spanned(&nodes, &[0, 1, 4], 3), [0, 1]);
        // More threads than CPUs, all on one node.
        assert_eq!(spanned(&nodes, &[4, 5], 3), [0usize; 0]);
        assert_eq!(spanned(&[], &all, 3), [0usize; 0]);
    }

    #[test]
    fn this_process_may_run_somewhere() {
        assert!(!allowed().is_empty());
        let mut cores_first = cores_first();
        cores_first.sort_unstable();
        assert_eq!(cores_first, allowed());
    }
}
