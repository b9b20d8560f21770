//! Wraps process calls that the standard library lacks: the program's path as called, descriptors, immediate exit,
//! killing a group.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Returns the path of the running program as it was called, which may be a link: installers keep the file elsewhere
/// and link it into an environment. Falls back to the file itself.
pub fn program() -> io::Result<PathBuf> {
    let file = std::env::current_exe()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let called = std::env::args_os().next().and_then(|name| called_as(&name, &path, &file));
    Ok(called.unwrap_or(file))
}

/// Makes writes beyond a limit on file sizes fail, where the system would end the process (SIGXFSZ).
pub fn fail_at_file_size_limit() {
    // SAFETY: ignoring a signal runs no code of this program.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Returns a path to the file that this process runs, which stays the same file when the program is replaced on disk: the link of
/// the kernel, or the file's own path where there is no `/proc`.
pub fn running_file() -> io::Result<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() { Ok(link) } else { std::env::current_exe() }
}

/// Returns the path behind the name of a call, if it leads to `file`; a name without a slash is searched in `path`.
fn called_as(name: &OsStr, path: &OsStr, file: &Path) -> Option<PathBuf> {
    let has_slash = Path::new(name).components().count() > 1;
    let folders = if has_slash { vec![PathBuf::new()] } else { std::env::split_paths(path).collect() };
    let mut calls = folders.iter().filter_map(|folder| std::path::absolute(folder.join(name)).ok());
    calls.find(|call| call.canonicalize().is_ok_and(|target| target == file))
}

/// Reserves standard output for the protocol: returns a private copy of it and redirects descriptor 1 to standard error,
/// so that a library that prints cannot corrupt the protocol.
pub fn claim_stdout() -> io::Result<File> {
    // SAFETY: `fcntl` on a descriptor number reads and writes no memory; a failure is reported as -1.
    let copy = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `copy` was just created, is open, and nobody else owns it.
    let private = unsafe { OwnedFd::from_raw_fd(copy) };
    // SAFETY: `dup2` on descriptor numbers reads and writes no memory; a failure is reported as -1.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(private))
}

/// Ends the process immediately, without destructors or exit handlers.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` takes any number and does not return.
    unsafe { libc::_exit(code) }
}

/// Returns the number of the user on whose behalf this process acts.
pub fn effective_user() -> u32 {
    // SAFETY: `geteuid` takes nothing, reads and writes no memory and cannot fail.
    unsafe { libc::geteuid() }
}

/// Removes `RAYON_NUM_THREADS` from the environment where it asks for more threads than could ever take turns on this
/// machine: starting them would take minutes. Call it before any other thread starts.
pub fn drop_absurd_thread_count() {
    const NAME: &str = "RAYON_NUM_THREADS";
    let most = 16 * std::thread::available_parallelism().map_or(1, usize::from);
    let asked = std::env::var(NAME).ok().and_then(|count| count.parse::<u64>().ok());
    if asked.is_some_and(|count| count > most as u64) {
        // SAFETY: no other thread runs yet that could read the environment.
        unsafe { std::env::remove_var(NAME) };
    }
}

/// Returns whether a process was started by the process that started this one.
pub fn is_sibling(pid: u32) -> bool {
    let parent = std::os::unix::process::parent_id();
    // The system's first process adopts processes that have nothing in common.
    parent > 1 && stat_column(pid, PARENT) == Some(parent)
}

/// Columns of `/proc/PID/stat` after the name: the parent, and the ticks in user and in kernel mode. See
/// proc_pid_stat(5).
const PARENT: usize = 1;
pub(crate) const TICKS: [usize; 2] = [11, 12];

/// Returns a column of a process's `/proc/PID/stat`, counted after the name; `None` where there is no such process.
pub(crate) fn stat_column<T: FromStr>(pid: impl Display, column: usize) -> Option<T> {
    column_of(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?, column)
}

/// Returns a column of the text of a `/proc/PID/stat`. The name before it may contain spaces and parentheses.
fn column_of<T: FromStr>(stat: &str, column: usize) -> Option<T> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(column)?.parse().ok()
}

/// Removes what an OpenMP runtime leaves in shared memory when its process, one of this user, is killed.
pub fn remove_leftovers(process: u32) {
    let name = format!("__KMP_REGISTERED_LIB_{process}_{}", effective_user());
    // Most processes leave nothing.
    let _ = std::fs::remove_file(Path::new("/dev/shm").join(name));
}

/// Kills the process group led by process `leader`. A group that is gone is not an error.
pub fn kill_group(leader: u32) {
    signal_group(leader, libc::SIGKILL);
}

/// Kills the process group of this process, if this process leads it; then it does not return.
pub fn kill_own_group() {
    // SAFETY: `getpgrp` takes nothing, reads and writes no memory and cannot fail.
    let group = unsafe { libc::getpgrp() };
    if u32::try_from(group) == Ok(std::process::id()) {
        // SAFETY: `kill` reads and writes no memory, and 0 means the group of this process.
        unsafe { libc::kill(0, libc::SIGKILL) };
    }
}

/// Returns whether that child of this process, which must not have been reaped, has ended; does not reap it.
pub fn has_ended(child: u32) -> bool {
    // SAFETY: all-zero bytes are a valid `siginfo_t`, which holds integers and pointers.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: `info` is writable for the duration of the call.
    let failed =
        unsafe { libc::waitid(libc::P_PID, child, &mut info, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) };
    // Without a child that has ended, `waitid` leaves the zeros.
    failed != 0 || info.si_signo != 0
}

