//! Manages the workers of a run: starts them, gives them turns, replaces lost ones, gives up those that cannot start.

mod slot;
pub(crate) mod states;

use std::time::{Duration, Instant};

use gpubench_backend::WorkerId;
use gpubench_backend::protocol::Request;
use gpubench_backend::{Options, Peaks, Side};
use gpubench_report::error::Unavailable;
use gpubench_report::report::{BackendState, Outcome};

use super::RunSpec;
use super::interrupt::{Stop, Watch};
use crate::observe::{Observer, Silent};
use crate::worker::Launcher;
use crate::worker::client::{Client, WaitError};
use slot::{Slot, WorkerState};
pub(crate) use slot::{format_duration, start_limit};

pub(crate) const SEE_DOCTOR: &str = "run `gpubench doctor` to see what is missing";

pub(crate) const NO_ANSWER: &str = "the worker sent a reply that does not match the request";

/// Time limit for a worker to free the memory that it does not need between its turns.
const REST_LIMIT: Duration = Duration::from_secs(10);

/// A backend required with `--require` cannot start, so the run does not begin.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the required backend {name} is unavailable: {reason}{}", fix.as_ref().map(|fix| format!(" ({fix})")).unwrap_or_default())]
pub struct RequiredBackendMissing {
    /// The backend.
    pub name: String,
    /// The reason that it cannot start.
    pub reason: String,
    /// The step that would fix it.
    pub fix: Option<String>,
}

/// The user has ended the run.
#[derive(Debug, thiserror::Error)]
#[error("the user has ended the run")]
pub(crate) struct Interrupted;

/// The reason that a worker cannot be had, with the outcome of its cells: skipped if something that the backend needs is
/// missing, failed if the worker crashes, hangs or fails at every start.
#[derive(Clone)]
pub(crate) struct NoWorker {
    pub(crate) outcome: Outcome,
    pub(crate) cause: Unavailable,
}

pub(crate) struct Workers {
    slots: Vec<Slot>,
    at_work: Option<WorkerId>,
    launcher: Launcher,
    options: Options,
    start_limit: Duration,
    stop: &'static Stop,
}

impl Workers {
    /// Starts the workers that load no library, without waiting for them. Every backend of the plan and every required
    /// one has such a worker on all threads, which describes it. Workers with a library start when their first cell is
    /// prepared: one after the other, while nothing is timed.
    pub(crate) fn start(run: &RunSpec, launcher: Launcher, stop: &'static Stop) -> Self {
        let mut workers = Workers {
            slots: vec![],
            at_work: None,
            launcher,
            options: run.options.clone(),
            start_limit: start_limit(run.cell_timeout),
            stop,
        };
        for planned in &run.cells {
            workers.slot(&WorkerId::of_backend(&planned.cell.backend)).is_planned = true;
            workers.slot(&planned.worker()).is_planned = true;
        }
        for name in &run.require {
            workers.slot(&WorkerId::of_backend(name)).is_planned = true;
        }
        workers.start_absent();
        workers
    }

    /// Waits for the required backends; the inner error names the first that cannot start.
    pub(crate) fn require(
        &mut self,
        names: &[String],
        observer: &mut dyn Observer,
    ) -> Result<Result<(), RequiredBackendMissing>, Interrupted> {
        for name in names {
            if let Err(NoWorker { cause, .. }) = self.ready(&WorkerId::of_backend(name), observer)? {
                let Unavailable { reason, fix } = cause;
                return Ok(Err(RequiredBackendMissing { name: name.clone(), reason, fix }));
            }
        }
        Ok(Ok(()))
    }

