//! The executor: has workers turn each planned cell into a row, and keeps the report on disk up to date.
//!
//! Cells run in blocks whose jobs are held together and sampled in several rounds, in another chance order each time,
//! so that what changes with time touches all alike. A cell that fails is a row like any other.

mod advice;
mod block;
mod budget;
mod course;
mod devices;
mod inputs;
mod interrupt;
mod journal;
mod order;
mod peaks;
mod planned;
mod refine;
mod rounds;
mod series;
mod visit;
mod workers;

#[cfg(test)]
pub(crate) use course::tests::planned;

use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use devices::device_count;
pub use interrupt::Watch;
pub use peaks::PeakSource;
pub use refine::most_cells;
pub use workers::RequiredBackendMissing;

pub use planned::PlannedCell;

use gpubench_backend::{Options, Registry};
use gpubench_host::memory;
use gpubench_model::report::Report;

use crate::observe::Observer;
use crate::worker::client::Place;
use rounds::Rounds;

/// Everything a run needs to know.
#[derive(Clone, Debug)]
pub struct Run {
    /// The cells, in the order in which they stand in the report.
    pub cells: Vec<PlannedCell>,
    /// The backends of the program.
    pub registry: Registry,
    /// How backends are started.
    pub options: Options,
    /// Fixes the order in which cells take their turns.
    pub seed: u64,
    /// Seconds the whole run should take: what the cells leave of it goes to those with the widest intervals.
    pub budget_s: Option<f64>,
    /// True if cells are added at sizes near the crossovers that the cells of the plan show.
    pub refine: bool,
    /// Whether the peaks of the backends are told.
    pub peaks: PeakSource,
    /// How long one cell, or the start of one worker, may take.
    pub cell_timeout: Duration,
    /// True if workers are processes of their own (else threads of this one).
    pub isolate: bool,
    /// The program started as worker; this executable when `None`.
    pub program: Option<PathBuf>,
    /// Backends without which the run must not begin.
    pub require: Vec<String>,
    /// Folder in which `report.json` is kept up to date; nowhere when `None`.
    pub out: Option<PathBuf>,
    /// The command line, for the report.
    pub argv: Vec<String>,
    /// The resolved settings, for the report; a JSON object.
    pub settings: serde_json::Value,
}

/// What a run comes to.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The report, with a row for every cell that was finished.
    pub report: Report,
    /// True if the user ended the run early (Ctrl-C or a termination signal).
    pub interrupted: bool,
}

/// Runs every cell. After each turn of a cell the report in `out` is replaced as a whole; less often where that would
/// take more than a twentieth of the run's time.
///
/// # Errors
/// A required backend that cannot start ([`RequiredBackendMissing`], before any cell is run), or a report that
/// cannot be written. What goes wrong with a cell is in its row.
pub fn run(run: &Run, observer: &mut dyn Observer) -> anyhow::Result<Finished> {
    let watch = interrupt::Watch::begin()?;
    let start = Instant::now();
    let place = Place::of(run.isolate, run.program.as_ref(), run.registry)?;
    let mut workers = workers::Workers::start(run, place, watch.flag());
    let mut journal = journal::Journal::begin(run, start);
    observer.run_started(run.cells.len());
    let mut interrupted = workers.require(&run.require, observer)?.is_break()
        || peaks::gather(run, &mut workers, &mut journal, observer).is_break();
    let mut rounds = Rounds::new(run, observer, start, workers, journal);
    let mut cells = run.cells.clone();
    for block in block::blocks(&cells, memory::free_host_bytes()) {
        if interrupted {
            break;
        }
        interrupted = rounds.run(&cells, block)?;
    }
    if run.refine && !interrupted {
        interrupted = refine::refine(run, &mut cells, &mut rounds)?;
    }
    let (finished, report) = rounds.finish()?;
    if interrupted {
        observer.interrupted(finished, cells.len());
    }
    Ok(Finished { report, interrupted })
}
