//! A control group with less memory than a run wants: what does not fit is skipped, and a worker that the kernel kills costs
//! its cell.

use std::fs;
use std::path::{Path, PathBuf};

use gpubench::report::{Outcome, Report};

use crate::cli::{Ended, Folder, GPUBENCH, leave_out};
use crate::external::{FAULTY, command, load};

/// Bytes that all processes of the group may use.
const LIMIT: u64 = 400 << 20;

const NO_GROUP: &str = "no control group with a memory limit can be made here";

/// A control group below that of the tests, removed when dropped.
struct Group(PathBuf);

impl Group {
    /// Makes a group with a memory limit; `None` where this user or system cannot have one.
    fn new(name: &str) -> Option<Group> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let path = |prefix: &str| {
            let line = own.lines().find_map(|line| line.split_once(prefix).map(|(_, path)| path));
            line.map(|path| path.trim_start_matches('/').to_owned())
        };
        let limited = |root: &str, path: Option<String>, [memory, swap]: [&str; 2]| {
            let folder = Path::new(root).join(path?).join(format!("{name}-{}", std::process::id()));
            fs::create_dir(&folder).ok()?;
            let group = Group(folder);
            let limit = |file: &str| fs::write(group.0.join(file), LIMIT.to_string()).ok();
            limit(memory)?;
            // Memory beyond the limit would go to the swap space; a machine without one has no such file.
            let _ = limit(swap);
            Some(group)
        };
        let classic = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"];
        limited("/sys/fs/cgroup/memory", path(":memory:"), classic)
            .or_else(|| limited("/sys/fs/cgroup", path("0::"), ["memory.max", "memory.swap.max"]))
    }

    /// Runs the program in the group.
    fn run(&self, folder: &Folder, args: &[&str]) -> (Ended, Report) {
        let script = "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"";
        let mut command = folder.command_of("sh", "");
        command.args(["-c", script]).arg(&self.0).arg(GPUBENCH).args(args);
        (Ended::of(&mut command), load(folder.path()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_size_that_exceeds_the_groups_limit_is_skipped() {
    let Some(group) = Group::new("gpubench-skip") else { return leave_out("a limit of memory", NO_GROUP) };
    let folder = Folder::new();
    // Three matrices of 5000 x 5000 take 600 MB.
    let line = "run --backends cpu --ops matmul --variants faer --dtypes f64 --sizes 200,5000 --samples 3 --rounds 1 --no-peaks --format json --out out";
    let (ended, report) = group.run(&folder, &line.split(' ').collect::<Vec<_>>());
    let found: Vec<_> = report.rows.iter().map(|row| (row.case.n, row.outcome)).collect();
    assert_eq!(found, [(200, Outcome::Measured), (5000, Outcome::Skipped)]);
    assert!(report.rows[1].reason.as_deref().is_some_and(|reason| reason.contains("host memory")));
    ended.good();
}

#[test]
fn a_worker_that_the_kernel_kills_for_its_memory_costs_its_cell() {
    let Some(group) = Group::new("gpubench-kill") else { return leave_out("a limit of memory", NO_GROUP) };
    let folder = Folder::new();
    let line = "run --ops matmul --sizes 2..4:+1 --cache hot --samples 3 --rounds 1 --warmup 0 --no-peaks --backends sim --sim fair.toml \
                --format json --out out --external";
    let taker = format!("taker={}", command(FAULTY, "take-memory"));
    let mut args: Vec<&str> = line.split_whitespace().collect();
    args.push(&taker);
    let (ended, report) = group.run(&folder, &args);
    for row in &report.rows {
        let is_killed = row.backend == "taker" && row.case.n == 3;
        let expected = if is_killed { Outcome::Failed } else { Outcome::Measured };
        assert_eq!(row.outcome, expected, "{} {}: {:?}", row.backend, row.case, row.reason);
        let by_kernel = row.reason.as_deref().is_some_and(|reason| reason.contains("SIGKILL"));
        assert_eq!(by_kernel, is_killed, "{:?}", row.reason);
    }
    assert_eq!(report.rows.len(), 9, "three sizes of three variants");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
}
