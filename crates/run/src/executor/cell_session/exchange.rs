//! Sends one request about a cell, waits for its reply within the cell's time limit, and judges what an external worker
//! replies.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Instant;

use gpubench_backend::host::threads;
use gpubench_backend::protocol::{Reply, Request};
use gpubench_report::report::Outcome;

use super::super::PlannedCell;
use super::super::cell_run::CellRun;
use super::super::plausible::{implausible, implausible_phases};
use super::super::workers::format_duration;
use super::{CellSession, SessionEnd, Steps, closed};
use crate::worker::client::WaitError;

impl CellSession<'_> {
    /// Sends a request and waits for its reply within the time left of the cell's limit.
    pub(super) fn exchange(&mut self, cell_run: &mut CellRun<'_>, request: &Request) -> Steps<Reply> {
        let stop = self.workers.stop();
        let Ok(client) = self.workers.ready(&cell_run.worker, self.observer)? else {
            return Err(SessionEnd::Interrupted);
        };
        let start = Instant::now();
        client.send(request);
        // The phase of a worker that announces none.
        let mut phase = phase_text(match request {
            Request::Measure { .. } => "samples",
            Request::Verify { .. } => "verify",
            _ => "prepare",
        });
        let observer = &mut *self.observer;
        let reply = client.wait(start + cell_run.left, &|| stop.is_urgent(), &mut |begun| {
            phase = phase_text(begun);
            observer.phase(begun);
        });
        // What follows is this process's own work: a program is not late by it, and it may be stopped here, too.
        cell_run.left = cell_run.left.saturating_sub(start.elapsed().saturating_sub(client.stopped_for));
        let reply = match reply {
            Ok(reply) if self.workers.is_external(&cell_run.worker.backend) => {
                Ok(self.reply_of_external(cell_run, request, reply, start.elapsed().as_secs_f64()))
            }
            reply => reply,
        };
        reply.map_err(|loss| {
            let reason = match loss {
                WaitError::Interrupted => return SessionEnd::Interrupted,
                WaitError::TimedOut => {
                    let limit = format_duration(self.limit);
                    format!("timed out after {limit} {phase} (raise --cell-timeout){}", threads::shortage())
                }
                WaitError::Gone(how) => format!("{how} ({phase})"),
            };
            SessionEnd::Lost(reason)
        })
    }

    /// Returns the reply of a worker that judges itself, from that of an external one, which took `took_s`.
    fn reply_of_external(
        &mut self,
        cell_run: &CellRun<'_>,
        request: &Request,
        reply: Reply,
        took_s: f64,
    ) -> Reply {
        let PlannedCell { cell, variant, .. } = cell_run.planned;
        let impossible = match (&reply, request) {
            (Reply::Answered(answered), _) => {
                answered.phases.as_ref().and_then(|phases| implausible_phases(phases, took_s))
            }
            (Reply::Measured { clock, result }, Request::Measure { batch, .. }) => {
                implausible((&cell.case, variant.side), batch.samples, (*clock, result), took_s)
            }
            (
                Reply::Prepared { .. } | Reply::Incorrect { .. } | Reply::Verified | Reply::Refuted { .. },
                _,
            ) => Some(JUDGED_ITSELF.into()),
            _ => None,
        };
        match (impossible, reply) {
            (Some(reason), _) => Reply::Failed { reason, device_lost: false },
            (None, Reply::Answered(answered)) => self.judge.judged(request, (&cell.case, variant), *answered),
            (None, other) => other,
        }
    }

    pub(super) fn is_external(&self, cell_run: &CellRun<'_>) -> bool {
        self.workers.is_external(&cell_run.worker.backend)
    }

    /// Returns a new file for the cell's next answer, if its worker is external.
    pub(super) fn answer_file(&mut self, cell_run: &mut CellRun<'_>) -> Steps<Option<PathBuf>> {
        if !self.is_external(cell_run) {
            return Ok(None);
        }
        self.judge.new_file().map(Some).map_err(|reason| closed(cell_run, Outcome::Failed, reason))
    }
}

const JUDGED_ITSELF: &str =
    "it judged its own answer, which only workers of gpubench do; reply with `answered`";

/// Describes where in a cell's run a failure happened, from the phase that its worker announced last.
fn phase_text(phase: &str) -> Cow<'static, str> {
    match phase {
        "inputs" => "while generating its inputs".into(),
        "prepare" => "in its preparation".into(),
        "first" => "in its first execution".into(),
        "threads" => "while choosing its number of threads".into(),
        "check" => "while checking its answer".into(),
        "samples" => "while sampling".into(),
        "verify" => "while verifying timed answers".into(),
        other => format!("in phase {other}").into(),
    }
}
