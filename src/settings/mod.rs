//! Settings: the complete description of a run, resolved from defaults, a sweep file and the command line.
//!
//! This module uses no device and writes nothing.

pub mod backends;
pub mod config;
pub mod devices;
pub mod names;
mod option_types;
pub mod options;
pub mod own;
pub mod resolve;
pub mod shapes;
pub mod sizes;
pub mod syntax;
pub mod threads;

use std::path::{Path, PathBuf};

use gpubench_report::pattern::Pattern;
use serde::Serialize;

use self::options::SweepOptions;
use self::shapes::SweepShape;
use crate::backend::Options;
use crate::case::{Cache, Case, DType};
use crate::measure::sampling::Sampling;
use crate::op;
use crate::write::chart::{Selection, Theme};
use crate::write::report::FORMATS;

/// A format of a report.
pub type ReportFormat = &'static crate::write::report::Format;

/// Everything that a run needs. Serialised into the report.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// The sweep file or built-in sweep, as the user named it.
    pub config: Option<String>,
    /// The sweeps, one per op of each table.
    pub sweeps: Vec<OpSweep>,
    /// The options from the command line and the top of the sweep file; those for the whole run are serialised.
    #[serde(flatten)]
    pub asked: SweepOptions,
    /// The options that workers get when they start; their ops and dtypes are those of all sweeps.
    pub options: Options,
    /// Smaller numbers of threads at which CPU variants are measured too, ascending.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fewer_threads: Vec<usize>,
    /// The backends of all sweeps, in the order of [`names::backend_names`], then those of `--external`.
    pub backends: Vec<String>,
    /// Whether the user named backends, or gave an option that means a GPU.
    #[serde(skip)]
    pub asks_for_gpu: bool,
    /// The output settings.
    pub output: OutputSettings,
}

impl Settings {
    /// Returns the settings without a backend.
    pub(crate) fn without_backend(&self, name: &str) -> Settings {
        let mut settings = self.clone();
        settings.backends.retain(|backend| backend != name);
        settings.sweeps.iter_mut().for_each(|sweep| sweep.backends.retain(|backend| backend != name));
        settings
    }

    /// Returns whether a few executions may decide which variants of a sweep are sampled to precision: unless the user
    /// asks for all variants, names them, or gives the number of samples.
    pub fn screens(&self, sweep: &OpSweep) -> bool {
        !self.output.all_variants && sweep.variants.is_none() && sweep.sampling.samples.is_none()
    }
}

/// One op, with the values whose combinations are its cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpSweep {
    /// Name of the op.
    pub op: String,
    /// Sizes N: ascending, each once, at least 1.
    pub sizes: Vec<u64>,
    /// Shapes with sizes of their own, which are measured instead of square operands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<SweepShape>,
    /// Element types.
    pub dtypes: Vec<DType>,
    /// Share of stored entries, in (0, 1]; `None` for ops on dense operands, and with matrices of files.
    pub density: Option<f64>,
    /// Identities of the matrices of files, which are measured instead of sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matrices: Vec<String>,
    /// Names of the backends.
    pub backends: Vec<String>,
    /// Patterns of variants; `None` selects the default variants of each backend.
    pub variants: Option<Vec<Pattern>>,
    /// States of the caches to measure in.
    pub caches: Vec<Cache>,
    /// The sampling of each cell.
    pub sampling: Sampling,
}

impl OpSweep {
    /// Returns the cases in one element type.
    pub fn cases(&self, dtype: DType, seed: u64) -> Vec<Case> {
        let case =
            |n, shape, density, matrix| Case { op: self.op.clone(), n, shape, dtype, density, matrix, seed };
        if self.matrices.is_empty() {
            let square = [SweepShape { shape: None, sizes: self.sizes.clone() }];
            let shapes = if self.shapes.is_empty() { &square[..] } else { &self.shapes };
            let of = |one: &SweepShape| -> Vec<Case> {
                one.sizes.iter().map(|n| case(*n, one.shape.clone(), self.density, None)).collect()
            };
            return shapes.iter().flat_map(of).collect();
        }
        let is_sparse = op::find(&self.op).is_some_and(|op| op.default_density().is_some());
        let found = self.matrices.iter().filter_map(|identity| op::matrix::find(identity));
        let of = |matrix: &op::matrix::FileMatrix| {
            case(matrix.n(), None, is_sparse.then(|| matrix.density()), Some(matrix.identity.clone()))
        };
        found.map(of).collect()
    }
}

/// The destination and form of the results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputSettings {
    /// Folder or stdout.
    pub destination: Destination,
    /// Formats to write, in the order of [`FORMATS`].
    pub formats: Vec<ReportFormat>,
    /// Whether tables of every case follow the summary on the terminal.
    pub tables: bool,
    /// Whether tables show every variant, not only the best of each side.
    pub all_variants: bool,
    /// Whether to colour stdout.
    pub color: bool,
    /// Whether to hide progress.
    pub quiet: bool,
    /// Whether existing results may be replaced.
    pub force: bool,
    /// The theme of the charts.
    pub theme: Theme,
    /// The kinds of charts.
    pub charts: Selection,
}

impl Default for OutputSettings {
    /// The default formats, in a new folder.
    fn default() -> OutputSettings {
        OutputSettings {
            destination: Destination::named(None),
            formats: FORMATS.defaults(),
            tables: false,
            all_variants: false,
            color: false,
            quiet: false,
            force: false,
            theme: Theme::default(),
            charts: Selection::default(),
        }
    }
}

/// Writes a path whose bytes need not be UTF-8.
fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// The destination of results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Destination {
    /// This folder; tables go to stdout.
    Folder(#[serde(serialize_with = "lossy")] PathBuf),
    /// Stdout, which gets one format and nothing else.
    Stdout,
}

impl Destination {
    /// Returns what `--out` names: stdout if it is `-`, a new folder without it.
    pub fn named(out: Option<&Path>) -> Destination {
        match out {
            Some(out) if out == Path::new("-") => Destination::Stdout,
            Some(folder) => Destination::Folder(folder.to_owned()),
            None => Destination::Folder(new_folder(Path::new(RESULTS))),
        }
    }
}

/// Folder in which runs without `--out` create theirs.
pub const RESULTS: &str = "results";

/// Returns a folder under `parent` that does not exist yet, named by the current UTC time.
pub fn new_folder(parent: &Path) -> PathBuf {
    let stamp = crate::report::now().strftime("%Y-%m-%dT%H%M%SZ").to_string();
    let names = std::iter::once(stamp.clone()).chain((2u32..).map(|count| format!("{stamp}-{count}")));
    let mut free = names.map(|name| parent.join(name)).filter(|path| !path.exists());
    free.next().unwrap_or_else(|| parent.join(stamp))
}
