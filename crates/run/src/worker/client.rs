//! Starts a worker, exchanges messages with it under deadlines, and reports how it ended.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gpubench_backend::host::threads;
use gpubench_backend::protocol::{Reply, Request};
use gpubench_backend::{Program, WorkerId};

use super::leader::{Leader, end_of};
use super::output::{Received, is_final, keep_last_lines, send_replies, send_replies_of_python};

/// Interval at which a wait checks whether the user ended the run.
const POLL: Duration = Duration::from_millis(100);
/// Delay of a check after which this process must have been stopped meanwhile, as Ctrl-Z or a debugger does.
const LONG_DELAY: Duration = Duration::from_secs(1);
const EXIT_LIMIT: Duration = Duration::from_secs(3);

/// Number of replies that may wait to be read before the reader waits too. Each may be large.
const UNREAD_REPLIES: usize = 8;

/// The reason that no reply came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitError {
    /// The deadline has passed while the worker is still busy.
    TimedOut,
    /// The worker has ended or sent an invalid line; described in one line.
    Gone(String),
    /// The user ended the run.
    Interrupted,
}

/// A running worker. Dropping it kills its process group.
pub struct Client {
    name: String,
    leader: Leader,
    stderr: JoinHandle<()>,
    /// Takes the lines that a thread writes to the worker, so that a worker which does not read cannot block this process.
    /// `None` once its input is closed.
    lines: Option<Sender<String>>,
    replies: Receiver<Received>,
    last_lines: Arc<Mutex<VecDeque<String>>>,
    /// True if it sent a reply that no request asked for, so that replies no longer belong to requests.
    is_out_of_step: bool,
    started: Instant,
    replied: Instant,
    /// Time for which this process was stopped during the last wait. It does not count towards a limit.
    pub(crate) stopped_for: Duration,
}

impl Client {
    /// Starts `program` as a worker. The caller sends `Hello` next.
    pub(super) fn start(id: &WorkerId, program: &Program) -> io::Result<Self> {
        let (sender, replies) = sync_channel(UNREAD_REPLIES);
        let started = Instant::now();
        let (leader, (stdin, stdout, stderr)) = Leader::start(program)?;
        let lines = writer_of(stdin)?;
        if let Some(preface) = &program.preface {
            // The writer ends only with the program; the wait for its first reply reports how.
            let _ = lines.send(preface.to_string());
        }
        let send = if program.preface.is_some() { send_replies_of_python } else { send_replies };
        threads::spawn("replies", move || send(stdout, &sender))?;
        let last_lines = Arc::default();
        let kept = Arc::clone(&last_lines);
        let stderr = threads::spawn("stderr", move || keep_last_lines(stderr, &kept))?;
        Ok(Client {
            name: id.to_string(),
            leader,
            stderr,
            lines: Some(lines),
            replies,
            last_lines,
            is_out_of_step: false,
            started,
            replied: started,
            stopped_for: Duration::ZERO,
        })
    }

