//! The git revision of the current folder, by commands that run nothing of the repository: its configuration may name programs,
//! and a benchmark is often run in a checkout of somebody else.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::search_path::absolute_folders;

/// Time for one command: a large checkout on a cold disk takes seconds.
const LIMIT: Duration = Duration::from_secs(2);
/// Bytes of output that are read; a single changed file makes a checkout dirty.
const LONGEST: u64 = 64 << 10;

/// Returns the revision of the current folder.
pub(crate) fn revision() -> Option<String> {
    revision_in(Path::new("."))
}

/// Returns the revision of a folder, with `-dirty` when a tracked file differs; `None` outside a checkout, or where git takes too
/// long.
fn revision_in(folder: &Path) -> Option<String> {
    let revision = git(folder, &[], &["rev-parse", "--verify", "HEAD"])?;
    // A file whose times say too little is read through the filters that the repository configures, so these are switched off.
    let filters = git(folder, &[], &["config", "--null", "--name-only", "--get-regexp", r"^filter\."]);
    let filters: Vec<&str> = filters.as_deref().unwrap_or_default().split_terminator('\0').collect();
    let staged = || git(folder, &filters, &["diff-index", "--cached", "--quiet", "HEAD", "--"]).is_none();
    let changed = || git(folder, &filters, &["diff-files", "--raw", "--ignore-submodules"]);
    let is_dirty = staged() || changed().is_none_or(|files| !files.is_empty());
    Some(if is_dirty { format!("{revision}-dirty") } else { revision })
}

/// Returns the output of a command of git in a folder, with these keys of its configuration switched off; `None` if it fails or
/// takes too long.
fn git(folder: &Path, switched_off: &[&str], arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program(&std::env::var_os("PATH")?)?);
    command.arg("-C").arg(folder);
    // Without these, git starts the repository's file-system monitor, which may be any program, and writes the index.
    command.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    command.args(arguments).env("GIT_TERMINAL_PROMPT", "0");
    // A partial clone would fetch what it lacks, by programs that its configuration names.
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "");
    command.env("GIT_CONFIG_COUNT", switched_off.len().to_string());
    for (at, key) in switched_off.iter().enumerate() {
        let off = if key.ends_with(".required") { "false" } else { "" };
        command.env(format!("GIT_CONFIG_KEY_{at}"), key).env(format!("GIT_CONFIG_VALUE_{at}"), off);
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let output = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        // What is not UTF-8, or ends early, is still output.
        let _ = output.take(LONGEST).read_to_string(&mut text);
        text
    });
    let status = finished(&mut child, LIMIT);
    status.filter(std::process::ExitStatus::success)?;
    Some(reader.join().ok()?.trim().to_owned())
}

/// Returns the program `git` of the first absolute folder in `path` that has one: in a relative folder, anybody may have put it.
fn program(path: &OsStr) -> Option<PathBuf> {
    absolute_folders(path).into_iter().map(|folder| folder.join("git")).find(|file| file.is_file())
}

/// Waits for a process, and kills it if it takes longer than `limit`. Returns its status if it ended by itself.
fn finished(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;

    fn run(folder: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let mut command = Command::new("git");
        let output = command.arg("-C").arg(folder).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn a_command_that_takes_too_long_is_killed() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let start = Instant::now();
        assert_eq!(finished(&mut child, Duration::from_millis(50)), None);
        assert!(start.elapsed() < Duration::from_secs(5));
        let mut child = Command::new("true").spawn().unwrap();
        assert!(finished(&mut child, Duration::from_secs(60)).unwrap().success());
    }

    #[test]
    fn a_program_in_a_relative_folder_is_not_run() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("git"), "").unwrap();
        assert_eq!(program(OsStr::new(".::relative")), None);
        let list = std::env::join_paths([Path::new("."), folder.path()]).unwrap();
        assert_eq!(program(&list), Some(folder.path().join("git")));
    }

    #[test]
    fn a_partial_clone_fetches_nothing() {
        let root = tempfile::tempdir().unwrap();
        let (folder, trace) = (root.path().join("checkout"), root.path().join("trace"));
        fs::create_dir(&folder).unwrap();
        run(&folder, &["init", "-q"]);
        fs::write(folder.join("file"), "one").unwrap();
        run(&folder, &["add", "."]);
        run(&folder, &["commit", "-q", "-m", "a"]);
        // The remote of a partial clone, reached by a program of the repository; it lacks an object that the index names.
        for (key, value) in [
            ("remote.origin.url", "ssh://host/path".to_owned()),
            ("remote.origin.promisor", "true".to_owned()),
            ("remote.origin.partialclonefilter", "blob:none".to_owned()),
            ("extensions.partialClone", "origin".to_owned()),
            ("core.repositoryFormatVersion", "1".to_owned()),
            ("core.sshCommand", format!("touch '{}'; false", trace.display())),
        ] {
            run(&folder, &["config", key, &value]);
        }
        let objects =
            Command::new("find").arg(folder.join(".git/objects")).args(["-type", "f", "-delete"]).status();
        assert!(objects.unwrap().success());
        assert_eq!(revision_in(&folder).map(|found| found.len() >= 40), Some(true));
        assert!(!trace.exists(), "a program of the repository was run");
    }

    #[test]
    fn a_revision_is_read_and_nothing_of_the_repository_runs() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(revision_in(root.path()), None);
        let (folder, trace) = (root.path().join("checkout"), root.path().join("trace"));
        fs::create_dir(&folder).unwrap();
        run(&folder, &["init", "-q"]);
        fs::write(folder.join("file"), "one").unwrap();
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
}
