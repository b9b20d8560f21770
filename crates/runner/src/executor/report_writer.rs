//! Writes the report of a run while it grows, with the rows in the order of the plan.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gpubench_host::cpu_quota::QuotaWatch;
use gpubench_host::environment;
use gpubench_model::report::sanitize::sanitized;
use gpubench_model::report::{BackendState, Report, Row, RunWarning, SCHEMA_VERSION, TimeSpent, file};

use super::Run;
use super::journal::Journal;

pub(crate) struct ReportWriter {
    start: Instant,
    report: Report,
    /// The position in the plan of each row; ascending.
    positions: Vec<usize>,
    /// Folder of the run's files.
    folder: Option<PathBuf>,
    /// The pauses by the control group's CPU quota, if it has one.
    quota: Option<Arc<QuotaWatch>>,
    /// The journal, once a cell has ended.
    journal: Option<Journal>,
    saving: Duration,
    /// The reason that the last save failed.
    unsaved: Option<anyhow::Error>,
}

/// Saves may take a twentieth of a run's time, plus one second in total.
const SAVING_SHARE: u32 = 20;
const SAVING_GRACE: Duration = Duration::from_secs(1);

impl ReportWriter {
    /// Starts an empty report of a run that began at `start` and collects the environment now, before any cell is timed.
    pub(crate) fn begin(run: &Run, start: Instant) -> Self {
        let mut environment = environment::collect(run.argv.clone(), run.settings.clone());
        environment.planned_rows = Some(run.cells.len() as u64);
        ReportWriter {
            start,
            report: Report { schema_version: SCHEMA_VERSION, environment, rows: vec![] },
            positions: vec![],
            folder: run.out.clone(),
            quota: QuotaWatch::begin().map(Arc::new),
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

    /// Records the final row of a cell, in the journal too. Returns the error of a save that failed, as
    /// [`ReportWriter::save_soon`] does.
    pub(crate) fn record_finished(&mut self, position: usize, row: Row) -> Option<&anyhow::Error> {
        let begun = Instant::now();
        self.record(position, row.clone());
        let folder = self.folder.clone()?;
        let failed_before = self.unsaved.is_some();
        let appended = match &mut self.journal {
            Some(journal) if journal.is_there() => journal.append(&row),
            _ => start(&folder, &self.report).map(|journal| self.journal = Some(journal)),
        };
        self.saving += begun.elapsed();
        if let Err(error) = appended {
            // A new journal gets all rows.
            self.journal = None;
            self.unsaved = Some(error);
        }
        self.unsaved.as_ref().filter(|_| !failed_before)
    }

    /// Records the share of the CPUs' time that other programs used while the run started.
    pub(crate) fn note_other_programs(&mut self, share: Option<f64>) {
        self.report.environment.other_programs = share;
    }

    /// Returns the share of the CPUs' time that other programs used while the run started, if the system reports it.
    pub(crate) fn other_programs(&self) -> Option<f64> {
        self.report.environment.other_programs
    }

    /// Returns the pauses by the control group's CPU quota since the run started, if it has one.
    pub(crate) fn quota(&self) -> Option<Arc<QuotaWatch>> {
        self.quota.clone()
    }

    pub(crate) fn report(&self) -> &Report {
        &self.report
    }

    /// Counts cells that were added to the plan.
    pub(crate) fn plan(&mut self, added: usize) {
        *self.report.environment.planned_rows.get_or_insert(0) += added as u64;
    }

    pub(crate) fn advise(&mut self, warnings: Vec<RunWarning>) {
        self.report.environment.warnings.extend(warnings);
    }

    /// Saves the file for the last time. Returns the report, without the control characters that workers sent, and the error
    /// if it could not be saved.
    pub(crate) fn finish(
        mut self,
        backends: Vec<BackendState>,
        time_spent: TimeSpent,
    ) -> (Report, Option<anyhow::Error>) {
        let saving_s = self.saving.as_secs_f64();
        self.report.environment.time_spent = Some(TimeSpent { saving_s, ..time_spent });
        self.save(backends);
        // The journal has the rows until the report is on disk.
        let synced = self.folder.as_deref().is_none_or(|folder| sync(folder).is_ok());
        if let Some(journal) = self.journal.take().filter(|_| synced && self.unsaved.is_none()) {
            journal.remove();
        }
        (sanitized(self.report), self.unsaved)
    }

    /// Saves the file, unless saves have taken too much of the run's time already. Returns the error of a save that failed, if
    /// the one before did not: the run goes on, since a full disk or a lost network may come back.
    pub(crate) fn save_soon(
        &mut self,
        backends: impl FnOnce() -> Vec<BackendState>,
    ) -> Option<&anyhow::Error> {
        if self.saving > SAVING_GRACE + self.start.elapsed() / SAVING_SHARE {
            return None;
        }
        let (begun, failed_before) = (Instant::now(), self.unsaved.is_some());
        self.save(backends());
        self.saving += begun.elapsed();
        self.unsaved.as_ref().filter(|_| !failed_before)
    }

    fn save(&mut self, backends: Vec<BackendState>) {
        self.report.environment.backends = backends;
        self.report.environment.quota_pauses = self.quota.as_ref().and_then(|watch| watch.pauses());
        self.report.environment.elapsed_s = self.start.elapsed().as_secs_f64();
        let Some(folder) = &self.folder else { return };
        let path = folder.join(file::FILE_NAME);
        // An earlier report is worth more than one without rows.
        if self.report.rows.is_empty() && path.exists() {
            return;
        }
        make(folder);
        self.unsaved = file::save(&self.report, &path).err();
    }
}

/// Waits until the report in `folder`, and its name there, are on disk.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder.join(file::FILE_NAME))?.sync_all()?;
    File::open(folder)?.sync_all()
}

fn start(folder: &Path, report: &Report) -> anyhow::Result<Journal> {
    make(folder);
    Journal::start(folder, report)
}

/// Makes the folder again, which may have been removed meanwhile. If this fails, writing to it fails too, and that error
/// names the file and the next step.
fn make(folder: &Path) {
    let _ = std::fs::create_dir_all(folder);
}
