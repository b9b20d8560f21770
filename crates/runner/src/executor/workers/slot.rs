//! Keeps the state of one worker in a run: its current process and its entry in the report.

use std::time::{Duration, Instant};

use gpubench_backend::Options;
use gpubench_backend::WorkerId;
use gpubench_backend::protocol::{PROTOCOL_VERSION, Reply, Request};
use gpubench_host::threads;
use gpubench_model::error::Unavailable;
use gpubench_model::report::{BackendState, TimeSpent};

use super::super::interrupt::Stop;
use super::{SEE_DOCTOR, WorkerUnavailable};
use crate::observe::Observer;
use crate::worker::client::{Client, WaitError};
use crate::worker::launcher::Launcher;

/// Number of consecutive failed starts after which a backend is given up.
const START_ATTEMPTS: u32 = 3;

/// Wait for a start after which the run goes on with the cells of other workers.
const SLOW_START: Duration = Duration::from_secs(10);
/// The same for a worker that replaces a lost one, as a multiple of the time of its first start, if that is longer.
const SLOW_RESTART: f64 = 2.0;

pub(crate) enum State {
    /// No worker: it was not started, or it is lost.
    Absent,
    /// `Hello` was sent.
    Starting(Client),
    /// The same, for so long that the run goes on with the cells of other workers.
    Slow(Client),
    /// It waits for requests.
    Ready(Client),
    Missing(Unavailable),
    /// The worker does not start.
    Broken(String),
}

pub(crate) struct Slot {
    pub id: WorkerId,
    /// True if the run has cells for it, or requires it; others only measure peaks.
    pub(crate) is_planned: bool,
    pub state: State,
    /// Number of workers started here so far, which shows whether the current one still holds its jobs.
    pub generation: u64,
    failed_starts: u32,
    /// True once a line has reported that it is slow to start.
    reported_slow: bool,
    pub report: BackendState,
    /// True if its peaks could not be measured before the first cell because it was slow to start.
    pub(crate) awaits_peaks: bool,
    /// True if cells of other workers were measured while it was slow to start.
    pub(crate) overlapped: bool,
    /// State that its peaks depend on besides the host, as its worker reported it.
    pub peaks_depend_on: Option<serde_json::Value>,
}

impl Slot {
    pub(crate) fn new(id: WorkerId) -> Self {
        let report = BackendState {
            name: id.report_name(),
            reason: Some("the worker was still starting".into()),
            ..BackendState::default()
        };
        Slot {
            id,
            is_planned: false,
            state: State::Absent,
            generation: 0,
            failed_starts: 0,
            reported_slow: false,
            report,
            awaits_peaks: false,
            overlapped: false,
            peaks_depend_on: None,
        }
    }

    /// Starts a worker and sends `Hello`, without waiting.
    pub(crate) fn launch(&mut self, launcher: &Launcher, options: &Options) {
        self.generation += 1;
        let (threads, library) = (self.id.threads.or(options.threads), self.id.library.clone());
        let options = Options { threads, library, ..options.clone() };
        match launcher.start(&self.id) {
            Ok(mut client) => {
                client.send(&Request::Hello { protocol: PROTOCOL_VERSION, options });
                self.state = State::Starting(client);
            }
            Err(error) => self.failed_start(format!("the worker could not be started: {error}")),
        }
    }

    /// Waits for a starting worker, and adds the wait to `spent`: up to `limit` if `is_patient`, otherwise until it counts as
    /// slow. Afterwards it is ready, slow, given up, or absent with one more failed start.
    pub(crate) fn settle(
        &mut self,
        limit: Duration,
        is_patient: bool,
        stop: &Stop,
        spent: &mut TimeSpent,
        observer: &mut dyn Observer,
    ) -> Result<(), WorkerUnavailable> {
        let mut client = match std::mem::replace(&mut self.state, State::Absent) {
            State::Starting(client) | State::Slow(client) => client,
            settled => {
                self.state = settled;
                return Ok(());
            }
        };
        let (startup, begun) = (client.started(), Instant::now());
        observer.phase(&format!("starting {}", self.id));
        let is_over = || stop.is_asked();
        let mut reply = client.wait(startup + self.patience(limit), &is_over, &mut |_| {});
        let mut is_slow = matches!(reply, Err(WaitError::TimedOut));
        if is_slow && !std::mem::replace(&mut self.reported_slow, true) {
            observer.slow_start(&self.id.to_string(), &format_duration(limit), !is_patient);
        }
        if is_slow && (is_patient || startup.elapsed() >= limit) {
            reply = client.wait(startup + limit, &is_over, &mut |_| {});
            is_slow = false;
        }
        spent.starting_s += begun.elapsed().as_secs_f64();
        if is_slow {
            self.state = State::Slow(client);
            return Ok(());
        }
        match reply {
            Ok(Reply::Ready { description, timer_overhead, peaks_depend_on }) => {
                self.peaks_depend_on = peaks_depend_on;
                self.report.startup_s.get_or_insert((client.replied() - startup).as_secs_f64());
                self.report.available = true;
                self.report.reason = None;
                (self.report.description, self.report.timer_overhead) = (description, timer_overhead);
                self.failed_starts = 0;
                self.state = State::Ready(client);
            }
            Ok(Reply::Unavailable { reason, fix }) => {
                self.note_absence(&reason, fix.as_deref());
                self.state = State::Missing(Unavailable { reason, fix });
            }
            Ok(Reply::Failed { reason, .. }) => self.failed_start(reason),
            Ok(_) => self.failed_start("the worker sent an unexpected reply to hello".into()),
            // What hangs once, such as the start of a driver, hangs again.
            Err(WaitError::TimedOut) => {
                let limit = format_duration(limit);
                self.give_up(format!("the worker did not start within {limit}{}", threads::shortage()));
            }
            Err(WaitError::Gone(reason)) => self.failed_start(reason),
            Err(WaitError::Interrupted) => return Err(WorkerUnavailable::Interrupted),
        }
        Ok(())
    }

    /// Returns the time after which a start counts as slow. Half of the limit is left for the start to go on meanwhile.
    fn patience(&self, limit: Duration) -> Duration {
        let first_s = self.report.startup_s.unwrap_or(0.0);
        SLOW_START.max(limit.min(Duration::from_secs_f64(SLOW_RESTART * first_s))).min(limit / 2)
    }

    fn failed_start(&mut self, reason: String) {
        self.failed_starts += 1;
        self.state = State::Absent;
        if self.failed_starts >= START_ATTEMPTS {
            self.give_up(format!("the worker failed to start {} times: {reason}", self.failed_starts));
        }
    }

    fn give_up(&mut self, reason: String) {
        self.note_absence(&reason, Some(SEE_DOCTOR));
        self.state = State::Broken(reason);
    }

    fn note_absence(&mut self, reason: &str, fix: Option<&str>) {
        self.report.available = false;
        self.report.reason = Some(reason.into());
        self.report.fix = fix.map(str::to_owned);
    }
}

/// Formats a duration: in minutes if it is a whole number of at least two, otherwise in seconds.
pub(crate) fn format_duration(limit: Duration) -> String {
    let seconds = limit.as_secs_f64();
    if seconds >= 120.0 && limit.as_secs().is_multiple_of(60) {
        format!("{} min", limit.as_secs() / 60)
    } else {
        format!("{seconds} s")
    }
}
