//! Signals, closed outputs, full disks and removed folders: a run that is stopped or cannot write keeps what is finished.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::Folder;
use crate::cli::resume::{HANGS, SWEEP, lines, spawn, wait_until};

const GPUBENCH: &str = env!("CARGO_BIN_EXE_gpubench");

/// Three cells that take about a second each.
const SLOW: &str = "run --backends cpu --variants plain --ops sin --sizes 2000,2001,2002 --samples 400 --rounds 2 \
                    --max-time 3s --no-peaks --no-refine --out out";

fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status();
    assert!(sent.unwrap().success(), "{name}");
}

/// Starts the sweep of which one size hangs, and waits until it does.
fn hanging(folder: &Folder, more: &str) -> Child {
    folder.write("script.toml", HANGS);
    let run = spawn(folder, GPUBENCH, &format!("{SWEEP}{more}"));
    wait_until("no cell was finished", || lines(folder, "out/journal.jsonl") >= 2);
    std::thread::sleep(Duration::from_millis(400));
    run
}

/// Starts the sweep of slow cells, and waits until the second one has its turn.
fn slow(folder: &Folder, more: &str) -> Child {
    let run = spawn(folder, GPUBENCH, &format!("{SLOW}{more}"));
    wait_until("no cell has samples", || folder.path().join("out/report.json").exists());
    std::thread::sleep(Duration::from_millis(100));
    run
}

fn rows(folder: &Folder) -> Vec<Value> {
    folder.json("out/report.json")["rows"].as_array().unwrap().clone()
}

fn reasons(folder: &Folder) -> String {
    rows(folder)
        .iter()
        .filter_map(|row| row["reason"].as_str().map(str::to_owned))
        .collect::<Vec<_>>()
        .join("; ")
}

/// Returns the processes that a process has started.
#[cfg(target_os = "linux")]
fn children(process: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let listed = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    listed.collect::<String>().split_whitespace().map(|child| child.parse().unwrap()).collect()
}

/// Returns the child that hangs, which uses the CPU or waits while the others are stopped.
#[cfg(target_os = "linux")]
fn at_work(process: u32) -> u32 {
    let is_stopped = |child: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('T')
    };
    children(process).into_iter().find(|child| !is_stopped(child)).unwrap()
}

#[test]
fn the_first_ctrl_c_lets_the_cell_finish() {
    let folder = Folder::new();
    let mut run = slow(&folder, "");
    let start = Instant::now();
    signal(run.id(), "INT");
    assert_eq!(run.wait().unwrap().code(), Some(130));
    // On a busy machine the limit of five seconds may end the cell.
    if start.elapsed() > Duration::from_secs(4) {
        assert!(!rows(&folder).is_empty());
        return;
    }
    // All samples of the cell that had its turn, and half of those of the cell before it.
    let rows = rows(&folder);
    let samples = rows.iter().map(|row| row["execute"]["samples_s"].as_array().unwrap().len());
    let mut samples: Vec<usize> = samples.collect();
    samples.sort_unstable();
    assert_eq!(samples, [400, 800]);
}

#[test]
fn the_second_signal_ends_a_run_immediately() {
    for name in ["INT", "TERM", "HUP"] {
        let folder = Folder::new();
        let mut run = hanging(&folder, "");
        signal(run.id(), name);
        std::thread::sleep(Duration::from_millis(100));
        signal(run.id(), name);
        assert_eq!(run.wait().unwrap().code(), Some(130), "{name}");
        assert!(!rows(&folder).is_empty(), "{name}");
    }
}

#[test]
fn a_cell_that_hangs_has_five_seconds_to_finish() {
    let folder = Folder::new();
    let mut run = hanging(&folder, "");
    let start = Instant::now();
    signal(run.id(), "TERM");
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let took = start.elapsed();
    // Without its own limit, the run would wait for the cell's 5 minutes.
    assert!(took > Duration::from_secs(4) && took < Duration::from_secs(120), "{took:?}");
    assert!(!rows(&folder).is_empty());
}

