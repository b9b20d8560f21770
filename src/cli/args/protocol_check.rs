//! The arguments of `protocol-check`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::settings::options::{CellTimeout, Ops, Sizes};

const PROTOCOL_CHECK_HELP: &str = "\
Examples:
  gpubench protocol-check python3 docs/examples/adapter.py
  gpubench protocol-check --ops fft --sizes 8,100 ./my-adapter --device 1
  gpubench protocol-check numpy

gpubench starts the program several times, without a shell, and sends the messages of docs/worker-protocol.md. It checks each \
variant in each element type and cache state. docs/external.md shows how to write such a program.

Exit codes: 0 all checks passed; 1 a check failed; 2 wrong usage, or the program cannot be started.";

/// What `protocol-check` takes.
#[derive(Args)]
#[command(after_help = PROTOCOL_CHECK_HELP)]
pub(crate) struct ProtocolCheckArgs {
    /// Program and its arguments, or the name of a Python library's adapter. Options of gpubench come before it
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// Ops to check, separated by commas. Default: all that the program has
    #[arg(long, value_name = "LIST")]
    pub ops: Option<Ops>,

    /// Sizes N of the N x N operands
    #[arg(long, value_name = "LIST", default_value = "33")]
    pub sizes: Sizes,

    /// Longest wait for a reply that needs a computation
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub cell_timeout: CellTimeout,

    /// Python interpreter for the adapter of a Python library
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
}
