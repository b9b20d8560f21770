//! Ends what a program leaves behind: itself when this process is killed, and the daemons that its libraries have started.

use std::process::Command;
#[cfg(target_os = "linux")]
use {
    crate::host::process::{GROUP, PARENT, stat_column},
    std::io,
    std::os::unix::process::CommandExt,
    std::sync::atomic::{AtomicU64, Ordering},
    std::time::{Duration, Instant},
};

/// Variable by which the processes that a program has started are recognised, also in another session.
#[cfg(target_os = "linux")]
const VARIABLE: &str = "GPUBENCH_STARTED";
/// Time limit for the end of what a program has left. A process that waits for a device ends only when that responds.
#[cfg(target_os = "linux")]
const LIMIT: Duration = Duration::from_secs(1);

/// The mark of one program and of the processes that it starts.
#[derive(Debug)]
pub struct Mark(String);

/// Has the system kill the program of `command` when the calling *thread* ends, which must live as long as the program, and
/// marks what it starts. Processes that lose their parent become children of this process.
#[cfg(target_os = "linux")]
pub fn prepare(command: &mut Command) -> Mark {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let parent = std::process::id();
    let mark = format!("{parent}.{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    command.env(VARIABLE, &mark);
    let tie = move || {
        // SAFETY: this option of `prctl` takes the number of a signal and reads and writes no memory.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // The parent may have ended before the call.
        let is_alone = std::os::unix::process::parent_id() != parent;
        if is_alone { Err(io::Error::from_raw_os_error(libc::ESRCH)) } else { Ok(()) }
    };
    // SAFETY: between fork and exec the closure makes two system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(tie) };
    // SAFETY: this option of `prctl` takes a number and reads and writes no memory.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    Mark(format!("{VARIABLE}={mark}"))
}

/// Elsewhere programs end when their input is closed, and daemons stay.
#[cfg(not(target_os = "linux"))]
pub fn prepare(_: &mut Command) -> Mark {
    Mark(String::new())
}

/// Kills the processes that a program has left, whose group `leader` led and which has been reaped.
#[cfg(target_os = "linux")]
pub fn end_rest(leader: u32, mark: &Mark) {
    let deadline = Instant::now() + LIMIT;
    loop {
        let rest: Vec<i32> = children().into_iter().filter(|child| is_of(*child, leader, mark)).collect();
        if rest.is_empty() || Instant::now() >= deadline {
            return;
        }
        for process in rest {
            // SAFETY: `kill` reads and writes no memory. The process is a child of this one that nobody has reaped, so its
            // number is not reused.
            unsafe { libc::kill(process, libc::SIGKILL) };
            // Collected here, because one that has ended shows no mark any more.
            // SAFETY: a null pointer for the status is allowed: nothing is written.
            while unsafe { libc::waitpid(process, std::ptr::null_mut(), libc::WNOHANG) } == 0
                && Instant::now() < deadline
            {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Elsewhere nothing is known of them.
#[cfg(not(target_os = "linux"))]
pub fn end_rest(_: u32, _: &Mark) {}

/// Returns the children of this process. The lists of its threads (`/proc/self/task/*/children`) miss some while threads end.
#[cfg(target_os = "linux")]
fn children() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let own = Some(std::process::id());
    processes.filter(|process| stat_column(process, PARENT) == own).collect()
}

/// Returns whether a child is in the group of `leader`, or has its mark. One that has ended shows no mark any more.
#[cfg(target_os = "linux")]
fn is_of(child: i32, leader: u32, Mark(mark): &Mark) -> bool {
    let environment = || std::fs::read(format!("/proc/{child}/environ")).unwrap_or_default();
    stat_column(child, GROUP) == Some(leader)
        || environment().split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_program_ends_with_the_thread_that_started_it() {
        use std::os::unix::process::ExitStatusExt;
        let start = || {
            let mut command = Command::new("sh");
            command.args(["-c", "kill -STOP $$"]).process_group(0);
            prepare(&mut command);
            let child = command.spawn().unwrap();
            let state = || std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
            while !state().rsplit_once(") ").unwrap().1.starts_with('T') {
                std::thread::sleep(Duration::from_millis(1));
            }
            child
        };
        let mut child = crate::host::threads::spawn("parent", start).unwrap().join().unwrap();
        assert!(crate::host::process::ends_within(child.id(), Duration::from_secs(60)), "it stays for ever");
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn daemons_of_a_program_end_with_it_and_other_children_stay() {
        let folder = tempfile::tempdir().unwrap();
        let other = Command::new("sleep").arg("1000").spawn().unwrap();
        let start = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).current_dir(folder.path()).process_group(0);
            let mark = prepare(&mut command);
            (command.spawn().unwrap(), mark)
        };
        let (neighbour, _) = start("exec sleep 1000");
        let (mut child, mark) = start(
            "setsid sh -c 'echo $$ > daemon; exec sleep 1000' & sleep 1000 & echo $! > member; \
             while ! [ -s daemon ]; do sleep 0.01; done",
        );
        child.wait().unwrap();
        let number =
            |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap().trim().parse::<i32>();
        let left = [number("daemon").unwrap(), number("member").unwrap()];
        assert!(left.iter().all(|process| children().contains(process)), "{left:?} {:?}", children());
        end_rest(child.id(), &mark);
        assert!(!left.iter().any(|process| children().contains(process)), "{left:?} {:?}", children());
        for mut process in [other, neighbour] {
            assert!(process.try_wait().unwrap().is_none(), "it is not of the program that ended");
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}
