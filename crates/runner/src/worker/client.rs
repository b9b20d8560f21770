//! Starts a worker, exchanges messages with it under deadlines, and reports how it ended.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, Once};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gpubench_backend::protocol::{Reply, Request};
use gpubench_backend::{Program, Registration, WorkerId};

use super::launcher::Place;
use super::leader::{Leader, end_of};
use super::output::{TimedReply, keep_last_lines, send_replies};
use super::serve;

/// Interval at which a wait checks whether the user ended the run.
const POLL: Duration = Duration::from_millis(100);
/// Time limit for a worker's exit, after which it is killed.
const EXIT_LIMIT: Duration = Duration::from_secs(3);
/// Stack of a worker's thread: LAPACK libraries recurse with large frames and expect that of a main thread.
const STACK_BYTES: usize = 64 << 20;

/// Number of replies that may wait to be read before the reader waits too.
const UNREAD_REPLIES: usize = 1024;
const THREAD_PREFIX: &str = "worker-";

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

enum Link {
    Process { leader: Leader, stdin: Option<ChildStdin>, stderr: Option<JoinHandle<()>> },
    Thread { requests: Option<PipeWriter> },
}

/// A running worker. Dropping it kills its process group.
pub struct Client {
    name: String,
    link: Link,
    replies: Receiver<TimedReply>,
    last_lines: Arc<Mutex<VecDeque<String>>>,
    /// True if it sent a reply that no request asked for, so that replies no longer belong to requests.
    is_out_of_step: bool,
    started: Instant,
    replied: Instant,
}

impl Client {
    /// Starts a worker in `place`. The caller sends `Hello` next.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(super) fn start(id: &WorkerId, place: Place<'_>) -> io::Result<Self> {
        let (sender, replies) = sync_channel(UNREAD_REPLIES);
        let last_lines = Arc::default();
        let started = Instant::now();
        let link = match place {
            Place::Process(program) => start_process(program, sender, &last_lines)?,
            Place::Thread(registration) => start_thread(registration, sender)?,
        };
        Ok(Client {
            name: id.to_string(),
            link,
            replies,
            last_lines,
            is_out_of_step: false,
            started,
            replied: started,
        })
    }

    /// Returns the time of its start.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Returns the number of its process; `None` for a thread.
    pub(crate) fn process(&self) -> Option<u32> {
        match &self.link {
            Link::Process { leader, .. } => Some(leader.id()),
            Link::Thread { .. } => None,
        }
    }

    /// Returns the arrival time of its last final reply, which may be long before the wait for it.
    pub(crate) fn replied(&self) -> Instant {
        self.replied
    }

    /// Sends a request. If the worker is gone, the wait for the reply reports it.
    pub fn send(&mut self, request: &Request) {
        if let Ok(line) = serde_json::to_string(request) {
            self.send_line(&line);
        }
    }

    /// Sends a line, which need not be a request.
    pub(crate) fn send_line(&mut self, line: &str) {
        if let Link::Process { leader, .. } = &mut self.link {
            leader.go_on();
        }
        let unasked = |found: &TimedReply| !matches!(found.reply, Ok(Reply::Phase { .. }));
        self.is_out_of_step |= self.replies.try_iter().any(|found| unasked(&found));
        let sink: Option<&mut dyn Write> = match &mut self.link {
            Link::Process { stdin, .. } => stdin.as_mut().map(|s| s as &mut dyn Write),
            Link::Thread { requests } => requests.as_mut().map(|s| s as &mut dyn Write),
        };
        if let Some(sink) = sink {
            // An error here means that the worker has closed its end: the wait reports how it ended.
            let _ = sink.write_all(format!("{line}\n").as_bytes()).and_then(|()| sink.flush());
        }
    }

    /// Stops its process until the next request, so that threads which spin after their work take no CPU time from another
    /// worker. A thread of this process runs on.
    pub(crate) fn stop(&mut self) {
        if let Link::Process { leader, .. } = &mut self.link {
            leader.stop();
        }
    }

    /// Waits for the final reply to the last request, until `deadline` or until `stop` is set.
    /// `on_phase` is called for each phase that begins.
    pub fn wait(
        &mut self,
        deadline: Instant,
        stop: &AtomicBool,
        on_phase: &mut dyn FnMut(&str),
    ) -> Result<Reply, WaitError> {
        if self.is_out_of_step {
            return Err(WaitError::Gone(format!("the {} worker sent a reply to no request", self.name)));
        }
        let mut had_ended = false;
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(WaitError::Interrupted);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left.min(POLL)) {
                Ok(TimedReply { reply: Ok(Reply::Phase { .. }), .. }) if left.is_zero() => {
                    return Err(WaitError::TimedOut);
                }
                Ok(TimedReply { reply: Ok(Reply::Phase { phase }), .. }) => on_phase(&phase),
                Ok(TimedReply { reply, at }) => {
                    self.replied = at;
                    return reply.map_err(WaitError::Gone);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(WaitError::TimedOut),
                // A child of an ended worker may keep its output open. A reply may be on its way for one more interval.
                Err(RecvTimeoutError::Timeout)
                    if self.has_ended() && std::mem::replace(&mut had_ended, true) =>
                {
                    return Err(WaitError::Gone(self.how_it_ended()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(WaitError::Gone(self.how_it_ended())),
            }
        }
    }

    /// Asks the worker to exit cleanly; [`Client::finish`] waits for its exit.
    pub(crate) fn send_exit(&mut self) {
        self.send(&Request::Exit);
        self.close_input();
    }

    /// Closes its standard input, as the end of this process would.
    pub(crate) fn close_input(&mut self) {
        match &mut self.link {
            Link::Process { stdin, .. } => *stdin = None,
            Link::Thread { requests } => *requests = None,
        }
    }

    /// Asks the worker to exit and waits briefly for its exit.
    pub fn finish(mut self) {
        self.send_exit();
        if let Link::Process { leader, .. } = &mut self.link {
            leader.end(EXIT_LIMIT);
        }
    }

    /// Waits up to `patience` for its end, then kills it. Returns the end in words, such as `exited with code 0`, if it ended
    /// by itself.
    pub(crate) fn ended_within(mut self, patience: Duration) -> Option<String> {
        match &mut self.link {
            Link::Process { leader, .. } => leader.end(patience).map(end_of),
            Link::Thread { .. } => None,
        }
    }

    fn has_ended(&self) -> bool {
        matches!(&self.link, Link::Process { leader, .. } if leader.has_ended())
    }

    fn how_it_ended(&mut self) -> String {
        let Link::Process { leader, stderr, .. } = &mut self.link else {
            return format!("the {} worker's thread ended", self.name);
        };
        let status = leader.end(Duration::from_secs(1));
        // The thread ends when standard error closes, which a child of the worker may keep open.
        let patience = Instant::now() + Duration::from_millis(200);
        while stderr.as_ref().is_some_and(|reader| !reader.is_finished()) && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(2));
        }
        let how = status.map_or_else(|| "closed its output".into(), end_of);
        let said =
            self.last_lines.lock().map(|lines| Vec::from(lines.clone()).join(" | ")).unwrap_or_default();
        let said = if said.is_empty() { said } else { format!("; its last output: {said}") };
        format!("the {} worker {how}{said}", self.name)
    }
}

