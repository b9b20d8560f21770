//! Runs the recorded program: signals reach it as if it ran alone, and its end becomes the end of this process.

use std::fmt;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramEnd(ExitStatus);

impl fmt::Display for ProgramEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.code(), self.0.signal()) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => write!(f, "{}", self.0),
        }
    }
}

/// The process that signals are forwarded to; 0 if none runs.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// Forwards a signal that a process sent. Those of a terminal reach the program without help.
extern "C" fn forward(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let child = CHILD.load(Ordering::Relaxed);
    // SAFETY: the system passes a valid description to handlers with SA_SIGINFO.
    let is_sent = unsafe { (*info).si_code } <= 0;
    if child > 0 && (is_sent || signal == libc::SIGALRM) {
        // SAFETY: `kill` may be called in a handler of signals, and reads and writes no memory.
        unsafe { libc::kill(child, signal) };
    }
}

/// Signals that this process ignores from its start, and whether it was started so: a program must find what it would have found.
static IGNORED: [(libc::c_int, AtomicBool); 2] =
    [(libc::SIGPIPE, AtomicBool::new(false)), (libc::SIGXFSZ, AtomicBool::new(false))];

/// Notes what is ignored. It runs before Rust's runtime, which ignores SIGPIPE.
extern "C" fn note_ignored() {
    for (signal, was) in &IGNORED {
        // SAFETY: all-zero bytes are a valid `sigaction`, which the call overwrites; without a new action it changes nothing.
        let action = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(*signal, std::ptr::null(), &mut action);
            action
        };
        was.store(action.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
    }
}

#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = note_ignored;

/// Runs a program to its end. Signals that a process sends are forwarded; those of a terminal reach the program as well, and end this process
/// only after it.
///
/// # Errors
/// The program cannot be started.
pub fn run(mut command: Command) -> io::Result<ProgramEnd> {
    let restore = || {
        for (signal, was) in &IGNORED {
            let action = if was.load(Ordering::Relaxed) { libc::SIG_IGN } else { libc::SIG_DFL };
            // SAFETY: ignoring a signal or restoring its default runs no code of this program.
            unsafe { libc::signal(*signal, action) };
        }
        Ok(())
    };
    // SAFETY: the function calls nothing but `signal`, which may be called between fork and exec.
    unsafe { command.pre_exec(restore) };
    let mut child = command.spawn()?;
    CHILD.store(child.id().cast_signed(), Ordering::Relaxed);
    for signal in [
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGALRM,
    ] {
        // SAFETY: all-zero bytes are a valid `sigaction`, with an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = forward as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // SAFETY: the handler calls nothing that a handler of signals must not call.
        unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
    }
    let status = child.wait();
    CHILD.store(0, Ordering::Relaxed);
    status.map(ProgramEnd)
}

impl ProgramEnd {
    /// The exit code of the program; `None` if a signal ended it.
    pub fn code(self) -> Option<u8> {
        self.0.code().and_then(|code| u8::try_from(code).ok())
    }

    /// The exit code for this process. A program that a signal ended ends this process by the same signal, without a second core file.
    pub fn exit_code(self) -> u8 {
        if let Some(signal) = self.0.signal() {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: `none` is valid for the call; the other calls take numbers.
            unsafe {
                libc::setrlimit(libc::RLIMIT_CORE, &none);
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
            // Signals that are blocked or ignored end nothing: the shells' convention.
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
        self.code().unwrap_or(1)
    }
}
