//! How a report is shown, and the type of its formats.

use gpubench_model::format;
use gpubench_model::report::Report;

use crate::chart::Theme;

/// A format of a report.
pub type Format = format::Format<Report, View>;

/// How a report is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Tables of every case follow the answer.
    pub tables: bool,
    /// In tables every variant has its line, not only the best of each side.
    pub all_variants: bool,
    /// ANSI colours for winners and wrong answers.
    pub color: bool,
    /// The look of charts.
    pub theme: Theme,
}
