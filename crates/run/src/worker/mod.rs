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
use gpubench_backend::{External, Program, Registry, WorkerId};

use client::{Client, WorkerPlace};

/// Starts the workers of a run.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The program that serves the backends of `registry`, without arguments; `None` for threads of this process.
    program: Option<Program>,
    registry: Registry,
    externals: Vec<External>,
}

impl Launcher {
    /// Returns a launcher for the backends of `registry` and for `externals`. The former run in processes of `program`, or
    /// of this one, if `isolate`; otherwise in threads.
    ///
    /// # Errors
    /// The path of this program cannot be found.
    pub fn new(
        isolate: bool,
        program: Option<&PathBuf>,
        registry: Registry,
        externals: &[External],
    ) -> io::Result<Launcher> {
        let own = |path, called| Some(Program { path, called, arguments: vec![], preface: None });
        let program = match (isolate, program) {
            (true, Some(path)) => own(path.clone(), None),
            (true, None) => own(process::running_file()?, Some(process::program()?.into())),
            (false, _) => None,
        };
        Ok(Launcher { program, registry, externals: externals.to_vec() })
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
            return Client::start(id, WorkerPlace::Process(&external.program));
        }
        match &self.program {
            Some(own) => {
                let arguments = vec!["worker".into(), id.backend.as_str().into()];
                Client::start(id, WorkerPlace::Process(&Program { arguments, ..own.clone() }))
            }
            None => {
                let unknown = || io::Error::other(format!("no backend is named {}", id.backend));
                Client::start(id, WorkerPlace::Thread(self.registry.find(&id.backend).ok_or_else(unknown)?))
            }
        }
    }
}
