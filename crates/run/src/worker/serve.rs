//! Runs the worker's side of the protocol: answers requests with one backend.

use std::any::Any;
use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc;

use anyhow::Context;
use gpubench_backend::host::{process, threads};
use gpubench_backend::protocol::{Described, PROTOCOL_VERSION, Reply, Request};
use gpubench_backend::{Options, Registration, Registry};
use gpubench_report::error::{CellError, Unavailable};

use super::session::BackendSession;

/// Runs `gpubench worker NAME`: serves the backend of that name on standard input and output until `Exit`.
///
/// Ends immediately when standard input ends, so that a killed parent leaves no orphan.
pub fn main(name: &str, registry: Registry) -> ExitCode {
    let Err(error) = serve_stdin(name, registry) else { return ExitCode::SUCCESS };
    // If standard error is closed too, only the exit code remains.
    let _ = writeln!(io::stderr(), "gpubench worker: {error:#}");
    ExitCode::from(2)
}

fn serve_stdin(name: &str, registry: Registry) -> anyhow::Result<()> {
    let known = || registry.iter().map(|known| known.name).collect::<Vec<_>>().join(", ");
    let registration = registry
        .find(name)
        .with_context(|| format!("no backend is named {name}; choose one of {}", known()))?;
    // A panic prints one line with its location, which error messages quote; its text is in the reply.
    panic::set_hook(Box::new(|panic| {
        drop(writeln!(io::stderr(), "{}", panic.to_string().replace('\n', " ")))
    }));
    // The parent stops this process between its turns; if the parent is killed then, nobody else would continue it.
    process::continue_when_parent_ends();
    let mut output = process::claim_stdout().context("cannot reserve standard output for the protocol")?;
    let lines = lines_of_stdin().context("cannot read the requests")?;
    serve(registration, lines, &mut output).context("cannot answer the parent")
}

/// Returns the lines of standard input, read by a thread that ends the process when there are no more.
fn lines_of_stdin() -> io::Result<impl Iterator<Item = String>> {
    let (sender, receiver) = mpsc::channel();
    threads::spawn("requests", move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let last = matches!(serde_json::from_str(&line), Ok(Request::Exit));
            if sender.send(line).is_err() || last {
                return;
            }
        }
        // The parent is gone, so nobody else ends the processes that libraries have started.
        process::remove_leftovers(std::process::id());
        process::kill_own_group();
        process::exit_now(0);
    })?;
    Ok(receiver.into_iter())
}

/// Answers `requests` on `output` until `Exit` or the end of the requests.
///
/// # Errors
/// `output` cannot be written. Failures of a cell are replies.
pub fn serve(
    registration: &Registration,
    requests: impl Iterator<Item = String>,
    output: &mut impl Write,
) -> io::Result<()> {
    let mut session: Option<BackendSession> = None;
    for line in requests {
        let reply = match serde_json::from_str(&line) {
            Ok(Request::Exit) => break,
            Ok(request) => answer(registration, &mut session, request, output),
            Err(error) => failed(format!("cannot read the request ({error}): {line}"), false),
        };
        send(output, &reply)?;
    }
    Ok(())
}

/// Returns the final reply to one request. A panic becomes a failure that asks for a new worker.
fn answer(
    registration: &Registration,
    session: &mut Option<BackendSession>,
    request: Request,
    output: &mut impl Write,
) -> Reply {
    // If the parent is gone, sending the final reply fails.
    let mut notify = |phase: &str| drop(send(output, &Reply::Phase { phase: phase.into() }));
    let attempt = catch_unwind(AssertUnwindSafe(|| match request {
        Request::Describe => described(registration),
        Request::Hello { protocol, options } => Ok(hello(registration, session, protocol, &options)),
        Request::Prepare { job, cell, threads, picked, answer: _ } => {
            let attempt = started(session)?.prepare(job, &cell, threads, picked, &mut notify);
            Ok(attempt.unwrap_or_else(|error| refusal(error, true)))
        }
        Request::Measure { job, batch } => {
            notify("samples");
            started(session)?.measure(job, &batch)
        }
        Request::Verify { job, execute, alter: _, answer: _ } => {
            notify("verify");
            started(session)?.verify(job, execute)
        }
        Request::Release { job } => Ok(started(session)?.release(job)),
        Request::Rest => Ok(started(session)?.rest()),
        Request::Peaks => started(session)?.peaks(),
        Request::Doctor { options } => {
            require_threads(&options).map_err(CellError::Failed)?;
            Ok(Reply::Findings { findings: (registration.findings)(&options) })
        }
        Request::DescribeOps { .. } | Request::Judge { .. } => {
            Err(CellError::Failed("this backend has no operations of the user's own".into()))
        }
        Request::Exit => Err(CellError::Failed("exit is not answered".into())),
    }));
    match attempt {
        Ok(Ok(reply)) => reply,
        Ok(Err(error)) => refusal(error, false),
        Err(payload) => failed(format!("panicked: {}", panic_text(payload.as_ref())), true),
    }
}

