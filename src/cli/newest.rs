//! Finds the run that commands take where the user names no report: the newest one in `results`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};

use super::stream;
use crate::baseline;
use crate::fleet::file;
use crate::report::file::FILE_NAME;
use crate::settings::RESULTS;

/// Returns the reports that the user named, or the newest run, whose folder a note names.
pub(crate) fn named_or_newest(reports: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if !reports.is_empty() {
        return Ok(reports.to_vec());
    }
    let newest = newest_run(Path::new(RESULTS))?;
    stream::note(&format!("gpubench: {} is the newest run in {RESULTS}", newest.display()));
    Ok(vec![newest])
}

/// Returns the folder of the run below `results` whose report is the latest, of which there must be one. For a run on several devices that is
/// the folder of the merged report.
fn newest_run(results: &Path) -> Result<PathBuf> {
    let mut folders = vec![];
    add_runs(results, &mut folders);
    // By name, so that equal times give the same run each time.
    folders.sort();
    let dated = folders.into_iter().filter_map(|folder| Some((written(&folder)?, folder)));
    let (_, newest) = dated.max_by_key(|(written, _)| *written).with_context(|| {
        let results = results.display();
        format!("there is no report below {results}: create one with 'gpubench run', or name a report")
    })?;
    let whole = newest.parent().filter(|parent| *parent != results);
    let whole = whole.filter(|parent| parent.join(file::FILE_NAME).is_file());
    Ok(whole.map(Path::to_owned).unwrap_or(newest))
}

/// Adds the folders in and below `folder` that contain a report. The passes of a baseline are not runs. Links to folders are
/// not followed: they may form a circle.
fn add_runs(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.ends_with(baseline::FOLDER) || folder.join(baseline::FILE_NAME).is_file() {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_runs(&entry.path(), found);
        } else if entry.file_name() == FILE_NAME {
            found.push(folder.to_owned());
        }
    }
}

/// Returns when the report of the run in `folder` was written; `None` if it is no file.
fn written(folder: &Path) -> Option<SystemTime> {
    fs::metadata(folder.join(FILE_NAME)).ok().filter(fs::Metadata::is_file)?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, folder: &str, started: &str) {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let started: jiff::Timestamp = started.parse().unwrap();
        let report = fs::File::create(folder.join(FILE_NAME)).unwrap();
        report.set_modified(started.into()).unwrap();
    }

    #[test]
    fn a_pipe_in_place_of_a_report_does_not_count() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "file", "2026-11-21T10:00:00Z");
        let folder = root.path().join("pipe");
        fs::create_dir(&folder).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(folder.join(FILE_NAME)).status().unwrap().success());
        assert_eq!(newest_run(root.path()).unwrap(), root.path().join("file"));
    }

    #[test]
    fn the_time_of_writing_decides() {
        let root = tempfile::tempdir().unwrap();
        let refused = newest_run(root.path()).unwrap_err().to_string();
        assert!(refused.starts_with("there is no report below"), "{refused}");
        write(root.path(), "z", "2026-11-01T10:00:00Z");
        write(root.path(), "a/b", "2026-11-02T10:00:00.5Z");
        write(root.path(), "c", "2026-11-02T11:00:00+02:00");
        assert_eq!(newest_run(root.path()).unwrap(), root.path().join("a/b"));
    }

    #[test]
    fn the_passes_of_a_baseline_are_no_runs() {
        let root = tempfile::tempdir().unwrap();
        let results = root.path().join("results");
        write(&results, "mine", "2026-11-01T10:00:00Z");
        write(&results, "elsewhere/main/pass-1", "2026-11-03T10:00:00Z");
        fs::write(results.join("elsewhere/main").join(baseline::FILE_NAME), "{}").unwrap();
        // While a baseline is being saved it has no file yet.
        write(&results, "baselines/main.new/pass-1", "2026-11-04T10:00:00Z");
        assert_eq!(newest_run(&results).unwrap(), results.join("mine"));
    }

    #[test]
    fn a_run_on_several_devices_is_shown_as_a_whole() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "all/gpu0", "2026-11-01T10:00:00Z");
        fs::write(root.path().join("all").join(file::FILE_NAME), "{}").unwrap();
        assert_eq!(newest_run(root.path()).unwrap(), root.path().join("all"));
        // A file that the user merged from several runs is not the run.
        write(root.path(), "one", "2026-11-02T10:00:00Z");
        fs::write(root.path().join(file::FILE_NAME), "{}").unwrap();
        assert_eq!(newest_run(root.path()).unwrap(), root.path().join("one"));
    }
}