#[test]
fn a_terminal_that_is_closed_ends_the_run_as_an_interrupt_does() {
    let folder = Folder::new();
    folder.write("script.toml", HANGS);
    // A terminal of its own, closed once a cell is finished; closing it a second time is not possible, so TERM follows.
    folder.write(
        "close.py",
        "import os, pty, signal, sys, time\n\
         child, master = pty.fork()\n\
         if child == 0:\n    os.execv(sys.argv[1], sys.argv[1:])\n\
         while not os.path.exists('out/journal.jsonl'):\n    time.sleep(0.02)\n\
         time.sleep(0.4)\n\
         os.close(master)\n\
         time.sleep(0.3)\n\
         os.kill(child, signal.SIGTERM)\n\
         sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n",
    );
    let mut python = Command::new("python3");
    python.args(["close.py", GPUBENCH]).args(SWEEP.split(' ')).current_dir(folder.path());
    let ended = python.env("GPUBENCH_PEAK_CACHE", "off").output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!rows(&folder).is_empty());
}

fn shell(folder: &Folder, script: &str) -> Output {
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).current_dir(folder.path()).env("GPUBENCH_PEAK_CACHE", "off");
    shell.output().unwrap()
}

#[test]
fn closed_outputs_and_a_full_device_cost_no_results() {
    let folder = Folder::new();
    folder.write("script.toml", &HANGS.replace("hang", "none"));
    for (redirection, code) in [
        (">&- 2>&-", 0),
        ("| head -1; exit ${PIPESTATUS[0]}", 0),
        ("2>&1 | true; exit ${PIPESTATUS[0]}", 0),
        ("> /dev/full", 2),
        ("2> /dev/full", 0),
    ] {
        let ended = shell(&folder, &format!("{GPUBENCH} {SWEEP} --force {redirection}"));
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{redirection}: {stderr}");
        assert_eq!(rows(&folder).len(), 8, "{redirection}");
        assert!(!stderr.contains("panicked"), "{redirection}: {stderr}");
        std::fs::remove_dir_all(folder.path().join("out")).unwrap();
    }
}

