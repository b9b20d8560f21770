//! Power failures: whatever of a run's writes, syncs and renames has reached the disk, a reader finds all rows that were safe.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpubench::case::Cell;
use gpubench::executor::Earlier;
use gpubench::report::file;

use super::Sandbox;

/// Records what the program does to files below `$POWER_FOLDER` in `$POWER_LOG`, one call after the other.
const RECORDER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
static void record(const char *head, const void *data, size_t length) {
    int log = syscall(SYS_openat, AT_FDCWD, getenv("POWER_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    struct iovec parts[3] = {{(void *)head, strlen(head)}, {(void *)data, length}, {"\n", 1}};
    if (syscall(SYS_writev, log, parts, 3) != (long)(strlen(head) + length + 1)) abort();
    syscall(SYS_close, log);
}
static int is_inside(const char *path) {
    const char *folder = getenv("POWER_FOLDER");
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}
/* Returns whether the descriptor is of a file or folder inside, with its path and inode. */
static int find(int fd, char path[4096], struct stat *status) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    if (length <= 0 || fstat(fd, status)) return 0;
    path[length] = 0;
    return is_inside(path);
}
static void absolute(const char *path, char out[8192]) {
    char folder[4096];
    if (path[0] == '/') snprintf(out, 8192, "%s", path);
    else snprintf(out, 8192, "%s/%s", getcwd(folder, sizeof folder), path);
}
int open64(const char *name, int flags, ...) {
    va_list list; va_start(list, flags); int mode = va_arg(list, int); va_end(list);
    int fd = REAL(open64)(name, flags, mode);
    char path[4096], head[8192]; struct stat status;
    if (fd >= 0 && (flags & O_CREAT) && find(fd, path, &status)) {
        snprintf(head, sizeof head, "create %lu %s", (unsigned long)status.st_ino, path);
        record(head, "", 0);
    }
    return fd;
}
ssize_t write(int fd, const void *data, size_t length) {
    ssize_t written = REAL(write)(fd, data, length);
    char path[4096], head[128]; struct stat status;
    if (written > 0 && getenv("POWER_LOG") && find(fd, path, &status)) {
        snprintf(head, sizeof head, "write %lu %ld\n", (unsigned long)status.st_ino, (long)written);
        record(head, data, written);
    }
    return written;
}
static void synced(int fd) {
    char path[4096], head[8192]; struct stat status;
    if (!find(fd, path, &status)) return;
    snprintf(head, sizeof head, S_ISDIR(status.st_mode) ? "folder %lu %s" : "sync %lu %s", (unsigned long)status.st_ino, path);
    record(head, "", 0);
}
int fsync(int fd) { int code = REAL(fsync)(fd); if (code == 0) synced(fd); return code; }
int fdatasync(int fd) { int code = REAL(fdatasync)(fd); if (code == 0) synced(fd); return code; }
int rename(const char *from, const char *to) {
    int code = REAL(rename)(from, to);
    char old[8192], new[8192], head[20000];
    absolute(from, old); absolute(to, new);
    if (code == 0 && is_inside(new)) { snprintf(head, sizeof head, "rename %s\t%s", old, new); record(head, "", 0); }
    return code;
}
int unlink(const char *name) {
    int code = REAL(unlink)(name);
    char path[8192], head[9000];
    absolute(name, path);
    if (code == 0 && is_inside(path)) { snprintf(head, sizeof head, "unlink %s", path); record(head, "", 0); }
    return code;
}
"#;

/// The names and contents of a folder after a power failure.
type State = BTreeMap<String, Vec<u8>>;

#[derive(Default)]
struct Content {
    written: Vec<u8>,
    synced: usize,
}

/// A disk on which content is safe once its file was synced, and a name once the folder was; both may be safe earlier. Names
/// become safe in their order, as journals of file systems keep them.
#[derive(Default)]
struct Disk {
    contents: Vec<Content>,
    by_inode: HashMap<u64, usize>,
    names: BTreeMap<String, usize>,
    /// The names as they were since the last sync of the folder, oldest first.
    possible: Vec<BTreeMap<String, usize>>,
}

impl Disk {
    /// The disk with what is in `folder` now, all of it safe.
    fn of(folder: &Path) -> Disk {
        let mut disk = Disk::default();
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let written = std::fs::read(&path).unwrap();
            disk.create(path.metadata().unwrap().ino(), path.to_str().unwrap());
            let synced = written.len();
            *disk.contents.last_mut().unwrap() = Content { written, synced };
        }
        disk.possible = vec![disk.names.clone()];
        disk
    }

    fn create(&mut self, inode: u64, path: &str) {
        if self.names.get(name(path)).is_some_and(|found| self.by_inode.get(&inode) == Some(found)) {
            return;
        }
        self.by_inode.insert(inode, self.contents.len());
        self.names.insert(name(path).into(), self.contents.len());
        self.contents.push(Content::default());
    }

    /// Applies the first call of `log`, and returns the rest.
    fn apply<'a>(&mut self, log: &'a [u8]) -> &'a [u8] {
        let (head, mut rest) = log.split_at(log.iter().position(|byte| *byte == b'\n').unwrap());
        rest = &rest[1..];
        let head = std::str::from_utf8(head).unwrap();
        let (call, arguments) = head.split_once(' ').unwrap();
        let (first, second) = arguments.split_once([' ', '\t']).unwrap_or((arguments, ""));
        let content = |disk: &Disk| disk.by_inode.get(&first.parse().unwrap()).copied();
        match call {
            "create" => self.create(first.parse().unwrap(), second),
            "write" => {
                let (data, after) = rest.split_at(second.parse().unwrap());
                rest = &after[1..];
                let content = content(self).unwrap();
                self.contents[content].written.extend(data);
            }
            "sync" => {
                let content = content(self).unwrap();
                self.contents[content].synced = self.contents[content].written.len();
            }
            "folder" => self.possible.clear(),
            "rename" => {
                let moved = self.names.remove(name(first)).unwrap();
                self.names.insert(name(second).into(), moved);
            }
            "unlink" => drop(self.names.remove(name(first))),
            other => panic!("{other}"),
        }
        if self.possible.last() != Some(&self.names) {
            self.possible.push(self.names.clone());
        }
        rest
    }

    /// Returns what may be on the disk if the power fails now.
    fn after_power_failure(&self) -> impl Iterator<Item = State> {
        let state = |names: &BTreeMap<String, usize>, all: bool| {
            let of = |content: &Content| {
                content.written[..if all { content.written.len() } else { content.synced }].to_vec()
            };
            names
                .iter()
                .map(|(name, content)| (name.clone(), of(&self.contents[*content])))
                .collect::<State>()
        };
        self.possible.iter().flat_map(move |names| [state(names, false), state(names, true)])
    }
}