/// Waits up to `limit` for the end of that child of this process, which must not have been reaped. Returns whether it has
/// ended; does not reap it.
pub fn ends_within(child: u32, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while !has_ended(child) {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Stops all threads of the process group led by process `leader` until [`continue_group`].
pub fn stop_group(leader: u32) {
    signal_group(leader, libc::SIGSTOP);
}

/// Continues the process group led by process `leader` after [`stop_group`].
pub fn continue_group(leader: u32) {
    signal_group(leader, libc::SIGCONT);
}

fn signal_group(leader: u32, signal: i32) {
    let Ok(leader) = i32::try_from(leader) else { return };
    if leader > 1 {
        // SAFETY: `kill` reads and writes no memory. The leader is an unreaped child of ours, so its number is not reused,
        // and it is above 1, so that neither our own group nor every process is meant.
        unsafe { libc::kill(-leader, signal) };
    }
}

/// Has the system kill the program of `command` when the calling *thread* ends, which must live as long as the program.
pub fn end_with_thread(command: &mut Command) {
    let parent = std::process::id();
    let tie = move || {
        // SAFETY: this option of `prctl` takes the number of a signal and reads and writes no memory.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // The parent may have ended before the call.
        let is_alone = std::os::unix::process::parent_id() != parent;
        if is_alone { Err(io::Error::from_raw_os_error(libc::ESRCH)) } else { Ok(()) }
    };
    // SAFETY: between fork and exec the closure makes two system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(tie) };
}

/// Has the system continue this process when its parent ends, so that a stopped one finds its input closed and ends too.
pub fn continue_when_parent_ends() {
    // SAFETY: this option of `prctl` takes the number of a signal and reads and writes no memory.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGCONT) };
}

/// The number of the signal that ends a process which cannot refuse it.
pub const SIGKILL: i32 = libc::SIGKILL;

/// The error of writing to a terminal that is gone.
pub const TERMINAL_GONE: i32 = libc::EIO;

/// Returns the name of a signal, such as `SIGSEGV`; `signal 64` for one that does not usually end a process.
pub fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGABRT => "SIGABRT".into(),
        libc::SIGBUS => "SIGBUS".into(),
        libc::SIGFPE => "SIGFPE".into(),
        libc::SIGILL => "SIGILL".into(),
        libc::SIGINT => "SIGINT".into(),
        libc::SIGSEGV => "SIGSEGV".into(),
        libc::SIGTERM => "SIGTERM".into(),
        libc::SIGXCPU => "SIGXCPU".into(),
        other => format!("signal {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_process_are_read_whatever_its_name() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(stat_column(child.id(), PARENT), Some(std::process::id()));
        assert!(!is_sibling(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(stat_column::<u32>(u32::MAX, PARENT), None);
        let strange = "42 (a) b) (c) S 1 1 1 0 -1 4194560 5 6 7 8 30 12 0 0 20 0 1";
        assert_eq!(TICKS.map(|column| column_of(strange, column)), [Some(30), Some(12)]);
        assert_eq!(column_of::<u64>("42 (a", TICKS[0]), None);
    }

    #[test]
    fn a_stopped_program_ends_with_the_thread_that_started_it() {
        use std::os::unix::process::ExitStatusExt;
        let start = || {
            let mut command = Command::new("sh");
            command.args(["-c", "kill -STOP $$"]).process_group(0);
            end_with_thread(&mut command);
            let child = command.spawn().unwrap();
            while stat_column::<char>(child.id(), 0) != Some('T') {
                std::thread::sleep(Duration::from_millis(1));
            }
            child
        };
        let mut child = crate::host::threads::spawn("parent", start).unwrap().join().unwrap();
        assert!(ends_within(child.id(), Duration::from_secs(60)), "it stays for ever");
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn the_end_of_a_child_is_awaited_for_a_limited_time() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(!ends_within(child.id(), Duration::from_millis(20)));
        child.kill().unwrap();
        assert!(ends_within(child.id(), Duration::from_secs(30)));
        assert!(child.wait().unwrap().code().is_none());
    }

    #[test]
    fn a_program_called_by_a_link_keeps_the_path_of_the_link() {
        let root = tempfile::tempdir().unwrap();
        let at = |below: &str| root.path().canonicalize().unwrap().join(below);
        for folder in ["cache", "venv", "other"] {
            std::fs::create_dir(at(folder)).unwrap();
        }
        std::fs::write(at("cache/gpubench"), "").unwrap();
        std::fs::write(at("other/gpubench"), "").unwrap();
        std::os::unix::fs::symlink(at("cache/gpubench"), at("venv/gpubench")).unwrap();
        let file = at("cache/gpubench");
        let path = std::env::join_paths([at("none"), at("other"), at("venv")]).unwrap();
        let called = |name: &str| called_as(OsStr::new(name), &path, &file);

        assert_eq!(called(at("venv/gpubench").to_str().unwrap()), Some(at("venv/gpubench")));
        // The other program of that name, which is earlier on the path, is not the one that runs.
        assert_eq!(called("gpubench"), Some(at("venv/gpubench")));
        assert_eq!(called(at("other/gpubench").to_str().unwrap()), None);
        assert_eq!(called("worker"), None);
        assert!(program().unwrap().is_file());
    }
}
