//! Writes the report of a run while it grows, with the rows in the order of the plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gpubench_backend::host::cpu_quota::QuotaWatch;
use gpubench_backend::host::environment;
use gpubench_report::report::sanitize::sanitize;
use gpubench_report::report::{BackendState, Report, Row, RunWarning, SCHEMA_VERSION, file};

use super::RunSpec;
use super::journal::{self, Journal};
use crate::observe::Observer;

pub(crate) struct ReportWriter {
    start: Instant,
    pub(crate) report: Report,
    /// The position in the plan of each row; ascending.
    positions: Vec<usize>,
    folder: Option<PathBuf>,
    /// The pauses by the control group's CPU quota, if it has one.
    pub(crate) quota: Option<Arc<QuotaWatch>>,
    earlier: Vec<BackendState>,
    /// The journal, after the first row.
    journal: Option<Journal>,
    saving: Duration,
    unsaved: Option<anyhow::Error>,
}

/// Saves may take a fiftieth of a run's time, plus one second in total: each row is in the journal already.
const SAVING_SHARE: u32 = 50;
const SAVING_GRACE: Duration = Duration::from_secs(1);

impl ReportWriter {
    /// Starts an empty report of a run that began at `start` and collects the environment now, before any cell is timed.
    pub(crate) fn begin(run: &RunSpec, start: Instant) -> Self {
        let mut environment = environment::collect(run.argv.clone(), run.settings.clone());
        environment.planned_rows = Some(run.cells.len() as u64);
        ReportWriter {
            start,
            report: Report { schema_version: SCHEMA_VERSION, environment, rows: vec![] },
            positions: vec![],
            folder: run.out.clone(),
            quota: QuotaWatch::begin().map(Arc::new),
            earlier: run.earlier.iter().flat_map(|earlier| earlier.environment.backends.clone()).collect(),
            journal: None,
            saving: Duration::ZERO,
            unsaved: None,
        }
    }

    /// Records the row of the cell at `position` of the plan, replacing an earlier one.
    pub(crate) fn record(&mut self, position: usize, row: Row) {
        match self.positions.binary_search(&position) {
            Ok(at) => self.report.rows[at] = row,
            Err(at) => {
                self.positions.insert(at, position);
                self.report.rows.insert(at, row);
            }
        }
    }

    /// Records the final row of a cell, in the journal too.
    pub(crate) fn record_finished(
        &mut self,
        position: usize,
        row: Row,
        backends: Vec<BackendState>,
        observer: &mut dyn Observer,
    ) {
        self.record(position, row.clone());
        self.describe(backends);
        self.write(observer, |writer, folder| {
            let Some(journal) = writer.journal.as_mut().filter(|journal| journal.is_there()) else {
                return writer.start_journal(folder);
            };
            let appended = journal.append(&writer.report.environment, &row);
            // A new journal gets all rows.
            writer.journal = writer.journal.take().filter(|_| appended.is_ok());
            appended
        });
    }

    /// Writes to the folder, if there is one. Reports an error if the write before had none: the run goes on, since a full disk or
    /// a lost network may come back.
    fn write(
        &mut self,
        observer: &mut dyn Observer,
        write: impl FnOnce(&mut Self, &Path) -> anyhow::Result<()>,
    ) {
        let Some(folder) = self.folder.clone() else { return };
        let begun = Instant::now();
        if let Err(error) = write(self, &folder) {
            if self.unsaved.is_none() {
                observer.not_saved(&error);
            }
            self.unsaved = Some(error);
        }
        self.saving += begun.elapsed();
    }

    pub(crate) fn advise(&mut self, warnings: Vec<RunWarning>) {
        self.report.environment.warnings.extend(warnings);
    }

    /// Saves the file for the last time. Returns the report, without the control characters that workers sent, and the error
    /// if it could not be saved.
    pub(crate) fn finish(mut self, backends: Vec<BackendState>) -> (Report, Option<anyhow::Error>) {
        self.describe(backends);
        // An environment that JSON cannot hold is not saved either, and that error is reported.
        let _ = sanitize(&mut self.report);
        let Some(folder) = self.folder.take().filter(|folder| self.replaces_report_in(folder)) else {
            return (self.report, self.unsaved);
        };
        make(&folder);
        self.unsaved = file::save(&self.report, &folder.join(file::FILE_NAME)).err();
        // The journal has the rows until the report is on disk.
        if self.unsaved.is_none() && !self.report.rows.is_empty() {
            journal::remove(&folder);
        }
        (self.report, self.unsaved)
    }

    /// Saves the report so far, unless saves have taken too much of the run's time already. Does not wait for the disk: the journal
    /// is there.
    pub(crate) fn save_soon(
        &mut self,
        backends: impl FnOnce() -> Vec<BackendState>,
        observer: &mut dyn Observer,
    ) {
        if self.saving > SAVING_GRACE + self.start.elapsed() / SAVING_SHARE {
            return;
        }
        self.describe(backends());
        self.write(observer, |writer, folder| {
            if !writer.replaces_report_in(folder) {
                return Ok(());
            }
            if !writer.journal.as_ref().is_some_and(Journal::is_there) {
                writer.start_journal(folder)?;
            }
            file::save_unsynced(&writer.report, &folder.join(file::FILE_NAME))?;
            writer.unsaved = None;
            Ok(())
        });
    }

    /// Records the backends as they are now, with the libraries of the earlier start that this one has not loaded yet: rows of
    /// both may be in the report.
    fn describe(&mut self, mut backends: Vec<BackendState>) {
        for backend in &mut backends {
            let earlier = self.earlier.iter().filter(|state| state.name == backend.name);
            for library in earlier.flat_map(|state| &state.libraries) {
                if library.version.is_some() && backend.libraries.iter().all(|now| now.name != library.name) {
                    backend.libraries.push(library.clone());
                }
            }
        }
        self.report.environment.backends = backends;
        self.report.environment.quota_pauses = self.quota.as_ref().and_then(|watch| watch.pauses());
        self.report.environment.elapsed_s = self.start.elapsed().as_secs_f64();
    }

    /// Returns whether the report so far may replace the one in `folder`: an earlier report is worth more than one without rows.
    fn replaces_report_in(&self, folder: &Path) -> bool {
        !self.report.rows.is_empty() || !folder.join(file::FILE_NAME).exists()
    }

    fn start_journal(&mut self, folder: &Path) -> anyhow::Result<()> {
        make(folder);
        self.journal = Some(Journal::start(folder, &self.report)?);
        Ok(())
    }
}

/// Makes the folder again, which may have been removed meanwhile. If this fails, writing to it fails too, and that error
/// names the file and the next step.
fn make(folder: &Path) {
    let _ = std::fs::create_dir_all(folder);
}
