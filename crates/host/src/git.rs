//! The git revision of the current folder, by commands that run nothing of the repository: its configuration may name programs,
//! and a benchmark is often run in a checkout of somebody else.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::helper::{self, Ended};
use crate::search_path;

/// Time for one command: a large checkout on a cold disk takes seconds.
const LIMIT: Duration = Duration::from_secs(2);

/// Returns the revision of the current folder.
pub(crate) fn revision() -> Option<String> {
    Git::on(&std::env::var_os("PATH")?, LIMIT)?.revision_in(Path::new("."))
}

/// The program `git`, and how long each of its commands may take.
struct Git {
    program: PathBuf,
    /// Where it finds its own programs.
    path: OsString,
    limit: Duration,
}

impl Git {
    /// Finds git in the absolute folders of `path`: a repository may have a program of that name in the current folder.
    fn on(path: &OsStr, limit: Duration) -> Option<Git> {
        let program = search_path::program("git", path)?;
        let path = std::env::join_paths(search_path::absolute_folders(path)).ok()?;
        Some(Git { program, path, limit })
    }

    /// Returns the revision of a folder, with `-dirty` when a tracked file differs; `None` outside a checkout, where git
    /// takes too long, or where the repository configures more filters than can be switched off.
    fn revision_in(&self, folder: &Path) -> Option<String> {
        let revision = self.output(folder, &[], &["rev-parse", "--verify", "HEAD"])?;
        // A file whose times say too little is read through the filters that the repository configures, so these are switched
        // off.
        let keys = ["config", "--null", "--name-only", "--get-regexp", r"^filter\."];
        // Without their whole list, none of them could be trusted to stay off. Code 1 means that there is none.
        let filters =
            self.ended(folder, &[], &keys).filter(|ended| matches!(ended.status.code(), Some(0 | 1)))?;
        let filters: Vec<&str> = filters.printed.split_terminator('\0').collect();
        let staged =
            || self.output(folder, &filters, &["diff-index", "--cached", "--quiet", "HEAD", "--"]).is_none();
        let changed = || self.output(folder, &filters, &["diff-files", "--raw", "--ignore-submodules"]);
        let is_dirty = staged() || changed().is_none_or(|files| !files.is_empty());
        Some(if is_dirty { format!("{revision}-dirty") } else { revision })
    }

    /// Returns the output of a command in a folder, with these keys of its configuration switched off; `None` if it fails or
    /// exceeds a limit.
    fn output(&self, folder: &Path, switched_off: &[&str], arguments: &[&str]) -> Option<String> {
        let ended = self.ended(folder, switched_off, arguments)?;
        ended.status.success().then(|| ended.printed.trim().to_owned())
    }

    fn ended(&self, folder: &Path, switched_off: &[&str], arguments: &[&str]) -> Option<Ended> {
        let mut command = self.command(folder, switched_off);
        command.args(arguments);
        helper::run(command, self.limit, false).ok()
    }

