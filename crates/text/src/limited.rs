//! Reads files and lines of limited length, so that no file fills the memory. The limits are far above what is in use.

use std::fs::{self, File};
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Most bytes of a file that a person writes: a sweep, a policy, a script of the simulated device.
pub const BY_HAND: u64 = 16 << 20;

/// Most bytes of a baseline, which has a few hundred per cell.
pub const BASELINE: u64 = 256 << 20;

/// Most bytes of one line in a journal: a row with all its samples.
pub const JOURNAL_LINE: u64 = 64 << 20;

/// The longest wait for the end of a pipe: it may have no writer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads a file or pipe.
///
/// # Errors
/// It cannot be read, has more than `max` bytes, or is a pipe that does not end within 10 s.
pub fn bytes(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    bytes_within(path, max, PATIENCE)
}

fn bytes_within(path: &Path, max: u64, patience: Duration) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_file() {
        return all_bytes(path, max);
    }
    let (sender, receiver) = mpsc::channel();
    let owned = path.to_owned();
    // Opening a pipe waits too. A thread that still waits ends with the process.
    thread::Builder::new().spawn(move || sender.send(all_bytes(&owned, max)))?;
    let late = |_| io::Error::other(format!("it is a pipe that did not end within {} s", patience.as_secs()));
    receiver.recv_timeout(patience).map_err(late)?
}

fn all_bytes(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    let mut file = File::open(path)?.take(max + 1);
    file.read_to_end(&mut bytes)?;
    check("it", bytes.len(), max)?;
    Ok(bytes)
}

/// Reads a file that a person wrote.
///
/// # Errors
/// It cannot be read, is not UTF-8, or has more than [`BY_HAND`] bytes.
pub fn text(path: &Path) -> io::Result<String> {
    String::from_utf8(bytes(path, BY_HAND)?).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

/// Replaces `line` by the next line, with its end where it has one; empty at the end of the file.
///
/// # Errors
/// The file cannot be read, or the line has more than `max` bytes.
pub fn line(reader: &mut impl BufRead, line: &mut Vec<u8>, max: u64) -> io::Result<()> {
    line.clear();
    reader.take(max + 1).read_until(b'\n', line)?;
    check("a line of it", line.len(), max)
}

fn check(what: &str, length: usize, max: u64) -> io::Result<()> {
    if length as u64 <= max {
        return Ok(());
    }
    Err(io::Error::other(format!("{what} is larger than {} MiB", max >> 20)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_up_to_the_limit_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "µ".repeat(4)).unwrap();
        assert_eq!(text(file.path()).unwrap(), "µµµµ");
        assert_eq!(bytes(file.path(), 8).unwrap().len(), 8);
        assert!(bytes(file.path(), 7).is_err());
        file.as_file().set_len(BY_HAND + 1).unwrap();
        assert_eq!(text(file.path()).unwrap_err().to_string(), "it is larger than 16 MiB");
        assert!(text(Path::new("/dev/zero")).is_err(), "it never ends");
        std::fs::write(file.path(), b"\xff").unwrap();
        assert_eq!(text(file.path()).unwrap_err().to_string(), "it is not UTF-8 text");
    }

    #[test]
    fn a_pipe_without_a_writer_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let refused = bytes_within(&pipe, 8, Duration::from_millis(20)).unwrap_err();
        assert_eq!(refused.to_string(), "it is a pipe that did not end within 0 s");
    }

    #[test]
    fn lines_up_to_the_limit_are_read() {
        let (mut reader, mut read) = (&b"ab\n\nabc\n"[..], vec![]);
        for expected in ["ab\n", "\n"] {
            line(&mut reader, &mut read, 3).unwrap();
            assert_eq!(read, expected.as_bytes());
        }
        assert_eq!(
            line(&mut reader, &mut read, 3).unwrap_err().to_string(),
            "a line of it is larger than 0 MiB"
        );
        line(&mut &b""[..], &mut read, 3).unwrap();
        assert!(read.is_empty());
    }
}
