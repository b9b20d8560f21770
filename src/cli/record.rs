//! `gpubench record`: runs a program and saves which library routines it calls.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use gpubench_backend::host::environment;
use gpubench_record::{Machine, Recorded};
use gpubench_text::escape::shell_word;

use super::folder::check_file;
use super::stream;
use crate::document::calls::summary;
use crate::write::terminal::{Screen, blocks};

const RECORD_HELP: &str = "\
Examples:
  gpubench record --python -- python3 script.py
  gpubench record -o solver.json -- ./solver input.dat

Recorded are BLAS, LAPACK's factorisations and drivers, FFTW and MKL's transforms, in every process that the program starts, whichever \
library computes them. docs/record.md says what is out of reach. The exit code is that of the program; 2 if it cannot be recorded.";

/// The arguments of `record`.
#[derive(Args)]
#[command(after_help = RECORD_HELP)]
pub(crate) struct RecordArgs {
    /// File to write
    #[arg(long, short, value_name = "FILE", default_value = "calls.json")]
    pub out: PathBuf,

    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,

    /// Record FFTs, sparse products and, from Python 3.12, ufuncs of NumPy and SciPy too
    #[arg(long)]
    pub python: bool,

    /// Print no summary
    #[arg(long, short)]
    pub quiet: bool,

    /// The program and its arguments, after --
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Records the program that `args` name, and ends as it ended.
pub(crate) fn run(args: &RecordArgs) -> Result<ExitCode> {
    let out = args.out.as_path();
    check_file(out, "calls.json", args.force)?;
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    ensure!(
        folder.is_none_or(|folder| folder.is_dir()),
        "there is no folder for {}: make it, or name another file with -o",
        out.display()
    );
    // The program may change the folder of its own process alone, but -o means the folder of now.
    let out = std::path::absolute(out)?;
    let host = environment::host();
    let machine =
        Machine { cpu: host.cpu, logical_cpus: host.threads, now: crate::report::now().to_string() };
    let Recorded { calls, ended, python_began } =
        gpubench_record::record(&args.program, args.python, machine)?;
    let saved = calls.save(&out);
    if !args.quiet {
        let screen = Screen::default();
        stream::note("");
        blocks(&summary(&calls), screen).lines().for_each(stream::note);
        if saved.is_ok() && !calls.calls.is_empty() {
            stream::note(&format!("Saved as {}.", shell_word(&args.out)));
        }
        if args.python && !python_began {
            stream::note(
                "No Python of the program loaded the recorder of --python. Options -E, -I and -S keep it out: run the program without them.",
            );
        }
    }
    if let Err(error) = saved {
        stream::complain(&format!("{error:#}"));
    }
    Ok(ExitCode::from(ended.exit_code()))
}
