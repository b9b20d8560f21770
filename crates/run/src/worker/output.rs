//! Reads what a worker writes: replies on its standard output, the last lines on its standard error.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::Mutex;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use gpubench_backend::protocol::Reply;
use gpubench_text::{control, cut};

/// Number of a worker's last lines on standard error that an error message quotes.
const LAST_LINES: usize = 3;
/// Bytes of the longest reply: a hundred thousand samples take less.
const LONGEST_REPLY: u64 = 64 << 20;
/// Bytes of the longest line on standard error that is kept whole.
const LONGEST_LINE: u64 = 4096;
/// Number of letters of an invalid reply that an error message quotes.
const QUOTED_LETTERS: usize = 200;

/// One line from a worker.
#[derive(Debug)]
pub struct Received {
    /// Time of its arrival.
    pub at: Instant,
    /// The reply, or what is wrong with the line, which is the last one then.
    pub reply: Result<Reply, String>,
    /// Whether another whole line, which announces no phase, was read with it. Nothing asks for one after a final reply.
    pub is_followed: bool,
}

/// Passes on the replies in `source`, until it ends or sends a line that is none.
pub(super) fn send_replies(source: impl Read, sender: &SyncSender<Received>) {
    for received in replies(source) {
        if sender.send(received).is_err() {
            return;
        }
    }
}

/// Passes on the replies of a program in Python, which may have printed other lines while it started, as `sitecustomize` does.
pub(super) fn send_replies_of_python(source: impl Read, sender: &SyncSender<Received>) {
    let mut source = BufReader::new(source);
    let mut line = vec![];
    while source.fill_buf().is_ok_and(|bytes| bytes.first().is_some_and(|first| *first != b'{')) {
        line.clear();
        if !matches!(source.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line), Ok(1..)) {
            break;
        }
    }
    send_replies(source, sender);
}

/// Returns the replies in `source`, one per line. A line that is no reply is the last one: an error in one line.
pub fn replies(source: impl Read) -> impl Iterator<Item = Received> {
    let mut source = BufReader::new(source);
    let mut line = Vec::new();
    let mut is_over = false;
    std::iter::from_fn(move || {
        line.clear();
        let read = source.by_ref().take(LONGEST_REPLY).read_until(b'\n', &mut line);
        if is_over || !matches!(read, Ok(1..)) {
            return None;
        }
        let (at, reply) = (Instant::now(), parsed(&line));
        is_over = reply.is_err();
        let is_followed = whole_lines(source.buffer()).any(|line| is_final(&parsed(line)));
        Some(Received { at, reply, is_followed })
    })
}

/// Returns whether a line ends the wait for a reply. Those that announce a phase do not.
pub(super) fn is_final(reply: &Result<Reply, String>) -> bool {
    !matches!(reply, Ok(Reply::Phase { .. }))
}

fn whole_lines(buffer: &[u8]) -> impl Iterator<Item = &[u8]> {
    buffer.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
}

fn parsed(line: &[u8]) -> Result<Reply, String> {
    if line.len() as u64 >= LONGEST_REPLY {
        return Err(format!("the worker sent a reply of more than {} MiB", LONGEST_REPLY >> 20));
    }
    serde_json::from_slice(line).map(sanitized).map_err(|error| {
        let text = control::replaced(&String::from_utf8_lossy(line));
        let [error, shown] =
            [&error.to_string(), text.trim_end()].map(|text| cut::shortened(text, QUOTED_LETTERS));
        control::spelled_out(&format!("the worker sent an invalid reply ({error}): {shown}"))
    })
}

/// Puts each text that the screen shows during a run on a single line.
fn sanitized(mut reply: Reply) -> Reply {
    match &mut reply {
        Reply::Skipped { reason, fix, .. } | Reply::Unavailable { reason, fix } => {
            *reason = control::single_line(reason);
            *fix = fix.take().map(|fix| control::single_line(&fix));
        }
        Reply::Failed { reason: text, .. }
        | Reply::Incorrect { reason: text, .. }
        | Reply::Refuted { reason: text, .. }
        | Reply::Phase { phase: text } => *text = control::single_line(text),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_a_python_prints_before_its_first_reply_are_skipped() {
        let received = |text: &str| {
            let (sender, receiver) = std::sync::mpsc::sync_channel(8);
            send_replies_of_python(text.as_bytes(), &sender);
            receiver.try_iter().map(|received: Received| received.reply.is_ok()).collect::<Vec<_>>()
        };
        let released = "{\"type\":\"released\"}\n";
        assert_eq!(received(&["Welcome\n\n3.12\n", released, released].concat()), [true, true]);
        assert_eq!(received(&[released, "bye\n"].concat()), [true, false]);
        assert_eq!(received(&["x".repeat(10_000), "\n".into(), released.into()].concat()), [true]);
        assert_eq!(received("Welcome\n"), [false; 0]);
    }

    #[test]
    fn no_text_of_a_reply_begins_a_line() {
        let text = r#"{"type":"failed","reason":"a\n::error::b","device_lost":false}"#;
        let reply = replies(text.as_bytes()).next().unwrap().reply.unwrap();
        assert!(matches!(reply, Reply::Failed { reason, .. } if reason == "a :error::b"));
    }

    #[test]
    fn a_reply_knows_of_a_line_that_came_with_it() {
        let followed =
            |lines: &str| replies(lines.as_bytes()).map(|received| received.is_followed).collect::<Vec<_>>();
        let released = "{\"type\":\"released\"}\n";
        let phase = "{\"type\":\"phase\",\"phase\":\"check\"}\n";
        assert_eq!(followed(&[released, released].concat()), [true, false]);
        assert_eq!(followed(&[phase, released].concat()), [true, false]);
        assert_eq!(followed(&[released, phase].concat()), [false, false]);
        assert_eq!(followed(&[released, phase, released].concat()), [true, true, false]);
        let half_a_line = [released, "{\"type\":"].concat();
        assert_eq!(followed(&half_a_line), [false, false], "it may still change");
    }
}
