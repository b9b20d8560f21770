//! Writes the report of a run while it grows, with the rows in the order of the plan.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use gpubench_host::environment;
use gpubench_model::report::sanitize::sanitized;
use gpubench_model::report::{BackendState, Report, Row, RunWarning, SCHEMA_VERSION, TimeSpent, file};

use super::Run;

pub(crate) struct ReportWriter {
    start: Instant,
    report: Report,
    /// The position in the plan of each row; ascending.
    positions: Vec<usize>,
    file: Option<PathBuf>,
    saving: Duration,
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
            file: run.out.as_ref().map(|folder| folder.join(file::FILE_NAME)),
            saving: Duration::ZERO,
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

    /// Records the share of the CPUs' time that other programs used while the run started.
    pub(crate) fn note_other_programs(&mut self, share: Option<f64>) {
        self.report.environment.other_programs = share;
    }

    /// Returns the share of the CPUs' time that other programs used while the run started, if the system reports it.
    pub(crate) fn other_programs(&self) -> Option<f64> {
        self.report.environment.other_programs
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

    /// Saves the file for the last time and returns the report, without the control characters that workers sent.
    pub(crate) fn finish(
        mut self,
        backends: Vec<BackendState>,
        time_spent: TimeSpent,
    ) -> anyhow::Result<Report> {
        let saving_s = self.saving.as_secs_f64();
        self.report.environment.time_spent = Some(TimeSpent { saving_s, ..time_spent });
        self.save(backends)?;
        sanitized(self.report).context("a worker sent text that cannot be shown")
    }

    /// Saves the file, unless saves have taken too much of the run's time already.
    pub(crate) fn save_soon(&mut self, backends: impl FnOnce() -> Vec<BackendState>) -> anyhow::Result<()> {
        if self.saving > SAVING_GRACE + self.start.elapsed() / SAVING_SHARE {
            return Ok(());
        }
        let begun = Instant::now();
        self.save(backends())?;
        self.saving += begun.elapsed();
        Ok(())
    }

    fn save(&mut self, backends: Vec<BackendState>) -> anyhow::Result<()> {
        self.report.environment.backends = backends;
        self.report.environment.elapsed_s = self.start.elapsed().as_secs_f64();
        let Some(path) = &self.file else { return Ok(()) };
        if let Some(folder) = path.parent() {
            // If this fails, the save below fails too, and its error names the file and the next step.
            let _ = std::fs::create_dir_all(folder);
        }
        file::save(&self.report, path)
    }
}
