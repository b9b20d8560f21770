//! A lock on a folder of results, by a file that the system locks: it is free again however the process ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use gpubench_host::regular::NOT_THROUGH_A_LINK;

/// Name of the file in the folder.
const FILE_NAME: &str = ".gpubench.lock";

/// Number of attempts while other processes take and remove the file.
const ATTEMPTS: u32 = 10;

/// A lock that this process holds.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// Keeps the lock; `None` on file systems without locks.
    file: Option<File>,
}

impl Lock {
    /// Locks a folder; returns `None` if another process holds its lock.
    ///
    /// # Errors
    /// No file can be made in the folder.
    pub(crate) fn take(folder: &Path) -> io::Result<Option<Lock>> {
        let path = folder.join(FILE_NAME);
        for _ in 0..ATTEMPTS {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).custom_flags(NOT_THROUGH_A_LINK);
            let file = options.open(&path)?;
            match file.try_lock() {
                // The holder before may have removed the file after it was opened here; then the lock guards nothing.
                Ok(()) if is_at(&file, &path) => return Ok(Some(Lock { path, file: Some(file) })),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Some network file systems have no locks; results matter more.
                Err(TryLockError::Error(_)) => return Ok(Some(Lock { path, file: None })),
            }
        }
        Ok(None)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is locked, so that no other process can hold the file that is removed. If that fails, the next run
        // takes the file that is left.
        let _ = fs::remove_file(&self.path);
        drop(self.file.take());
    }
}

/// Returns whether `file` is still the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, there) = (file.metadata().map(place), fs::metadata(path).map(place));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}
