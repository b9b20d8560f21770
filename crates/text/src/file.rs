//! Writes files atomically. What a new file replaces goes only once the new one is on disk.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A complete file under a temporary name next to its final path. Dropping it without [`Partial::finish`] removes it.
#[derive(Debug)]
pub struct Partial {
    partial: PathBuf,
    path: PathBuf,
    is_synced: bool,
}

impl Partial {
    /// Writes the content of `path` to a temporary file in the same folder, and waits until it is on disk. A failure leaves
    /// no file behind.
    ///
    /// # Errors
    /// `path` is not a file name, its folder is missing or not writable, or the disk is full or fails.
    pub fn write(path: &Path, bytes: &[u8]) -> io::Result<Partial> {
        Ok(Partial::write_with(path, |file| file.write_all(bytes))?.0)
    }

    /// Writes as [`Partial::write`] does, piece by piece, for content that is too large for memory. Returns the file too, to append
    /// to it under any name it gets.
    ///
    /// # Errors
    /// `content` fails, or the file cannot be written, as in [`Partial::write`].
    pub fn write_with(
        path: &Path,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<(Partial, fs::File)> {
        let (written, file) = Partial::create(path, content, true)?;
        file.sync_all()?;
        Ok((written, file))
    }

    /// Writes as [`Partial::write_with`] does without waiting for the disk. A power failure soon after may leave an empty file:
    /// only for content that is also elsewhere or can be made again.
    ///
    /// # Errors
    /// `content` fails, or the file cannot be written, as in [`Partial::write`].
    pub fn write_unsynced(
        path: &Path,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Partial> {
        Partial::create(path, content, false).map(|(written, _)| written)
    }

    fn create(
        path: &Path,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        is_synced: bool,
    ) -> io::Result<(Partial, fs::File)> {
        let name = path.file_name().ok_or_else(|| io::Error::other("not a file name"))?;
        // Hidden, and different in every process: if two processes write the same file, the last one wins.
        let mut partial = OsString::from(".");
        partial.push(name);
        partial.push(format!(".{}.part", std::process::id()));
        let written = Partial { partial: path.with_file_name(partial), path: path.to_owned(), is_synced };
        let mut file = BufWriter::new(create(&written.partial)?);
        content(&mut file)?;
        let file = file.into_inner()?;
        Ok((written, file))
    }

    /// Returns the temporary path, at which the content can be read.
    pub fn temporary_path(&self) -> &Path {
        &self.partial
    }

    /// Renames the file to its final path, replacing an older one, and waits until the new name is on disk.
    ///
    /// # Errors
    /// The path is a folder, or the disk fails.
    pub fn finish(self) -> io::Result<()> {
        fs::rename(&self.partial, &self.path)?;
        if self.is_synced { sync_folder_of(&self.path) } else { Ok(()) }
    }
}

/// Waits until the names in the folder of `path` are on disk.
///
/// # Errors
/// The disk fails.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match fs::File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems cannot do that, and a folder without read permission cannot be opened for it.
        Err(error) if matches!(error.kind(), InvalidInput | Unsupported | PermissionDenied) => Ok(()),
        synced => synced,
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After `finish` the file no longer exists. After a failure, the first error is the one to report.
        let _ = fs::remove_file(&self.partial);
    }
}

/// Creates a file that did not exist: never through a link that another user has planted under its name.
fn create(path: &Path) -> io::Result<fs::File> {
    match fs::File::create_new(path) {
        // Left by a process of the same number that was killed, or planted.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            fs::File::create_new(path)
        }
        created => created,
    }
}

/// Writes a file next to `path` and renames it, so that a reader sees the old content or the new, never a part. It does not
/// wait for the disk: for caches, whose readers find a file that a power failure has emptied.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Partial::write_unsynced(path, |file| file.write_all(bytes))?.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn the_old_content_stays_until_the_new_one_is_put_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_whole(&path, b"old").unwrap();
        let partial = Partial::write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(partial);
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"old".into(), vec!["file".into()]));
        write_whole(&path, b"new").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"new".into(), vec!["file".into()]));
    }

    #[test]
    fn content_that_fails_midway_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let written = Partial::write_with(&path, |file| {
            file.write_all(b"one")?;
            file.write_all(b"two")
        });
        assert_eq!(fs::read(written.unwrap().0.temporary_path()).unwrap(), b"onetwo");
        let failed = Partial::write_with(&path, |file| {
            file.write_all(&[0; 100_000])?;
            Err(io::Error::other("no more"))
        });
        assert!(failed.is_err() && names(folder.path()).is_empty());
    }

    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("file"), folder.path().join("victim"));
        fs::write(&victim, b"precious").unwrap();
        let temporary = folder.path().join(format!(".file.{}.part", std::process::id()));
        std::os::unix::fs::symlink(&victim, &temporary).unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read(&victim).unwrap()),
            (b"new".into(), b"precious".into())
        );
        assert!(!path.is_symlink() && !temporary.exists());
        // A link in place of the file itself is replaced, not followed.
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        write_whole(&path, b"newer").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }

    #[test]
    fn a_failed_write_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        assert!(write_whole(&taken, b"three").is_err());
        assert!(write_whole(&folder.path().join("missing/file"), b"").is_err());
        assert!(write_whole(&folder.path().join("n".repeat(300)), b"").is_err());
        assert!(write_whole(Path::new("/"), b"").is_err());
        assert_eq!(names(folder.path()), ["taken"]);
    }
}
