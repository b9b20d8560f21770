//! Starts threads, which limits of the system may refuse; lists the threads of this process and binds them to CPUs.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Stack of a thread that only waits.
const SMALL_STACK: usize = 64 << 10;

/// Starts a thread. `std::thread::spawn` would panic where no thread can be started.
///
/// # Errors
/// The system refuses; the message names the limit.
pub fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.to_owned()).spawn(work).map_err(|error| explained("thread", &error))
}

/// Adds the usual cause to the system's refusal to start a thread or a process (`what`).
pub fn explained(what: &str, error: &io::Error) -> io::Error {
    let cause = match error.raw_os_error() {
        Some(libc::EAGAIN) => " (ulimit -u, pids.max)",
        Some(libc::EPERM | libc::ENOSYS) => {
            " (the clone3 call may be refused by a seccomp filter of the container)"
        }
        _ if what == "thread" => "",
        // A program that is missing or not executable.
        _ => return io::Error::new(error.kind(), error.to_string()),
    };
    io::Error::new(error.kind(), format!("cannot start a {what}: {error}{cause}"))
}

/// Checks that this process could start `count` more threads, by starting and ending them.
///
/// # Errors
/// Only fewer can be started; the message says how many, and names the limit.
pub fn require(count: usize) -> io::Result<()> {
    let (mut started, mut refusal) = (vec![], None);
    while started.len() < count && refusal.is_none() {
        let (sender, receiver) = channel::<()>();
        // It waits until its sender is dropped.
        let thread = Builder::new().stack_size(SMALL_STACK).spawn(move || receiver.recv().is_err());
        match thread {
            Ok(thread) => started.push((sender, thread)),
            Err(error) => refusal = Some(explained("thread", &error)),
        }
    }
    let (senders, threads): (Vec<_>, Vec<_>) = started.into_iter().unzip();
    drop(senders);
    let possible = threads.len();
    // They do nothing that could panic.
    threads.into_iter().for_each(|thread| drop(thread.join()));
    refusal.map_or(Ok(()), |error| {
        let text = format!("{error}; {count} more are needed, and {possible} are possible");
        Err(io::Error::new(error.kind(), text))
    })
}

/// Returns what to add to the report of a program that hangs: its libraries may wait for threads that could not be started.
/// Empty if one thread per CPU could be started.
pub fn shortage() -> String {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    require(count).err().map_or_else(String::new, |error| format!("; {error}"))
}

/// Starts the global pool of rayon, which would otherwise panic where its threads cannot be started: then the calling thread,
/// which must be the only one that uses the pool, does all work.
pub fn start_pool() {
    let named = std::env::var("RAYON_NUM_THREADS")
        .ok()
        .and_then(|count| count.parse().ok())
        .filter(|count| *count > 0);
    let count = named.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let waiting: io::Result<Vec<Sender<rayon::ThreadBuilder>>> = (0..count)
        .map(|_| {
            let (sender, receiver) = channel::<rayon::ThreadBuilder>();
            spawn("pool", move || receiver.recv().map(rayon::ThreadBuilder::run)).map(|_| sender)
        })
        .collect();
    let builder = rayon::ThreadPoolBuilder::new();
    // An error means that there is a pool already.
    let _ = match waiting {
        Ok(waiting) => builder
            .num_threads(count)
            .spawn_handler(|thread| {
                let index = thread.index();
                waiting[index].send(thread).map_err(|_| io::Error::other("its thread has ended"))
            })
            .build_global(),
        Err(_) => builder.num_threads(1).use_current_thread().build_global(),
    };
}

/// Returns the threads of this process, ascending.
pub fn tasks() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok);
    let mut tasks: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    tasks.sort_unstable();
    tasks
}

/// Returns the number of the calling thread.
pub fn this_thread() -> i32 {
    // The function of this name is missing in the C libraries that the wheel supports: glibc has it since 2.30.
    // SAFETY: the call takes nothing and cannot fail.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    i32::try_from(thread).unwrap_or(0)
}

/// Binds a thread of this process to a CPU; 0 is the calling thread.
///
/// # Errors
/// The system refuses, or has no such CPU.
pub fn bind(thread: i32, cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: an all-zero set is a valid, empty one; `cpu` lies within it; the call only reads the set.
    let status = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test may end where no thread can be started")]

    use super::*;

    #[test]
    fn the_calling_thread_is_listed_and_binds_to_an_allowed_cpu_alone() {
        std::thread::spawn(|| {
            assert!(tasks().contains(&this_thread()));
            let allowed = crate::host::processors::allowed();
            assert!(bind(0, allowed[0]).is_ok() && bind(0, usize::MAX).is_err());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_refused_start_names_the_limit_and_a_missing_program_stays_one() {
        let text = |what: &str, code: i32| explained(what, &io::Error::from_raw_os_error(code)).to_string();
        assert!(text("thread", libc::EAGAIN).starts_with("cannot start a thread: "));
        assert!(text("process", libc::EAGAIN).ends_with("(ulimit -u, pids.max)"));
        assert!(
            text("thread", libc::EPERM).contains("seccomp")
                && text("thread", libc::ENOSYS).contains("clone3")
        );
        let missing = explained("process", &io::Error::from_raw_os_error(libc::ENOENT));
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert!(require(3).is_ok());
    }
}