fn hello(
    registration: &Registration,
    session: &mut Option<BackendSession>,
    protocol: u32,
    options: &Options,
) -> Reply {
    if protocol != PROTOCOL_VERSION {
        let reason = format!("the parent uses protocol {protocol}, this worker {PROTOCOL_VERSION}");
        return Reply::Unavailable { reason, fix: Some("use one build of gpubench for both".into()) };
    }
    *session = None;
    if let Err(error) = require_threads(options) {
        return failed(error, false);
    }
    match BackendSession::start(registration, options) {
        Ok(started) => session.insert(started).ready_reply(),
        Err(Unavailable { reason, fix }) => Reply::Unavailable { reason, fix },
    }
}

/// Checks that this process and one library can start their threads, without which some libraries hang or end the process.
fn require_threads(options: &Options) -> Result<(), String> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    threads::require(2 * options.threads.unwrap_or(available)).map_err(|error| error.to_string())
}

fn described(registration: &Registration) -> Result<Reply, CellError> {
    let variants = (registration.variants)(&Options::default());
    let variants =
        variants.map_err(|error| CellError::Failed(format!("{}: {error:#}", registration.name)))?;
    let (name, summary) = (registration.name.to_owned(), registration.summary.to_owned());
    Ok(Reply::Described(Described { name, summary, variants }))
}

fn started(session: &mut Option<BackendSession>) -> Result<&mut BackendSession, CellError> {
    session
        .as_mut()
        .ok_or_else(|| CellError::Failed("the backend has not been started; send hello first".into()))
}

/// Returns the reply to a cell that could not run. While it is `preparing`, the parent may free memory that other jobs hold.
fn refusal(error: CellError, preparing: bool) -> Reply {
    match error {
        CellError::Unavailable(Unavailable { reason, fix }) => Reply::Skipped { reason, fix, crowded: false },
        CellError::OutOfMemory { .. } => {
            let fix = Some("choose a smaller size".into());
            Reply::Skipped { reason: error.to_string(), fix, crowded: preparing }
        }
        CellError::Failed(reason) => failed(reason, false),
        CellError::DeviceLost(reason) => failed(reason, true),
    }
}

fn failed(reason: String, device_lost: bool) -> Reply {
    Reply::Failed { reason, device_lost }
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

fn send(output: &mut impl Write, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_string(reply).map_err(io::Error::other)?;
    line.push('\n');
    output.write_all(line.as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replies(requests: &[&str]) -> Vec<Reply> {
        let mut output = vec![];
        let lines = requests.iter().map(|line| (*line).to_owned());
        serve(&gpubench_backend::sim::REGISTRATION, lines, &mut output).unwrap();
        String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_line_that_is_no_request_is_a_failure_and_not_the_end() {
        let options = r#"{"device":0,"ops":[],"dtypes":[]}"#;
        let doctor = format!(r#"{{"type":"doctor","options":{options}}}"#);
        let replies = replies(&["nonsense", r#"{"type":"dance"}"#, &doctor]);
        assert!(
            matches!(&replies[0], Reply::Failed { reason, device_lost: false } if reason.contains("nonsense"))
        );
        assert!(matches!(&replies[1], Reply::Failed { reason, .. } if reason.contains("dance")));
        assert!(matches!(&replies[2], Reply::Findings { .. }));
    }

    #[test]
    fn requests_out_of_order_and_another_version_of_the_protocol_are_refused_in_words() {
        let measure = r#"{"type":"measure","job":1,"batch":{"samples":5,"max_s":2.0}}"#;
        let hello = r#"{"type":"hello","protocol":99,"options":{"device":0,"ops":[],"dtypes":[]}}"#;
        let replies = replies(&[measure, hello]);
        assert!(matches!(&replies[1], Reply::Failed { reason, .. } if reason.contains("send hello first")));
        assert!(matches!(&replies[2], Reply::Unavailable { reason, .. } if reason.contains("99")));
    }
}
