//! The folder of results: checked before any work, and restored if the run does not start.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use gpubench_backend::host::regular::NOT_THROUGH_A_LINK;
use gpubench_text::escape::shell_word;
use gpubench_text::file::sync_folder_of;

use crate::executor::journal;
use crate::fleet;
use crate::report::file;
use crate::settings::ReportFormat;
use crate::write::report::FORMATS;

/// The files most worth keeping: a report, and the merged report of a run on several devices.
const REPORTS: [&str; 2] = [file::FILE_NAME, fleet::file::FILE_NAME];

/// A folder that exists and can be written to.
pub(crate) struct Folder {
    path: PathBuf,
    /// The folders created for it, the outermost first.
    created: Vec<PathBuf>,
    /// Held until it is dropped, so that no other run writes here meanwhile.
    lock: Cell<Option<Lock>>,
}

impl Folder {
    /// Creates the folder if it is missing, and checks that files can be created in it.
    ///
    /// # Errors
    /// The folder cannot be written to, or it contains results of one of `formats`, a report or a merged report, and
    /// `force` is not given.
    pub(crate) fn claim(path: &Path, formats: &[ReportFormat], force: bool) -> Result<Folder> {
        let wanted = |name: &String| {
            REPORTS.contains(&name.as_str()) || formats.iter().any(|format| format.is_made_as(name))
        };
        if let Some(name) = results_in(path).into_iter().find(wanted).filter(|_| !force) {
            let path = path.display();
            bail!(
                "{path} already contains a {name}: name another folder with --out, or replace it with --force"
            );
        }
        ensure!(
            force || !path.join(journal::FILE_NAME).exists(),
            "{} contains the {} of a run that was stopped: go on with gpubench run --resume {}, name another folder with \
             --out, or replace it with --force",
            path.display(),
            journal::FILE_NAME,
            shell_word(path)
        );
        let mut folder = Folder { path: path.to_owned(), created: Vec::new(), lock: Cell::default() };
        // Writing the lock shows what permissions do not: full, read-only and network file systems.
        let locked = folder.make().and_then(|()| Lock::take(path));
        match locked {
            Ok(Some(lock)) => {
                remove_partial_files(path);
                Ok(Folder { lock: Cell::new(Some(lock)), ..folder })
            }
            Ok(None) => {
                bail!("another run of gpubench writes to {}: name another folder with --out", path.display())
            }
            Err(error) => {
                folder.remove_created();
                let path = path.display();
                Err(error)
                    .with_context(|| format!("cannot write to the folder '{path}' (name another with --out)"))
            }
        }
    }

    fn make(&mut self) -> io::Result<()> {
        let missing: Vec<&Path> =
            self.path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
        for path in missing.into_iter().rev() {
            // In a path such as `new/x/../y`, `new/x/..` exists as soon as `new/x` does.
            if !path.exists() {
                fs::create_dir(path)?;
                sync_folder_of(path)?;
                self.created.push(path.to_owned());
            }
        }
        Ok(())
    }

    /// Removes the results of an earlier run, except for `replaced`, which this run has replaced.
    pub(crate) fn clear_stale(&self, replaced: &str) {
        for name in results_in(&self.path).into_iter().filter(|name| name != replaced) {
            // A file that cannot be removed cannot be replaced either, and writing it reports the error.
            let _ = fs::remove_file(self.path.join(name));
        }
    }

    /// Removes the created folders that are still empty.
    pub(crate) fn remove_created(&self) {
        drop(self.lock.take());
        for path in self.created.iter().rev() {
            if fs::remove_dir(path).is_err() {
                break;
            }
        }
    }
}

/// Returns the folder in `--out` of a command that reads reports; `None` for stdout, also written `-`. An empty name is an error.
pub(crate) fn named(out: Option<&Path>) -> Result<Option<&Path>> {
    let out = out.filter(|out| *out != Path::new("-"));
    ensure!(
        out.is_none_or(|out| !out.as_os_str().is_empty()),
        "--out is empty: name a folder, or omit --out to write to stdout"
    );
    Ok(out)
}

/// Refuses a path in `--out` that cannot take a file such as `example`, before any work.
pub(crate) fn check_file(out: &Path, example: &str, force: bool) -> Result<()> {
    let shown = out.display();
    ensure!(!out.as_os_str().is_empty(), "--out is empty: name a file such as {example}, or - for stdout");
    ensure!(
        !out.is_dir(),
        "{shown} is a folder: name a file in it, such as --out {}",
        out.join(example).display()
    );
    ensure!(
        force || out == Path::new("-") || !out.exists(),
        "{shown} exists: name another file with --out, or replace it with --force"
    );
    Ok(())
}

/// Returns the result files in a folder: the report and the merged report first, then the others by name.
fn results_in(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut results: Vec<String> = names.filter(|name| is_result(name)).collect();
    // The refusal names the first one, so the most important come first.
    results.sort_by_key(|name| (!REPORTS.contains(&name.as_str()), name.clone()));
    results
}

/// Removes the partly written results of a process that was killed: who holds the lock of the folder is the only writer.
fn remove_partial_files(path: &Path) {
    let is_partial = |name: &str| {
        let written = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".part")?.rsplit_once('.'));
        written.is_some_and(|(name, process)| {
            process.parse::<u32>().is_ok() && (is_result(name) || name == journal::FILE_NAME)
        })
    };
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_partial) {
            // Only a file: this removes no folder. What cannot be removed is harmless.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_result(name: &str) -> bool {
    REPORTS.contains(&name) || FORMATS.all.iter().any(|format| format.is_made_as(name))
}

