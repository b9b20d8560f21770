//! The workers of a run: started, given their turns, replaced when lost, given up when they cannot start.

mod slot;
mod states;

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use gpubench_backend::WorkerId;
use gpubench_backend::protocol::Request;
use gpubench_backend::{Finding, Options, Peaks, TimerOverhead};
use gpubench_model::error::Unavailable;
use gpubench_model::report::BackendState;

use super::Run;
use crate::observe::Observer;
use crate::worker::client::{Client, Loss, Place};
pub(crate) use slot::spell;
use slot::{Slot, State};

/// What to do about a worker that does not start.
pub(crate) const SEE_DOCTOR: &str = "run `gpubench doctor` to see what is missing";

/// What is wrong with a worker that replies with something else.
pub(crate) const NO_ANSWER: &str = "the worker sent a reply that does not match the request";

/// What a worker's start may take however short the limit of a cell is: a device's context can take seconds.
pub(crate) const LEAST_START_LIMIT: Duration = Duration::from_secs(30);

/// What a worker may take to come to rest; it waits half a second at most for threads that spin.
const REST_LIMIT: Duration = Duration::from_secs(10);

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
pub(crate) enum Hindrance {
    /// Something the backend needs is missing: its cells are skipped.
    Unavailable(Unavailable),
    /// Its worker crashes, hangs or fails at every start: its cells fail.
    Broken(String),
    /// The user has ended the run.
    Interrupted,
}

pub(crate) struct Workers {
    slots: Vec<Slot>,
    /// The worker that was given the last turn.
    at_work: Option<WorkerId>,
    place: Place,
    options: Options,
    start_limit: Duration,
    stop: &'static AtomicBool,
}

impl Workers {
    /// Starts and greets the workers that load no library; waits for none. Every backend of the plan and every required
    /// one has such a worker on all threads, which describes it. Workers with a library start when their first cell is
    /// prepared: one after the other, while nothing is timed.
    pub(crate) fn start(run: &Run, place: Place, stop: &'static AtomicBool) -> Self {
        let start_limit = run.cell_timeout.max(LEAST_START_LIMIT);
        let options = run.options.clone();
        let mut workers = Workers { slots: vec![], at_work: None, place, options, start_limit, stop };
        for planned in &run.cells {
            workers.plan(WorkerId::of_backend(&planned.cell.backend));
            workers.plan(planned.worker());
        }
        run.require.iter().for_each(|name| workers.plan(WorkerId::of_backend(name)));
        workers.start_absent();
        workers
    }

