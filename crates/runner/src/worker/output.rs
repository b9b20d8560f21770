//! Reads what a worker writes: replies on its standard output, the last lines on its standard error.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::Mutex;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use gpubench_backend::protocol::Reply;
use gpubench_text::control;

/// Number of a worker's last lines on standard error that an error message quotes.
const LAST_LINES: usize = 3;
/// Bytes of the longest reply: a hundred thousand samples take less.
const LONGEST_REPLY: u64 = 64 << 20;
/// Bytes of the longest line on standard error that is kept whole.
const LONGEST_LINE: u64 = 4096;
/// Number of letters of an invalid reply that an error message quotes.
const QUOTED_LETTERS: usize = 200;

/// A line from a worker, with its arrival time.
pub(super) struct TimedReply {
    pub(super) at: Instant,
    pub(super) reply: Result<Reply, String>,
}

/// Passes on the replies in `source`, until it ends or sends a line that is none.
pub(super) fn read_replies(source: impl Read, replies: &SyncSender<TimedReply>) {
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
    serde_json::from_slice(line).map(sanitized).map_err(|error| {
        let text = control::replaced(&String::from_utf8_lossy(line));
        let shown: String = text.trim_end().chars().take(QUOTED_LETTERS).collect();
        let rest = if shown.len() < text.trim_end().len() { "..." } else { "" };
        format!("the worker sent an invalid reply ({error}): {shown}{rest}")
    })
}

/// Replaces control characters in the texts that the screen shows during a run.
fn sanitized(mut reply: Reply) -> Reply {
    match &mut reply {
        Reply::Skipped { reason, fix, .. } | Reply::Unavailable { reason, fix } => {
            *reason = control::replaced(reason);
            *fix = fix.take().map(|fix| control::replaced(&fix));
        }
        Reply::Failed { reason: text, .. }
        | Reply::Incorrect { reason: text, .. }
        | Reply::Refuted { reason: text, .. }
        | Reply::Phase { phase: text } => *text = control::replaced(text),
        _ => {}
    }
    reply
}

pub(super) fn keep_last_lines(source: impl Read, kept: &Mutex<VecDeque<String>>) {
    let mut source = BufReader::new(source);
    let mut line = Vec::new();
    while matches!(source.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line), Ok(1..)) {
        let text = control::replaced(String::from_utf8_lossy(&line).trim());
        line.clear();
        let line = text;
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
