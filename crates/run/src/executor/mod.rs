//! Runs the planned cells in workers and keeps the report on disk up to date.
//!
//! Cells run in blocks. The jobs of a block are kept at the same time and sampled in several rounds, each in a new random
//! order, so that changes over time affect all cells alike. A cell that fails also gets a row.

mod advice;
mod block;
mod cell_run;
mod cell_session;
mod earlier;
mod interrupt;
pub mod journal;
pub mod judge;
mod order;
mod peaks;
pub(crate) mod plausible;
mod report_writer;
mod rounds;
mod series;
mod workers;

#[cfg(test)]
pub(crate) use cell_run::tests::planned;

use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use advice::slow_kernels;
pub use earlier::Earlier;
pub use interrupt::Watch;
pub use peaks::PeakSource;
pub use rounds::{NextSize, NextSizes, PASSES};
pub use workers::{RequiredBackendMissing, device_count};

use gpubench_backend::host::other_programs::OtherPrograms;
use gpubench_backend::{External, Options, Registry, Variant, WorkerId, fewer_threads};
use gpubench_report::case::Cell;
use gpubench_report::measure::sampling::Sampling;
use gpubench_report::measure::stopping::Rule;
use gpubench_report::report::Report;

use crate::observe::Observer;
use crate::worker::Launcher;
use rounds::Rounds;
use workers::Interrupted;

/// One cell of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCell {
    /// The cell.
    pub cell: Cell,
    /// The variant that computes it.
    pub variant: Variant,
    /// How it is sampled.
    pub sampling: Sampling,
    /// True if a few executions may decide that it is too far behind to be sampled to precision.
    pub may_be_screened: bool,
}

impl PlannedCell {
    /// Returns the target relative half width.
    pub(crate) fn precision(&self) -> f64 {
        self.sampling.precision(self.variant.side)
    }

    pub(crate) fn rule(&self) -> Rule {
        self.sampling.rule(self.variant.side)
    }

    /// Returns the worker that runs it.
    pub fn worker(&self) -> WorkerId {
        WorkerId {
            backend: self.cell.backend.clone(),
            threads: fewer_threads(&self.cell.variant),
            library: self.variant.library.as_deref().map(str::to_owned),
        }
    }
}

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The cells, in the order of the report.
    pub cells: Vec<PlannedCell>,
    /// The backends of the program.
    pub registry: Registry,
    /// The backends of other programs that the run uses.
    pub externals: Vec<External>,
    /// Options with which backends are started.
    pub options: Options,
    /// Seed of the random order of cells.
    pub seed: u64,
    /// Chooses the sizes near crossovers at which cells are added; `None` adds none.
    pub next_sizes: Option<NextSizes>,
    /// Source of the backends' peaks.
    pub peaks: PeakSource,
    /// Time limit of one cell and of the start of one worker.
    pub cell_timeout: Duration,
    /// Program that is started as a worker; `None` for this executable.
    pub program: Option<PathBuf>,
    /// Backends that must be available before the run begins.
    pub require: Vec<String>,
    /// Folder of `report.json`; `None` writes no file.
    pub out: Option<PathBuf>,
    /// What an earlier start of the same run has finished, if this one resumes it.
    pub earlier: Option<Earlier>,
    /// The command line, for the report.
    pub argv: Vec<String>,
    /// The resolved settings, for the report; a JSON object.
    pub settings: serde_json::Value,
}

impl RunSpec {
    fn is_simulated(&self) -> bool {
        self.cells.iter().all(|planned| self.simulates(&planned.cell.backend))
    }

    fn simulates(&self, backend: &str) -> bool {
        self.registry.find(backend).is_some_and(|found| found.simulated)
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct Finished {
    /// The report, with a row for every cell that was finished.
    pub report: Report,
    /// True if the user ended the run early (Ctrl-C or a termination signal).
    pub interrupted: bool,
    /// The error of the last save, if the report could not be saved.
    pub unsaved: Option<anyhow::Error>,
}

/// Runs every cell. The report in `out` is replaced after each turn of a cell, or less often where that would take more
/// than a twentieth of the run's time.
///
/// # Errors
/// Before any cell is run: a required backend cannot start ([`RequiredBackendMissing`]), or the run that is resumed was on
/// another machine. Failures of a cell are in its row; a report that cannot be saved is in [`Finished::unsaved`].
pub fn run(run: &RunSpec, observer: &mut dyn Observer) -> anyhow::Result<Finished> {
    let watch = interrupt::Watch::begin()?;
    let start = Instant::now();
    let launcher = Launcher::new(run.program.as_ref(), &run.externals)?;
    let others = OtherPrograms::begin();
    let mut workers = workers::Workers::start(run, launcher, watch.stop());
    let mut writer = report_writer::ReportWriter::begin(run, start);
    if let Some(earlier) = &run.earlier {
        earlier.check_host(&writer.report.environment)?;
    }
    observer.run_started(run.cells.len());
    let mut interrupted = match workers.require(&run.require, observer) {
        Ok(required) => {
            required?;
            peaks::gather(run, &mut workers, others.as_ref(), &mut writer, observer).is_err()
        }
        Err(Interrupted) => true,
    };
    if let Some(others) = others.filter(|_| !interrupted && !run.is_simulated()) {
        writer.report.environment.other_programs = others.share(&workers.processes());
    }
    if let Some(earlier) = run.earlier.as_ref().filter(|_| !interrupted) {
        interrupted = workers.await_started(observer).is_err();
        earlier.check_backends(&workers.states())?;
        // All of them now, not with their block: the first save replaces the earlier report and journal. Rows that are not
        // finished stay until their cells are measured again.
        for (position, planned) in run.cells.iter().enumerate() {
            if let Some(row) = earlier.row(&planned.cell) {
                writer.record(position, row.clone());
            }
        }
        let finished = run.cells.iter().filter(|planned| earlier.finished(&planned.cell).is_some()).count();
        observer.resumed(finished);
        let (total, left) = (run.cells.len(), run.cells.len() - finished);
        observer.note(&format!("resumed: {finished} of {total} cells are finished; {left} are left"));
    }
    let mut rounds = Rounds::new(run, observer, start, workers, writer);
    interrupted = interrupted || rounds.run().is_err();
    let (report, unsaved) = rounds.finish();
    if interrupted {
        observer.interrupted(&report);
    }
    Ok(Finished { report, interrupted, unsaved })
}
