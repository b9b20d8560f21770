//! Handles Ctrl-C and termination signals: the first ends a run cleanly, the second ends the program.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Context;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Exit code after an interrupt: by convention 128 plus the number of SIGINT.
const EXIT_INTERRUPTED: i32 = 130;

/// While a `Watch` exists, the first interrupt only sets a flag; otherwise it ends the program.
pub struct Watch;

impl Watch {
    /// Starts to watch. The first call installs the signal handler.
    pub fn begin() -> anyhow::Result<Watch> {
        static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
        let install = || ctrlc::set_handler(on_interrupt).map_err(|error| error.to_string());
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
        self.flag().load(Ordering::Relaxed)
    }

    /// Returns the flag that is set once the user asks to stop.
    pub fn flag(&self) -> &'static AtomicBool {
        &INTERRUPTED
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn on_interrupt() {
    let again = INTERRUPTED.swap(true, Ordering::Relaxed);
    if again || RUNS.load(Ordering::Relaxed) == 0 {
        std::process::exit(EXIT_INTERRUPTED);
    }
}