fn name(path: &str) -> &str {
    path.rsplit_once('/').unwrap().1
}

/// Returns which of `cells` a resumed run would find finished; `None` if it could not read the folder.
fn finished(state: &State, cells: &[Cell]) -> Option<HashSet<usize>> {
    let folder = tempfile::tempdir().unwrap();
    for file in ["report.json", "journal.jsonl"] {
        if let Some(bytes) = state.get(file) {
            std::fs::write(folder.path().join(file), bytes).unwrap();
        }
    }
    let earlier = Earlier::load(folder.path()).ok()?;
    Some((0..cells.len()).filter(|at| earlier.finished(&cells[*at]).is_some()).collect())
}

const VARIANTS: &str = "[[variant]]\nname = 'host'\nside = 'cpu'\n[[variant]]\nname = 'accelerator'\n";

struct Recorded {
    sandbox: Sandbox,
    recorder: PathBuf,
}

impl Recorded {
    /// Runs gpubench with the script, cutting the power after each call. `keeps` is false where the run may replace old rows.
    fn run(&self, line: &str, script: &str, keeps: bool) -> (usize, usize) {
        std::fs::write(self.sandbox.path("script.toml"), format!("{VARIANTS}{script}")).unwrap();
        let root = self.sandbox.folder.path().canonicalize().unwrap();
        let (out, log) = (root.join("out"), root.join("log"));
        let _ = std::fs::remove_file(&log);
        let mut disk = Disk::of(&out);
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
        command.args(line.split(' ')).current_dir(&root).env("GPUBENCH_PEAK_CACHE", "off");
        command.env("LD_PRELOAD", &self.recorder).env("POWER_FOLDER", &out).env("POWER_LOG", &log);
        let ended = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code().is_some_and(|code| code < 2), "{stderr}");
        let report = file::load(&out).unwrap();
        let cells: Vec<Cell> = report.rows.iter().map(gpubench::report::Row::cell).collect();
        let log = std::fs::read(&log).unwrap();
        let (mut known, mut safe, mut before_end) = (HashMap::new(), HashSet::new(), 0);
        let mut rest = log.as_slice();
        while !rest.is_empty() {
            rest = disk.apply(rest);
            let mut everywhere: Option<HashSet<usize>> = None;
            for state in disk.after_power_failure() {
                let found = known.entry(state).or_insert_with_key(|state| finished(state, &cells));
                let missing =
                    || safe.iter().any(|row| !found.as_ref().is_some_and(|found| found.contains(row)));
                let is_good = if keeps { !missing() } else { found.is_some() };
                let left = rest.len();
                assert!(is_good, "{left} bytes before the end: {safe:?} were safe, {found:?} are left");
                let found = found.clone().unwrap_or_default();
                everywhere =
                    Some(everywhere.map_or(found.clone(), |all| all.intersection(&found).copied().collect()));
            }
            before_end = before_end.max(if rest.len() > log.len() / 4 { safe.len() } else { 0 });
            safe = everywhere.unwrap();
        }
        (safe.len(), before_end)
    }
}

const SWEEP: &str = "run --backends sim --sim script.toml --ops sin --sizes 4,8,16,32 --samples 6 --rounds 2 --no-peaks --out out";

#[test]
fn a_power_failure_at_any_moment_loses_no_row_that_was_safe() {
    let sandbox = Sandbox::new();
    let Some(recorder) = sandbox.library("librecorder.so", RECORDER) else { return };
    let recorded = Recorded { sandbox, recorder };
    let failing = "[[rule]]\nn = '8'\noutcome = 'fail'\n";
    let (safe, before_end) = recorded.run(SWEEP, failing, true);
    assert_eq!(safe, 6, "all that is finished is on disk at the end");
    assert!(before_end > 0, "finished cells are on disk before the run ends");
    let (safe, _) = recorded.run("run --resume out --force", "", true);
    assert_eq!(safe, 8);
    let (safe, _) = recorded.run(&format!("{SWEEP} --force"), "", false);
    assert_eq!(safe, 8);
}
