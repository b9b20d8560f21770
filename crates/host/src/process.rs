//! Wraps process calls that the standard library lacks: descriptors, immediate exit, killing a group.

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Reserves standard output for the protocol: returns a private copy of it and redirects descriptor 1 to standard error,
/// so that a library that prints cannot corrupt the protocol.
pub fn claim_stdout() -> io::Result<File> {
    // SAFETY: `fcntl` on a descriptor number touches no memory; a failure is reported as -1.
    let copy = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `copy` was just created, is open, and nobody else owns it.
    let private = unsafe { OwnedFd::from_raw_fd(copy) };
    // SAFETY: `dup2` on descriptor numbers touches no memory; a failure is reported as -1.
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

/// Kills the process group led by process `leader`. A group that is gone is not an error.
pub fn kill_group(leader: u32) {
    let Ok(leader) = i32::try_from(leader) else { return };
    if leader > 1 {
        // SAFETY: `kill` touches no memory. The leader is an unreaped child of ours, so its number is not reused,
        // and it is above 1, so that neither our own group nor every process is meant.
        unsafe { libc::kill(-leader, libc::SIGKILL) };
    }
}

/// The number of the signal that ends a process which cannot refuse it.
pub const SIGKILL: i32 = libc::SIGKILL;

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
