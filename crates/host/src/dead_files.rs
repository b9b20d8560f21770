//! Files that a process leaves behind when it is killed: their names hold its number, so that a later process can remove
//! them.

use std::fs::{self, DirEntry};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::process;

/// Start of the names of temporary folders, before the number of the process.
const PREFIX: &str = "gpubench-";

/// Returns the start of the name of this process's temporary folders.
pub fn temporary_prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// Removes the temporary folders of this user's processes that have ended.
pub fn remove_temporary_folders() {
    remove(&std::env::temp_dir(), &|name| name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok());
}

/// Removes the partly written files and the test files in a folder of results whose processes have ended.
pub fn remove_partial_files(folder: &Path) {
    remove(folder, &|name| {
        let partial = name.strip_prefix('.')?.strip_suffix(".part").and_then(|rest| rest.rsplit_once('.'));
        let probe = name.strip_prefix(".gpubench-");
        partial.map(|(_, process)| process).or(probe)?.parse().ok()
    });
}

/// Removes the entries of a folder that belong to this user and whose name holds the number of a process that has ended.
fn remove(folder: &Path, process_of: &dyn Fn(&str) -> Option<u32>) {
    let is_dead = |entry: &DirEntry| {
        let process = entry.file_name().to_str().and_then(process_of);
        let is_ours = entry.metadata().is_ok_and(|metadata| metadata.uid() == process::effective_user());
        is_ours && process.is_some_and(|process| !process::is_running(process))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_dead) {
        // What cannot be removed now may be removable for a later run. Links are removed, not followed.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let _ = if is_folder { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_processes_that_have_ended_are_removed_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let (dead, alive) = (child.id(), std::process::id());
        child.wait().unwrap();
        let names = [
            format!(".report.json.{dead}.part"),
            format!(".gpubench-{dead}"),
            format!(".report.json.{alive}.part"),
            format!(".gpubench-{alive}"),
            ".gpubench.lock".into(),
            "report.json".into(),
            ".notes.part".into(),
        ];
        names.iter().for_each(|name| fs::write(folder.path().join(name), "x").unwrap());
        remove_partial_files(folder.path());
        let is_left = |name: &String| folder.path().join(name).exists();
        assert!(names[2..].iter().all(is_left) && !names[..2].iter().any(is_left));
    }

    #[test]
    fn a_folder_is_removed_with_its_files_and_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, mine) = (folder.path().join("kept"), folder.path().join("1-mine"));
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("precious"), "x").unwrap();
        fs::create_dir(&mine).unwrap();
        fs::write(mine.join("answer-1"), "x").unwrap();
        std::os::unix::fs::symlink(&kept, folder.path().join("2-link")).unwrap();
        // No process has this number.
        remove(folder.path(), &|name| name.contains('-').then_some(i32::MAX as u32));
        assert!(kept.join("precious").exists() && !mine.exists() && !folder.path().join("2-link").exists());
    }
}
