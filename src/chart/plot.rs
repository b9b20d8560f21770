//! Charts of reports on disk: reads, draws, writes.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::{Format, Theme, files};
use crate::report::Report;
use crate::report::file::{load, locate, save_all_in_new};

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
mod tests {
    use super::*;
    use crate::report::example::{empty, full, measured};

    #[test]
    fn plot_reads_reports_and_writes_charts_but_replaces_none_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("run");
        std::fs::create_dir(&source).unwrap();
        crate::report::file::save(&full(), &source.join("report.json")).unwrap();
        let out = folder.path().join("new/charts");
        let reports = [source.clone()];
        let written = plot(&reports, &out, &[Format::Svg], Theme::Light, false).unwrap();
        assert_eq!(written.len(), 5);
        assert!(written.iter().all(|path| path.is_file()));
        assert!(
            plot(&reports, &out, &[Format::Svg], Theme::Light, false)
                .unwrap_err()
                .to_string()
                .contains("--force")
        );
        plot(&reports, &out, &[Format::Svg], Theme::Light, true).unwrap();
        crate::report::file::save(&empty(), &source.join("report.json")).unwrap();
        assert!(
            plot(&reports, &out, &[Format::Svg], Theme::Light, true)
                .unwrap_err()
                .to_string()
                .contains("nothing to draw")
        );
    }

    #[test]
    fn plot_leaves_nothing_behind_where_it_cannot_write_and_takes_no_dash_for_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("report.json");
        let long = measured(&"o".repeat(300), 8, "cpu", "v", 1e-3);
        let short = measured("fft", 8, "cpu", "v", 1e-3);
        crate::report::file::save(&Report { rows: vec![short, long], ..empty() }, &source).unwrap();
        let reports = [source];
        assert!(
            plot(&reports, &folder.path().join("new/charts"), &[Format::Svg], Theme::Light, false).is_err()
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let message =
            plot(&reports, Path::new("-"), &[Format::Svg], Theme::Light, false).unwrap_err().to_string();
        assert!(message.contains("stdout") && message.contains("--out"), "{message}");
    }

    #[test]
    fn reports_are_called_after_their_folder_or_file_and_by_path_when_names_collide() {
        let paths = |texts: &[&str]| texts.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(names(&paths(&["a/h200/report.json", "b/before.json"])), ["h200", "before"]);
        assert_eq!(names(&paths(&["a/x.json", "b/x.json"])), ["a/x.json", "b/x.json"]);
    }
}
