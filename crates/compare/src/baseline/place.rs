//! Puts a baseline into its place whole or not at all, by way of hidden folders beside it, which no baseline can be named.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

/// Where a baseline is made, and where it goes.
pub struct Place {
    /// The baseline's folder.
    pub folder: PathBuf,
    /// Where its passes are made.
    pub attempt: PathBuf,
    /// Where the one that it replaces stays until it is in place.
    aside: PathBuf,
}

impl Place {
    /// The place of the baseline `name` in `folder`.
    pub fn new(folder: &Path, name: &str) -> Place {
        let beside = |suffix: &str| folder.join(format!(".{name}.{suffix}"));
        Place { folder: folder.join(name), attempt: beside("attempt"), aside: beside("replaced") }
    }

    /// Ends a replacement that was cut off: puts the old baseline back where no other has taken its place, else
    /// removes it.
    ///
    /// # Errors
    /// It can be neither moved nor removed.
    pub fn settle(&self) -> Result<()> {
        if !self.aside.exists() {
            return Ok(());
        }
        let shown = self.aside.display();
        match self.folder.exists() {
            true => fs::remove_dir_all(&self.aside)
                .with_context(|| format!("cannot remove {shown}, which {} replaced", self.folder.display())),
            false => fs::rename(&self.aside, &self.folder)
                .with_context(|| format!("cannot move {shown} back to {}", self.folder.display())),
        }
    }

    /// Removes what an earlier attempt left; whether there was something.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn clear(&self) -> Result<bool> {
        let is_left = self.attempt.exists();
        if is_left {
            fs::remove_dir_all(&self.attempt).with_context(|| {
                format!("cannot remove {}, left by an earlier save", self.attempt.display())
            })?;
        }
        Ok(is_left)
    }

    /// Puts the attempt in the place of the baseline; [`settle`](Place::settle) then removes the one that was there.
    ///
    /// # Errors
    /// A folder cannot be moved; the old baseline is then back in its place, or the error says where it is.
    pub fn put(&self) -> Result<()> {
        let [attempt, folder, aside] = [&self.attempt, &self.folder, &self.aside].map(|path| path.display());
        if !self.folder.exists() {
            return fs::rename(&self.attempt, &self.folder).with_context(|| {
                format!("cannot move {attempt} to {folder}; the new passes are still there")
            });
        }
        fs::rename(&self.folder, &self.aside).with_context(|| {
            format!(
                "cannot move {folder} to {aside}; the baseline is unchanged, and the new passes are in {attempt}"
            )
        })?;
        fs::rename(&self.attempt, &self.folder).map_err(|error| match fs::rename(&self.aside, &self.folder) {
            Ok(()) => {
                anyhow!("cannot move {attempt} to {folder}: {error}; the previous baseline was restored")
            }
            Err(second) => anyhow!(
                "cannot move {attempt} to {folder}: {error}; restoring the previous baseline failed too \
                 ({second}): move {aside} back yourself"
            ),
        })
    }
}
