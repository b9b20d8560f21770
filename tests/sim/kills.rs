//! A parent process that is interrupted or killed leaves its finished cells on disk and no process behind.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gpubench::case::DType;
use gpubench::executor::{self, Finished};
use gpubench::observe::Silent;
use gpubench::report::Report;

use crate::sim::stage::{Stage, plan};

/// The folder to work in; set for the copy of this test program that acts as the parent in the tests that kill it.
const PARENT_FOLDER: &str = "GPUBENCH_TEST_PARENT_FOLDER";

/// The parent that the tests below start, watch and kill; not a test itself.
#[test]
fn parent() {
    let Some(folder) = std::env::var_os(PARENT_FOLDER) else { return };
    // Two checked executions and four samples succeed in the first round; the next ones hang.
    // Two workers: one hangs while the other is stopped between its turns.
    let script = "[[variant]]\nname = 'a'\n[[variant]]\nname = 'x'\nlibrary = 'libx'\n\
                  [[rule]]\nn = '4..'\noutcome = 'hang'\nafter = 6\n";
    let mut run = plan(Path::new(&folder), script, &["sin"], &[2, 4], &[DType::F32]);
    for planned in &mut run.cells {
        planned.sampling.warmup = 0;
    }
    let Finished { interrupted, .. } = executor::run(&run, &mut Silent).unwrap();
    assert!(interrupted);
}

/// Starts a parent with four cells in two workers, two of which hang in the second round. Waits until all are on disk and one hangs.
fn parent_in_its_second_round(folder: &Path) -> (Child, PathBuf) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "sim::kills::parent"])
        .env(PARENT_FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let file = folder.join("out/report.json");
    let deadline = Instant::now() + Duration::from_secs(30);
    while rows(&file) < 4 {
        assert!(Instant::now() < deadline, "the parent finishes its first cells");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(200));
    (child, file)
}

/// Returns the number of rows in a report; 0 before there is one. An unreadable report fails the test: a report is
/// never half written.
fn rows(file: &Path) -> usize {
    let Ok(mut file) = std::fs::File::open(file) else { return 0 };
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    serde_json::from_str::<Report>(&text).unwrap().rows.len()
}

/// Returns the process ids of the workers of `parent`.
fn workers(parent: &Child) -> Vec<u32> {
    let folder = std::fs::read_dir(format!("/proc/{}/task", parent.id())).unwrap();
    let children = folder.map(|task| std::fs::read_to_string(task.unwrap().path().join("children")).unwrap());
    children.collect::<Vec<_>>().join(" ").split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// Returns the letter of a process's state, such as `T` for a stopped one; `None` once it is gone.
fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

fn assert_gone(workers: &[u32]) {
    assert!(!workers.is_empty());
    let running = |pid: &u32| state(*pid).is_some_and(|state| state != 'Z');
    let deadline = Instant::now() + Duration::from_secs(10);
    while workers.iter().any(running) {
        assert!(Instant::now() < deadline, "workers outlive their parent");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_killed_parent_leaves_the_samples_of_its_first_round_and_no_orphan() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, file) = parent_in_its_second_round(folder.path());
    let workers = workers(&child);
    assert_eq!(workers.len(), 2);
    assert!(workers.iter().any(|pid| state(*pid) == Some('T')), "one has its turn, the other is stopped");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_gone(&workers);
    assert_eq!(rows(&file), 4);
}

#[test]
#[cfg(target_os = "linux")]
fn two_interrupts_save_what_is_finished_and_kill_the_workers() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, file) = parent_in_its_second_round(folder.path());
    let workers = workers(&child);
    for _ in 0..2 {
        let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(interrupt.success());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(child.wait().unwrap().success(), "the parent ends in good order");
    assert_gone(&workers);
    assert_eq!(rows(&file), 4);
    let report: Report = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert!(
        report.rows.iter().all(gpubench::report::Row::was_cut_short),
        "none is finished, and none looks so"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_crashed_worker_leaves_is_removed_with_it() {
    let mut stage = Stage::new("[[variant]]\nname = 'a'\n", "sin", &[2]);
    let helper = stage.folder.path().join("helper");
    // The file that Intel's OpenMP leaves, and a process that a library has started.
    stage.work_by(&format!(
        "touch /dev/shm/__KMP_REGISTERED_LIB_$$_$(id -u)\necho $$ > {0}.leader\nsleep 1000 &\necho $! > {0}\nkill -9 $$\n",
        helper.display()
    ));
    let report = stage.finish();
    assert_eq!(report.rows.len(), 1);
    let number = |path: &Path| -> u32 { std::fs::read_to_string(path).unwrap().trim().parse().unwrap() };
    assert_gone(&[number(&helper)]);
    let user = gpubench_backend::host::process::effective_user();
    let leader = number(&stage.folder.path().join("helper.leader"));
    assert!(!Path::new(&format!("/dev/shm/__KMP_REGISTERED_LIB_{leader}_{user}")).exists());
}
