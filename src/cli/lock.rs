//! A lock on a folder of results, by a file that the system locks: it is free again however the process ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use gpubench_backend::host::regular::NOT_THROUGH_A_LINK;

/// Name of the file in the folder.
const FILE_NAME: &str = ".gpubench.lock";

/// Number of attempts while other processes take and remove the file.
const ATTEMPTS: u32 = 10;

/// Begins the content of the file, before the number of the process that holds the lock.
const HOLDER: &str = "locked by gpubench, process ";
/// More bytes than the file has.
const LONGEST: u64 = 100;

/// A lock that this process holds.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// Number of the process that was killed while it held the lock: what is in the folder under its number is of no use.
    pub(crate) killed_holder: Option<u32>,
    /// Keeps the lock; `None` on file systems without locks.
    file: Option<File>,
}

impl Lock {
    /// Locks a folder; returns `None` if another process holds its lock.
    ///
    /// # Errors
    /// No file can be made or written in the folder, or one of that name is not from gpubench.
    pub(crate) fn take(folder: &Path) -> io::Result<Option<Lock>> {
        let path = folder.join(FILE_NAME);
        for _ in 0..ATTEMPTS {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).custom_flags(NOT_THROUGH_A_LINK);
            let file = options.open(&path)?;
            let is_locked = match file.try_lock() {
                // The holder before may have removed the file after it was opened here; then the lock guards nothing.
                Ok(()) if !is_at(&file, &path) => continue,
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Some network file systems have no locks; results matter more.
                Err(TryLockError::Error(_)) => false,
            };
            let killed_holder = holder(&file)?.filter(|_| is_locked);
            let mut lock = Lock { path, killed_holder, file: Some(file) };
            // If this fails, dropping the lock removes the file.
            lock.write_holder()?;
            if !is_locked {
                lock.file = None;
            }
            return Ok(Some(lock));
        }
        Ok(None)
    }

    fn write_holder(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(format!("{HOLDER}{}\n", std::process::id()).as_bytes())
    }
}

/// Returns the number of the process that the file names; `None` if the file is empty.
fn holder(file: &File) -> io::Result<Option<u32>> {
    let mut text = String::new();
    let is_file = file.metadata()?.is_file();
    let is_read = is_file && file.take(LONGEST).read_to_string(&mut text).is_ok();
    let holder = text.strip_prefix(HOLDER).and_then(|number| number.trim_end().parse().ok());
    if is_read && (text.is_empty() || holder.is_some()) {
        return Ok(holder);
    }
    Err(io::Error::other(format!("its {FILE_NAME} is not from gpubench")))
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
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, there) = (file.metadata().map(identity), fs::metadata(path).map(identity));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_names_the_holder_that_was_killed_and_a_foreign_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        let killed_holder = || Lock::take(folder.path()).map(|lock| lock.unwrap().killed_holder);
        assert_eq!(killed_holder().unwrap(), None);
        assert!(!path.exists());
        fs::write(&path, format!("{HOLDER}7\n")).unwrap();
        assert_eq!(killed_holder().unwrap(), Some(7));
        fs::write(&path, "").unwrap();
        assert_eq!(killed_holder().unwrap(), None);
        for foreign in ["precious", &format!("{HOLDER}seven"), &"x".repeat(200)] {
            fs::write(&path, foreign).unwrap();
            assert!(killed_holder().is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), foreign);
        }
    }
}
