//! The options of the formats of a report.

use std::path::PathBuf;

use gpubench_model::format;
use gpubench_model::report::Report;

use crate::chart::{Selection, Theme};

/// A format of a report.
pub type Format = format::Format<Report, View>;

/// Options of a format.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Print tables of every case after the answer.
    pub tables: bool,
    /// List every variant in tables, not only the best of each side.
    pub all_variants: bool,
    /// ANSI colours for winners and wrong answers.
    pub color: bool,
    /// Columns of the terminal that the first screen is for; 80 where unknown.
    pub width: Option<usize>,
    /// The folder of the report, where it is known: `gpubench run --resume` goes on there.
    pub folder: Option<PathBuf>,
    /// The look of charts.
    pub theme: Theme,
    /// The kinds of charts.
    pub charts: Selection,
}
