//! Parses JSON files, compressed by gzip or not, piece by piece, so that memory holds what was parsed and not the text.

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;

/// Bytes that are read from the file at once.
const PIECE: usize = 1 << 16;

/// Most bytes that are read from a pipe, all of which memory holds.
const LARGEST_PIPED: u64 = 64 << 20;

/// Most values of a file beyond one per 16 bytes. A value may take 32 bytes of memory and 2 bytes of the file, and the figures of reports
/// take more than 16.
const MAX_VALUES: usize = 1 << 24;

/// Reads JSON up to a number of values, by the bytes that begin one.
struct ValueLimit<R> {
    inner: R,
    left: usize,
}

impl<R: Read> Read for ValueLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let begun = buffer[..count].iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        let too_many = || io::Error::other(format!("it holds too many short values, more than {MAX_VALUES}"));
        self.left = (self.left + count / 16).checked_sub(begun).ok_or_else(too_many)?;
        Ok(count)
    }
}

/// Returns whether it is a pipe or socket, as standard input may be, and not a device, which may never end.
fn is_pipe(metadata: &Metadata) -> bool {
    metadata.file_type().is_fifo() || metadata.file_type().is_socket()
}

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads at most `left` bytes of compressed content: a small file may hold any amount of text.
struct Inflated<R> {
    inner: MultiGzDecoder<R>,
    left: u64,
}

impl<R: Read> Read for Inflated<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let too_long = || io::Error::other("its text is longer than what is read of a report, 1 GiB");
        self.left = self.left.checked_sub(count as u64).ok_or_else(too_long)?;
        Ok(count)
    }
}

/// A JSON file, compressed or not, that can be parsed several times.
#[derive(Debug)]
pub struct Content {
    source: Source,
    /// Most bytes of its text.
    max: u64,
}

#[derive(Debug)]
enum Source {
    File(File),
    /// Pipes can be read only once.
    Kept(Vec<u8>),
}

impl Content {
    /// Opens a file; `None` when it has more than `max` bytes.
    ///
    /// # Errors
    /// It cannot be opened, is neither a file nor a pipe, or is a pipe with more than 64 MiB.
    pub fn open(path: &Path, max: u64) -> io::Result<Option<Content>> {
        Content::of_file(File::open(path)?, max)
    }

    /// Returns standard input, as [`Content::open`] does a file.
    ///
    /// # Errors
    /// It is closed, is neither a file nor a pipe, or is a pipe with more than 64 MiB.
    pub fn of_stdin(max: u64) -> io::Result<Option<Content>> {
        Content::of_file(File::from(io::stdin().as_fd().try_clone_to_owned()?), max)
    }

    fn of_file(file: File, max: u64) -> io::Result<Option<Content>> {
        let metadata = file.metadata()?;
        if metadata.is_file() {
            return Ok((metadata.len() <= max).then_some(Content { source: Source::File(file), max }));
        }
        if !is_pipe(&metadata) {
            return Err(io::Error::other("it is neither a file nor a pipe"));
        }
        let mut bytes = Vec::new();
        file.take(LARGEST_PIPED + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST_PIPED {
            return Err(io::Error::other("a pipe may hold at most 64 MiB: write it to a file first"));
        }
        Ok(Some(Content { source: Source::Kept(bytes), max }))
    }

    /// Opens a file that the user has not named, as [`Content::open`] does, without waiting for the writer of a pipe.
    ///
    /// # Errors
    /// It cannot be opened, or is not a file.
    pub fn open_found(path: &Path, max: u64) -> io::Result<Option<Content>> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not an ordinary file"));
        }
        Content::open(path, max)
    }

    /// Creates the content of a file with these bytes.
    pub fn of(bytes: impl Into<Vec<u8>>) -> Content {
        Content { source: Source::Kept(bytes.into()), max: u64::MAX }
    }

    /// Returns its number of bytes.
    ///
    /// # Errors
    /// The system does not report it.
    pub fn length(&self) -> io::Result<u64> {
        match &self.source {
            Source::File(file) => Ok(file.metadata()?.len()),
            Source::Kept(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Returns whether it begins as a JSON object does.
    pub fn begins_object(&self) -> bool {
        let first = |start: Box<dyn Read + '_>| {
            let mut bytes = BufReader::with_capacity(PIECE, start).bytes().map_while(Result::ok);
            bytes.find(|byte| !byte.is_ascii_whitespace())
        };
        self.start().is_ok_and(|start| first(start) == Some(b'{'))
    }

    /// Parses it from its beginning.
    ///
    /// # Errors
    /// It cannot be read, is not JSON or is not a `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        let start = self.start().map_err(serde_json::Error::io)?;
        let limited = ValueLimit { inner: start, left: MAX_VALUES };
        serde_json::from_reader(BufReader::with_capacity(PIECE, limited))
    }

    /// Returns its text from the beginning.
    fn start(&self) -> io::Result<Box<dyn Read + '_>> {
        let mut first = vec![];
        self.bytes()?.take(GZIP.len() as u64).read_to_end(&mut first)?;
        let bytes = self.bytes()?;
        if first != GZIP {
            return Ok(bytes);
        }
        Ok(Box::new(Inflated { inner: MultiGzDecoder::new(bytes), left: self.max }))
    }

    fn bytes(&self) -> io::Result<Box<dyn Read + '_>> {
        match &self.source {
            Source::File(file) => {
                let mut file = file;
                file.rewind()?;
                Ok(Box::new(file))
            }
            Source::Kept(bytes) => Ok(Box::new(bytes.as_slice())),
        }
    }
}