    /// Returns a command without arguments that runs no program that the repository names.
    fn command(&self, folder: &Path, switched_off: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-C").arg(folder);
        // Without these, git starts the repository's file-system monitor, which may be any program, and writes the index.
        command.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
        // A partial clone fetches the objects that it lacks by a program that it names. Before version 2.45, git does not know the
        // first variable; with the second it uses no protocol.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "");
        command.env("GIT_TERMINAL_PROMPT", "0").env("PATH", &self.path);
        command.env("GIT_CONFIG_COUNT", switched_off.len().to_string());
        for (at, key) in switched_off.iter().enumerate() {
            let off = if key.ends_with(".required") { "false" } else { "" };
            command.env(format!("GIT_CONFIG_KEY_{at}"), key).env(format!("GIT_CONFIG_VALUE_{at}"), off);
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;

    fn git() -> Git {
        Git::on(&std::env::var_os("PATH").unwrap(), LIMIT).unwrap()
    }

    /// A checkout with one file in one commit.
    fn checkout(root: &Path) -> PathBuf {
        let folder = root.join("checkout");
        fs::create_dir(&folder).unwrap();
        run(&folder, &["init", "-q"]);
        fs::write(folder.join("file"), "one").unwrap();
        run(&folder, &["add", "."]);
        run(&folder, &["commit", "-q", "-m", "a"]);
        folder
    }

    fn run(folder: &Path, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let mut command = Command::new("git");
        let output = command.arg("-C").arg(folder).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn a_revision_is_read_and_nothing_of_the_repository_runs() {
        let root = tempfile::tempdir().unwrap();
        let revision_in = |folder: &Path| git().revision_in(folder);
        assert_eq!(revision_in(root.path()), None);
        let (folder, trace) = (checkout(root.path()), root.path().join("trace"));
        fs::write(folder.join(".gitattributes"), "file filter=evil diff=evil\n").unwrap();
        run(&folder, &["add", "."]);
        run(&folder, &["commit", "-q", "-m", "a"]);
        let touch = format!("touch '{}'; cat", trace.display());
        for key in [
            "core.fsmonitor",
            "filter.evil.clean",
            "filter.evil.smudge",
            "diff.evil.textconv",
            "diff.external",
        ] {
            run(&folder, &["config", key, &touch]);
        }
        let clean = revision_in(&folder).unwrap();
        assert_eq!(clean.len(), 40, "{clean}");
        std::thread::sleep(Duration::from_millis(20));
        fs::write(folder.join("file"), "two!").unwrap();
        assert_eq!(revision_in(&folder).unwrap(), format!("{clean}-dirty"));
        assert!(!trace.exists(), "a program of the repository was run");
    }

    #[test]
    fn no_filter_runs_however_many_are_configured() {
        let root = tempfile::tempdir().unwrap();
        let (folder, trace) = (checkout(root.path()), root.path().join("trace"));
        fs::write(folder.join(".gitattributes"), "file filter=evil\n").unwrap();
        run(&folder, &["add", "."]);
        run(&folder, &["commit", "-q", "-m", "a"]);
        let config = folder.join(".git/config");
        let before = fs::read_to_string(&config).unwrap();
        let evil = format!("[filter \"evil\"]\n\tclean = \"touch '{}'; cat\"\n", trace.display());
        // 2 KiB of names, more than 64 KiB of them, and one name that is longer than that.
        let many = |count: usize| -> String {
            (0..count).map(|i| format!("[filter \"d{i:060}\"]\n\tsmudge = cat\n")).collect()
        };
        let long = format!("[filter \"{}\"]\n\tsmudge = cat\n", "d".repeat(100_000));
        for (filters, is_known) in [(many(30), true), (many(1500), false), (long, false)] {
            fs::write(&config, format!("{before}{filters}{evil}")).unwrap();
            // A file of the same size as before with the time of the index, which git has to read.
            fs::write(folder.join("file"), "two").unwrap();
            let index = fs::metadata(folder.join(".git/index")).unwrap().modified().unwrap();
            fs::File::options().append(true).open(folder.join("file")).unwrap().set_modified(index).unwrap();
            let revision = git().revision_in(&folder);
            assert!(!trace.exists(), "a filter ran with {} bytes of others", filters.len());
            assert_eq!(revision.is_some(), is_known, "{revision:?}");
        }
    }

    #[test]
    fn objects_that_a_partial_clone_lacks_are_not_fetched() {
        let root = tempfile::tempdir().unwrap();
        let (folder, trace) = (checkout(root.path()), root.path().join("trace"));
        let touch = format!("touch {}", trace.display());
        for (key, value) in [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("core.sshCommand", &touch),
            ("protocol.ext.allow", "always"),
        ] {
            run(&folder, &["config", key, value]);
        }
        let tree = run(&folder, &["rev-parse", "HEAD^{tree}"]);
        fs::remove_file(folder.join(".git/objects").join(&tree[..2]).join(&tree[2..])).unwrap();
        // Otherwise git compares the tree of the index alone.
        fs::write(folder.join("new"), "new").unwrap();
        run(&folder, &["update-index", "--add", "new"]);
        for url in ["ssh://host/x".to_owned(), format!("ext::{touch}")] {
            run(&folder, &["config", "remote.origin.url", &url]);
            assert!(git().revision_in(&folder).is_some_and(|revision| revision.ends_with("-dirty")));
            assert!(!trace.exists(), "{url}: a program of the repository was run");
            let mut fetching = Command::new("git");
            let _ = fetching.arg("-C").arg(&folder).args(["diff-index", "--cached", "HEAD"]).output();
            assert!(trace.exists(), "{url}: an ordinary git fetches the missing tree");
            fs::remove_file(&trace).unwrap();
        }
    }

    #[test]
    fn a_git_that_takes_too_long_is_ended_with_its_programs() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("git");
        let number = root.path().join("number");
        let script = format!("#!/bin/sh\nsleep 1000 &\necho $! > '{}'\nwait\n", number.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let slow = Git { program, path: std::env::var_os("PATH").unwrap(), limit: Duration::from_secs(2) };
        assert_eq!(slow.revision_in(root.path()), None);
        let sleeper: u32 = fs::read_to_string(number).unwrap().trim().parse().unwrap();
        // Without the kill it would sleep on for a quarter of an hour.
        let state = || fs::read_to_string(format!("/proc/{sleeper}/stat")).unwrap_or_default();
        while state().rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z')) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
