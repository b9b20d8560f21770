//! A conversation with the program under test, of which every failure can quote the last request and its reply.

use std::io;
use std::time::{Duration, Instant};

use gpubench_backend::Options;
use gpubench_backend::protocol::{PROTOCOL_VERSION, Reply, Request};
use gpubench_report::measure::batch::Batch;
use gpubench_text::cut::shortened;
use serde_json::json;

use super::{Asked, CheckedStep, Failure};
use crate::worker::client::{Client, WaitError};
use crate::worker::start_alone;

const QUOTED_LETTERS: usize = 600;
/// A field that no message has; programs ignore it.
const UNKNOWN_FIELD: &str = r#""field-of-a-later-version":[{"ignore":true},null]"#;
/// Time limit of replies that need no computation.
pub(super) const SHORT_LIMIT: Duration = Duration::from_secs(10);

/// A running program, the last line sent to it, and its answer.
pub(super) struct Conversation {
    pub(super) client: Client,
    limit: Duration,
    sent: String,
    received: String,
    /// Seconds between the last request and its reply.
    pub(super) took_s: f64,
    /// True once it can take no further request.
    pub(super) is_over: bool,
}

impl Conversation {
    pub(super) fn start(asked: &Asked) -> io::Result<Self> {
        let client = start_alone("tested", &asked.program)?;
        let (sent, received) = (String::new(), String::new());
        Ok(Conversation { client, limit: asked.limit, sent, received, took_s: 0.0, is_over: false })
    }

    /// Sends a line and returns the final reply; a failure says that one of `types` was expected.
    pub(super) fn line(
        &mut self,
        line: &str,
        limit: Duration,
        types: &str,
        section: &'static str,
    ) -> CheckedStep<Reply> {
        self.sent = shortened(line, QUOTED_LETTERS);
        let start = Instant::now();
        self.client.send_line(line);
        let reply = self.client.wait(start + limit, &|| false, &mut |_| {});
        self.took_s = start.elapsed().as_secs_f64();
        self.received = match &reply {
            Ok(reply) => shortened(&serde_json::to_string(reply).unwrap_or_default(), QUOTED_LETTERS),
            Err(WaitError::Gone(how)) => how.replace("the tested worker", "the program"),
            Err(WaitError::TimedOut | WaitError::Interrupted) => {
                format!("nothing within {} s", limit.as_secs_f64())
            }
        };
        self.is_over |= reply.is_err();
        reply.map_err(|_| self.failure(format!("{types}, once, as one line of JSON"), section))
    }

    /// Sends a request, with a field that no version of the protocol has, and returns the final reply.
    pub(super) fn ask(&mut self, request: &Request, types: &str) -> CheckedStep<Reply> {
        self.ask_within(self.limit, request, types)
    }

    /// Does as [`Conversation::ask`], with a limit of its own.
    pub(super) fn ask_within(
        &mut self,
        limit: Duration,
        request: &Request,
        types: &str,
    ) -> CheckedStep<Reply> {
        let known = serde_json::to_string(request).unwrap_or_default();
        let line = format!("{},{UNKNOWN_FIELD}}}", known.strip_suffix('}').unwrap_or(&known));
        self.line(&line, limit, types, "Requests")
    }

    /// Starts the backend. Returns the reason if it is unavailable.
    pub(super) fn hello(&mut self) -> CheckedStep<Option<String>> {
        let request = Request::Hello { protocol: PROTOCOL_VERSION, options: Options::default() };
        match self.ask(&request, "ready or unavailable")? {
            Reply::Ready { description, .. } if description.is_object() => Ok(None),
            Reply::Ready { .. } => Err(self.unlike("a description that is a JSON object")),
            Reply::Unavailable { reason, fix } => {
                Ok(Some(fix.map_or(reason.clone(), |fix| format!("{reason} ({fix})"))))
            }
            _ => Err(self.refused("ready or unavailable")),
        }
    }

    /// Has the program release a job, which need not exist.
    pub(super) fn release(&mut self, job: u64) -> CheckedStep {
        match self.ask(&Request::Release { job }, "released")? {
            Reply::Released => Ok(()),
            _ => Err(self.refused("released, also if it holds no such job")),
        }
    }

    /// Returns the failure of the last request, where this was expected.
    pub(super) fn failure(&self, expected: impl Into<String>, section: &'static str) -> Box<Failure> {
        let (sent, received) = (self.sent.clone(), self.received.clone());
        Box::new(Failure { sent, received, problem: None, expected: expected.into(), section })
    }

    /// Returns the failure of the last request, whose reply is of another type.
    pub(super) fn refused(&self, expected: impl Into<String>) -> Box<Failure> {
        self.failure(expected, "Requests")
    }

    /// Returns the failure of the last request, whose reply has other fields.
    pub(super) fn unlike(&self, expected: impl Into<String>) -> Box<Failure> {
        self.failure(expected, "Fields of replies")
    }

    /// Sends `exit` and waits for the program's end.
    pub(super) fn exit(mut self, limit: Duration) -> CheckedStep {
        self.client.send(&Request::Exit);
        let done = json!({ "type": "exit" }).to_string();
        match self.client.ended_within(limit) {
            Some(how) if how == "exited with code 0" => Ok(()),
            how => Err(still_runs(how, done, limit, "Time limits and lost workers")),
        }
    }

    /// Closes the program's standard input and waits for its end.
    pub(super) fn close(mut self, done: &str, limit: Duration) -> CheckedStep {
        self.client.close_input();
        match self.client.ended_within(limit) {
            Some(_) => Ok(()),
            None => Err(still_runs(None, done.to_owned(), limit, "Rules")),
        }
    }
}

pub(super) fn few_samples(job: u64) -> Request {
    Request::Measure { job, batch: Batch { warm_up: None, samples: 1, max_s: 60.0 } }
}

/// Returns the failure of a program that ended otherwise than by code 0, or not at all.
fn still_runs(how: Option<String>, sent: String, limit: Duration, section: &'static str) -> Box<Failure> {
    let received = how.map_or_else(|| "it still runs".into(), |how| format!("it {how}"));
    let expected = format!("it exits with code 0 within {} s", limit.as_secs_f64());
    Box::new(Failure { sent, received, problem: None, expected, section })
}
