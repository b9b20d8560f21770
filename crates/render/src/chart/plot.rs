//! Charts of reports as files in a folder, and what the reports are called.

use std::path::{Path, PathBuf};

use anyhow::bail;
use gpubench_model::report::Report;
use gpubench_model::report::file::{locate, save_all_in_new};

use super::{Chart, Format, Theme, charts, files};

/// The number of lines that a reader can distinguish: one per colour on either side.
const TOLD_APART: usize = 14;

/// The largest number of lines of a chart of `reports`, where a reader could not distinguish them.
pub fn crowded(reports: &[(&str, &Report)]) -> Option<usize> {
    let lines = |chart: &Chart| if let Chart::Lines(chart) = chart { chart.series.len() } else { 0 };
    let most = charts(reports).iter().map(lines).max()?;
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
    formats: &[Format],
    theme: Theme,
    force: bool,
) -> anyhow::Result<Vec<PathBuf>> {
    if out == Path::new("-") {
        bail!("charts are files and do not go to stdout; name a folder with --out");
    }
    let files = files(reports, formats, theme)?;
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
mod tests {
    use super::*;
    use gpubench_model::report::example::{self, empty, full, measured};

    #[test]
    fn charts_are_written_but_replace_none_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("new/charts");
        let report = full();
        let reports = [("", &report)];
        let written = plot(&reports, &out, &[Format::Svg], Theme::Light, false).unwrap();
        assert_eq!(written.len(), 5);
        assert!(written.iter().all(|path| path.is_file()));
        let again = plot(&reports, &out, &[Format::Svg], Theme::Light, false);
        assert!(again.unwrap_err().to_string().contains("--force"));
        plot(&reports, &out, &[Format::Svg], Theme::Light, true).unwrap();
        let nothing = plot(&[("", &empty())], &out, &[Format::Svg], Theme::Light, true);
        assert!(nothing.unwrap_err().to_string().contains("nothing to draw"));
    }

    #[test]
    fn nothing_is_left_behind_where_it_cannot_be_written_and_a_dash_is_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let long = measured(&"o".repeat(300), 8, "cpu", "v", 1e-3);
        let short = measured("fft", 8, "cpu", "v", 1e-3);
        let report = example::of([short, long]);
        let reports = [("", &report)];
        let out = folder.path().join("new/charts");
        assert!(plot(&reports, &out, &[Format::Svg], Theme::Light, false).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let message =
            plot(&reports, Path::new("-"), &[Format::Svg], Theme::Light, false).unwrap_err().to_string();
        assert!(message.contains("stdout") && message.contains("--out"), "{message}");
    }

    #[test]
    fn a_chart_with_too_many_lines_to_distinguish_is_crowded() {
        let variants = |count: usize| {
            let row = |index| measured("svd", 10, "cpu", &format!("v{index}"), 1e-3);
            example::of((0..count).map(row))
        };
        assert_eq!(crowded(&[("", &variants(14))]), None);
        assert_eq!(crowded(&[("", &variants(15))]), Some(15));
    }

    #[test]
    fn reports_are_called_after_their_folder_or_file_and_by_path_when_names_collide() {
        let paths = |texts: &[&str]| texts.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(names(&paths(&["a/h200/report.json", "b/before.json"])), ["h200", "before"]);
        assert_eq!(names(&paths(&["a/x.json", "b/x.json"])), ["a/x.json", "b/x.json"]);
    }
}
