//! Writes the charts of a report as PNG or SVG files.

use gpubench_model::format::Makes;
use gpubench_model::report::Report;
use gpubench_model::report::file::File;

use super::view::{Format, View};
use crate::chart;

/// Charts as PNG.
pub static PNG: Format = Format {
    name: "png",
    summary: "charts as pixels",
    by_default: true,
    makes: Makes::Files {
        has: |file| file.strip_suffix(".png").is_some_and(chart::is_name),
        render: |report, view| files(report, view, chart::Format::Png),
    },
};

/// Charts as SVG.
pub static SVG: Format = Format {
    name: "svg",
    summary: "charts as vectors",
    by_default: false,
    makes: Makes::Files {
        has: |file| file.strip_suffix(".svg").is_some_and(chart::is_name),
        render: |report, view| files(report, view, chart::Format::Svg),
    },
};

fn files(report: &Report, view: &View, format: chart::Format) -> anyhow::Result<Vec<File>> {
    let View { theme, charts: selection, .. } = *view;
    chart::files(&[("", report)], &chart::Drawing { formats: &[format], theme, selection })
}
