//! Settings: what a run was asked to do, fully resolved from defaults, a sweep file and the command line.
//!
//! Knows names and limits; touches no device and writes nothing.

pub mod config;
pub mod devices;
pub mod options;
pub mod resolve;
pub mod sizes;
pub mod threads;
pub mod value;
mod values;
pub mod words;

use std::path::PathBuf;

use gpubench_text::pattern::Pattern;
use serde::Serialize;

use self::options::SweepOptions;
use crate::backend::Options;
use crate::case::{Cache, DType};
use crate::chart::Theme;
use crate::measure::sampling::Sampling;

/// A format of a report.
pub type Format = &'static crate::export::Format;

/// Everything a run needs to know. Serialised into the report.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// The sweep file or built-in sweep that was used, as it was named.
    pub config: Option<String>,
    /// What to measure; one entry an op of a sweep table.
    pub sweeps: Vec<Sweep>,
    /// What was asked for, by the command line or else above the tables of the sweep file; that which holds for the
    /// whole run is serialised.
    #[serde(flatten)]
    pub asked: SweepOptions,
    /// What the workers are told when they start; its ops and dtypes are those of all sweeps.
    pub options: Options,
    /// Numbers of threads below those of `options` that CPU variants are measured with besides, ascending.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fewer_threads: Vec<usize>,
    /// The backends of all sweeps, in the order of [`crate::backend::BACKENDS`].
    pub backends: Vec<String>,
    /// Where results go.
    pub output: Output,
}

/// One op and the values that multiply into its cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sweep {
    /// Name of the op.
    pub op: String,
    /// Sides of the operands: ascending, without duplicates, at least 1.
    pub sizes: Vec<u64>,
    /// Element types.
    pub dtypes: Vec<DType>,
    /// Share of stored entries, in (0, 1]; `None` for ops on dense operands.
    pub density: Option<f64>,
    /// Names of the backends.
    pub backends: Vec<String>,
    /// The variants to take; each backend's default ones when `None`.
    pub variants: Option<Vec<Pattern>>,
    /// States of the caches to measure in.
    pub caches: Vec<Cache>,
    /// How each cell is sampled.
    pub sampling: Sampling,
}

/// Where results go and how they are shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Output {
    /// Folder or stdout.
    pub destination: Destination,
    /// Formats to write, in the order of [`FORMATS`](crate::export::FORMATS).
    pub formats: Vec<Format>,
    /// Whether tables of every case follow the answer on the terminal.
    pub tables: bool,
    /// Whether tables show every variant and not only the best of each side.
    pub all_variants: bool,
    /// Whether stdout takes colours.
    pub color: bool,
    /// Whether progress is kept silent.
    pub quiet: bool,
    /// Whether existing results may be replaced.
    pub force: bool,
    /// The look of charts.
    pub theme: Theme,
}

/// The place results are written to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Destination {
    /// This folder; tables go to stdout.
    Folder(PathBuf),
    /// Stdout, which gets one format and nothing else.
    Stdout,
}
