//! The Python libraries that backends use, as their adapters find them.

use std::path::Path;

use anyhow::Result;

use super::{BackendFindings, receive_findings};
use crate::backend::external::{Adapter, Python, interpreter};
use crate::backend::{Finding, Options};
use crate::worker::describe;

/// The name of these findings.
pub(super) const NAME: &str = "python";

/// A search by one adapter per library, which runs while other workers search too.
pub(super) struct PythonSearch(Result<(Python, Searches), String>);

type Searches = Vec<(&'static Adapter, describe::Search)>;

impl PythonSearch {
    /// Starts the adapters in the interpreter that the user `named`, or in the one that runs use.
    ///
    /// # Errors
    /// The named interpreter cannot be used. Where none is named, that is a finding.
    pub(super) fn begin(named: Option<&Path>, options: &Options) -> Result<PythonSearch> {
        let python = match interpreter(named) {
            Err(error) if named.is_some() => return Err(error),
            found => found.map_err(|error| format!("{error:#}")),
        };
        Ok(PythonSearch(python.map(|python| {
            let begin = |adapter: &'static Adapter| {
                (adapter, describe::search(adapter.name, &adapter.program(&python), options))
            };
            let searches = Adapter::of_libraries().map(begin).collect();
            (python, searches)
        })))
    }

    /// Waits for the findings.
    pub(super) fn findings(self) -> BackendFindings {
        let (mut findings, mut problems) = (vec![], vec![]);
        match self.0 {
            Err(problem) => problems.push(problem),
            Ok((python, searches)) => {
                findings.push(finding(&python));
                for (adapter, search) in searches {
                    match search.and_then(receive_findings) {
                        Ok(found) => findings.extend(found),
                        Err(problem) => problems.push(format!("{}: {problem}", adapter.name)),
                    }
                }
            }
        }
        let problem = (!problems.is_empty()).then(|| problems.join("; "));
        BackendFindings {
            name: NAME,
            summary: "Python libraries (--backends numpy,cupy,torch,jax)",
            findings,
            problem,
        }
    }
}

/// The interpreter as a finding, because the libraries and their fixes are those of this interpreter.
fn finding(python: &Python) -> Finding {
    Finding {
        name: "Python".into(),
        path: Some(python.path.display().to_string()),
        version: Some(python.version.clone()),
        ..Finding::default()
    }
}
