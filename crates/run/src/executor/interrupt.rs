//! Handles Ctrl-C and termination signals. The first one lets a run finish the cell that it measures, the second ends the run
//! immediately, the third ends the program. In all cases what is finished is saved.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use gpubench_backend::host::threads;

static STOP: Stop = Stop::new();
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Exit code after an interrupt: by convention 128 plus the number of SIGINT.
const EXIT_INTERRUPTED: i32 = 130;

/// Time that a cell may take to finish after the first signal. Services that stop a job kill it after 7 s or more.
pub(crate) const FINISHING_LIMIT: Duration = Duration::from_secs(5);

/// The user's wish that a run ends.
#[derive(Debug)]
pub(crate) struct Stop {
    signals: AtomicU32,
    first: OnceLock<Instant>,
}

impl Stop {
    pub(crate) const fn new() -> Stop {
        Stop { signals: AtomicU32::new(0), first: OnceLock::new() }
    }

    /// Notes a signal, and returns the number of signals so far.
    pub(crate) fn signal(&self) -> u32 {
        self.first.get_or_init(Instant::now);
        self.signals.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns whether the run is to end, after the cell that it measures.
    pub(crate) fn is_asked(&self) -> bool {
        self.signals.load(Ordering::Relaxed) > 0
    }

    /// Returns whether the run is to end within a cell: after a second signal, or [`FINISHING_LIMIT`] after the first.
    pub(crate) fn is_urgent(&self) -> bool {
        self.signals.load(Ordering::Relaxed) > 1
            || self.first.get().is_some_and(|first| first.elapsed() > FINISHING_LIMIT)
    }
}

/// While a `Watch` exists, the first interrupts only ask to stop; otherwise each ends the program.
pub struct Watch;

impl Watch {
    /// Starts to watch. The first call installs the signal handler.
    pub fn begin() -> anyhow::Result<Watch> {
        static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
        let install = || {
            ctrlc::set_handler(on_interrupt).map_err(|error| match error {
                // The handler runs in its own thread.
                ctrlc::Error::System(error) => threads::explained("thread", &error).to_string(),
                error => error.to_string(),
            })
        };
        INSTALLED
            .get_or_init(install)
            .clone()
            .map_err(anyhow::Error::msg)
            .context("cannot watch for Ctrl-C")?;
        RUNS.fetch_add(1, Ordering::Relaxed);
        Ok(Watch)
    }

    /// Returns whether the user has asked to stop.
    pub fn is_interrupted(&self) -> bool {
        STOP.is_asked()
    }

    pub(crate) fn stop(&self) -> &'static Stop {
        &STOP
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn on_interrupt() {
    let signals = STOP.signal();
    if signals > 2 || RUNS.load(Ordering::Relaxed) == 0 {
        std::process::exit(EXIT_INTERRUPTED);
    }
    if signals == 1 && io::stderr().is_terminal() {
        let limit_s = FINISHING_LIMIT.as_secs();
        // A terminal that is gone needs no message.
        let _ = writeln!(
            io::stderr(),
            "\ngpubench: finishing this cell (at most {limit_s} s); press Ctrl-C again to stop immediately"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_signal_is_urgent() {
        let stop = Stop::new();
        assert!(!stop.is_asked() && !stop.is_urgent());
        assert_eq!(stop.signal(), 1);
        assert!(stop.is_asked() && !stop.is_urgent());
        assert_eq!(stop.signal(), 2);
        assert!(stop.is_urgent());
    }
}
