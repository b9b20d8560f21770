//! Signals, closed outputs, full disks and removed folders: a run that is stopped or cannot write keeps what is finished.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::resume::{SWEEP, hanging};
use crate::cli::{Ended, Folder, GPUBENCH, is_running, items, kill, leave_out, signal, state, wait_until};

/// Three cells of an adapter that sleeps for a second in each of their two rounds, and uses no CPU time meanwhile.
const SLOW: &str = "run --backends slow --ops matmul --sizes 3,4,5 --samples 6 --rounds 2 --warmup 0 --cache hot --no-peaks \
                    --no-refine --format json --out out";

/// Starts the sweep of slow cells, and waits until the second one has its turn.
fn slow(folder: &Folder, more: &str) -> Child {
    let adapter = format!("slow=python3 -S -E '{}' slow,slow,slow", crate::external::FAULTY);
    let mut run = folder.command(&format!("{SLOW}{more}"));
    run.args(["--external", &adapter]).stdout(Stdio::null()).stderr(Stdio::null());
    let run = run.spawn().unwrap();
    wait_until("no cell has samples", || folder.has("out/report.json"));
    std::thread::sleep(Duration::from_millis(100));
    run
}

fn reasons(folder: &Folder) -> String {
    let rows = folder.rows("out");
    rows.iter().filter_map(|row| row["reason"].as_str()).collect::<Vec<_>>().join("; ")
}

/// Returns the number of measured rows.
fn measured(folder: &Folder) -> usize {
    folder.rows("out").iter().filter(|row| row["outcome"] == "measured").count()
}

/// Returns the processes that a process has started.
fn children(process: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let listed = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    listed.collect::<String>().split_whitespace().map(|child| child.parse().unwrap()).collect()
}

/// Returns the child that hangs, which uses the CPU or waits while the others are stopped.
fn at_work(process: u32) -> u32 {
    children(process).into_iter().find(|child| state(*child) != Some('T')).unwrap()
}

#[test]
fn the_first_ctrl_c_lets_the_cell_finish() {
    let folder = Folder::new();
    let mut run = slow(&folder, "");
    signal(run.id(), "INT");
    assert_eq!(run.wait().unwrap().code(), Some(130));
    // All samples of the cell that had its turn, and half of those of the cell before it.
    let mut samples: Vec<usize> =
        folder.rows("out").iter().map(|row| items(&row["execute"]["samples_s"]).len()).collect();
    samples.sort_unstable();
    assert_eq!(samples, [3, 6]);
}

#[test]
fn the_second_signal_ends_a_run_and_its_workers_immediately() {
    for name in ["INT", "TERM", "HUP"] {
        let folder = Folder::new();
        let mut run = hanging(&folder, "");
        let workers = children(run.id());
        assert_eq!(workers.len(), 2);
        assert!(workers.iter().any(|worker| state(*worker) == Some('T')), "one has its turn, one is stopped");
        signal(run.id(), name);
        std::thread::sleep(Duration::from_millis(100));
        signal(run.id(), name);
        assert_eq!(run.wait().unwrap().code(), Some(130), "{name}");
        assert!(!folder.rows("out").is_empty(), "{name}");
        wait_until("a worker outlives the run", || !workers.iter().any(is_running));
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
    assert!(!folder.rows("out").is_empty());
}

#[test]
fn closed_outputs_and_a_full_device_cost_no_results() {
    let folder = Folder::new();
    folder.script("none");
    let line = SWEEP.replace("json", "table,json");
    for (redirection, code) in [
        (">&- 2>&-", 0),
        ("| head -1; exit ${PIPESTATUS[0]}", 0),
        ("2>&1 | true; exit ${PIPESTATUS[0]}", 0),
        ("> /dev/full", 2),
        ("2> /dev/full", 0),
    ] {
        folder.shell(&format!("$G {line} --force {redirection}")).exits(code).complains(&[]);
        assert_eq!(folder.rows("out").len(), 8, "{redirection}");
        std::fs::remove_dir_all(folder.path().join("out")).unwrap();
    }
}

#[test]
fn a_disk_that_is_full_at_any_write_costs_no_older_results_and_no_table() {
    let folder = Folder::new();
    folder.script("none");
    let line = SWEEP.replace("json", "table,json,svg");
    folder.succeeds(&line);
    folder.succeeds(&format!("{line}2"));
    folder.succeeds("run --resume out");
    let before = folder.read("out/report.json");
    let limited = |blocks: u32, line: &str| {
        let ended = folder.shell(&format!("ulimit -f {blocks}; exec $G {line}")).complains(&[]);
        assert!(matches!(ended.code, 0 | 2), "{line}, {blocks}: {}", ended.stderr);
    };
    // In blocks of 512 or 1024 bytes: from the test file to the last chart.
    for blocks in [0, 1, 4, 8, 16, 32, 64, 128] {
        limited(blocks, &format!("{line} --force"));
        // The last report that could be saved: the old one, or one of the new run.
        assert!(folder.read("out/report.json") == before || !folder.rows("out").is_empty(), "{blocks}");
        let names = folder.names_in("out");
        assert!(!names.iter().any(|name| name.ends_with(".part")), "{blocks}: {names:?}");
    }
    folder.succeeds(&format!("{line} --force"));
    for line in
        ["merge out out2 -o fleet.json", "report out -o page.html", "plot out --format svg --out charts"]
    {
        [0, 1, 8, 32].into_iter().for_each(|blocks| limited(blocks, line));
    }
}

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
    assert_eq!(measured(&folder), 6, "{}", reasons(&folder));
    assert!(!folder.has("out/journal.jsonl"));
}

