//! The cache of compiled kernels on disk: each kernel is compiled once per machine. The folder can be deleted at any
//! time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpubench_backend::host::user_cache;
use gpubench_report::data::hash::fnv1a;

use super::kernels::KernelSource;
use super::nvrtc::Compiler;

/// Version of the file layout and of the key; increase it when either changes.
const FORMAT: u32 = 4;

/// A compiled source file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    /// CUBIN or PTX.
    pub(crate) image: Vec<u8>,
    /// Host seconds that compiling and loading took.
    pub cold_s: f64,
}

/// A folder of compiled kernels, or no folder.
pub(crate) struct KernelCache {
    folder: Option<PathBuf>,
}

impl KernelCache {
    /// Returns the user's cache. It has no folder when `GPUBENCH_KERNEL_CACHE` is `off` or there is no home.
    pub(crate) fn of_user(variable: &dyn Fn(&str) -> Option<OsString>) -> KernelCache {
        KernelCache { folder: user_cache::folder("kernels", "GPUBENCH_KERNEL_CACHE", variable) }
    }

    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Stores and removes a file, so that an error says why nothing can be stored.
    pub(crate) fn check(&self) -> std::io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let name = format!("check-{}", std::process::id());
        user_cache::write(folder, &name, b"")?;
        std::fs::remove_file(folder.join(name))
    }

    /// Returns the entry of `key` if it exists and is intact.
    pub(crate) fn get(&self, key: &str) -> Option<Stored> {
        parse(&user_cache::read(&self.folder.as_ref()?.join(key))?)
    }

    /// Stores a compiled source. If the folder is not writable, the next run compiles again.
    pub(crate) fn put(&self, key: &str, stored: &Stored) {
        if let Some(folder) = &self.folder {
            // Another process may write the same entry. The rename is atomic, so either file is complete.
            let _ = user_cache::write(folder, key, &bytes(stored));
        }
    }

    /// Removes an image that the driver rejected.
    pub(crate) fn remove(&self, key: &str) {
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_file(folder.join(key));
        }
    }
}

/// Returns the content of a cache file: the compile time in seconds, little-endian, and the image.
fn bytes(stored: &Stored) -> Vec<u8> {
    [&stored.cold_s.to_le_bytes(), &stored.image[..]].concat()
}

/// Parses the content of a cache file; `None` when the time is impossible or the image is empty.
fn parse(file: &[u8]) -> Option<Stored> {
    let (seconds, image) = file.split_first_chunk()?;
    let cold_s = f64::from_le_bytes(*seconds);
    let is_valid = cold_s.is_finite() && cold_s >= 0.0 && !image.is_empty();
    is_valid.then(|| Stored { image: image.to_vec(), cold_s })
}

/// Returns the file name for a source compiled by `compiler`, which may include `headers`.
///
/// NVRTC's version has no patch level, so the key uses the library's size and modification time instead.
pub(crate) fn key(
    source: &KernelSource,
    headers: &[KernelSource],
    compiler: &Compiler,
    library: &str,
) -> String {
    let mut options = compiler.options();
    options.sort();
    let [major, minor] = compiler.version;
    let format = format!("{FORMAT} {} {major}.{minor} {library}", env!("CARGO_PKG_VERSION"));
    let options = options.join(" ");
    let texts = headers.iter().map(|header| header.text);
    let text: Vec<&str> = [&format, &options, source.name, source.text].into_iter().chain(texts).collect();
    let text = text.join("\0");
    let name = source.name.replace('/', "_");
    format!("{name}-{:016x}{:016x}", fnv1a(0, text.as_bytes()), fnv1a(1, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::nvrtc::Target;
    use super::*;

    fn compiler(arch: i32, minor: i32) -> Compiler {
        Compiler { target: Target::Cubin(arch), version: [13, minor] }
    }

    const SOURCE: KernelSource = KernelSource::new("k", "__global__ void k() {}");
    const HEADER: KernelSource = KernelSource::new("common", "#pragma once");

    fn stored() -> Stored {
        Stored { image: b"image".to_vec(), cold_s: 0.0625 }
    }

    #[test]
    fn a_stored_entry_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache { folder: Some(folder.path().to_path_buf()) };
        let every_byte = Stored { image: (0..=255).collect(), cold_s: 0.1 };
        for stored in [stored(), every_byte, Stored { image: vec![0], cold_s: 0.0 }] {
            assert_eq!(cache.get("a"), None);
            cache.put("a", &stored);
            assert_eq!(cache.get("a"), Some(stored));
            cache.remove("a");
        }
        assert_eq!(cache.get("a"), None);
    }

    #[test]
    fn a_folder_that_cannot_be_used_keeps_nothing_and_stops_nothing() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        std::fs::write(&file, b"in the folder's place").unwrap();
        // Nobody can make a folder in /proc, not even root, for whom no folder is read-only.
        for folder in [file, PathBuf::from("/proc/gpubench")] {
            let cache = KernelCache { folder: Some(folder) };
            cache.put("a", &stored());
            assert_eq!(cache.get("a"), None, "{:?}", cache.folder());
            assert!(cache.check().is_err());
            cache.remove("a");
        }
    }

    #[test]
    fn a_damaged_or_truncated_file_is_a_miss() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache { folder: Some(folder.path().to_path_buf()) };
        cache.put("a", &stored());
        let file = folder.path().join("a");
        let whole = std::fs::read(&file).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&file, &whole[..length]).unwrap();
            assert_eq!(cache.get("a"), None, "{length} bytes");
        }
        for position in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[position] ^= 1;
            std::fs::write(&file, &damaged).unwrap();
            assert_eq!(cache.get("a"), None, "byte {position}");
        }
    }

    #[test]
    fn a_file_with_an_impossible_time_or_no_image_is_a_miss() {
        assert_eq!(parse(&bytes(&stored())), Some(stored()));
        for cold_s in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(parse(&bytes(&Stored { cold_s, ..stored() })), None, "{cold_s}");
        }
        assert_eq!(parse(&bytes(&Stored { image: vec![], ..stored() })), None);
    }

    #[test]
    fn the_key_changes_with_everything_the_image_depends_on() {
        let base = key(&SOURCE, &[HEADER], &compiler(90, 0), "1 2");
        assert_eq!(base, key(&SOURCE, &[HEADER], &compiler(90, 0), "1 2"));
        let other = KernelSource { text: "__global__ void k() { }", ..SOURCE };
        assert_ne!(base, key(&other, &[HEADER], &compiler(90, 0), "1 2"));
        let other = KernelSource { text: "", ..HEADER };
        assert_ne!(base, key(&SOURCE, &[other], &compiler(90, 0), "1 2"));
        assert_ne!(base, key(&SOURCE, &[HEADER], &compiler(80, 0), "1 2"));
        assert_ne!(base, key(&SOURCE, &[HEADER], &compiler(90, 1), "1 2"));
        assert_ne!(base, key(&SOURCE, &[HEADER], &compiler(90, 0), "1 3"));
    }
}
