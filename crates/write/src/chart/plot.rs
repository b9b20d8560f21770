//! Charts of reports as files in a folder.

use std::path::{Path, PathBuf};

use anyhow::bail;
use gpubench_report::report::Report;
use gpubench_report::report::file::save_all_in_new;

use super::{Chart, Drawing, Selection, charts, files};

/// The number of lines that a reader can distinguish: one per colour on either side.
const TOLD_APART: usize = 14;

/// The largest number of lines of a chart of `reports`, where a reader could not distinguish them.
pub fn crowded(reports: &[(&str, &Report)], selection: Selection) -> Option<usize> {
    let lines = |chart: &Chart| if let Chart::Lines(chart) = chart { chart.lines.series.len() } else { 0 };
    let most = charts(reports, selection).iter().map(lines).max()?;
    (most > TOLD_APART).then_some(most)
}

/// Draws the charts of named reports and writes them into `out`, which is made where it is missing.
///
/// Several reports share charts; their series are then labelled with the reports' names. Returns the paths written.
///
/// # Errors
/// `out` is `-`, no report has a measured row, a file exists and `force` is false, or `out` cannot be written. No file
/// or folder is then left behind.
pub fn plot(
    reports: &[(&str, &Report)],
    out: &Path,
    drawing: &Drawing<'_>,
    force: bool,
) -> anyhow::Result<Vec<PathBuf>> {
    if out == Path::new("-") {
        bail!("charts are files and do not go to stdout; name a folder with --out");
    }
    let files = files(reports, drawing)?;
    if files.is_empty() {
        let is_measured =
            reports.iter().any(|(_, report)| report.rows.iter().any(|row| row.execute.is_some()));
        bail!(match is_measured {
            true =>
                "nothing to draw: speed-ups need times of both sides, and charts against size two sizes of an op; \
                     print tables with 'gpubench show REPORT --tables'",
            false =>
                "nothing to draw: no row of the given reports is measured; see their report.md for the reasons",
        });
    }
    save_all_in_new(out, &files, force)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Format, Theme};
    use gpubench_report::report::example::{self, empty, full, measured};

    const VECTORS: Drawing<'_> =
        Drawing { formats: &[Format::Svg], theme: Theme::Light, selection: Selection::Default };

    #[test]
    fn charts_are_written_but_replace_none_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("new/charts");
        let report = full();
        let reports = [("", &report)];
        let written = plot(&reports, &out, &VECTORS, false).unwrap();
        assert_eq!(written.len(), 4);
        assert!(written.iter().all(|path| path.is_file()));
        let again = plot(&reports, &out, &VECTORS, false);
        assert!(again.unwrap_err().to_string().contains("--force"));
        plot(&reports, &out, &VECTORS, true).unwrap();
        let nothing = plot(&[("", &empty())], &out, &VECTORS, true);
        assert!(nothing.unwrap_err().to_string().contains("nothing to draw"));
    }

    #[test]
    fn a_failure_leaves_no_file_and_a_dash_is_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let of = |op: &str| [8, 16].map(|n| measured(op, n, "cpu", "v", 1e-3));
        let report = example::of([of("fft"), of("no/folder")].concat());
        let reports = [("", &report)];
        let out = folder.path().join("new/charts");
        assert!(plot(&reports, &out, &VECTORS, false).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let message = plot(&reports, Path::new("-"), &VECTORS, false).unwrap_err().to_string();
        assert!(message.contains("stdout") && message.contains("--out"), "{message}");
    }

    #[test]
    fn a_chart_with_too_many_lines_to_distinguish_is_crowded() {
        let variants = |count: usize| {
            let row = |n, index| measured("svd", n, "cpu", &format!("v{index}"), 1e-3);
            example::of((0..count).flat_map(|index| [10, 20].map(|n| row(n, index))))
        };
        assert_eq!(crowded(&[("", &variants(14))], Selection::Default), None);
        assert_eq!(crowded(&[("", &variants(15))], Selection::Default), Some(15));
    }
}
