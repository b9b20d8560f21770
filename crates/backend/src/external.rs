//! External backends: programs outside this one that speak the worker protocol and describe themselves.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::protocol::Described;

/// A backend that another program serves.
#[derive(Clone, Debug)]
pub struct External {
    /// Name on the command line and in reports.
    pub name: String,
    /// The program.
    pub program: Program,
    /// What the program says about itself.
    pub described: Described,
}

/// The way to start a program. No shell reads it.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// The name by which it is told that it was called; `None` for its path.
    pub called: Option<OsString>,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// A line written to its standard input before the first request, such as the source of an adapter.
    pub preface: Option<Arc<str>>,
}
