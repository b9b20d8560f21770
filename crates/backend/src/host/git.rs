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
    let output = |variables: &[(&str, &Path)], arguments: &[&str]| {
        let mut command = Command::new(git);
        command.arg("-C").arg(folder).arg("--no-optional-locks").args(arguments);
        command.envs(variables.iter().copied());
        let ended = helper::run(command, LIMIT, false).ok()?;
        ended.status.success().then(|| ended.printed.trim().to_owned())
    };
    let located = ["rev-parse", "--absolute-git-dir", "--git-path", "objects", "--show-toplevel", "HEAD"];
    let located = output(&[], &located)?;
    let [own, objects, top, revision] = located.lines().collect::<Vec<_>>().try_into().ok()?;
    // A benchmark is often run in a checkout of somebody else, whose configuration may name programs: hooks, filters, monitors.
    // git reads the configuration of the common folder, and this one has none.
    let common = tempfile::tempdir().ok()?;
    std::fs::create_dir(common.path().join("refs")).ok()?;
    let objects = folder.join(objects).canonicalize().ok()?;
    let variables = [
        ("GIT_DIR", Path::new(own)),
        ("GIT_COMMON_DIR", common.path()),
        ("GIT_OBJECT_DIRECTORY", &objects),
        ("GIT_WORK_TREE", Path::new(top)),
    ];
    // Changes that git cannot find within its limits are changes.
    let same = output(&variables, &["diff", "--quiet", "--ignore-submodules", revision]);
    Some(if same.is_some() { revision.to_owned() } else { format!("{revision}-dirty") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_revision_says_whether_tracked_files_differ_and_no_program_of_the_repository_runs() {
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
        fs::write(folder.join(".gitattributes"), "file filter=planted diff=planted").unwrap();
        run(&["add", "."]);
        run(&["commit", "-q", "-m", "a"]);
        let planted = format!("touch '{}'; false", folder.join("trace").display());
        // Many more that are harmless do not hide them.
        let many: String = (0..2000).map(|k| format!("[filter \"{k:060}\"]\n\tsmudge = cat\n")).collect();
        let config = folder.join(".git/config");
        fs::write(&config, fs::read_to_string(&config).unwrap() + &many).unwrap();
        let keys = [
            "core.fsmonitor",
            "filter.planted.clean",
            "filter.planted.process",
            "diff.planted.textconv",
            "diff.external",
        ];
        keys.iter().for_each(|key| run(&["config", key, &planted]));
        // As old as the index, so that git compares its content.
        let age = fs::metadata(folder.join(".git/index")).unwrap().modified().unwrap();
        fs::File::options().append(true).open(folder.join("file")).unwrap().set_modified(age).unwrap();
        let clean = revision().unwrap();
        assert_eq!(clean.len(), 40, "{clean}");
        fs::write(folder.join("untracked"), "").unwrap();
        assert_eq!(revision().as_deref(), Some(&*clean));
        // Of another length: to git, a file of the same age and length is the same.
        fs::write(folder.join("file"), "three").unwrap();
        assert_eq!(revision().unwrap(), format!("{clean}-dirty"));
        assert!(!folder.join("trace").exists(), "a program was run");
    }
}
