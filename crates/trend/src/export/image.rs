//! The charts of a trend as files, in PNG or SVG.

use gpubench_model::format::Makes;
use gpubench_render::chart::{self, panels::files};

use super::view::Format;
use crate::chart::charts;

pub(crate) static PNG: Format = Format {
    name: "png",
    summary: "a chart per case, as pixels",
    // A folder of nightly runs has hundreds of cases.
    by_default: false,
    makes: Makes::Files {
        has: |file| file.starts_with("trend-") && file.ends_with(".png"),
        render: |trend, theme| files(&charts(trend), chart::Format::Png, *theme),
    },
};

pub(crate) static SVG: Format = Format {
    name: "svg",
    summary: "a chart per case, as vectors",
    by_default: false,
    makes: Makes::Files {
        has: |file| file.starts_with("trend-") && file.ends_with(".svg"),
        render: |trend, theme| files(&charts(trend), chart::Format::Svg, *theme),
    },
};
