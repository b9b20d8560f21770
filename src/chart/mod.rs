//! Charts of reports: time and speed-up against size, and panels of times in order. Knows no device and no command
//! line.
//!
//! [`model`] says what a chart shows, [`layout`] where, and `draw` puts it on a canvas, the same for every format.

mod axis;
mod canvas;
mod draw;
mod font;
mod image;
mod labels;
pub mod layout;
mod linear;
pub mod model;
pub mod panels;
mod series;
mod shape;
mod text;
pub mod theme;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rayon::prelude::*;

use crate::report::Report;
use crate::report::file::{File, load, locate, save_all_in_new};
pub use image::font_faces;
use image::{Picture, plain_svg};
pub use model::{ChartModel, charts};
pub use theme::Theme;

/// Size of a chart in pixels.
pub const SIZE: (u32, u32) = (1600, 1000);

/// Charts that are drawn at the same time; each takes about 50 MB while it is drawn.
const AT_ONCE: usize = 8;

/// The format of a chart's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Portable network graphics, [`SIZE`] pixels.
    Png,
    /// Scalable vector graphics with the font embedded.
    Svg,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 2] = [Format::Png, Format::Svg];

    /// The format of that name, `png` or `svg`.
    pub fn find(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.extension() == name)
    }

    /// The extension of its files, which is also its name.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Png => "png",
            Format::Svg => "svg",
        }
    }
}

/// The charts of one or several named reports as files, such as `time-matmul-f32.png`.
///
/// # Errors
/// A chart cannot be drawn or encoded.
pub fn files(reports: &[(&str, &Report)], formats: &[Format], theme: Theme) -> anyhow::Result<Vec<File>> {
    pictures(&charts(reports), formats, theme)
}

/// A chart to stand in a page of HTML.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// What its file would be called, without extension: `time-matmul-f32`.
    pub name: String,
    /// What it shows, in words.
    pub title: String,
    /// An `svg` element of [`SIZE`] whose texts are in [`font_faces`], which the page must have once.
    pub svg: String,
}

/// The charts of a report for a page of HTML, in the order of [`charts`].
///
/// # Errors
/// A chart cannot be drawn.
pub fn svg_fragments(report: &Report, theme: Theme) -> anyhow::Result<Vec<Fragment>> {
    let charts = charts(&[("", report)]);
    let fragment = |chart: &ChartModel| {
        let svg = plain_svg(chart, theme).with_context(|| format!("cannot draw {}", chart.name))?;
        Ok(Fragment { name: chart.name.clone(), title: chart.title.clone(), svg })
    };
    charts.par_iter().map(fragment).collect()
}

/// Charts of one kind as files, in each of the formats.
fn pictures<P: Picture>(charts: &[P], formats: &[Format], theme: Theme) -> anyhow::Result<Vec<File>> {
    let pairs: Vec<_> =
        charts.iter().flat_map(|chart| formats.iter().map(move |&format| (chart, format))).collect();
    let mut files = vec![];
    for some in pairs.chunks(AT_ONCE) {
        let drawn: anyhow::Result<Vec<File>> =
            some.par_iter().map(|&(chart, format)| file(chart, format, theme)).collect();
        files.extend(drawn?);
    }
    Ok(files)
}

fn file(chart: &impl Picture, format: Format, theme: Theme) -> anyhow::Result<File> {
    let name = format!("{}.{}", chart.name(), format.extension());
    let bytes = image::render(chart, format, theme).with_context(|| format!("cannot draw {name}"))?;
    Ok(File { name, bytes })
}

/// Reads reports, draws their charts and writes them into `out`, which is made where it is missing.
///
/// Several reports share charts; their series are then labelled with the reports' names. Returns the paths written.
///
/// # Errors
/// `out` is `-`, a report cannot be read, none has a measured row, a file exists and `force` is false, or `out` cannot
/// be written. No file or folder is then left behind.
pub fn plot(
    reports: &[PathBuf],
    out: &Path,
    formats: &[Format],
    theme: Theme,
    force: bool,
) -> anyhow::Result<Vec<PathBuf>> {
    if out == Path::new("-") {
        bail!("charts are files and do not go to stdout; name a folder with --out");
    }
    let loaded = reports.iter().map(|path| load(path)).collect::<anyhow::Result<Vec<Report>>>()?;
    let names = names(reports);
    let named: Vec<(&str, &Report)> = names.iter().map(String::as_str).zip(&loaded).collect();
    let files = files(&named, formats, theme)?;
    if files.is_empty() {
        bail!(
            "nothing to draw: no row of the given reports is measured; see their report.md for the reasons"
        );
    }
    save_all_in_new(out, &files, force)
}

/// A name for each report: its folder's for a `report.json`, else the file's; the whole path where names collide.
pub fn names(reports: &[PathBuf]) -> Vec<String> {
    let short = |path: &PathBuf| {
        let file = locate(path);
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let folder = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        match (stem, folder) {
            (Some(stem), Some(folder)) if stem == "report" => folder,
            (Some(stem), _) => stem,
            (None, _) => path.display().to_string(),
        }
    };
    let names: Vec<String> = reports.iter().map(short).collect();
    let collide = (1..names.len()).any(|index| names[..index].contains(&names[index]));
    if collide { reports.iter().map(|path| path.display().to_string()).collect() } else { names }
}

#[cfg(test)]
mod tests;
