//! Reads the git revision of the current folder.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::host::{helper, search_path};

/// Time for one command: a large checkout on a cold disk takes seconds.
const LIMIT: Duration = Duration::from_secs(2);

/// Returns the revision of the current folder.
pub(crate) fn revision() -> Option<String> {
    // A repository may have a program of that name in the current folder.
    revision_in(Path::new("."), &search_path::program("git", &std::env::var_os("PATH")?)?)
}

/// Returns the revision of a folder, with `-dirty` where a tracked file differs; `None` outside a checkout, or where git takes too
/// long.
fn revision_in(folder: &Path, git: &Path) -> Option<String> {
    let output = |arguments: &[&str]| {
        let mut command = Command::new(git);
        command.arg("-C").arg(folder);
        // git then writes no index and runs no hook: a benchmark is often run in a checkout of somebody else.
        command.env("GIT_NO_LAZY_FETCH", "1");
        command.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
        command.args(arguments);
        let ended = helper::run(command, LIMIT, false).ok()?;
        ended.status.success().then(|| ended.printed.trim().to_owned())
    };
    let revision = output(&["rev-parse", "--verify", "HEAD"])?;
    // Changes that git cannot list within its limits are changes.
    let changes = output(&["status", "--porcelain", "--untracked-files=no", "--ignore-submodules"]);
    Some(if changes.as_deref() == Some("") { revision } else { format!("{revision}-dirty") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_revision_says_whether_tracked_files_differ_and_no_hook_runs() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path();
        let revision = || revision_in(folder, Path::new("git"));
        assert_eq!(revision(), None);
        let run = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
            assert!(git.args(["-c", "commit.gpgsign=false"]).args(arguments).status().unwrap().success());
        };
        run(&["init", "-q"]);
        fs::write(folder.join("file"), "one").unwrap();
        run(&["add", "."]);
        run(&["commit", "-q", "-m", "a"]);
        let monitor = format!("touch '{}'; false", folder.join("trace").display());
        run(&["config", "core.fsmonitor", &monitor]);
        let clean = revision().unwrap();
        assert_eq!(clean.len(), 40, "{clean}");
        fs::write(folder.join("untracked"), "").unwrap();
        assert_eq!(revision().as_deref(), Some(&*clean));
        fs::write(folder.join("file"), "two!").unwrap();
        assert_eq!(revision().unwrap(), format!("{clean}-dirty"));
        assert!(!folder.join("trace").exists(), "a hook was run");
    }
}