    /// Returns that worker ready for a request. Starts it if necessary, and waits for its start up to the limit.
    pub(crate) fn ready(
        &mut self,
        id: &WorkerId,
        observer: &mut dyn Observer,
    ) -> Result<Result<&mut Client, NoWorker>, Interrupted> {
        let at = self.position(id);
        let slot = &mut self.slots[at];
        loop {
            match &slot.state {
                WorkerState::Ready(_) | WorkerState::Unavailable(_) => break,
                WorkerState::Absent => slot.launch(&self.launcher, &self.options),
                WorkerState::Starting(_) => {
                    slot.settle(self.start_limit, self.stop, observer)?;
                }
            }
        }
        match &mut slot.state {
            WorkerState::Ready(client) => Ok(Ok(client)),
            WorkerState::Unavailable(no_worker) => Ok(Err(no_worker.clone())),
            WorkerState::Absent | WorkerState::Starting(_) => Err(Interrupted),
        }
    }

    /// Gives that worker its turn. Afterwards no worker is starting and the previous one is stopped, so that
    /// neither disturbs the timing: threads of BLAS and OpenMP libraries spin for up to 200 ms after their work.
    pub(crate) fn give_turn(
        &mut self,
        id: &WorkerId,
        observer: &mut dyn Observer,
    ) -> Result<(), Interrupted> {
        for slot in &mut self.slots {
            slot.settle(self.start_limit, self.stop, observer)?;
        }
        let Some(before) = self.at_work.replace(id.clone()).filter(|before| before != id) else {
            return Ok(());
        };
        self.request(&before, &Request::Rest, REST_LIMIT)?;
        if let WorkerState::Ready(client) = &mut self.slot(&before).state {
            client.stop();
        }
        Ok(())
    }

    /// Sends a worker a request whose reply has no content. A worker that does not reply within `limit` is lost.
    pub(crate) fn request(
        &mut self,
        id: &WorkerId,
        request: &Request,
        limit: Duration,
    ) -> Result<(), Interrupted> {
        let stop = self.stop;
        let slot = self.slot(id);
        let WorkerState::Ready(client) = &mut slot.state else { return Ok(()) };
        client.send(request);
        match client.wait(Instant::now() + limit, &|| stop.is_urgent(), &mut |_| {}) {
            Ok(_) => Ok(()),
            Err(WaitError::Interrupted) => Err(Interrupted),
            Err(WaitError::TimedOut | WaitError::Gone(_)) => {
                slot.state = WorkerState::Absent;
                Ok(())
            }
        }
    }

    pub(crate) fn release(&mut self, id: &WorkerId, job: u64, limit: Duration) -> Result<(), Interrupted> {
        self.slot(id).jobs.remove(&job);
        self.request(id, &Request::Release { job }, limit)
    }

    pub(crate) fn holds(&self, id: &WorkerId, job: u64) -> bool {
        self.slots.iter().any(|slot| slot.id == *id && slot.is_ready() && slot.jobs.contains(&job))
    }

    pub(crate) fn held_jobs(&self) -> Vec<(WorkerId, u64)> {
        let live = self.slots.iter().filter(|slot| slot.is_ready());
        live.flat_map(|slot| slot.jobs.iter().map(|job| (slot.id.clone(), *job))).collect()
    }

    /// Returns the worker's slot, and adds one if necessary.
    pub(crate) fn slot(&mut self, id: &WorkerId) -> &mut Slot {
        let at = self.position(id);
        &mut self.slots[at]
    }

    fn position(&mut self, id: &WorkerId) -> usize {
        self.slots.iter().position(|slot| slot.id == *id).unwrap_or_else(|| {
            self.slots.push(Slot::new(id.clone()));
            self.slots.len() - 1
        })
    }

    /// Returns whether another program serves the backend, so that this process judges its answers.
    pub(crate) fn is_external(&self, backend: &str) -> bool {
        self.launcher.is_external(backend)
    }

