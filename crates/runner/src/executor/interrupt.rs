//! Ctrl-C and termination signals: the first one ends a run in good order, the second one the program.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Context;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// The exit code after an interrupt, by convention 128 plus the number of SIGINT.
const EXIT_INTERRUPTED: i32 = 130;

/// While one lives, the first interrupt is only noted; without one it ends the program.
pub struct Watch;

impl Watch {
    /// Starts to watch; installs the handler the first time.
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

    /// Set once the user has asked to stop.
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
