//! The report of a run while it grows: one row at a time, on disk after each.

use std::path::PathBuf;
use std::time::Instant;

use super::Run;
use crate::report::{BackendState, Report, Row, SCHEMA_VERSION, environment, file};

/// The rows so far, and what the report says around them.
pub struct Journal {
    start: Instant,
    report: Report,
    file: Option<PathBuf>,
}

impl Journal {
    /// Starts an empty report, of a run that began at `start`, and looks at the machine: nothing of that is left
    /// to disturb a cell.
    pub fn begin(run: &Run, start: Instant) -> Self {
        let mut environment = environment::collect(run.argv.clone(), run.settings.clone());
        environment.planned_rows = Some(run.cells.len() as u64);
        Journal {
            start,
            report: Report { schema_version: SCHEMA_VERSION, environment, rows: vec![] },
            file: run.out.as_ref().map(|folder| folder.join(file::FILE_NAME)),
        }
    }

    /// Adds a row and brings the file up to date.
    pub fn record(&mut self, row: Row, backends: Vec<BackendState>) -> anyhow::Result<()> {
        self.report.rows.push(row);
        self.save(backends)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.report.rows.len()
    }

    /// The row added last.
    pub fn last(&self) -> Option<&Row> {
        self.report.rows.last()
    }

    /// Brings the file up to date for the last time and hands the report over.
    pub fn finish(mut self, backends: Vec<BackendState>) -> anyhow::Result<Report> {
        self.save(backends)?;
        Ok(self.report)
    }

    fn save(&mut self, backends: Vec<BackendState>) -> anyhow::Result<()> {
        self.report.environment.backends = backends;
        self.report.environment.elapsed_s = self.start.elapsed().as_secs_f64();
        let Some(path) = &self.file else { return Ok(()) };
        if let Some(folder) = path.parent() {
            // An error here is one of the save below, which names the file and says what to do.
            let _ = std::fs::create_dir_all(folder);
        }
        file::save(&self.report, path)
    }
}
