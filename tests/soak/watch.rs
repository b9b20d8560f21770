//! Watches a process while it runs: memory, bytes written, and the growth of its journal.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time between two looks at the process.
const PERIOD: Duration = Duration::from_millis(2);

/// A process that has ended.
pub(crate) struct Watched {
    pub code: Option<i32>,
    pub took: Duration,
    /// Peak resident memory of the process, in bytes.
    pub peak: u64,
    /// Peak of the sum of its resident memory and that of its workers, in bytes.
    pub peak_of_tree: u64,
    /// Bytes that it wrote to files and pipes.
    pub written: u64,
    /// The looks at which the journal had grown.
    pub growth: Vec<Moment>,
    pub stderr: String,
}

/// The state of a run when its journal had that length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub journal: u64,
    pub at: Duration,
    pub peak: u64,
}

impl Watched {
    /// Returns the state when the journal first had that share of its last length.
    pub(crate) fn at(&self, share: f64) -> Moment {
        let end = self.growth.last().unwrap().journal as f64;
        *self.growth.iter().find(|moment| moment.journal as f64 >= share * end).unwrap()
    }
}

/// Runs a command in `folder` to its end.
pub(crate) fn watch(command: &mut Command, folder: &Path) -> Watched {
    let errors = folder.join("stderr.txt");
    let mut child = command.stdout(Stdio::null()).stderr(fs::File::create(&errors).unwrap()).spawn().unwrap();
    let start = Instant::now();
    let mut watched = Watched {
        code: None,
        took: Duration::ZERO,
        peak: 0,
        peak_of_tree: 0,
        written: 0,
        growth: vec![],
        stderr: String::new(),
    };
    let status = loop {
        look(&mut watched, &child, folder, start);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(PERIOD);
    };
    (watched.code, watched.took) = (status.code(), start.elapsed());
    watched.stderr = fs::read_to_string(errors).unwrap();
    watched
}

fn look(watched: &mut Watched, child: &Child, folder: &Path, start: Instant) {
    let pid = child.id();
    watched.peak = watched.peak.max(status(pid, "VmHWM:"));
    let tree = status(pid, "VmRSS:") + workers(pid).into_iter().map(|pid| status(pid, "VmRSS:")).sum::<u64>();
    watched.peak_of_tree = watched.peak_of_tree.max(tree);
    watched.written = watched.written.max(field(&format!("/proc/{pid}/io"), "wchar:"));
    let journal = fs::metadata(folder.join("out/journal.jsonl")).map_or(0, |found| found.len());
    if journal > watched.growth.last().map_or(0, |moment| moment.journal) {
        watched.growth.push(Moment { journal, at: start.elapsed(), peak: watched.peak });
    }
}

/// Returns the bytes of an entry of a process's status; 0 once it has ended.
fn status(pid: u32, name: &str) -> u64 {
    field(&format!("/proc/{pid}/status"), name) << 10
}

fn field(path: &str, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Returns the processes that a process has started and that run.
fn workers(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    children.collect::<String>().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
