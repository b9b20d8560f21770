//! Reads named sections of a shared object without loading it. Format:
//! <https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html>.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Larger than any section that is read; a file that claims more is damaged.
const MAX_BYTES: u64 = 64 << 20;
/// Sizes in bytes of the file header and of a section header, in 64-bit files.
const HEADER: usize = 64;
const SECTION_HEADER: usize = 64;

/// A little-endian 64-bit shared object.
pub(crate) struct SharedObject {
    file: File,
    sections: Vec<ElfSection>,
}

struct ElfSection {
    name: Vec<u8>,
    offset: u64,
    length: u64,
}

/// Opens a file and nothing else: opening a pipe could wait for ever.
pub(crate) fn opened(path: &Path) -> io::Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is not a file")),
    }
}

impl SharedObject {
    /// Reads the section headers; returns `None` for any other kind of file.
    pub(crate) fn open(path: &Path) -> Option<SharedObject> {
        let file = opened(path).ok()?;
        let header = read(&file, 0, HEADER as u64)?;
        // Magic, 64 bits, little-endian, a shared object.
        if header[..6] != *b"\x7fELF\x02\x01" || number(&header, 16, 2) != 3 {
            return None;
        }
        let (table, count, names) = (number(&header, 40, 8), number(&header, 60, 2), number(&header, 62, 2));
        let headers = read(&file, table, count * SECTION_HEADER as u64)?;
        let fields = |index: usize| {
            let header = headers.get(index * SECTION_HEADER..(index + 1) * SECTION_HEADER)?;
            Some((number(header, 0, 4), number(header, 24, 8), number(header, 32, 8)))
        };
        let (_, offset, length) = fields(usize::try_from(names).ok()?)?;
        let names = read(&file, offset, length)?;
        let sections = (0..usize::try_from(count).ok()?).filter_map(|index| {
            let (name, offset, length) = fields(index)?;
            let name = names.get(usize::try_from(name).ok()?..)?;
            Some(ElfSection { name: name.split(|byte| *byte == 0).next()?.to_vec(), offset, length })
        });
        Some(SharedObject { sections: sections.collect(), file })
    }

    /// Returns the contents of the section of that name; empty if there is none.
    pub(crate) fn section(&self, name: &str) -> Vec<u8> {
        let section = self.sections.iter().find(|section| section.name == name.as_bytes());
        section.and_then(|section| read(&self.file, section.offset, section.length)).unwrap_or_default()
    }
}

/// Reads a range of bytes; `None` if the file is too short.
fn read(file: &File, offset: u64, length: u64) -> Option<Vec<u8>> {
    let most = file.metadata().ok()?.len().min(MAX_BYTES);
    let mut bytes = vec![0; usize::try_from(length).ok().filter(|_| length <= most)?];
    file.read_exact_at(&mut bytes, offset).ok()?;
    Some(bytes)
}

/// Decodes a little-endian number from all of `bytes`.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the offset of the first occurrence of `part` in `whole`.
pub(crate) fn position(whole: &[u8], part: &[u8]) -> Option<usize> {
    whole.windows(part.len()).position(|window| window == part)
}

/// The bytes of a shared object with these two sections and no code.
#[cfg(test)]
pub(crate) fn example(symbols: &str, constants: &str) -> Vec<u8> {
    let names = b"\0.dynstr\0.rodata\0.shstrtab\0";
    let mut bytes = vec![0; HEADER];
    let mut headers = vec![0; SECTION_HEADER];
    for (name, content) in [(1u32, symbols.as_bytes()), (9, constants.as_bytes()), (17, &names[..])] {
        let mut header = [0; SECTION_HEADER];
        header[..4].copy_from_slice(&name.to_le_bytes());
        header[24..32].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend(content);
        headers.extend(header);
    }
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    bytes[16] = 3;
    let table = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&table.to_le_bytes());
    bytes[60] = 4;
    bytes[62] = 3;
    bytes.extend(headers);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sections_of_a_shared_object_are_read_and_other_files_have_none() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = maps.split_whitespace().find(|word| word.contains("/libc.so.6")).unwrap();
        let names = SharedObject::open(Path::new(libc)).unwrap().section(".dynstr");
        assert!(position(&names, b"malloc").is_some() && position(&names, b"cblas_sgemm").is_none());

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        for content in [&b""[..], b"no library", b"\x7fELF\x02\x01", &[0x7f; 4096]] {
            std::fs::write(&file, content).unwrap();
            assert!(SharedObject::open(&file).is_none());
        }
        // A header that points beyond the end.
        let mut damaged = [0xff; 64];
        damaged[..6].copy_from_slice(b"\x7fELF\x02\x01");
        damaged[16..18].copy_from_slice(&[3, 0]);
        std::fs::write(&file, damaged).unwrap();
        assert!(SharedObject::open(&file).is_none());
    }
}
