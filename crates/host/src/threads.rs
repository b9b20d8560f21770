//! Lists the threads of this process and binds them to CPUs.

use std::io;

/// Returns the threads of this process, ascending.
pub fn tasks() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok);
    let mut tasks: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    tasks.sort_unstable();
    tasks
}

/// Returns the number of the calling thread; 0 where the system has no thread numbers.
#[cfg(target_os = "linux")]
pub fn this_thread() -> i32 {
    // The function of this name is missing in the C libraries that the wheel supports: glibc has it since 2.30.
    // SAFETY: the call takes nothing and cannot fail.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    i32::try_from(thread).unwrap_or(0)
}

/// Returns the number of the calling thread; 0 where the system has no thread numbers.
#[cfg(not(target_os = "linux"))]
pub fn this_thread() -> i32 {
    0
}

/// Binds a thread of this process to a CPU; 0 is the calling thread.
///
/// # Errors
/// The system refuses, does not support it, or has no such CPU.
#[cfg(target_os = "linux")]
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

/// Binds no thread.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn bind(_: i32, _: usize) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_calling_thread_is_one_of_the_process_and_can_be_bound_to_an_allowed_cpu() {
        std::thread::spawn(|| {
            assert!(tasks().contains(&this_thread()));
            let allowed = crate::processors::allowed();
            assert!(bind(0, allowed[0]).is_ok());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused() {
        assert!(bind(0, usize::MAX).is_err());
    }
}
