//! The report of a run while it grows: one row at a time, on disk after each.

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Instant;

use super::Run;
use crate::report::{BackendState, Environment, Report, Row, SCHEMA_VERSION, environment, file};

/// The rows so far, and what the report says around them.
pub struct Journal {
    start: Instant,
    collecting: Option<JoinHandle<Environment>>,
    report: Report,
    file: Option<PathBuf>,
}

impl Journal {
    /// Starts an empty report. The environment is looked at meanwhile, by a thread of its own.
    pub fn begin(run: &Run) -> Self {
        let (argv, settings) = (run.argv.clone(), run.settings.clone());
        let collecting = std::thread::spawn(move || environment::collect(argv, settings));
        Journal {
            start: Instant::now(),
            collecting: Some(collecting),
            report: Report {
                schema_version: SCHEMA_VERSION,
                environment: Environment::default(),
                rows: vec![],
            },
            file: run.out.as_ref().map(|folder| folder.join(file::FILE_NAME)),
        }
    }

    /// Adds a row and brings the file up to date.
    pub fn record(&mut self, row: Row, backends: Vec<BackendState>) -> anyhow::Result<()> {
        self.report.rows.push(row);
        self.save(backends)
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
        if let Some(collecting) = self.collecting.take() {
            self.report.environment =
                collecting.join().map_err(|_| anyhow::anyhow!("looking at the machine panicked"))?;
        }
        self.report.environment.backends = backends;
        self.report.environment.elapsed_s = self.start.elapsed().as_secs_f64();
        let Some(path) = &self.file else { return Ok(()) };
        file::save(&self.report, path)
    }
}