    /// Waits for the required backends; an error names the first that cannot start.
    pub(crate) fn require(
        &mut self,
        names: &[String],
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>, RequiredBackendMissing> {
        for name in names {
            let Unavailable { reason, fix } = match self.ready(&WorkerId::of_backend(name), observer) {
                Ok(_) => continue,
                Err(Hindrance::Interrupted) => return Ok(ControlFlow::Break(())),
                Err(Hindrance::Unavailable(missing)) => missing,
                Err(Hindrance::Broken(reason)) => Unavailable::new(reason, SEE_DOCTOR),
            };
            return Err(RequiredBackendMissing { name: name.clone(), reason, fix });
        }
        Ok(ControlFlow::Continue(()))
    }

    /// That worker, started where there is none, ready for a request.
    pub(crate) fn ready(
        &mut self,
        id: &WorkerId,
        observer: &mut dyn Observer,
    ) -> Result<&mut Client, Hindrance> {
        let at = self.slot(id);
        let slot = &mut self.slots[at];
        loop {
            match &slot.state {
                State::Ready(_) | State::Missing(_) | State::Broken(_) => break,
                State::Absent => slot.launch(&self.place, &self.options),
                State::Starting(_) => {
                    observer.phase(&format!("starting {id}"));
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

    /// Gives that worker its turn: afterwards no worker is starting, and the one whose turn it was rests, so that neither
    /// disturbs what this one times.
    pub(crate) fn give_turn(&mut self, id: &WorkerId, observer: &mut dyn Observer) -> Result<(), Hindrance> {
        for slot in &mut self.slots {
            if matches!(slot.state, State::Starting(_)) {
                observer.phase(&format!("starting {}", slot.id));
                slot.settle(self.start_limit, self.stop)?;
            }
        }
        match self.at_work.replace(id.clone()) {
            Some(before) if before != *id => self.tell(&before, &Request::Rest, REST_LIMIT),
            _ => Ok(()),
        }
    }

    /// Sends a worker a request whose reply says nothing; one that does not reply within `limit` is lost.
    pub(crate) fn tell(
        &mut self,
        id: &WorkerId,
        request: &Request,
        limit: Duration,
    ) -> Result<(), Hindrance> {
        let stop = self.stop;
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.id == *id) else { return Ok(()) };
        let State::Ready(client) = &mut slot.state else { return Ok(()) };
        client.send(request);
        match client.wait(Instant::now() + limit, stop, &mut |_| {}) {
            Ok(_) => Ok(()),
            Err(Loss::Interrupted) => Err(Hindrance::Interrupted),
            Err(Loss::TimedOut | Loss::Gone(_)) => {
                slot.state = State::Absent;
                Ok(())
            }
        }
    }

    /// Returns the number of the present worker; another one once it is lost.
    pub(crate) fn generation(&self, id: &WorkerId) -> u64 {
        self.find(id).map_or(0, |slot| if matches!(slot.state, State::Absent) { 0 } else { slot.generation })
    }

    pub(crate) fn timer_overhead(&self, id: &WorkerId) -> Option<TimerOverhead> {
        self.find(id)?.report.timer_overhead.clone()
    }

    fn find(&self, id: &WorkerId) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.id == *id)
    }

    /// Makes it a worker of the whole run.
    fn plan(&mut self, id: WorkerId) {
        let at = self.slot(&id);
        self.slots[at].is_planned = true;
    }

    /// Returns the position of the worker's slot, which is made where there is none.
    fn slot(&mut self, id: &WorkerId) -> usize {
        self.slots.iter().position(|slot| slot.id == *id).unwrap_or_else(|| {
            self.slots.push(Slot::new(id.clone()));
            self.slots.len() - 1
        })
    }

    /// Set once the user has asked to stop.
    pub(crate) fn stop(&self) -> &'static AtomicBool {
        self.stop
    }

    /// Lets a lost worker go; the next cell of its kind gets a new one.
    pub(crate) fn discard(&mut self, id: &WorkerId) {
        let at = self.slot(id);
        self.slots[at].state = State::Absent;
    }

    /// Ends a worker in good order and waits until it is gone; the next cell of its kind gets a new one.
    pub(crate) fn retire(&mut self, id: &WorkerId) {
        let at = self.slot(id);
        if let State::Ready(client) = std::mem::replace(&mut self.slots[at].state, State::Absent) {
            client.finish();
        }
    }

    /// Starts and greets each planned worker that loads no library and is not running; waits for none.
    pub(crate) fn start_absent(&mut self) {
        let planned = self.slots.iter_mut().filter(|slot| slot.is_planned && slot.id.library.is_none());
        for slot in planned.filter(|slot| matches!(slot.state, State::Absent)) {
            slot.launch(&self.place, &self.options);
        }
    }

    /// Returns the worker of each backend that describes it.
    pub(crate) fn describing(&self) -> Vec<WorkerId> {
        let planned = self.slots.iter().filter(|slot| slot.is_planned);
        let of_backend = |slot: &&Slot| slot.id == WorkerId::of_backend(&slot.id.backend);
        planned.filter(of_backend).map(|slot| slot.id.clone()).collect()
    }

    /// What the backend's peaks depend on besides the host, where that worker has reported it.
    pub(crate) fn peaks_depend_on(&self, id: &WorkerId) -> Option<&serde_json::Value> {
        self.find(id)?.peaks_depend_on.as_ref()
    }

    /// Returns the peaks of the backend that a worker serves, on fewer threads or with another library too.
    pub(crate) fn peaks(&self, id: &WorkerId) -> Option<&Peaks> {
        self.slots
            .iter()
            .filter(|slot| slot.id.backend == id.backend)
            .find_map(|slot| slot.report.peaks.as_ref())
    }

    /// Notes the peaks of a backend, next to what that worker said of it.
    pub(crate) fn note_peaks(&mut self, id: &WorkerId, peaks: Peaks) {
        let at = self.slot(id);
        self.slots[at].report.peaks = Some(peaks);
    }

    pub(crate) fn note_libraries(&mut self, id: &WorkerId, libraries: Vec<Finding>) {
        let at = self.slot(id);
        states::add_libraries(&mut self.slots[at].report, libraries);
    }

    pub(crate) fn states(&self) -> Vec<BackendState> {
        let planned = self.slots.iter().filter(|slot| slot.is_planned);
        states::merge(planned.map(|slot| (&slot.id, &slot.report)))
    }

    /// Ends every worker and returns the report's entries about backends.
    pub(crate) fn end(self) -> Vec<BackendState> {
        let states = self.states();
        let mut clients = vec![];
        for slot in self.slots {
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
