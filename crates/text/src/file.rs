//! Files that are written whole or not at all.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file that has its content, next to its place and under another name. Dropped without [`Partial::finish`] it is
/// removed.
#[derive(Debug)]
pub struct Partial {
    partial: PathBuf,
    path: PathBuf,
}

impl Partial {
    /// Writes what shall be the content of `path`, in the same folder. Nothing is left behind when that fails.
    ///
    /// # Errors
    /// `path` names no file, its folder is missing or cannot be written, or the disk is full.
    pub fn write(path: &Path, bytes: &[u8]) -> io::Result<Partial> {
        let name = path.file_name().ok_or_else(|| io::Error::other("not a file name"))?;
        // Hidden, and another one in every process: of two that write the same file at once, the last one wins.
        let mut partial = OsString::from(".");
        partial.push(name);
        partial.push(format!(".{}.part", std::process::id()));
        let written = Partial { partial: path.with_file_name(partial), path: path.to_owned() };
        fs::write(&written.partial, bytes)?;
        Ok(written)
    }

    /// Puts the file in its place, where it takes that of an older one.
    ///
    /// # Errors
    /// The place is a folder's.
    pub fn finish(self) -> io::Result<()> {
        fs::rename(&self.partial, &self.path)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Gone where it was put in its place. Of a failed attempt, the error that made it fail is the one to report.
        let _ = fs::remove_file(&self.partial);
    }
}

/// Writes a file next to `path` and renames it, so that a reader sees the old content or the new, never a part.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Partial::write(path, bytes)?.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_is_replaced_by_its_new_content_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn the_old_content_stays_until_the_new_one_is_put_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_whole(&path, b"old").unwrap();
        let partial = Partial::write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(partial);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
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
