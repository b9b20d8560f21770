//! Opens files that another program has named or made.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Flag that makes opening a link fail.
pub const NOT_THROUGH_A_LINK: i32 = libc::O_NOFOLLOW;

/// Opens an ordinary file for reading, without following a link or waiting for a pipe's writer.
///
/// # Errors
/// The file cannot be opened, or is not an ordinary one.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = NOT_THROUGH_A_LINK | libc::O_NONBLOCK;
    let is_link = fs::symlink_metadata(path)?.is_symlink();
    let file = File::options().read(true).custom_flags(flags).open(path);
    match file {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Err(error) if !is_link => Err(error),
        Ok(_) | Err(_) => Err(io::Error::other("it is not an ordinary file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ordinary_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        assert!(open(&at("file")).is_ok());
        for other in ["link", "pipe", ".", "missing"] {
            assert!(open(&at(other)).is_err(), "{other}");
        }
    }
}
