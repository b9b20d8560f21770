//! Starts a worker, exchanges messages with it under deadlines, and reports how it ended.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, Once};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gpubench_backend::protocol::{Reply, Request};
use gpubench_backend::{Program, Registration, WorkerId};
use gpubench_host::process;

use super::launcher::Place;
use super::serve;

/// Interval at which a wait checks whether the user ended the run.
const POLL: Duration = Duration::from_millis(100);
/// Number of a worker's last lines on standard error that an error message quotes.
const LAST_LINES: usize = 3;
/// Time limit for a worker's exit, after which it is killed.
const EXIT_LIMIT: Duration = Duration::from_secs(3);
/// Stack of a worker's thread: LAPACK libraries recurse with large frames and expect that of a main thread.
const STACK_BYTES: usize = 64 << 20;

/// Number of replies that may wait to be read before the reader waits too.
const UNREAD_REPLIES: usize = 1024;
/// Bytes of the longest reply: a hundred thousand samples take less.
const LONGEST_REPLY: u64 = 64 << 20;
/// Number of letters of an invalid reply that an error message quotes.
const QUOTED_LETTERS: usize = 200;

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
    Process { child: Child, stdin: Option<ChildStdin>, stderr: Option<JoinHandle<()>>, is_stopped: bool },
    Thread { requests: Option<PipeWriter> },
}

/// A running worker. Dropping it kills its process.
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

/// A line from a worker, with its arrival time.
struct TimedReply {
    at: Instant,
    reply: Result<Reply, String>,
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
            Link::Process { child, .. } => Some(child.id()),
            Link::Thread { .. } => None,
        }
    }

    /// Returns the arrival time of its last final reply, which may be long before the wait for it.
    pub(crate) fn replied(&self) -> Instant {
        self.replied
    }

    /// Sends a request. If the worker is gone, the wait for the reply reports it.
    pub fn send(&mut self, request: &Request) {
        let Ok(mut line) = serde_json::to_string(request) else { return };
        line.push('\n');
        self.go_on();
        let unasked = |found: &TimedReply| !matches!(found.reply, Ok(Reply::Phase { .. }));
        self.is_out_of_step |= self.replies.try_iter().any(|found| unasked(&found));
        let sink: Option<&mut dyn Write> = match &mut self.link {
            Link::Process { stdin, .. } => stdin.as_mut().map(|s| s as &mut dyn Write),
            Link::Thread { requests } => requests.as_mut().map(|s| s as &mut dyn Write),
        };
        if let Some(sink) = sink {
            // An error here means that the worker has closed its end: the wait reports how it ended.
            let _ = sink.write_all(line.as_bytes()).and_then(|()| sink.flush());
        }
    }

    /// Stops its process until the next request, so that threads which spin after their work take no CPU time from another
    /// worker. A thread of this process runs on.
    pub(crate) fn stop(&mut self) {
        if let Link::Process { child, is_stopped, .. } = &mut self.link {
            process::stop_group(child.id());
            *is_stopped = true;
        }
    }

    fn go_on(&mut self) {
        if let Link::Process { child, is_stopped, .. } = &mut self.link
            && std::mem::take(is_stopped)
        {
            process::continue_group(child.id());
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
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(WaitError::Interrupted);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left.min(POLL)) {
                Ok(TimedReply { reply: Ok(Reply::Phase { phase }), .. }) => on_phase(&phase),
                Ok(TimedReply { reply, at }) => {
                    self.replied = at;
                    return reply.map_err(WaitError::Gone);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(WaitError::TimedOut),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(WaitError::Gone(self.how_it_ended())),
            }
        }
    }

    /// Asks the worker to exit cleanly; [`Client::finish`] waits for its exit.
    pub(crate) fn send_exit(&mut self) {
        self.send(&Request::Exit);
        match &mut self.link {
            Link::Process { stdin, .. } => *stdin = None,
            Link::Thread { requests } => *requests = None,
        }
    }

    /// Asks the worker to exit and waits briefly for its exit.
    pub fn finish(mut self) {
        self.send_exit();
        if let Link::Process { child, .. } = &mut self.link {
            wait_until(child, EXIT_LIMIT);
        }
    }

    fn how_it_ended(&mut self) -> String {
        let Link::Process { child, stderr, .. } = &mut self.link else {
            return format!("the {} worker's thread ended", self.name);
        };
        let status = wait_until(child, Duration::from_secs(1));
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

impl Drop for Client {
    fn drop(&mut self) {
        if let Link::Process { child, .. } = &mut self.link
            && matches!(child.try_wait(), Ok(None))
        {
            process::kill_group(child.id());
            // A killed child can be reaped immediately; an error means that it already was.
            let _ = child.wait();
        }
    }
}

fn start_process(
    program: &Program,
    replies: SyncSender<TimedReply>,
    last_lines: &Arc<Mutex<VecDeque<String>>>,
) -> io::Result<Link> {
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).process_group(0);
    if let Some(called) = &program.called {
        command.arg0(called);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take();
    if let (Some(stdin), Some(preface)) = (&mut stdin, &program.preface) {
        // An error means that the program has ended; the wait for its first reply reports how.
        let _ = stdin.write_all(preface.as_bytes()).and_then(|()| stdin.write_all(b"\n"));
    }
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || read_replies(stdout, &replies));
    }
    let stderr = child.stderr.take().map(|stderr| {
        let kept = Arc::clone(last_lines);
        std::thread::spawn(move || keep_last_lines(stderr, &kept))
    });
    Ok(Link::Process { child, stdin, stderr, is_stopped: false })
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
    std::thread::spawn(move || read_replies(reply_reader, &replies));
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

/// Passes on the replies in `source`, until it ends or sends a line that is none.
fn read_replies(source: impl Read, replies: &SyncSender<TimedReply>) {
    let mut source = BufReader::new(source);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = source.by_ref().take(LONGEST_REPLY).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let reply = parsed(&line);
        let is_last = reply.is_err();
        if replies.send(TimedReply { at: Instant::now(), reply }).is_err() || is_last {
            return;
        }
    }
}

fn parsed(line: &[u8]) -> Result<Reply, String> {
    if line.len() as u64 >= LONGEST_REPLY {
        return Err(format!("the worker sent a reply of more than {} MiB", LONGEST_REPLY >> 20));
    }
    serde_json::from_slice(line).map_err(|error| {
        let text = String::from_utf8_lossy(line);
        let shown: String = text.trim_end().chars().take(QUOTED_LETTERS).collect();
        let rest = if shown.len() < text.trim_end().len() { "..." } else { "" };
        format!("the worker sent an invalid reply ({error}): {shown}{rest}")
    })
}

fn keep_last_lines(source: impl Read, kept: &Mutex<VecDeque<String>>) {
    for line in BufReader::new(source).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if line.is_empty() || line.starts_with("note: run with `RUST_BACKTRACE") {
            continue;
        }
        let Ok(mut lines) = kept.lock() else { return };
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// Returns the status of a child that ends within `patience`.
fn wait_until(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Describes the end of a process, as the predicate of a sentence.
fn end_of(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(process::SIGKILL), _) => {
            "was killed by SIGKILL (possibly by the system, for lack of memory)".into()
        }
        (Some(signal), _) => format!("was killed by {}", process::signal_name(signal)),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => "ended".into(),
    }
}
