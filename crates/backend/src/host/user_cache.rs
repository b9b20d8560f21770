//! Keeps data between runs in the user's cache folder, each file with a checksum. The folder can be deleted at any time.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use gpubench_report::data::hash::fnv1a;
use gpubench_text::file;

use crate::host::{process, regular};

/// Returns the folder `gpubench/NAME` in the user's cache folder (`XDG_CACHE_HOME` or `~/.cache`).
///
/// `None` when the environment variable `switch` is `off` or there is no home; `variable` reads the environment.
pub fn folder(name: &str, switch: &str, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
    let off = variable(switch).is_some_and(|value| value == "off");
    base.filter(|_| !off).map(|base| base.join(OWN).join(name))
}

/// Name of the folder in the user's cache folder that holds all of these folders.
const OWN: &str = "gpubench";

/// Begins the first line of each file; the checksum of what follows that line ends it.
const MAGIC: &str = "gpubench-cache-1 ";

/// Bytes of the longest file that is read: compiled kernels take a few megabytes.
const LONGEST: u64 = 256 << 20;

/// Writes a file atomically, and creates the folder for the user alone if it is missing.
///
/// # Errors
/// The folder cannot be made or written, or others could replace its files.
pub fn write(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    write_as_is(folder, name, &[first_line(content).as_bytes(), content].concat())
}

/// Writes a file as [`write()`] does, for programs that read it themselves: without a checksum.
///
/// # Errors
/// As [`write()`].
pub fn write_as_is(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let folder = open_folder(folder, true)?;
    file::write_whole(&within(&folder, name), content)
}

/// Reads a file that [`write()`] made; `None` if there is none, or if it is damaged. A file of another user, or one that others
/// may write or replace, could hold anything, and is not read; nor is a link, or what is no plain file, which could block.
pub fn read(path: &Path) -> Option<Vec<u8>> {
    let folder = open_folder(path.parent()?, false).ok()?;
    let mut file = regular::open(&within(&folder, path.file_name()?)).ok()?;
    let metadata = file.metadata().ok()?;
    if !is_own(&metadata) || metadata.len() > LONGEST {
        return None;
    }
    let mut bytes = vec![];
    file.read_to_end(&mut bytes).ok()?;
    let content = bytes.split_off(bytes.iter().position(|byte| *byte == b'\n')? + 1);
    (bytes == first_line(&content).as_bytes()).then_some(content)
}

fn first_line(content: &[u8]) -> String {
    format!("{MAGIC}{:016x}\n", fnv1a(0, content))
}

/// Opens a folder and checks it, together with the `gpubench` above it. Neither may be a link: where others may write to the
/// cache folder, it could lead to any folder of the user.
fn open_folder(folder: &Path, make: bool) -> io::Result<File> {
    match (folder.parent().filter(|parent| parent.ends_with(OWN)), folder.file_name()) {
        (Some(parent), Some(name)) => open_own(&within(&open_own(parent, make)?, name), make),
        _ => open_own(folder, make),
    }
}

fn open_own(folder: &Path, make: bool) -> io::Result<File> {
    if make {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let flags = regular::NOT_THROUGH_A_LINK | libc::O_DIRECTORY;
    let opened = File::options().read(true).custom_flags(flags).open(folder)?;
    match is_own(&opened.metadata()?) {
        true => Ok(opened),
        false => Err(io::Error::other("other users may write to the folder")),
    }
}

/// Returns the path of a file in an open folder. It leads there even if another folder has taken the name of that one.
fn within(folder: &File, name: impl AsRef<Path>) -> PathBuf {
    Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name)
}

/// Returns whether this user alone may write.
fn is_own(metadata: &std::fs::Metadata) -> bool {
    metadata.uid() == process::effective_user() && metadata.mode() & 0o022 == 0
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
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

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

    fn permit(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_missing_folder_is_made_for_the_user_alone_as_the_one_above_must_be() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("gpubench/peaks");
        write(&folder, "file", b"one").unwrap();
        assert_eq!(read(&folder.join("file")).as_deref(), Some(&b"one"[..]));
        assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
        permit(folder.parent().unwrap(), 0o777);
        assert_eq!(read(&folder.join("file")), None);
        assert!(write(&folder, "other", b"two").is_err());
    }

    #[test]
    fn a_link_to_a_folder_is_neither_used_nor_changed() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::create_dir_all(at("mine/peaks")).unwrap();
        write(&at("mine/peaks"), "file", b"one").unwrap();
        let mode = || at("mine/peaks").metadata().unwrap().mode() & 0o777;
        permit(&at("mine/peaks"), 0o755);
        std::fs::create_dir_all(at("a/gpubench")).unwrap();
        std::os::unix::fs::symlink(at("mine/peaks"), at("a/gpubench/peaks")).unwrap();
        std::fs::create_dir(at("b")).unwrap();
        std::os::unix::fs::symlink(at("mine"), at("b/gpubench")).unwrap();
        for folder in [at("a/gpubench/peaks"), at("b/gpubench/peaks")] {
            assert!(write(&folder, "other", b"two").is_err(), "{}", folder.display());
            assert_eq!(read(&folder.join("file")), None, "{}", folder.display());
        }
        assert_eq!((mode(), at("mine/peaks/other").exists()), (0o755, false));
    }

    #[test]
    fn a_file_that_is_cut_short_or_differs_in_a_bit_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(folder.path(), "file", b"one\ntwo").unwrap();
        let whole = std::fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            for bytes in [&whole[..place], &damaged] {
                std::fs::write(&path, bytes).unwrap();
                assert_eq!(read(&path), None, "{place}");
            }
        }
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(read(&path).as_deref(), Some(&b"one\ntwo"[..]));
    }

    #[test]
    fn only_a_plain_file_that_nobody_else_may_write_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["mine", "everybodys"] {
            write(folder.path(), name, b"one").unwrap();
        }
        permit(&at("everybodys"), 0o666);
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        std::os::unix::fs::symlink(at("mine"), at("link")).unwrap();
        // It does not wait for a writer of the pipe, and a link may lead anywhere.
        let found = ["mine", "everybodys", "pipe", "link", ""].map(|name| read(&at(name)).is_some());
        assert_eq!(found, [true, false, false, false, false]);
        permit(folder.path(), 0o777);
        assert_eq!(read(&at("mine")), None);
        assert!(write(folder.path(), "mine", b"two").is_err());
    }

    #[test]
    fn nothing_is_read_from_or_written_to_the_folder_of_another_user() {
        const NOBODY: u32 = 65534;
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a", b"one").unwrap();
        if process::effective_user() != 0 {
            // Only root can give a folder away; this one belongs to root.
            assert!(write(Path::new("/usr"), "a", b"one").is_err());
            return;
        }
        std::os::unix::fs::chown(folder.path(), Some(NOBODY), None).unwrap();
        assert_eq!(read(&folder.path().join("a")), None);
        assert!(write(folder.path(), "b", b"two").is_err());
        assert!(!folder.path().join("b").exists());
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