/// A lock on a folder, by a file in it that the system locks: it is free again however the process ends.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Locks a folder by writing a file in it; returns `None` if another process holds its lock.
    pub(crate) fn take(folder: &Path) -> io::Result<Option<Lock>> {
        let path = folder.join(".gpubench.lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).custom_flags(NOT_THROUGH_A_LINK);
        let mut file = options.open(&path)?;
        // Other errors are those of network file systems without locks; results matter more.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Ok(None);
        }
        // The holder before may have removed the file after it was opened here; then the lock guards nothing.
        let is_there = fs::metadata(&path).and_then(|there| Ok(there.ino() == file.metadata()?.ino()));
        if !is_there.unwrap_or(false) {
            return Ok(None);
        }
        let written = file.write_all(b"locked by gpubench\n");
        // If that failed, dropping the lock removes the file.
        let lock = Lock { path, _file: file };
        written.map(|()| Some(lock))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is locked. If that fails, the next run takes the file that is left.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::report::{PNG, TABLE};

    /// Returns the names in a folder, sorted.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the message that refuses a folder.
    fn refusal(path: &Path, force: bool) -> String {
        Folder::claim(path, &[], force).map_or_else(|error| format!("{error:#}"), |_| String::new())
    }

    #[test]
    fn a_folder_in_use_is_refused_and_free_again_afterwards() {
        let root = tempfile::tempdir().unwrap();
        let first = Folder::claim(root.path(), &[], false).unwrap();
        let refusal = refusal(root.path(), true);
        assert!(refusal.contains("another run") && refusal.contains("--out"), "{refusal}");
        drop(first);
        drop(Folder::claim(root.path(), &[], false).unwrap());
        assert_eq!(names(root.path()), [""; 0], "no file of the lock is left");
    }

    #[test]
    fn a_link_planted_in_the_folder_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let victim = root.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, root.path().join(".gpubench.lock")).unwrap();
        assert!(Folder::claim(root.path(), &[], false).is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        fs::remove_file(&victim).unwrap();
        assert!(Folder::claim(root.path(), &[], false).is_err() && !victim.exists());
    }

    #[test]
    fn only_partial_results_of_killed_runs_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let gone = [".report.json.2026.part", ".journal.jsonl.7.part", ".time-matmul-f32.png.2026.part"];
        let files =
            [".thesis.tex.2026.part", ".gpubench-2026", "report.json.2026.part", ".report.json.a.part"];
        let folders = [".backup.2026.part", ".fleet.json.2026.part", ".gpubench-2025"];
        gone.iter().chain(&files).for_each(|name| fs::write(at(name), "x").unwrap());
        folders.iter().for_each(|name| fs::create_dir(at(name)).unwrap());
        drop(Folder::claim(root.path(), &[], false).unwrap());
        assert!(!gone.iter().any(|name| at(name).exists()));
        assert!(files.iter().chain(&folders).all(|name| at(name).exists()));
    }

    #[test]
    fn a_folder_is_made_with_its_parents_and_withdrawn_with_them_unless_it_has_results() {
        let root = tempfile::tempdir().unwrap();
        for path in ["a/b", "new/x/../y", "other//./b/../c", "here/.."] {
            let path = root.path().join(path);
            let folder = Folder::claim(&path, &[], false).unwrap();
            assert_eq!(results_in(&path), [""; 0], "the probe is gone");
            folder.remove_created();
        }
        assert!(!root.path().join("a").exists());
        let path = root.path().join("results");
        let folder = Folder::claim(&path, &[], false).unwrap();
        fs::write(path.join("report.json"), "{}").unwrap();
        folder.remove_created();
        assert!(path.join("report.json").exists());
    }

    #[test]
    fn results_that_are_there_are_replaced_only_by_force() {
        let root = tempfile::tempdir().unwrap();
        for (file, formats, refused) in [
            ("report.csv", &[&TABLE][..], false),
            ("report.csv", &[FORMATS.all[2]], true),
            ("report.json", &[FORMATS.all[2]], true),
            ("fleet.json", &[FORMATS.all[2]], true),
            ("time-matmul-f32.png", &[&PNG], true),
            ("time-matmul-f32.png", &[FORMATS.all[2]], false),
            (journal::FILE_NAME, &[], true),
        ] {
            let path = root.path().join(file);
            fs::write(&path, "old").unwrap();
            assert_eq!(Folder::claim(root.path(), formats, false).is_err(), refused, "{file} {formats:?}");
            assert!(Folder::claim(root.path(), formats, true).is_ok());
            fs::remove_file(&path).unwrap();
        }
        fs::write(root.path().join(journal::FILE_NAME), "{}").unwrap();
        let refusal = refusal(root.path(), false);
        assert!(refusal.contains("--resume") && refusal.contains("--force"), "{refusal}");
    }

    #[test]
    fn old_results_are_cleared_except_for_the_report_and_foreign_files() {
        let root = tempfile::tempdir().unwrap();
        let charts = ["speedup-fft-f32.svg", "overview.png", "roofline-cpu-f32.svg"];
        for name in ["report.json", "report.md", "notes.png", "fleet.json"].iter().chain(&charts) {
            fs::write(root.path().join(name), "old").unwrap();
        }
        Folder::claim(root.path(), &[], true).unwrap().clear_stale(file::FILE_NAME);
        assert_eq!(names(root.path()), ["notes.png", "report.json"]);
    }

    #[test]
    fn a_path_below_a_file_is_refused_and_nothing_is_left() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("x/y")] {
            let message = refusal(&path, false);
            assert!(message.starts_with("cannot write to the folder"), "{message}");
        }
        assert_eq!(names(root.path()), ["file"]);
    }
}
