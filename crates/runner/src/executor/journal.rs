//! The report of a run while it grows: rows in the order of the plan, on disk as soon as they are known.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use gpubench_host::environment;
use gpubench_model::report::{BackendState, Report, Row, RunWarning, SCHEMA_VERSION, file};

use super::Run;

pub(crate) struct Journal {
    start: Instant,
    report: Report,
    /// The position in the plan of each row; ascending.
    positions: Vec<usize>,
    file: Option<PathBuf>,
    saving: Duration,
}

/// What saves may take of a run's time: a twentieth, and a second for the whole of it.
const SAVING_SHARE: u32 = 20;
const SAVING_GRACE: Duration = Duration::from_secs(1);

impl Journal {
    /// Starts an empty report, of a run that began at `start`, and looks at the machine: nothing of that is left
    /// to disturb a cell.
    pub(crate) fn begin(run: &Run, start: Instant) -> Self {
        let mut environment = environment::collect(run.argv.clone(), run.settings.clone());
        environment.planned_rows = Some(run.cells.len() as u64);
        Journal {
            start,
            report: Report { schema_version: SCHEMA_VERSION, environment, rows: vec![] },
            positions: vec![],
            file: run.out.as_ref().map(|folder| folder.join(file::FILE_NAME)),
            saving: Duration::ZERO,
        }
    }

    /// Enters the row of the cell at `position` of the plan, in place of an earlier one.
    pub(crate) fn enter(&mut self, position: usize, row: Row) {
        match self.positions.binary_search(&position) {
            Ok(at) => self.report.rows[at] = row,
            Err(at) => {
                self.positions.insert(at, position);
                self.report.rows.insert(at, row);
            }
        }
    }

    pub(crate) fn finished(&self) -> usize {
        self.report.rows.iter().filter(|row| !row.was_cut_short()).count()
    }

    /// Runnable processes a processor when the run started, where the system tells.
    pub(crate) fn load(&self) -> Option<f64> {
        let host = &self.report.environment.host;
        host.load_average.map(|load| load / host.threads.max(1) as f64)
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

    /// Brings the file up to date for the last time and hands the report over.
    pub(crate) fn finish(mut self, backends: Vec<BackendState>) -> anyhow::Result<Report> {
        self.save(backends)?;
        Ok(self.report)
    }

    /// Brings the file up to date, unless saves have slowed the run down already.
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
            // An error here is one of the save below, which names the file and says what to do.
            let _ = std::fs::create_dir_all(folder);
        }
        file::save(&self.report, path)
    }
}
