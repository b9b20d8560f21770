//! Identifies the worker that runs a cell.

use std::fmt;

use crate::on_threads;

/// Identifies a worker of a run: cells with equal ids share a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerId {
    /// Name of the backend.
    pub backend: String,
    /// Number of CPU threads, if smaller than the run's maximum.
    pub threads: Option<usize>,
    /// The library that the worker loads, see [`Variant::library`](crate::Variant::library).
    pub library: Option<String>,
}

impl WorkerId {
    /// Returns the backend's worker on all threads, without a library.
    pub fn of_backend(name: &str) -> Self {
        WorkerId { backend: name.to_owned(), threads: None, library: None }
    }

    /// Returns the name of its entry in the report: the backend's, or `cpu@1` on fewer threads. Workers that differ in
    /// their library share one entry.
    pub fn report_name(&self) -> String {
        self.threads.map_or_else(|| self.backend.clone(), |threads| on_threads(&self.backend, threads))
    }
}

/// For messages: `cpu`, `cpu@1`, or `cpu (openblas)`.
impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report_name())?;
        match &self.library {
            Some(library) => write!(f, " ({library})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_library_and_the_report_does_not() {
        let mut id = WorkerId { threads: Some(1), ..WorkerId::of_backend("cpu") };
        assert_eq!((id.to_string(), id.report_name()), ("cpu@1".into(), "cpu@1".into()));
        id.library = Some("openblas".into());
        assert_eq!((id.to_string(), id.report_name()), ("cpu@1 (openblas)".into(), "cpu@1".into()));
    }
}
