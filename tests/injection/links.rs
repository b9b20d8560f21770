//! Commands write what they were asked to write, and never through a link that somebody has planted under a temporary name.

use std::fs;
use std::path::Path;

use crate::cli::{Ended, Folder, GPUBENCH};

const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/quick/first/report.json");
const OTHER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/quick/second/report.json");

/// Runs the program in `folder` by a shell that first plants links to `victim` under the temporary names of `files`, which
/// contain the number of the process.
fn run_among_links(folder: &Folder, victim: &Path, files: &[&str], arguments: &[&str]) -> bool {
    let plant = "victim=$1; program=$2; shift 2; while [ \"$1\" != -- ]; do ln -s \"$victim\" \"$(dirname \"$1\")/.$(basename \
                 \"$1\").$$.part\"; shift; done; shift; exec \"$program\" \"$@\"";
    let mut command = folder.command_of("sh", "");
    command.args(["-c", plant, "sh"]).arg(victim).arg(GPUBENCH).args(files).arg("--").args(arguments);
    Ended::of(&mut command).code == 0
}

#[test]
fn merge_and_report_replace_a_planted_link() {
    let folder = Folder::new();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    fs::create_dir(folder.path().join("page")).unwrap();
    for (file, arguments) in [
        ("merged.json", &["merge", REPORT, OTHER, "--out", "merged.json"][..]),
        ("page/report.html", &["report", REPORT, "--out", "page/report.html"]),
        ("page/report.html", &["report", OTHER, "--out", "page/report.html", "--force"]),
    ] {
        assert!(run_among_links(&folder, &victim, &[file], arguments), "{arguments:?}");
        let written = folder.path().join(file);
        assert!(fs::metadata(&written).unwrap().len() > 100 && !written.is_symlink(), "{file}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{file}");
    }
}

#[test]
fn a_resumed_run_replaces_planted_links() {
    let folder = Folder::new();
    let first = "run --backends sim --sim fair.toml --ops sin --samples 3 --quiet --format json --sizes 100 --out run";
    let first: Vec<&str> = first.split(' ').collect();
    assert!(run_among_links(&folder, folder.path(), &[], &first));
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let files = ["run/report.json", "run/journal.jsonl"];
    assert!(run_among_links(&folder, &victim, &files, &["run", "--resume", "run", "--quiet"]));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert!(!folder.path().join("run/report.json").is_symlink());
}

#[test]
fn no_git_is_taken_from_the_current_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let planted = folder.path().join("git");
    fs::write(&planted, "#!/bin/sh\ntouch trace\n").unwrap();
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o755)).unwrap();
    let run = "run --backends sim --sim fair.toml --ops sin --sizes 100 --quiet --format json --out -";
    for list in [".:/usr/bin:/bin", ":/usr/bin:/bin"] {
        Ended::of(folder.command(run).env("PATH", list)).good();
        assert!(!folder.path().join("trace").exists(), "{list}");
    }
}

#[test]
fn no_library_is_taken_from_the_current_folder() {
    let folder = Folder::new();
    for name in ["libopenblas.so.0", "libcuda.so.1", "libnvrtc.so.13"] {
        // The loader would report it as damaged.
        fs::write(folder.path().join(name), "no library").unwrap();
    }
    let damaged = |list: Option<&str>| {
        let mut command = folder.command("doctor");
        command.env_remove("LD_LIBRARY_PATH").envs(list.map(|list| ("LD_LIBRARY_PATH", list)));
        let text = Ended::of(&mut command).stdout;
        assert!(text.contains("cuda: "), "{text}");
        text.matches("cannot be loaded").count()
    };
    assert_eq!(damaged(Some(":.:lib")), damaged(None));
}
