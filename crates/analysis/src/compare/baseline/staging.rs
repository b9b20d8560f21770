//! Replaces a baseline atomically: the new one is built in a hidden folder next to it and then renamed. Baselines cannot
//! have hidden names, so the folders never collide.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use gpubench_text::file::sync_folder_of;

/// A baseline that is being built, with its final folder.
pub struct StagedBaseline {
    /// Final folder of the baseline.
    pub folder: PathBuf,
    /// Folder in which its passes are measured, or to which they are copied.
    pub staging: PathBuf,
    /// Folder that keeps the replaced baseline until the new one is in place.
    previous: PathBuf,
}

impl StagedBaseline {
    /// Returns the paths for the baseline `name` in `folder` whose passes are measured; touches no file.
    pub fn measured(folder: &Path, name: &str) -> StagedBaseline {
        StagedBaseline::staged(folder, name, "attempt")
    }

    /// Returns the paths for a baseline whose passes are copied, apart from measured ones that may be of a refused attempt.
    pub fn copied(folder: &Path, name: &str) -> StagedBaseline {
        StagedBaseline::staged(folder, name, "copies")
    }

    fn staged(folder: &Path, name: &str, staging: &str) -> StagedBaseline {
        let hidden = |suffix: &str| folder.join(format!(".{name}.{suffix}"));
        StagedBaseline { folder: folder.join(name), staging: hidden(staging), previous: hidden("replaced") }
    }

    /// Finishes an interrupted replacement: restores the old baseline if there is no new one, and otherwise removes the old
    /// one.
    ///
    /// # Errors
    /// Fails if it can be neither moved nor removed.
    pub fn recover(&self) -> Result<()> {
        if !self.previous.exists() {
            return Ok(());
        }
        let shown = self.previous.display();
        match self.folder.exists() {
            true => fs::remove_dir_all(&self.previous)
                .with_context(|| format!("cannot remove {shown}, which {} replaced", self.folder.display())),
            false => fs::rename(&self.previous, &self.folder)
                .with_context(|| format!("cannot move {shown} back to {}", self.folder.display())),
        }
    }

    /// Removes the files of an earlier attempt. Returns true if there were any.
    ///
    /// # Errors
    /// Fails if they cannot be removed.
    pub fn clear(&self) -> Result<bool> {
        let is_left = self.staging.exists();
        if is_left {
            fs::remove_dir_all(&self.staging).with_context(|| {
                format!("cannot remove {}, left by an earlier save", self.staging.display())
            })?;
        }
        Ok(is_left)
    }

    /// Moves the new baseline to its final folder; [`recover`](StagedBaseline::recover) then removes the replaced one.
    ///
    /// # Errors
    /// Fails if a folder cannot be moved; the old baseline is then restored, or the error says where it is.
    pub fn commit(&self) -> Result<()> {
        let [staging, folder, previous] =
            [&self.staging, &self.folder, &self.previous].map(|path| path.display());
        if self.folder.exists() {
            rename_synced(&self.folder, &self.previous).with_context(|| {
                format!("cannot move {folder} to {previous}; the baseline is unchanged, and the new passes are in {staging}")
            })?;
        }
        let replaces = self.previous.exists();
        rename_synced(&self.staging, &self.folder).or_else(|error| {
            let restored = if replaces {
                "the previous baseline was restored"
            } else {
                "the new passes are still there"
            };
            let failed = format!("cannot move {staging} to {folder}: {error}");
            self.recover()
                .with_context(|| format!("{failed}; restoring the previous baseline failed too"))?;
            bail!("{failed}; {restored}")
        })
    }
}

/// Renames a folder, whose own name is on disk before, and waits until the new name is.
fn rename_synced(from: &Path, to: &Path) -> io::Result<()> {
    sync_folder_of(from)?;
    fs::rename(from, to)?;
    sync_folder_of(to)
}
