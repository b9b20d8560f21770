//! Private temporary folders, which a later process removes if their maker is killed.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use tempfile::TempDir;

use crate::host::{process, regular};

const PREFIX: &str = "gpubench-";
/// Name of the file in a folder that shows who made the folder. Its maker holds a lock on it, which the system releases when
/// the maker ends: process numbers would mean nothing to a process in another container.
const LOCK: &str = ".gpubench-lock";
/// More bytes than a lock file has.
const LONGEST: u64 = 1000;

/// A folder that this user alone may use. Dropping it removes it.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    /// Keeps the lock until the folder is removed; `None` on file systems without locks, where no other process removes the
    /// folder.
    _lock: Option<File>,
}

impl TemporaryFolder {
    /// Makes a folder among the system's temporary files, and removes those there whose makers were killed.
    ///
    /// # Errors
    /// No folder can be made.
    pub fn new() -> io::Result<TemporaryFolder> {
        let parent = std::env::temp_dir();
        remove_abandoned(&parent);
        Self::new_in(&parent)
    }

    fn new_in(parent: &Path) -> io::Result<TemporaryFolder> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        // Locked before it has its name: nobody finds it without its lock.
        let unlocked = folder.path().join(".new");
        let mut file = File::create_new(&unlocked)?;
        file.write_all(content(folder.path()).as_bytes())?;
        let is_locked = file.try_lock().is_ok();
        if is_locked {
            fs::rename(&unlocked, folder.path().join(LOCK))?;
        }
        Ok(TemporaryFolder { folder, _lock: is_locked.then_some(file) })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns the content of the lock file of a folder. It names the folder, so that a copy with another name is no folder of
/// gpubench.
fn content(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    format!("gpubench made the folder {name} and removes it\n")
}

/// Removes the folders that [`TemporaryFolder`] made for this user in `parent` and whose makers have ended.
fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        // Locked until the folder is gone, so that a second process leaves it alone.
        if let Some(_lock) = lock_of_abandoned(&entry) {
            // What cannot be removed now may be removable for a later run.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Locks the lock file of a folder; returns `None` if the entry is something else, or its maker still holds the lock.
fn lock_of_abandoned(entry: &DirEntry) -> Option<File> {
    let is_own = |metadata: fs::Metadata| metadata.uid() == process::effective_user();
    let is_candidate = entry.file_name().to_str()?.starts_with(PREFIX) && entry.file_type().ok()?.is_dir();
    if !is_candidate || !is_own(entry.metadata().ok()?) {
        return None;
    }
    let file = regular::open(&entry.path().join(LOCK)).ok()?;
    let mut text = String::new();
    (&file).take(LONGEST).read_to_string(&mut text).ok()?;
    let is_ours = is_own(file.metadata().ok()?) && text == content(&entry.path());
    (is_ours && file.try_lock().is_ok()).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a folder as a process does that is killed afterwards.
    fn abandoned(parent: &Path) -> std::path::PathBuf {
        let TemporaryFolder { folder, _lock } = TemporaryFolder::new_in(parent).unwrap();
        fs::write(folder.path().join("answer-1"), "x").unwrap();
        folder.keep()
    }

    #[test]
    fn only_folders_whose_maker_has_ended_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let alive = TemporaryFolder::new_in(parent.path()).unwrap();
        let dead = abandoned(parent.path());
        remove_abandoned(parent.path());
        assert!(alive.path().exists() && !dead.exists());
        let path = alive.path().to_owned();
        drop(alive);
        assert!(!path.exists());
    }

    #[test]
    fn nothing_is_removed_for_its_name_alone() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let lock = |name: &str, text: &str| fs::write(at(name).join(LOCK), text).unwrap();
        let folders =
            ["gpubench-2026-11-24-results", "gpubench-1-abcdef", "gpubench-", "gpubench-copy", "other"];
        for name in folders {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("precious"), "x").unwrap();
        }
        lock("gpubench-1-abcdef", "");
        lock("other", &content(&at("other")));
        let original = abandoned(parent.path());
        fs::copy(original.join(LOCK), at("gpubench-copy").join(LOCK)).unwrap();
        // Neither a link to a folder nor a link to a lock file is proof.
        std::os::unix::fs::symlink(&original, at("gpubench-link")).unwrap();
        fs::create_dir(at("gpubench-linked-lock")).unwrap();
        fs::write(at("text"), content(&at("gpubench-linked-lock"))).unwrap();
        std::os::unix::fs::symlink(at("text"), at("gpubench-linked-lock").join(LOCK)).unwrap();
        remove_abandoned(parent.path());
        assert!(
            !original.exists() && at("gpubench-link").is_symlink() && at("gpubench-linked-lock").exists()
        );
        assert!(folders.iter().all(|name| at(name).join("precious").exists()));
    }
}
