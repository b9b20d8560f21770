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

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rayon::prelude::*;

use crate::report::Report;
use crate::report::file::{File, locate, save_all_in_new};
use image::Picture;
pub use model::{ChartModel, charts};

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
pub fn files(reports: &[(&str, &Report)], formats: &[Format]) -> anyhow::Result<Vec<File>> {
    pictures(&charts(reports), formats)
}

/// Charts of one kind as files, in each of the formats.
fn pictures<P: Picture>(charts: &[P], formats: &[Format]) -> anyhow::Result<Vec<File>> {
    let pairs: Vec<_> =
        charts.iter().flat_map(|chart| formats.iter().map(move |&format| (chart, format))).collect();
    let mut files = vec![];
    for some in pairs.chunks(AT_ONCE) {
        let drawn: anyhow::Result<Vec<File>> =
            some.par_iter().map(|&(chart, format)| file(chart, format)).collect();
        files.extend(drawn?);
    }
    Ok(files)
}

fn file(chart: &impl Picture, format: Format) -> anyhow::Result<File> {
    let name = format!("{}.{}", chart.name(), format.extension());
    let bytes = image::render(chart, format).with_context(|| format!("cannot draw {name}"))?;
    Ok(File { name, bytes })
}

/// Lines of a chart that can still be told apart: as many as there are colours, on either side.
const TOLD_APART: usize = 14;

/// The most lines that a chart of `reports` has, where they are more than can be told apart.
pub fn crowded(reports: &[(&str, &Report)]) -> Option<usize> {
    let most = charts(reports).iter().map(|chart| chart.series.len()).max()?;
    (most > TOLD_APART).then_some(most)
}

/// Draws the charts of named reports and writes them into `out`, which is made where it is missing.
///
/// Several reports share charts; their series are then labelled with the reports' names. Returns the paths written.
///
/// # Errors
/// `out` is `-`, no report has a measured row, a file exists and `force` is false, or `out` cannot
/// be written. No file or folder is then left behind.
pub fn plot(
    reports: &[(&str, &Report)],
    out: &Path,
    formats: &[Format],
    force: bool,
) -> anyhow::Result<Vec<PathBuf>> {
    if out == Path::new("-") {
        bail!("charts are files and do not go to stdout; name a folder with --out");
    }
    let files = files(reports, formats)?;
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
