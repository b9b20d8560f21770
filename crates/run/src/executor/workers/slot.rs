//! Keeps the state of one worker in a run: its current process and its entry in the report.

use std::collections::BTreeSet;
use std::time::Duration;

use gpubench_backend::Options;
use gpubench_backend::WorkerId;
use gpubench_backend::host::threads;
use gpubench_backend::protocol::{PROTOCOL_VERSION, Reply, Request};
use gpubench_report::error::Unavailable;
use gpubench_report::report::{BackendState, Outcome};

use super::super::interrupt::Stop;
use super::{Interrupted, NoWorker, SEE_DOCTOR};
use crate::observe::Observer;
use crate::worker::Launcher;
use crate::worker::client::{Client, WaitError};

/// Number of consecutive failed starts after which a backend is given up.
const START_ATTEMPTS: u32 = 3;

/// Wait for a start after which the user learns of it, or half of the limit if that is less.
const SLOW_START: Duration = Duration::from_secs(10);

/// Minimum time limit for a worker's start, since creating a device's context can take seconds.
const MIN_START_LIMIT: Duration = Duration::from_secs(30);
/// Maximum time limit for a worker's start: a run waits for a driver that hangs until then.
const MAX_START_LIMIT: Duration = Duration::from_secs(60);
/// Environment variable with another time limit for a worker's start, in seconds.
const START_LIMIT_VARIABLE: &str = "GPUBENCH_START_LIMIT";

pub(crate) enum WorkerState {
    /// No worker: it was not started, or it is lost.
    Absent,
    /// `Hello` was sent.
    Starting(Client),
    /// It waits for requests.
    Ready(Client),
    Unavailable(NoWorker),
}

pub(crate) struct Slot {
    pub id: WorkerId,
    /// True if the run has cells for it, or requires it; others only measure peaks.
    pub(crate) is_planned: bool,
    pub state: WorkerState,
    pub(crate) jobs: BTreeSet<u64>,
    failed_starts: u32,
    pub report: BackendState,
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
            state: WorkerState::Absent,
            jobs: BTreeSet::new(),
            failed_starts: 0,
            report,
            peaks_depend_on: None,
        }
    }

    /// Starts a worker and sends `Hello`, without waiting.
    pub(crate) fn launch(&mut self, launcher: &Launcher, options: &Options) {
        self.jobs.clear();
        let (threads, library) = (self.id.threads.or(options.threads), self.id.library.clone());
        let options = Options { threads, library, ..options.clone() };
        match launcher.start(&self.id) {
            Ok(mut client) => {
                client.send(&Request::Hello { protocol: PROTOCOL_VERSION, options });
                self.state = WorkerState::Starting(client);
            }
            Err(error) => self.failed_start(format!("the worker could not be started: {error}")),
        }
    }

    /// Waits up to `limit` for a starting worker. Afterwards it is ready, given up, or absent
    /// with one more failed start.
    pub(crate) fn settle(
        &mut self,
        limit: Duration,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<(), Interrupted> {
        let mut client = match std::mem::replace(&mut self.state, WorkerState::Absent) {
            WorkerState::Starting(client) => client,
            settled => {
                self.state = settled;
                return Ok(());
            }
        };
        let startup = client.started();
        observer.phase(&format!("starting {}", self.id));
        let is_over = || stop.is_asked();
        let mut reply = client.wait(startup + SLOW_START.min(limit / 2), &is_over, &mut |_| {});
        if matches!(reply, Err(WaitError::TimedOut)) {
            observer.slow_start(&self.id.to_string(), &format_duration(limit));
            reply = client.wait(startup + limit, &is_over, &mut |_| {});
        }
        match reply {
            Ok(Reply::Ready { description, timer_overhead, peaks_depend_on }) => {
                self.peaks_depend_on = peaks_depend_on;
                self.report.startup_s.get_or_insert((client.replied() - startup).as_secs_f64());
                self.report.available = true;
                self.report.reason = None;
                (self.report.description, self.report.timer_overhead) = (description, timer_overhead);
                self.failed_starts = 0;
                self.state = WorkerState::Ready(client);
            }
            Ok(Reply::Unavailable { reason, fix }) => {
                self.give_up(Outcome::Skipped, Unavailable { reason, fix });
            }
            Ok(Reply::Failed { reason, .. }) => self.failed_start(reason),
            Ok(_) => self.failed_start("the worker sent an unexpected reply to hello".into()),
            // What hangs once, such as the start of a driver, hangs again.
            Err(WaitError::TimedOut) => {
                let limit = format_duration(limit);
                self.fail(format!("the worker did not start within {limit}{}", threads::shortage()));
            }
            Err(WaitError::Gone(reason)) => self.failed_start(reason),
            Err(WaitError::Interrupted) => return Err(Interrupted),
        }
        Ok(())
    }

    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.state, WorkerState::Ready(_))
    }

    fn failed_start(&mut self, reason: String) {
        self.failed_starts += 1;
        self.state = WorkerState::Absent;
        if self.failed_starts >= START_ATTEMPTS {
            self.fail(format!("the worker failed to start {} times: {reason}", self.failed_starts));
        }
    }

    fn fail(&mut self, reason: String) {
        self.give_up(Outcome::Failed, Unavailable::new(reason, SEE_DOCTOR));
    }

    fn give_up(&mut self, outcome: Outcome, cause: Unavailable) {
        let Unavailable { reason, fix } = cause.clone();
        (self.report.available, self.report.reason, self.report.fix) = (false, Some(reason), fix);
        self.state = WorkerState::Unavailable(NoWorker { outcome, cause });
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

/// Returns the time limit for a worker's start: that of a cell within the bounds above, unless the user has set another.
pub(crate) fn start_limit(cell_timeout: Duration) -> Duration {
    let set = std::env::var(START_LIMIT_VARIABLE).ok().and_then(|seconds| parse_limit(&seconds));
    set.unwrap_or_else(|| cell_timeout.clamp(MIN_START_LIMIT, MAX_START_LIMIT))
}

fn parse_limit(seconds: &str) -> Option<Duration> {
    let seconds = seconds.parse().ok().filter(|seconds| *seconds > 0.0)?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_may_take_as_long_as_a_cell_within_bounds() {
        let limit = |seconds| start_limit(Duration::from_secs(seconds)).as_secs();
        assert_eq!([limit(1), limit(45), limit(300)], [30, 45, 60]);
    }

    #[test]
    fn only_a_positive_number_of_seconds_sets_another_limit() {
        assert_eq!(parse_limit("2.5"), Some(Duration::from_millis(2500)));
        for text in ["", "0", "-1", "nan", "inf", "1e300", "2m"] {
            assert_eq!(parse_limit(text), None, "{text}");
        }
    }
}