#[test]
fn a_disk_that_is_full_at_any_write_costs_no_older_results_and_no_table() {
    let folder = Folder::new();
    folder.write("script.toml", &HANGS.replace("hang", "none"));
    folder.succeeds(SWEEP);
    folder.succeeds("run --resume out");
    let before = folder.read("out/report.json");
    // In blocks of 512 or 1024 bytes: from the test file to the last chart.
    for blocks in [0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 128] {
        let ended = shell(&folder, &format!("ulimit -f {blocks}; exec {GPUBENCH} {SWEEP} --force"));
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert!(matches!(ended.status.code(), Some(0 | 2)), "{blocks}: {:?} {stderr}", ended.status.signal());
        assert!(!stderr.contains("panicked"), "{blocks}: {stderr}");
        // The last report that could be saved: the old one, or one of the new run.
        assert!(folder.read("out/report.json") == before || !rows(&folder).is_empty(), "{blocks}");
        let names = folder.names_in("out");
        assert!(!names.iter().any(|name| name.ends_with(".part")), "{blocks}: {names:?}");
    }
    for line in ["merge out out2 -o fleet.json", "report out -o page.html", "plot out --out charts"] {
        folder.succeeds(&format!("{SWEEP}2 --force"));
        for blocks in [0, 1, 8, 32] {
            let ended = shell(&folder, &format!("ulimit -f {blocks}; exec {GPUBENCH} {line}"));
            let stderr = String::from_utf8_lossy(&ended.stderr);
            assert!(matches!(ended.status.code(), Some(0 | 2)), "{line}, {blocks}: {stderr}");
            assert!(!stderr.contains("panicked"), "{line}, {blocks}: {stderr}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_for_a_while_costs_nothing() {
    let folder = Folder::new();
    let mut run = hanging(&folder, " --cell-timeout 2s");
    let limit = |bytes: &str| {
        let mut prlimit = Command::new("prlimit");
        let set = prlimit.args([format!("--pid={}", run.id()), format!("--fsize={bytes}")]).status();
        assert!(set.unwrap().success());
    };
    limit("1000:unlimited");
    // The cells that hang fail meanwhile, and others are measured.
    std::thread::sleep(Duration::from_secs(3));
    limit("unlimited:unlimited");
    assert_eq!(run.wait().unwrap().code(), Some(1));
    let outcomes: Vec<_> = rows(&folder).iter().map(|row| row["outcome"].clone()).collect();
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == "measured").count(), 6, "{outcomes:?}");
    assert!(!folder.path().join("out/journal.jsonl").exists());
}

#[test]
fn a_folder_that_is_removed_during_a_run_is_made_again() {
    let folder = Folder::new();
    let mut run = hanging(&folder, " --cell-timeout 2s");
    std::fs::remove_dir_all(folder.path().join("out")).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(1));
    assert_eq!(rows(&folder).len(), 8);
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_is_killed_or_stopped_costs_its_cell() {
    for (name, expected) in [
        ("KILL", "was killed by SIGKILL"),
        ("SEGV", "was killed by SIGSEGV"),
        ("STOP", "timed out after 3 s"),
    ] {
        let folder = Folder::new();
        let mut run = hanging(&folder, " --cell-timeout 3s");
        let worker = at_work(run.id());
        signal(worker, name);
        if name == "SEGV" {
            // Rust's handler takes the first one for a fault of the program, which it would meet again.
            std::thread::sleep(Duration::from_millis(100));
            signal(worker, name);
        }
        assert_eq!(run.wait().unwrap().code(), Some(1), "{name}");
        let rows = rows(&folder);
        assert_eq!(rows.iter().filter(|row| row["outcome"] == "measured").count(), 6, "{name}");
        assert!(reasons(&folder).contains(expected), "{name}: {}", reasons(&folder));
    }
}

#[test]
fn the_time_for_which_the_run_is_stopped_counts_towards_no_limit() {
    let folder = Folder::new();
    // A cell takes about two seconds; a busy machine may take several times as long.
    let mut run = slow(&folder, " --cell-timeout 25s");
    signal(run.id(), "STOP");
    std::thread::sleep(Duration::from_secs(26));
    signal(run.id(), "CONT");
    assert_eq!(run.wait().unwrap().code(), Some(0), "{}", reasons(&folder));
    assert!(rows(&folder).iter().all(|row| row["outcome"] == "measured"), "{}", reasons(&folder));
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_killed_leaves_no_process_and_its_files_go_with_the_next_one() {
    let folder = Folder::new();
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/adapter.py");
    let external = format!("mine=python3 {}", adapter.display());
    let line = "run --ops matmul --sizes 90,91 --samples 200 --rounds 1 --max-time 60s --no-peaks --no-refine --out out";
    let start = |line: &str| {
        let mut command = Command::new(GPUBENCH);
        command.args(line.split(' ')).args(["--external", &external]).current_dir(folder.path());
        command.env("TMPDIR", &temporary).env("GPUBENCH_PEAK_CACHE", "off");
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut run = start(line);
    wait_until("no answer was asked for", || std::fs::read_dir(&temporary).unwrap().next().is_some());
    let workers = children(run.id());
    assert!(!workers.is_empty());
    std::fs::write(folder.path().join(format!("out/.report.json.{}.part", run.id())), "half").unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    let killed = Instant::now();
    let is_running = |process: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
    };
    while workers.iter().any(is_running) {
        assert!(killed.elapsed() < Duration::from_secs(60), "a worker outlives the run");
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut next = start(&line.replace("200", "2").replace("--out", "--force --out"));
    assert_eq!(next.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "temporary files");
    let names = folder.names_in("out");
    assert!(!names.iter().any(|name| name.ends_with(".part")), "{names:?}");
}

#[test]
fn runs_that_start_together_get_folders_of_their_own() {
    let folder = Folder::new();
    folder.write("script.toml", &HANGS.replace("hang", "none"));
    let line = SWEEP.replace(" --out out", "");
    let runs: Vec<Child> = (0..4).map(|_| spawn(&folder, GPUBENCH, &line)).collect();
    for mut run in runs {
        assert_eq!(run.wait().unwrap().code(), Some(0));
    }
    assert_eq!(folder.names_in("results").len(), 4);
}

#[test]
fn one_of_two_saves_of_a_baseline_is_refused() {
    let folder = Folder::new();
    folder.write("script.toml", HANGS);
    let line = "baseline save main --backends sim --sim script.toml --ops sin --sizes 8 --no-peaks";
    let mut first = spawn(&folder, GPUBENCH, line);
    wait_until("the first did not start", || folder.path().join("results/baselines/.main.attempt").exists());
    let second = folder.run_line(line);
    assert_eq!(second.code, 2, "{}", second.stderr);
    assert!(second.stderr.contains("another"), "{}", second.stderr);
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn folders_with_names_like_those_of_gpubench_stay() {
    let folder = Folder::new();
    let names = ["temporary/gpubench-2026-11-24-results", "out/.backup.2026.part", "out/.gpubench-2025"];
    for name in names {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("report.json"), "precious").unwrap();
    }
    let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/adapter.py");
    let mut command = Command::new(GPUBENCH);
    let line =
        "run --backends mine --ops matmul --sizes 4 --samples 3 --rounds 1 --no-peaks --out out --external";
    command.args(line.split(' ')).arg(format!("mine=python3 {}", adapter.display()));
    let ended =
        command.current_dir(folder.path()).env("TMPDIR", folder.path().join("temporary")).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    for name in names {
        assert_eq!(folder.read(&format!("{name}/report.json")), "precious");
    }
}

/// Two runs that see no process of each other, as in two containers, with one folder of temporary files.
#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says why")]
fn a_run_in_another_container_keeps_the_answers_of_this_one() {
    let isolated = ["-p", "-f", "--mount-proc"];
    if !Command::new("unshare").args(isolated).arg("true").output().is_ok_and(|ended| ended.status.success())
    {
        eprintln!("skipped: this user may not make process namespaces (unshare -p)");
        return;
    }
    let folder = Folder::new();
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/adapter.py");
    let line = "run --backends mine --ops matmul --no-peaks --no-refine --rounds 1 --max-time 60s";
    let start = |first_number: &str, more: &str| {
        let mut command = Command::new("unshare");
        // Processes of the two namespaces have different numbers.
        let script = format!("for i in $(seq {first_number}); do /bin/true; done; \"$@\"");
        command.args(isolated).args(["bash", "-c", &script, "bash", GPUBENCH]).args(line.split(' '));
        command.args(more.split(' ')).args(["--external", &format!("mine=python3 {}", adapter.display())]);
        command.current_dir(folder.path()).env("TMPDIR", &temporary).env("GPUBENCH_PEAK_CACHE", "off");
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut first = start("200", "--sizes 80,81,82 --samples 60 --out first");
    wait_until("no answer was asked for", || std::fs::read_dir(&temporary).unwrap().next().is_some());
    assert_eq!(start("1", "--sizes 4 --samples 3 --out second").wait().unwrap().code(), Some(0));
    assert!(first.try_wait().unwrap().is_none(), "the first run ended too early for this test");
    assert_eq!(first.wait().unwrap().code(), Some(0), "the answers of the first run were removed");
}

/// Limits of threads do not bind root, so that this runs as another user, where that is permitted.
#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says why")]
fn threads_that_cannot_be_started_cost_their_cells_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let other = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let may_change = Command::new("setpriv").args(other).arg("true").output();
    if !may_change.is_ok_and(|ended| ended.status.success()) {
        eprintln!("skipped: this user may not become another one (setpriv)");
        return;
    }
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open).unwrap();
    std::fs::copy(GPUBENCH, folder.path().join("gpubench")).unwrap();
    let limited = |limit: usize, line: &str| {
        let mut command = Command::new("setpriv");
        let script = format!("ulimit -u {limit}; exec ./gpubench {line}");
        command.args(other).args(["bash", "-c", &script]).current_dir(folder.path());
        command.env("HOME", folder.path()).env("TMPDIR", folder.path()).env_remove("XDG_CACHE_HOME");
        let ended = command.output().unwrap();
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let sweep = "run --backends cpu --ops matmul,sin --sizes 8 --samples 3 --no-peaks --force --out out";
    for limit in [1, 2, 4, 6, 8, 12, 16, 20, 24] {
        let (code, stderr) = limited(limit, sweep);
        assert!(matches!(code, Some(0..=2)), "ulimit -u {limit}: {code:?} {stderr}");
        assert!(!stderr.contains("panicked"), "ulimit -u {limit}: {stderr}");
        if code != Some(0) {
            let text = if code == Some(1) { reasons(&folder) } else { stderr };
            assert!(text.contains("ulimit -u, pids.max"), "ulimit -u {limit}: {text}");
        }
    }
    folder.succeeds(&sweep.replace("--sizes 8", "--sizes 8,9"));
    for line in ["show out --format html", "plot out --out charts", "report out -o page.html", "trend out"] {
        let (code, stderr) = limited(1, line);
        assert_eq!(code, Some(0), "{line}: {stderr}");
    }
}
