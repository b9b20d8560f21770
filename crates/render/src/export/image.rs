//! Writes the charts of a report as PNG or SVG files.

use gpubench_model::format::Makes;

use super::view::Format;
use crate::chart;

/// Charts as PNG.
pub static PNG: Format = Format {
    name: "png",
    summary: "charts of time, speed-up, phases and rooflines, as pixels",
    by_default: true,
    makes: Makes::Files {
        has: |file| file.strip_suffix(".png").is_some_and(chart::is_name),
        render: |report, view| chart::files(&[("", report)], &[chart::Format::Png], view.theme),
    },
};

/// Charts as SVG.
pub static SVG: Format = Format {
    name: "svg",
    summary: "charts of time, speed-up, phases and rooflines, as vectors",
    by_default: false,
    makes: Makes::Files {
        has: |file| file.strip_suffix(".svg").is_some_and(chart::is_name),
        render: |report, view| chart::files(&[("", report)], &[chart::Format::Svg], view.theme),
    },
};