fn start_process(
    program: &Program,
    replies: SyncSender<TimedReply>,
    last_lines: &Arc<Mutex<VecDeque<String>>>,
) -> io::Result<Link> {
    let (leader, (mut stdin, stdout, stderr)) = Leader::start(program)?;
    if let (Some(stdin), Some(preface)) = (&mut stdin, &program.preface) {
        // An error means that the program has ended; the wait for its first reply reports how.
        let _ = stdin.write_all(preface.as_bytes()).and_then(|()| stdin.write_all(b"\n"));
    }
    if let Some(stdout) = stdout {
        std::thread::spawn(move || send_replies(stdout, &replies));
    }
    let stderr = stderr.map(|stderr| {
        let kept = Arc::clone(last_lines);
        std::thread::spawn(move || keep_last_lines(stderr, &kept))
    });
    Ok(Link::Process { leader, stdin, stderr })
}

fn start_thread(registration: &'static Registration, replies: SyncSender<TimedReply>) -> io::Result<Link> {
    static QUIET: Once = Once::new();
    QUIET.call_once(quiet_worker_threads);
    let (request_reader, request_writer): (PipeReader, PipeWriter) = io::pipe()?;
    let (reply_reader, mut reply_writer) = io::pipe()?;
    let thread = std::thread::Builder::new()
        .name(format!("{THREAD_PREFIX}{}", registration.name))
        .stack_size(STACK_BYTES);
    thread.spawn(move || {
        let requests = BufReader::new(request_reader).lines().map_while(Result::ok);
        // An error means that the parent has dropped its end, so nobody would read the reply.
        let _ = serve::serve(registration, requests, &mut reply_writer);
    })?;
    std::thread::spawn(move || send_replies(reply_reader, &replies));
    Ok(Link::Thread { requests: Some(request_writer) })
}

/// Suppresses the output of panics in worker threads, whose text is in the reply.
fn quiet_worker_threads() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        if !thread.name().is_some_and(|name| name.starts_with(THREAD_PREFIX)) {
            usual(panic);
        }
    }));
}
