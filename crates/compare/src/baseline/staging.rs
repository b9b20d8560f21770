//! Puts a baseline into its place whole or not at all, by way of hidden folders beside it, which no baseline can be named.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

/// Where a baseline is made, and where it goes.
pub struct StagedBaseline {
    /// The baseline's folder.
    pub folder: PathBuf,
    /// Where its passes are made.
    pub staging: PathBuf,
    /// Where the one that it replaces stays until it is in place.
    previous: PathBuf,
}

impl StagedBaseline {
    /// The place of the baseline `name` in `folder`.
    pub fn new(folder: &Path, name: &str) -> StagedBaseline {
        let beside = |suffix: &str| folder.join(format!(".{name}.{suffix}"));
        StagedBaseline { folder: folder.join(name), staging: beside("attempt"), previous: beside("replaced") }
    }

    /// Ends a replacement that was cut off: puts the old baseline back where no other has taken its place, else
    /// removes it.
    ///
    /// # Errors
    /// It can be neither moved nor removed.
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

    /// Removes what an earlier attempt left; whether there was something.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn clear(&self) -> Result<bool> {
        let is_left = self.staging.exists();
        if is_left {
            fs::remove_dir_all(&self.staging).with_context(|| {
                format!("cannot remove {}, left by an earlier save", self.staging.display())
            })?;
        }
        Ok(is_left)
    }

    /// Puts the attempt in the place of the baseline; [`settle`](StagedBaseline::settle) then removes the one that was there.
    ///
    /// # Errors
    /// A folder cannot be moved; the old baseline is then back in its place, or the error says where it is.
    pub fn commit(&self) -> Result<()> {
        let [staging, folder, previous] =
            [&self.staging, &self.folder, &self.previous].map(|path| path.display());
        if !self.folder.exists() {
            return fs::rename(&self.staging, &self.folder).with_context(|| {
                format!("cannot move {staging} to {folder}; the new passes are still there")
            });
        }
        fs::rename(&self.folder, &self.previous).with_context(|| {
            format!(
                "cannot move {folder} to {previous}; the baseline is unchanged, and the new passes are in {staging}"
            )
        })?;
        fs::rename(&self.staging, &self.folder).map_err(|error| {
            match fs::rename(&self.previous, &self.folder) {
                Ok(()) => {
                    anyhow!("cannot move {staging} to {folder}: {error}; the previous baseline was restored")
                }
                Err(second) => anyhow!(
                    "cannot move {staging} to {folder}: {error}; restoring the previous baseline failed too \
                 ({second}): move {previous} back yourself"
                ),
            }
        })
    }
}