#[test]
fn a_folder_that_is_removed_during_a_run_is_made_again() {
    let folder = Folder::new();
    let mut run = hanging(&folder, " --cell-timeout 2s");
    std::fs::remove_dir_all(folder.path().join("out")).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(1));
    assert_eq!(folder.rows("out").len(), 8);
}

#[test]
fn a_worker_that_is_killed_or_stopped_costs_its_cell() {
    for (name, expected) in [("KILL", "was killed by SIGKILL"), ("STOP", "timed out after 2 s")] {
        let folder = Folder::new();
        let mut run = hanging(&folder, " --cell-timeout 2s");
        signal(at_work(run.id()), name);
        assert_eq!(run.wait().unwrap().code(), Some(1), "{name}");
        assert_eq!(measured(&folder), 6, "{name}");
        assert!(reasons(&folder).contains(expected), "{name}: {}", reasons(&folder));
    }
}

#[test]
fn the_time_for_which_the_run_is_stopped_counts_towards_no_limit() {
    let folder = Folder::new();
    let mut run = slow(&folder, " --cell-timeout 5s");
    signal(run.id(), "STOP");
    std::thread::sleep(Duration::from_secs(6));
    signal(run.id(), "CONT");
    assert_eq!(run.wait().unwrap().code(), Some(0), "{}", reasons(&folder));
    assert!(folder.rows("out").iter().all(|row| row["outcome"] == "measured"), "{}", reasons(&folder));
}

/// A command that runs the example of an adapter, whose answers are files in the folder `temporary`.
fn with_answers(folder: &Folder, line: &str) -> Command {
    let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/adapter.py");
    let mut command = folder.command(line);
    command.args(["--external", &format!("mine=python3 {}", adapter.display())]);
    command.env("TMPDIR", folder.path().join("temporary"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn a_run_that_is_killed_leaves_no_process_and_the_next_one_removes_its_half_written_file() {
    let folder = Folder::new();
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let line = |more: &str| {
        format!(
            "run --ops matmul --backends mine --rounds 1 --no-peaks --no-refine --format json --out out {more}"
        )
    };
    let run = with_answers(&folder, &line("--sizes 90,91 --samples 200 --max-time 60s")).spawn().unwrap();
    wait_until("no answer was asked for", || std::fs::read_dir(&temporary).unwrap().next().is_some());
    let workers = children(run.id());
    assert!(!workers.is_empty());
    std::fs::write(folder.path().join(format!("out/.report.json.{}.part", run.id())), "half").unwrap();
    kill(run);
    wait_until("a worker outlives the run", || !workers.iter().any(is_running));
    let next = with_answers(&folder, &line("--sizes 4 --samples 2 --force")).status();
    assert_eq!(next.unwrap().code(), Some(0));
    // The folder with the answers of the killed run stays; that of the next one is gone.
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 1, "temporary folders");
    let names = folder.names_in("out");
    assert!(!names.iter().any(|name| name.ends_with(".part")), "{names:?}");
}

#[test]
fn runs_that_start_together_get_folders_of_their_own() {
    let folder = Folder::new();
    folder.script("none");
    let line = SWEEP.replace(" --out out", "");
    let runs: Vec<Child> = (0..4).map(|_| folder.spawn(&line)).collect();
    for mut run in runs {
        assert_eq!(run.wait().unwrap().code(), Some(0));
    }
    assert_eq!(folder.names_in("results").len(), 4);
}

#[test]
fn one_of_two_saves_of_a_baseline_is_refused() {
    let folder = Folder::new();
    folder.script("hang");
    let line = "baseline save main --backends sim --sim script.toml --ops sin --sizes 8 --no-peaks";
    let first = folder.spawn(line);
    wait_until("the first did not start", || folder.has("results/baselines/.main.attempt"));
    folder.refuses(line, "another");
    kill(first);
}

/// Returns whether a command can be started and succeeds.
fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|ended| ended.status.success())
}

/// Limits of threads do not bind root, so that this runs as another user, where that is permitted.
#[test]
fn threads_that_cannot_be_started_cost_their_cells_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let other = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    if !succeeds(Command::new("setpriv").args(other).arg("true")) {
        return leave_out("a limit of threads", "this user may not become another one (setpriv)");
    }
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open).unwrap();
    std::fs::copy(GPUBENCH, folder.path().join("gpubench")).unwrap();
    let limited = |limit: usize, line: &str| {
        let script = format!("ulimit -u {limit}; exec ./gpubench {line}");
        let mut command = folder.command_of("setpriv", "");
        command.args(other).args(["bash", "-c", &script]).env_remove("GPUBENCH_PEAK_CACHE");
        command.env("HOME", folder.path()).env("TMPDIR", folder.path()).env_remove("XDG_CACHE_HOME");
        let ended = Ended::of(&mut command);
        (ended.code, ended.stderr)
    };
    let sweep = "run --backends cpu --ops matmul,sin --sizes 8 --samples 3 --no-peaks --force --format json --out out";
    for limit in [1, 2, 4, 6, 8, 12, 16, 20, 24] {
        let (code, stderr) = limited(limit, sweep);
        assert!(matches!(code, 0..=2), "ulimit -u {limit}: {code} {stderr}");
        assert!(!stderr.contains("panicked"), "ulimit -u {limit}: {stderr}");
        if code != 0 {
            let text = if code == 1 { reasons(&folder) } else { stderr };
            assert!(text.contains("ulimit -u, pids.max"), "ulimit -u {limit}: {text}");
        }
    }
    folder.succeeds(&sweep.replace("--sizes 8", "--sizes 8,9"));
    let plot = "plot out --format svg --out charts";
    for line in ["show out --format html", plot, "report out -o page.html", "trend out"] {
        let (code, stderr) = limited(1, line);
        assert_eq!(code, 0, "{line}: {stderr}");
    }
}
