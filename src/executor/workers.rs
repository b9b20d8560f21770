//! The workers of a run: all started at once, replaced when lost, given up when they cannot start.

mod slot;

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::backend::{Ceilings, Finding, Floors, Options, fewer_threads};
use crate::error::Unavailable;
use crate::observe::Observer;
use crate::report::BackendState;
use crate::worker::client::{Client, Place};

use super::{PlannedCell, Run};
pub use slot::spell;
use slot::{Slot, State};

/// What to do about a worker that does not start.
pub const SEE_DOCTOR: &str = "see what `gpubench doctor` reports";

/// What a worker's start may take however short the limit of a cell is: a device's context can take seconds.
pub const LEAST_START_LIMIT: Duration = Duration::from_secs(30);

/// A backend that was asked for with `--require` cannot start: the run has not begun.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the required backend {name} is unavailable: {reason}{}", fix.as_ref().map(|fix| format!(" ({fix})")).unwrap_or_default())]
pub struct RequiredBackendMissing {
    /// The backend.
    pub name: String,
    /// Why it cannot start.
    pub reason: String,
    /// The step that would fix it.
    pub fix: Option<String>,
}

/// What stands in the way of a worker.
pub enum Hindrance {
    /// Something the backend needs is missing: its cells are skipped.
    Unavailable(Unavailable),
    /// Its worker crashes, hangs or fails at every start: its cells fail.
    Broken(String),
    /// The user has ended the run.
    Interrupted,
}

/// One slot for each backend of the run.
pub struct Workers {
    slots: Vec<Slot>,
    place: Place,
    options: Options,
    start_limit: Duration,
    stop: &'static AtomicBool,
}