    pub(crate) fn stop(&self) -> &'static Stop {
        self.stop
    }

    /// Drops a lost worker; its next cell starts a new one.
    pub(crate) fn discard(&mut self, id: &WorkerId) {
        self.slot(id).state = WorkerState::Absent;
    }

    /// Ends a worker cleanly and waits for its exit; its next cell starts a new one.
    pub(crate) fn retire(&mut self, id: &WorkerId) {
        if let WorkerState::Ready(client) = std::mem::replace(&mut self.slot(id).state, WorkerState::Absent) {
            client.finish();
        }
    }

    /// Starts each planned worker that loads no library and is not running, without waiting.
    pub(crate) fn start_absent(&mut self) {
        let planned = self.slots.iter_mut().filter(|slot| slot.is_planned && slot.id.library.is_none());
        for slot in planned.filter(|slot| matches!(slot.state, WorkerState::Absent)) {
            slot.launch(&self.launcher, &self.options);
        }
    }

    /// Waits until every worker that is starting has started or failed.
    pub(crate) fn await_started(&mut self, observer: &mut dyn Observer) -> Result<(), Interrupted> {
        self.describing().iter().try_for_each(|id| self.ready(id, observer).map(drop))
    }

    /// Returns the worker of each backend that describes it.
    pub(crate) fn describing(&self) -> Vec<WorkerId> {
        let planned = self.slots.iter().filter(|slot| slot.is_planned);
        let of_backend = |slot: &&Slot| slot.id == WorkerId::of_backend(&slot.id.backend);
        planned.filter(of_backend).map(|slot| slot.id.clone()).collect()
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        let clients = self.slots.iter().filter_map(|slot| match &slot.state {
            WorkerState::Ready(client) | WorkerState::Starting(client) => Some(client.process()),
            WorkerState::Absent | WorkerState::Unavailable(_) => None,
        });
        clients.collect()
    }

    /// Returns the peaks of the hardware on which a worker's cells of that side run, on fewer threads or with another library
    /// too. For an external worker these are the peaks of gpubench's own backend.
    pub(crate) fn peaks(&self, id: &WorkerId, side: Side) -> Option<&Peaks> {
        let backend = match (self.is_external(&id.backend), side) {
            (false, _) => id.backend.as_str(),
            (true, Side::Cpu) => "cpu",
            (true, Side::Gpu) => "cuda",
        };
        self.slots
            .iter()
            .filter(|slot| slot.id.backend == backend)
            .find_map(|slot| slot.report.peaks.as_ref())
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
            // A worker that is not ready is busy or lost; dropping it kills it.
            if let WorkerState::Ready(mut client) = slot.state {
                client.send_exit();
                clients.push(client);
            }
        }
        clients.into_iter().for_each(Client::finish);
        states
    }
}

/// Counts the devices of `backend`: `device_count` of its description, or 1. Devices are numbered from 0. A short-lived worker
/// counts them, since the parent process itself uses no device.
///
/// # Errors
/// The backend cannot start, its worker fails or takes longer than any start may, or the user has asked to stop.
pub fn device_count(
    backend: &str,
    launcher: &Launcher,
    options: &Options,
    watch: &Watch,
) -> Result<u32, Unavailable> {
    // Without ops, the worker compiles nothing at its start.
    let options = Options { device: 0, ops: vec![], sizes: [].into(), ..options.clone() };
    let interrupted = || Unavailable::new("it was interrupted", SEE_DOCTOR);
    let mut slot = Slot::new(WorkerId::of_backend(backend));
    while matches!(slot.state, WorkerState::Absent) {
        slot.launch(launcher, &options);
        let settled = slot.settle(start_limit(Duration::ZERO), watch.stop(), &mut Silent);
        settled.map_err(|Interrupted| interrupted())?;
    }
    match slot.state {
        WorkerState::Ready(client) => {
            client.finish();
            let count = slot.report.description["device_count"].as_u64();
            Ok(count.and_then(|count| u32::try_from(count).ok()).unwrap_or(1))
        }
        WorkerState::Unavailable(NoWorker { cause, .. }) => Err(cause),
        WorkerState::Absent | WorkerState::Starting(_) => Err(interrupted()),
    }
}