    /// Returns the time of its start.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Returns the number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.leader.id()
    }

    /// Returns the arrival time of its last final reply, which may be long before the wait for it.
    pub(crate) fn replied(&self) -> Instant {
        self.replied
    }

    /// Sends a request. If the worker is gone, the wait for the reply reports it.
    pub fn send(&mut self, request: &Request) {
        self.leader.go_on();
        self.is_out_of_step |= self.replies.try_iter().any(|found| is_final(&found.reply));
        if let (Some(lines), Ok(line)) = (&self.lines, serde_json::to_string(request)) {
            // An error here means that the worker has closed its end: the wait reports how it ended.
            let _ = lines.send(line);
        }
    }

    /// Stops its process until the next request, so that threads which spin after their work take no CPU time from another
    /// worker.
    pub(crate) fn stop(&mut self) {
        self.leader.stop();
    }

    /// Waits for the final reply to the last request, until `deadline` or until `is_over`. The deadline moves by the time for
    /// which this process is stopped. `on_phase` is called for each phase that begins.
    pub fn wait(
        &mut self,
        deadline: Instant,
        is_over: &dyn Fn() -> bool,
        on_phase: &mut dyn FnMut(&str),
    ) -> Result<Reply, WaitError> {
        if self.is_out_of_step {
            return Err(WaitError::Gone(format!("the {} worker sent a reply to no request", self.name)));
        }
        let (mut had_ended, mut checked) = (false, Instant::now());
        self.stopped_for = Duration::ZERO;
        loop {
            if is_over() {
                return Err(WaitError::Interrupted);
            }
            let left = (deadline + self.stopped_for).saturating_duration_since(checked);
            let received = self.replies.recv_timeout(left.min(POLL));
            // The reply may have come while this process was stopped.
            self.stopped_for +=
                Some(checked.elapsed()).filter(|delay| *delay > LONG_DELAY).unwrap_or_default();
            checked = Instant::now();
            match received {
                Ok(Received { reply: Ok(Reply::Phase { .. }), .. }) if left.is_zero() => {
                    return Err(WaitError::TimedOut);
                }
                Ok(Received { reply: Ok(Reply::Phase { phase }), .. }) => on_phase(&phase),
                Ok(Received { at, reply, is_followed }) => {
                    self.replied = at;
                    self.is_out_of_step |= is_followed;
                    return reply.map_err(WaitError::Gone);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(WaitError::TimedOut),
                // A child of an ended worker may keep its output open. A reply may be on its way for one more interval.
                Err(RecvTimeoutError::Timeout)
                    if self.leader.has_ended() && std::mem::replace(&mut had_ended, true) =>
                {
                    return Err(WaitError::Gone(self.how_it_ended()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(WaitError::Gone(self.how_it_ended())),
            }
        }
    }

    /// Waits for the final reply to a request outside of a run.
    ///
    /// # Errors
    /// In one line: the worker has failed or ended, or did not reply within `limit`.
    pub fn reply(&mut self, limit: Duration) -> Result<Reply, String> {
        match self.wait(Instant::now() + limit, &|| false, &mut |_| {}) {
            Ok(Reply::Failed { reason, .. }) | Err(WaitError::Gone(reason)) => Err(reason),
            Ok(reply) => Ok(reply),
            Err(WaitError::TimedOut | WaitError::Interrupted) => {
                Err(format!("it did not reply within {} s", limit.as_secs()))
            }
        }
    }

    /// Asks the worker to exit cleanly; [`Client::finish`] waits for its exit.
    pub(crate) fn send_exit(&mut self) {
        self.send(&Request::Exit);
        self.lines = None;
    }

    /// Asks the worker to exit and waits briefly for its exit.
    pub fn finish(mut self) {
        self.send_exit();
        self.leader.end(EXIT_LIMIT);
    }

    fn how_it_ended(&mut self) -> String {
        let status = self.leader.end(Duration::from_secs(1));
        // The thread ends when standard error closes, which a child of the worker may keep open.
        let patience = Instant::now() + Duration::from_millis(200);
        while !self.stderr.is_finished() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(2));
        }
        let how = status.map_or_else(|| "closed its output".into(), end_of);
        let said =
            self.last_lines.lock().map(|lines| Vec::from(lines.clone()).join(" | ")).unwrap_or_default();
        let said = if said.is_empty() { said } else { format!("; its last output: {said}") };
        format!("the {} worker {how}{said}", self.name)
    }
}

/// Returns a sender of lines for a thread that writes them to `sink` until the sender is dropped or an error occurs.
fn writer_of(mut sink: impl Write + Send + 'static) -> io::Result<Sender<String>> {
    let (sender, lines) = channel::<String>();
    threads::spawn("requests", move || {
        for mut line in lines {
            line.push('\n');
            if sink.write_all(line.as_bytes()).and_then(|()| sink.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok(sender)
}
