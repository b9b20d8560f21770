//! The options of the formats of a report.

use gpubench_model::format;
use gpubench_model::report::Report;

use crate::chart::{Selection, Theme};

/// A format of a report.
pub type Format = format::Format<Report, View>;

/// Options of a format.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Print tables of every case after the answer.
    pub tables: bool,
    /// List every variant in tables, not only the best of each side.
    pub all_variants: bool,
    /// ANSI colours for winners and wrong answers.
    pub color: bool,
    /// Columns of the terminal that the first screen is for; 80 where unknown.
    pub width: Option<usize>,
    /// The look of charts.
    pub theme: Theme,
    /// The kinds of charts.
    pub charts: Selection,
}
