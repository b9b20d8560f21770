//! Charts as files, in PNG or SVG.

use gpubench_model::report::Report;

use super::{Exporter, File, View};
use crate::chart::{self, Format};

/// The charts of a report in one format.
pub struct Image(Format);

/// Charts as PNG.
pub static PNG: Image = Image(Format::Png);

/// Charts as SVG.
pub static SVG: Image = Image(Format::Svg);

impl Exporter for Image {
    fn name(&self) -> &'static str {
        self.0.extension()
    }

    fn summary(&self) -> &'static str {
        match self.0 {
            Format::Png => "charts of time, speed-up, phases and limits, as pixels",
            Format::Svg => "charts of time, speed-up, phases and limits, as vectors",
        }
    }

    fn extension(&self) -> &'static str {
        self.0.extension()
    }

    fn files(&self, report: &Report, view: &View) -> anyhow::Result<Vec<File>> {
        chart::files(&[("", report)], &[self.0], view.theme)
    }
}
