//! Lists of folders such as `PATH`, without what would mean the current folder.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::host::process;

/// Variable with folders that the dynamic loader searches first.
pub const LOADER: &str = "LD_LIBRARY_PATH";

/// Variable with folders in which Python searches for modules, before those of its installation.
pub const PYTHON: &str = "PYTHONPATH";

/// Returns the absolute folders in a list. An empty entry means the current folder, and a relative one depends on it: there,
/// anybody may have put a library.
pub fn absolute_folders(list: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(list).filter(|folder| folder.is_absolute()).collect()
}

/// Returns the first program of that name in the absolute folders of a list such as `PATH`.
pub fn program(name: &str, list: &OsStr) -> Option<PathBuf> {
    absolute_folders(list).into_iter().map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// Returns whether a path leads to a file that may be executed.
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Returns the list with its absolute folders alone; `None` if it has no others.
pub fn without_current_folder(list: &OsStr) -> Option<OsString> {
    // The loader also takes semicolons between folders, and an empty list as none.
    let is_plain = |entry: &[u8]| entry.starts_with(b"/");
    let mut entries = list.as_encoded_bytes().split(|byte| matches!(byte, b':' | b';'));
    if list.is_empty() || entries.all(is_plain) {
        return None;
    }
    let absolute = list.as_encoded_bytes().split(|byte| matches!(byte, b':' | b';')).filter(|e| is_plain(e));
    let joined = absolute.collect::<Vec<_>>().join(&b':');
    Some(std::os::unix::ffi::OsStringExt::from_vec(joined))
}

/// Returns whether a folder belongs to this user or to the system, and not everybody may write to it.
pub fn is_trusted(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(folder).is_ok_and(|folder| {
        [0, process::effective_user()].contains(&folder.uid()) && folder.mode() & 0o002 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_mean_the_current_folder_are_dropped() {
        for (list, kept) in [
            ("", None),
            ("/a:/b", None),
            (":", Some("")),
            ("/a:", Some("/a")),
            (":/a::/b", Some("/a:/b")),
            ("/a;lib;/b", Some("/a:/b")),
            (".:/a:../b", Some("/a")),
        ] {
            assert_eq!(without_current_folder(OsStr::new(list)), kept.map(OsString::from), "{list}");
        }
        assert_eq!(absolute_folders(OsStr::new(":/a:b:")), [PathBuf::from("/a")]);
    }

    #[test]
    fn programs_are_executable_files_in_absolute_folders() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let list = OsString::from(format!(":.:{}:{}", at("a").display(), at("b").display()));
        for (path, mode) in [("a/x", 0o644), ("b/x", 0o755)] {
            std::fs::create_dir(at(path).parent().unwrap()).unwrap();
            std::fs::write(at(path), "").unwrap();
            std::fs::set_permissions(at(path), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(program("x", &list), Some(at("b/x")));
        assert_eq!(program("y", &list), None);
        // The tests run in the folder of their crate.
        assert_eq!(program("Cargo.toml", OsStr::new(".")), None);
    }

    #[test]
    fn a_folder_that_everybody_may_write_to_is_not_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let with = |mode| std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode));
        with(0o775).unwrap();
        assert!(is_trusted(folder.path()));
        with(0o777).unwrap();
        assert!(!is_trusted(folder.path()));
        assert!(!is_trusted(&folder.path().join("missing")));
    }
}
