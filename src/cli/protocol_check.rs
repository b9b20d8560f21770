//! `gpubench protocol-check`: checks that a program keeps to the worker protocol, and explains each failure.

use std::io::ErrorKind;
use std::process::ExitCode;
use std::time::Duration;

use crate::write::terminal::{TERMINAL_WIDTH, hanging_within};
use anyhow::{Context, Result, anyhow, ensure};
use gpubench_run::conformance::{self, Asked, CheckVerdict, Failure};
use gpubench_text::control;

use super::args::ProtocolCheckArgs;
use super::stream;
use crate::backend::Program;
use crate::backend::external::{Adapter, interpreter};

/// Columns before the name of a check, and before the texts of a failure.
const NAME_COLUMN: usize = 8;
const TEXT_COLUMN: usize = 18;

/// Checks the program of `args`. Returns code 1 if a check failed.
pub(crate) fn run(args: &ProtocolCheckArgs) -> Result<ExitCode> {
    let asked = Asked {
        program: program(args)?,
        ops: args.ops.as_ref().map(|ops| ops.0.clone()).unwrap_or_default(),
        sizes: args.sizes.0.clone(),
        limit: Duration::from_secs_f64(args.cell_timeout.0),
    };
    let (mut passed, mut skipped, mut failed, mut written) = (0, 0, 0, Ok(()));
    conformance::check(&asked, &mut |name, verdict| {
        *match verdict {
            CheckVerdict::Passed => &mut passed,
            CheckVerdict::Skipped(_) => &mut skipped,
            CheckVerdict::Failed(_) => &mut failed,
        } += 1;
        if written.is_ok() {
            written = stream::print(&text(name, verdict));
        }
    })
    .map_err(|error| {
        anyhow!("{} cannot be started ({error}): {}", asked.program.path.display(), next_step(&error))
    })?;
    written?;
    let left_out = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    stream::print(&format!("\n{passed} of {} checks passed{left_out}.\n", passed + failed))?;
    Ok(if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The step that would let a program start.
fn next_step(error: &std::io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => {
            "name a program by its path or one on PATH, with its arguments as separate words, such as: gpubench \
             protocol-check python3 adapter.py"
        }
        ErrorKind::PermissionDenied => {
            "make it executable, or name its interpreter before it, such as python3"
        }
        _ => "name its interpreter before it, such as python3, or build it for this machine",
    }
}

fn program(args: &ProtocolCheckArgs) -> Result<Program> {
    let (path, arguments) = args.command.split_first().context("no program was named")?;
    // The command takes options too, so clap leaves them all to it.
    ensure!(
        !path.as_encoded_bytes().starts_with(b"-"),
        "unknown option '{}': write options of gpubench before the command, and those of the program after its name; see \
         'gpubench protocol-check --help'",
        path.display()
    );
    let adapter = path.to_str().filter(|_| arguments.is_empty()).and_then(Adapter::find);
    match adapter {
        Some(adapter) => Ok(adapter.program(&interpreter(args.python.as_deref())?)),
        None => Ok(Program { path: path.into(), arguments: arguments.to_vec(), preface: None, called: None }),
    }
}

/// Returns the lines about one check.
fn text(name: &str, verdict: &CheckVerdict) -> String {
    let marked =
        |mark: &str| format!("{mark:<NAME_COLUMN$}{}\n", hanging_within(TERMINAL_WIDTH, name, NAME_COLUMN));
    match verdict {
        CheckVerdict::Passed => marked("ok"),
        CheckVerdict::Skipped(reason) => marked("skipped") + &field("reason", reason),
        CheckVerdict::Failed(failure) => {
            let Failure { sent, received, problem, expected, section } = failure.as_ref();
            let problem = problem.as_deref().unwrap_or_default();
            let see = format!("docs/worker-protocol.md, section \"{section}\"");
            let fields = [
                ("sent", sent.as_str()),
                ("received", received),
                ("problem", problem),
                ("expected", expected),
                ("see", &see),
            ];
            let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
            marked("FAILED") + &fields.map(|(name, text)| field(name, text)).collect::<String>()
        }
    }
}

/// Returns a named text, broken into lines. Messages are broken after commas.
fn field(name: &str, text: &str) -> String {
    let text = control::spelled_out(text).replace(",\"", ", \"").replace(",{", ", {");
    let width = TEXT_COLUMN - NAME_COLUMN;
    format!("{:NAME_COLUMN$}{name:<width$}{}\n", "", hanging_within(TERMINAL_WIDTH, &text, TEXT_COLUMN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_fits_a_terminal_and_cannot_drive_it() {
        let failure = Failure {
            sent: format!("{{{}\"end\":1}}", "\"key\":\"value\",".repeat(20)),
            received: "\u{1b}[31mred\n".into(),
            problem: None,
            expected: "a word ".repeat(30),
            section: "Rules",
        };
        let shown = text("a check", &CheckVerdict::Failed(Box::new(failure)));
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        assert!(shown.contains("\\u{1b}[31mred\\n") && !shown.contains('\u{1b}'), "{shown}");
        assert!(shown.starts_with("FAILED  a check\n        sent      {\"key\""), "{shown}");
        assert!(shown.ends_with("see       docs/worker-protocol.md, section \"Rules\"\n"), "{shown}");
    }
}