impl Workers {
    /// Starts and greets a worker for every backend of the plan and every required one; waits for none.
    pub fn start(run: &Run, place: Place, stop: &'static AtomicBool) -> Self {
        let planned = run.cells.iter().map(PlannedCell::worker);
        let mut names: Vec<String> = vec![];
        for name in planned.chain(run.require.iter().cloned()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let alternates = names.iter().any(|name| fewer_threads(name).is_some());
        let slots = names.iter().map(|name| Slot::new(name)).collect();
        let options = Options { alternates, ..run.options.clone() };
        let start_limit = run.cell_timeout.max(LEAST_START_LIMIT);
        let mut workers = Workers { slots, place, options, start_limit, stop };
        workers.start_absent();
        workers
    }

    /// Waits for the required backends; an error names the first that cannot start.
    pub fn require(
        &mut self,
        names: &[String],
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>, RequiredBackendMissing> {
        for name in names {
            match self.ready(name, observer) {
                Ok(_) => {}
                Err(Hindrance::Interrupted) => return Ok(ControlFlow::Break(())),
                Err(Hindrance::Unavailable(Unavailable { reason, fix })) => {
                    return Err(RequiredBackendMissing { name: name.clone(), reason, fix });
                }
                Err(Hindrance::Broken(reason)) => {
                    let fix = Some(SEE_DOCTOR.into());
                    return Err(RequiredBackendMissing { name: name.clone(), reason, fix });
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The worker of that backend, started anew where needed, ready for a cell.
    pub fn ready(&mut self, name: &str, observer: &mut dyn Observer) -> Result<&mut Client, Hindrance> {
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.report.name == name) else {
            let reason = format!("no worker was started for {name}");
            return Err(Hindrance::Unavailable(Unavailable::without_fix(reason)));
        };
        loop {
            match &slot.state {
                State::Ready(_) | State::Missing(_) | State::Broken(_) => break,
                State::Absent => slot.launch(&self.place, &self.options),
                State::Starting(_) => {
                    observer.phase(&format!("start {name}"));
                    slot.settle(self.start_limit, self.stop)?;
                }
            }
        }
        match &mut slot.state {
            State::Ready(client) => Ok(client),
            State::Missing(missing) => Err(Hindrance::Unavailable(missing.clone())),
            State::Broken(reason) => Err(Hindrance::Broken(reason.clone())),
            State::Absent | State::Starting(_) => Err(Hindrance::Interrupted),
        }
    }

    /// Waits until no worker is still starting: a start would disturb the timing of another's cell.
    pub fn settle(&mut self, observer: &mut dyn Observer) -> Result<(), Hindrance> {
        for slot in &mut self.slots {
            if matches!(slot.state, State::Starting(_)) {
                observer.phase(&format!("start {}", slot.report.name));
                slot.settle(self.start_limit, self.stop)?;
            }
        }
        Ok(())
    }

    /// The number of the backend's present worker; another one once it is lost.
    pub fn generation(&self, name: &str) -> u64 {
        self.slot(name)
            .map_or(0, |slot| if matches!(slot.state, State::Absent) { 0 } else { slot.generation })
    }

    /// The floors of the backend's clocks, where it has told them.
    pub fn floors(&self, name: &str) -> Option<Floors> {
        self.slot(name)?.report.floors.clone()
    }

    fn slot(&self, name: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.report.name == name)
    }

    fn slot_mut(&mut self, name: &str) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| slot.report.name == name)
    }

    /// Set once the user has asked to stop.
    pub fn stop(&self) -> &'static AtomicBool {
        self.stop
    }

    /// Lets a lost worker go; the next cell of its backend gets a new one.
    pub fn discard(&mut self, name: &str) {
        if let Some(slot) = self.slot_mut(name) {
            slot.state = State::Absent;
        }
    }

    /// Ends a worker in good order and waits until it is gone; the next cell of its backend gets a new one.
    pub fn retire(&mut self, name: &str) {
        let Some(slot) = self.slot_mut(name) else { return };
        if let State::Ready(mut client) = std::mem::replace(&mut slot.state, State::Absent) {
            client.farewell();
            client.finish();
        }
    }

    /// Starts and greets a worker for each backend that has none; waits for none.
    pub fn start_absent(&mut self) {
        for slot in &mut self.slots {
            if matches!(slot.state, State::Absent) {
                slot.launch(&self.place, &self.options);
            }
        }
    }

    /// The workers: backends, and backends on fewer threads.
    pub fn names(&self) -> Vec<String> {
        self.slots.iter().map(|slot| slot.report.name.clone()).collect()
    }

    /// What the backend's ceilings depend on besides the host, where it has told.
    pub fn ceilings_depend_on(&self, name: &str) -> Option<&serde_json::Value> {
        self.slot(name)?.ceilings_depend_on.as_ref()
    }

    /// The ceilings of the backend that a worker serves, on fewer threads too.
    pub fn ceilings(&self, name: &str) -> Option<&Ceilings> {
        let backend = name.split('@').next().unwrap_or(name);
        self.slot(backend)?.report.ceilings.as_ref()
    }

    /// Notes the ceilings of a backend.
    pub fn note_ceilings(&mut self, name: &str, ceilings: Ceilings) {
        if let Some(slot) = self.slot_mut(name) {
            slot.report.ceilings = Some(ceilings);
        }
    }

    /// Notes the libraries a worker has loaded.
    pub fn note_libraries(&mut self, name: &str, libraries: Vec<Finding>) {
        if let Some(slot) = self.slot_mut(name) {
            for library in libraries {
                let known = slot
                    .report
                    .libraries
                    .iter_mut()
                    .find(|l| (&l.name, &l.path) == (&library.name, &library.path));
                match known {
                    Some(known) => *known = library,
                    None => slot.report.libraries.push(library),
                }
            }
        }
    }

    /// What the report says of each backend.
    pub fn states(&self) -> Vec<BackendState> {
        self.slots.iter().map(|slot| slot.report.clone()).collect()
    }

    /// Ends every worker and hands over what the report says of each backend.
    pub fn end(self) -> Vec<BackendState> {
        let mut clients = vec![];
        let mut states = vec![];
        for slot in self.slots {
            states.push(slot.report);
            // A worker that is not ready is busy or lost: dropping it kills it.
            if let State::Ready(mut client) = slot.state {
                client.farewell();
                clients.push(client);
            }
        }
        clients.into_iter().for_each(Client::finish);
        states
    }
}
