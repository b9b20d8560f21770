//! Stdout and stderr: the only place of the command line that writes to them. A reader that has gone is no error.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use anyhow::{Context, Result};

/// Writes `text` to stdout.
pub(crate) fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes `bytes` to stdout.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    print_with(|out| out.write_all(bytes))
}

/// Lets `write` write to stdout, buffered.
pub(crate) fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_or_else(unless_broken_pipe, Ok)
}

/// Whether stdout takes colours: a terminal, unless the user says otherwise for all programs
/// (<https://no-color.org>).
pub(crate) fn takes_colors() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && io::stdout().is_terminal()
}

/// Turns the error of a write to stdout into success when the reader has merely gone, as `head` does.
pub(crate) fn unless_broken_pipe(error: io::Error) -> Result<()> {
    if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error).context("cannot write to stdout") }
}

/// Says what is wrong, in one line on stderr.
pub(crate) fn complain(message: &str) {
    note(&format!("gpubench: {}", message.split('\n').map(str::trim).collect::<Vec<_>>().join(" ")));
}

/// Writes one line to stderr.
pub(crate) fn note(line: &str) {
    // When stderr cannot be written to there is nobody left to tell; the exit code still speaks.
    let _ = writeln!(io::stderr(), "{line}");
}
