//! The ceilings of every backend, before the first cell: those that an earlier run kept, else measured by its worker.
//!
//! What goes wrong here costs the ceilings and nothing else.

mod kept;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::journal::Journal;
use super::workers::{Hindrance, Workers, spell};
use super::{Run, advice};
use crate::backend::{self, Ceilings};
use crate::observe::Observer;
use crate::report::RunWarning;
use crate::worker::client::Loss;
use crate::worker::protocol::{Reply, Request};
use kept::Key;

/// Whether a run tells the ceilings of its backends, and where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peaks {
    /// It does not.
    Unwanted,
    /// They are measured, and not kept.
    Measured,
    /// This folder keeps them; what it does not have is measured.
    Kept(PathBuf),
}

impl Peaks {
    fn folder(&self) -> Option<&PathBuf> {
        match self {
            Peaks::Kept(folder) => Some(folder),
            Peaks::Unwanted | Peaks::Measured => None,
        }
    }
}

/// The longest that the ceilings of one backend may take, however long a cell may.
const LONGEST: Duration = Duration::from_secs(60);

/// What became of a measurement.
enum Ended {
    Measured(Ceilings),
    /// The backend has none.
    Without,
    /// Why there is none, and the next step.
    Failed(String, String),
    Interrupted,
}

/// Enters the ceilings of every backend that could start, one backend after the other, while no worker is starting.
/// Whether the user has ended the run meanwhile.
///
/// A worker that has measured is replaced: libraries are loaded and memory was in use by then, and a cell is to find
/// the same worker whether ceilings were kept or not.
pub fn gather(
    run: &Run,
    workers: &mut Workers,
    journal: &mut Journal,
    observer: &mut dyn Observer,
) -> ControlFlow<()> {
    if run.peaks == Peaks::Unwanted {
        return ControlFlow::Continue(());
    }
    let mut ready = vec![];
    // The most that a machine does it does on the most threads.
    for name in workers.names().into_iter().filter(|name| backend::fewer_threads(name).is_none()) {
        match workers.ready(&name, observer) {
            Ok(_) => ready.push(name),
            Err(Hindrance::Interrupted) => return ControlFlow::Break(()),
            // Its cells will tell.
            Err(Hindrance::Unavailable(_) | Hindrance::Broken(_)) => {}
        }
    }
    for name in ready {
        let key =
            workers.ceilings_depend_on(&name).map(|state| Key::new(&name, journal.environment(), state));
        let place = run.peaks.folder().zip(key.as_ref());
        if let Some(kept) = place.and_then(|(folder, key)| key.read(folder)) {
            workers.note_ceilings(&name, kept);
            continue;
        }
        observer.measuring(&format!("the ceilings of {name}"));
        match measure(&name, run.cell_timeout, workers, observer) {
            Ended::Measured(ceilings) => {
                if let Some((folder, key)) = place.filter(|_| can_be_kept(&name, journal)) {
                    key.write(folder, &ceilings);
                }
                workers.note_ceilings(&name, ceilings);
            }
            Ended::Without => {}
            Ended::Failed(reason, next) => {
                let text = format!("the ceilings of {name} are not known: {reason}");
                journal.advise(vec![RunWarning { text, next }]);
            }
            Ended::Interrupted => return ControlFlow::Break(()),
        }
    }
    workers.start_absent();
    ControlFlow::Continue(())
}

/// Whether later runs may rely on what was measured now: on a busy machine it is too little.
fn can_be_kept(name: &str, journal: &Journal) -> bool {
    let simulated = backend::find(name).is_some_and(|found| found.simulated);
    simulated || journal.load().is_none_or(|load| load <= advice::BUSY)
}

/// Has the backend's worker measure, which afterwards is gone unless it had nothing to measure.
fn measure(name: &str, cell_timeout: Duration, workers: &mut Workers, observer: &mut dyn Observer) -> Ended {
    let stop = workers.stop();
    let limit = cell_timeout.min(LONGEST);
    let Ok(client) = workers.ready(name, observer) else { return Ended::Interrupted };
    client.send(&Request::Ceilings);
    let reply = client.wait(Instant::now() + limit, stop, &mut |_| {});
    let failed =
        |reason: String| Ended::Failed(reason, "run again, or leave them out with --no-peaks".into());
    match reply {
        Ok(Reply::Ceilings { ceilings: None }) => Ended::Without,
        Ok(Reply::Ceilings { ceilings: Some(measured) }) => {
            workers.retire(name);
            let measured =
                Ceilings { measured: jiff::Timestamp::now().to_string(), cached: false, ..measured };
            measured.plausible().map_or(Ended::Without, Ended::Measured)
        }
        Ok(Reply::Failed { reason, device_lost: false }) => {
            workers.retire(name);
            failed(reason)
        }
        other => {
            // It is lost, or still at it.
            workers.discard(name);
            match other {
                Err(Loss::Interrupted) => Ended::Interrupted,
                Err(Loss::TimedOut) => {
                    let next =
                        if limit < LONGEST { "raise --cell-timeout" } else { "run on an idle machine" };
                    let reason = format!("they took more than {}", spell(limit));
                    Ended::Failed(reason, format!("{next}, or leave them out with --no-peaks"))
                }
                Err(Loss::Gone(how)) => failed(how),
                Ok(Reply::Failed { reason, .. }) => failed(reason),
                Ok(_) => failed("the worker's reply does not answer the request".into()),
            }
        }
    }
}
