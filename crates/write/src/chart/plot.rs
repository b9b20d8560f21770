//! Charts of reports as files in a folder.

use std::path::{Path, PathBuf};

use anyhow::bail;
use gpubench_report::report::Report;
use gpubench_report::report::file::{locate, save_all_in_new};
use gpubench_text::grouped::distinct;

use super::{Drawing, files};

/// A name for each report: its folder's for a `report.json`, otherwise the file's; the paths where names collide.
pub fn names(reports: &[PathBuf]) -> Vec<String> {
    let path_text = |path: &PathBuf| path.display().to_string();
    let short = |path: &PathBuf| {
        let file = locate(path);
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let stem = stem.map(|stem| stem.strip_suffix(".json").map(str::to_owned).unwrap_or(stem));
        let folder = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        match (stem, folder) {
            (Some(stem), Some(folder)) if stem == "report" => folder,
            (Some(stem), _) => stem,
            (None, _) => path_text(path),
        }
    };
    let names: Vec<String> = reports.iter().map(short).collect();
    if distinct(&names).len() == names.len() { names } else { reports.iter().map(path_text).collect() }
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
        bail!(
            "nothing to draw: speed-ups need times of both sides, and charts against size two sizes of an op; \
             print tables with 'gpubench show REPORT --tables'"
        );
    }
    save_all_in_new(out, &files, force)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Format, Selection, Theme};
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
        assert_eq!(written.len(), 3);
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
    fn reports_are_named_by_folder_or_file_or_path() {
        let found = |texts: &[&str]| names(&texts.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(found(&["a/h200/report.json", "b/before.json"]), ["h200", "before"]);
        assert_eq!(found(&["r/a/x.json", "r/b/x.json"]), ["r/a/x.json", "r/b/x.json"]);
    }
}
