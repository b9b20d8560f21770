//! Writes files to the user's cache folder, which keeps data between runs. The folder can be deleted at any time.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use gpubench_text::file;

/// Returns the folder `gpubench/NAME` in the user's cache folder (`XDG_CACHE_HOME` or `~/.cache`).
///
/// `None` when the environment variable `switch` is `off` or there is no home; `variable` reads the environment.
pub fn folder(name: &str, switch: &str, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
    let off = variable(switch).is_some_and(|value| value == "off");
    base.filter(|_| !off).map(|base| base.join("gpubench").join(name))
}

/// Writes a file atomically, and creates the folder for the user alone if it is missing.
///
/// # Errors
/// The folder cannot be made or written.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    file::write_whole(&folder.join(name), bytes)
}

/// Returns the size and modification time of a file, a key's substitute for its content; empty if it does not exist.
pub fn file_identity(path: &Path) -> String {
    let seconds = |metadata: &std::fs::Metadata| {
        let changed = metadata.modified().ok()?;
        changed.duration_since(std::time::UNIX_EPOCH).ok().map(|age| age.as_secs())
    };
    let metadata = std::fs::metadata(path);
    metadata.map_or_else(|_| String::new(), |m| format!("{} {}", m.len(), seconds(&m).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_follows_the_environment() {
        let of = |pairs: &[(&str, &str)]| {
            let value = |name: &str| pairs.iter().find(|(k, _)| *k == name).map(|(_, v)| v.into());
            folder("things", "SWITCH", &value)
        };
        assert_eq!(of(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]), Some("/c/gpubench/things".into()));
        assert_eq!(of(&[("HOME", "/h")]), Some("/h/.cache/gpubench/things".into()));
        assert_eq!(of(&[("HOME", "/h"), ("SWITCH", "off")]), None);
        assert_eq!(of(&[("HOME", "relative")]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_missing_folder_is_made_for_the_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        write(&inner, "file", b"one").unwrap();
        assert_eq!(std::fs::read(inner.join("file")).unwrap(), b"one");
        assert_eq!(std::fs::metadata(&inner).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_changed_file_has_another_identity_and_a_missing_one_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let before = file_identity(file.path());
        std::fs::write(file.path(), "longer").unwrap();
        assert_ne!(file_identity(file.path()), before);
        assert_eq!(file_identity(Path::new("/no/such/file")), "");
    }
}
