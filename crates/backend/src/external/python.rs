//! Finds the Python interpreter for the adapters.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::host::helper;
use anyhow::{Result, bail, ensure};
use gpubench_text::{control, cut};

/// A Python interpreter.
#[derive(Clone, Debug)]
pub struct Python {
    /// Path of the executable.
    pub path: PathBuf,
    /// Version, such as `3.11.2`.
    pub version: String,
    /// True if it knows the option `-P` (Python 3.11), which keeps the current folder off the search path.
    pub keeps_folder_off: bool,
}

/// The oldest version that the adapters support.
const OLDEST: (u32, u32) = (3, 8);
/// Time for an interpreter to report its version: one on a network disk takes seconds.
const LIMIT: Duration = Duration::from_secs(10);
/// Begins the line with the version. A Python may print other lines while it starts.
const MARKER: &str = "gpubench-python ";
/// Number of letters of the output that an error message quotes.
const QUOTED_LETTERS: usize = 200;

/// Returns the interpreter that the user `named`, else that of the active virtual environment, else `python3` on PATH.
///
/// # Errors
/// There is none, it does not run, or it is too old; the message says what to do.
pub fn interpreter(named: Option<&Path>) -> Result<Python> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => match found(env::var_os("VIRTUAL_ENV").as_deref(), env::var_os("PATH").as_deref()) {
            Some(path) => path,
            None => bail!("no Python was found: install Python 3, or name one with --python PATH"),
        },
    };
    let shown = path.display();
    let script = format!("import sys; print('\\n{MARKER}%d %d %d' % sys.version_info[:3])");
    let mut command = Command::new(&path);
    command.args(["-I", "-c", &script]);
    let ended = match helper::run(command, LIMIT, true) {
        Ok(ended) => ended,
        Err(error) => {
            bail!("{shown} cannot be used as Python ({error}): name another one with --python PATH")
        }
    };
    let Some(version) = ended.status.success().then(|| version(&ended.printed)).flatten() else {
        bail!(
            "{shown} is not a Python that works{}: name another one with --python PATH",
            quoted(&ended.printed)
        );
    };
    let [major, minor, micro] = version;
    ensure!(
        (major, minor) >= OLDEST,
        "{shown} is Python {major}.{minor}, but {}.{} is needed: name another one with --python PATH",
        OLDEST.0,
        OLDEST.1
    );
    let keeps_folder_off = (major, minor) >= (3, 11);
    Ok(Python { path, version: format!("{major}.{minor}.{micro}"), keeps_folder_off })
}

/// Returns the interpreter of a virtual environment, or the first `python3` of the folders in `path`.
fn found(environment: Option<&OsStr>, path: Option<&OsStr>) -> Option<PathBuf> {
    let of_environment = environment.map(|folder| Path::new(folder).join("bin/python"));
    // Relative folders are left out: what is started must not depend on the current folder.
    let folders = path.into_iter().flat_map(env::split_paths).filter(|folder| folder.is_absolute());
    of_environment.into_iter().chain(folders.map(|folder| folder.join("python3"))).find(|file| file.is_file())
}

/// Returns the version in the line that the script has printed.
fn version(text: &str) -> Option<[u32; 3]> {
    let marked = text.lines().find_map(|line| line.strip_prefix(MARKER))?;
    let numbers: Option<Vec<u32>> = marked.split_whitespace().map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// Returns the output of a program in parentheses, in one line.
fn quoted(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = cut::shortened(&control::spelled_out(&words.join(" ")), QUOTED_LETTERS);
    if line.is_empty() { line } else { format!(" (it printed: {line})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_virtual_environment_comes_before_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let [environment, first, second] = ["venv", "a", "b"].map(|name| folder.path().join(name));
        std::fs::create_dir_all(environment.join("bin")).unwrap();
        std::fs::create_dir(&second).unwrap();
        std::fs::write(second.join("python3"), "").unwrap();
        let path = env::join_paths([Path::new("."), &first, &second]).unwrap();
        assert_eq!(found(Some(environment.as_os_str()), Some(&path)), Some(second.join("python3")));
        std::fs::write(environment.join("bin/python"), "").unwrap();
        assert_eq!(found(Some(environment.as_os_str()), Some(&path)), Some(environment.join("bin/python")));
        assert_eq!(found(None, Some(OsStr::new("."))), None);
    }

    #[test]
    fn what_is_no_python_is_refused_with_the_option_that_helps() {
        let folder = tempfile::tempdir().unwrap();
        for path in [Path::new("/bin/true"), &folder.path().join("missing")] {
            let refusal = interpreter(Some(path)).unwrap_err().to_string();
            assert!(refusal.contains("--python PATH") && !refusal.contains('\n'), "{refusal}");
        }
        assert_eq!(version("Welcome\n3 4 5\ngpubench-python 3 12 1\nbye"), Some([3, 12, 1]));
        assert_eq!(version("gpubench-python 3 12\n"), None);
        assert_eq!(version("3 12 1\n"), None);
    }

    #[test]
    fn a_python_that_does_not_answer_is_refused_with_what_it_printed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("python");
        let refusal = |script: &str| {
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            interpreter(Some(&path)).unwrap_err().to_string()
        };
        assert!(
            refusal("echo 'pyenv: python3:'; echo 'not found' >&2; exit 127").contains("pyenv: python3: not")
        );
        assert!(refusal("yes").contains("printed more than"));
        assert!(refusal("sleep 1000").contains("did not end within 10 s"));
        let welcoming = "printf Welcome; exec python3 \"$@\"";
        std::fs::write(&path, format!("#!/bin/sh\n{welcoming}\n")).unwrap();
        assert!(interpreter(Some(&path)).unwrap().version.starts_with("3."));
    }
}
