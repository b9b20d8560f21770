//! Writes to stdout and stderr for the command line. A reader that closes the pipe is no error.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use anyhow::{Context, Result};
use clap::{Args, ColorChoice};
use gpubench_backend::host::process::TERMINAL_GONE;
use gpubench_text::control;

/// Writes `text` to stdout.
pub(crate) fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes `bytes` to stdout.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    print_with(|out| out.write_all(bytes))
}

/// Calls `write` with buffered stdout.
pub(crate) fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_or_else(unless_broken_pipe, Ok)
}

/// When a command colours stdout.
#[derive(Args, Clone, Copy)]
pub(crate) struct ColorArgs {
    /// When to colour the output: auto (on a terminal, unless NO_COLOR is set or TERM is dumb), always or never
    #[arg(long, value_name = "WHEN", value_enum, hide_possible_values = true, default_value = "auto")]
    color: ColorChoice,

    /// Print without colours, the same as --color never
    #[arg(long, conflicts_with = "color")]
    no_color: bool,
}

impl ColorArgs {
    /// Returns whether to colour stdout.
    pub(crate) fn takes_colors(self) -> bool {
        match self.color {
            _ if self.no_color => false,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => takes_colors(),
        }
    }
}

/// Returns whether to colour stdout: it is a terminal that knows colours, and NO_COLOR is not set (<https://no-color.org>).
fn takes_colors() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let knows_none = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    !refused && !knows_none && io::stdout().is_terminal()
}

/// Returns the columns of the terminal: of COLUMNS where it is set, otherwise of stdout; `None` where neither is known.
pub(crate) fn width() -> Option<usize> {
    let set = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let of_terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    set.filter(|columns| *columns > 0).or_else(of_terminal)
}

/// Returns success if nobody reads stdout any more: the pipe was closed, as `head` does, or the terminal is gone.
pub(crate) fn unless_broken_pipe(error: io::Error) -> Result<()> {
    let is_terminal_gone = error.raw_os_error() == Some(TERMINAL_GONE);
    if error.kind() == ErrorKind::BrokenPipe || is_terminal_gone {
        return Ok(());
    }
    Err(error).context("cannot write to stdout")
}

/// Writes an error message to stderr as one line.
pub(crate) fn complain(message: &str) {
    let line = message.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
    note(&format!("gpubench: {line}"));
}

/// Writes one line to stderr. Texts and names of files may be part of it, so invisible characters are spelled out.
pub(crate) fn note(line: &str) {
    // An unwritable stderr leaves no place to report to; the exit code still shows the error.
    let _ = writeln!(io::stderr(), "{}", control::spelled_out(line));
}
