//! Worker processes, one per backend and library, which speak JSON lines (`docs/worker-protocol.md`).
//!
//! [`serve`] is the worker's end, [`client`] the parent's; neither reads plans or the files of reports.

pub mod client;
pub mod describe;
mod leader;
pub mod operands;
pub mod output;
pub mod serve;
mod session;
mod threads;

use std::io;
use std::path::PathBuf;

use gpubench_backend::host::process;
use gpubench_backend::{External, Program, WorkerId};

use client::Client;

/// Starts the workers of a run.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The program that serves gpubench's own backends, without arguments.
    program: Program,
    externals: Vec<External>,
}

impl Launcher {
    /// Returns a launcher for gpubench's own backends, which run in processes of `program`, or of this one, and for `externals`.
    ///
    /// # Errors
    /// The path of this program cannot be found.
    pub fn new(program: Option<&PathBuf>, externals: &[External]) -> io::Result<Launcher> {
        let (path, called) = match program {
            Some(path) => (path.clone(), None),
            None => (process::running_file()?, Some(process::program()?.into())),
        };
        let program = Program { path, called, arguments: vec![], preface: None };
        Ok(Launcher { program, externals: externals.to_vec() })
    }

    /// Returns whether another program serves the backend, so that this process judges its answers.
    pub(crate) fn is_external(&self, backend: &str) -> bool {
        self.external(backend).is_some()
    }

    fn external(&self, backend: &str) -> Option<&External> {
        self.externals.iter().find(|external| external.name == backend)
    }

    /// Starts a worker. The caller sends `Hello` next.
    ///
    /// # Errors
    /// The program of the worker cannot be started.
    pub fn start(&self, id: &WorkerId) -> io::Result<Client> {
        if let Some(external) = self.external(&id.backend) {
            return Client::start(id, &external.program);
        }
        let arguments = vec!["worker".into(), id.backend.as_str().into()];
        Client::start(id, &Program { arguments, ..self.program.clone() })
    }
}
