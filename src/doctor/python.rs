//! The Python libraries that backends use, as their adapters find them.

use std::path::Path;
use std::time::Instant;

use super::{BackendFindings, MAX_WAIT, receive_findings};
use crate::backend::Options;
use crate::backend::external::{Adapter, interpreter};
use crate::worker::describe;

/// A search by one adapter per library, which runs while other workers search too.
pub(super) struct Search(Result<Vec<(&'static Adapter, describe::Search)>, String>);

impl Search {
    /// Starts the adapters in the interpreter that the user named, or in the one that runs use.
    pub(super) fn begin(python: Option<&Path>, options: &Options) -> Search {
        let python = interpreter(python).map_err(|error| format!("{error:#}"));
        Search(python.map(|python| {
            let begin = |adapter: &'static Adapter| {
                (adapter, describe::search(adapter.name, &adapter.program(&python), options))
            };
            Adapter::of_libraries().map(begin).collect()
        }))
    }

    /// Waits for the findings.
    pub(super) fn findings(self) -> BackendFindings {
        let (mut findings, mut problems) = (vec![], vec![]);
        match self.0 {
            Err(problem) => problems.push(problem),
            Ok(searches) => {
                let deadline = Instant::now() + MAX_WAIT;
                for (adapter, search) in searches {
                    match search.and_then(|client| receive_findings(client, deadline)) {
                        Ok(found) => findings.extend(found),
                        Err(problem) => problems.push(format!("{}: {problem}", adapter.name)),
                    }
                }
            }
        }
        let problem = (!problems.is_empty()).then(|| problems.join("; "));
        BackendFindings {
            name: "python",
            summary: "Python libraries (--backends numpy,cupy,torch,jax)",
            findings,
            problem,
        }
    }
}
