//! Runs that are stopped, killed, or cannot save: nothing finished is lost, and `--resume` goes on.

use std::process::{Child, Stdio};
use std::time::Duration;

use gpubench_text::count::counted;
use serde_json::Value;

use crate::cli::{Ended, Folder, GPUBENCH, assert_lacks, items, kill, wait_until};

/// Two variants, which have a worker each, whose cells of N = 8 never end.
pub(crate) const HANGS: &str = "
seed = 1
variant = [{ name = 'host', side = 'cpu' }, { name = 'accelerator', library = 'libx' }]
rule = [{ n = '8', outcome = 'hang' }]
";

pub(crate) const SWEEP: &str = "run --backends sim --sim script.toml --ops sin --sizes 4,8,16,32 --samples 6 --rounds 1 \
                                --format json --out out";

impl Folder {
    /// Writes the script, with this outcome instead of the hang.
    pub(crate) fn script(&self, outcome: &str) {
        self.write("script.toml", &HANGS.replace("hang", outcome));
    }

    /// Writes a script whose device takes a minute to start, so that the run can be stopped before its first cell.
    fn script_that_starts_late(&self, script: &str) {
        self.write("script.toml", &format!("{script}[start]\ndelay = '60s'\n"));
    }
}

/// Starts the sweep of which one size hangs, and waits until it does.
pub(crate) fn hanging(folder: &Folder, more: &str) -> Child {
    folder.write("script.toml", HANGS);
    let run = folder.spawn(&format!("{SWEEP}{more}"));
    let journal = folder.path().join("out/journal.jsonl");
    let lines = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    wait_until("no cell was finished", || lines() >= 2);
    std::thread::sleep(Duration::from_millis(400));
    run
}

/// Starts the sweep of which one size hangs, and kills it there; returns the rows of the journal.
fn killed(folder: &Folder) -> Vec<Value> {
    kill(hanging(folder, ""));
    let text = folder.read("out/journal.jsonl");
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn samples<'a>(rows: &'a [Value], of: &Value) -> &'a Value {
    let same =
        |row: &&Value| ["op", "n", "dtype", "backend", "variant"].iter().all(|key| row[key] == of[key]);
    &rows.iter().find(same).unwrap()["execute"]["samples_s"]
}

#[test]
fn a_killed_run_keeps_what_it_has_finished_and_resume_measures_only_the_rest() {
    let folder = Folder::new();
    let finished = killed(&folder);
    assert!((1..8).contains(&finished.len()), "{}", finished.len());
    folder.write("script.toml", &HANGS.replace("hang", "none").replace("seed = 1", "seed = 2"));
    let dry = folder.succeeds("run --resume out --dry-run").stdout;
    assert_eq!(dry.lines().filter(|line| line.starts_with("sin ")).count(), 8 - finished.len(), "{dry}");
    let others = counted(finished.len(), "other cell");
    assert!(dry.lines().last().unwrap().starts_with(&format!("{others} of the run ")), "{dry}");
    folder.run_line("run --resume out").exits(2).complains(&["the script of sim was"]);
    let ended = folder.succeeds("run --resume out --force");
    let expected =
        format!("resumed: {} of 8 cells are finished; {} are left", finished.len(), 8 - finished.len());
    ended.complains(&[&expected]);
    let rows = folder.rows("out");
    assert!(rows.len() == 8 && rows.iter().all(|row| row["outcome"] == "measured"), "{rows:?}");
    for row in &finished {
        assert_eq!(samples(&rows, row), &row["execute"]["samples_s"], "taken over");
    }
    assert!(!folder.has("out/journal.jsonl"));
    folder.succeeds("run --resume out").complains(&["8 of 8 cells are finished; 0 are left"]);
    assert_eq!(folder.rows("out"), rows);
    let dry = folder.succeeds("run --resume out --dry-run").stdout;
    assert_eq!(dry, "All cells of the run are finished; nothing is left to measure.\n");
}

#[test]
fn the_finished_cells_of_a_killed_run_without_a_report_are_shown() {
    let folder = Folder::new();
    let finished = killed(&folder);
    // The report may have been saved before the kill.
    let _ = std::fs::remove_file(folder.path().join("out/report.json"));
    let early = format!("The run ended early: {} of 8 cells finished", finished.len());
    folder.succeeds("show out").prints(&[&early, "Go on with: gpubench run --resume out"]);
    let step =
        "out has only the journal.jsonl of a run that was stopped: go on with gpubench run --resume out";
    folder.refuses("compare out out", step);
    folder.refuses("plot out --out charts", step);
}

#[test]
fn rows_of_other_settings_are_measured_again() {
    let folder = Folder::new();
    folder.script("none");
    let sweep = |samples: u32| format!("[[sweep]]\nops = [\"sin\"]\nsizes = [4, 8]\nsamples = {samples}\n");
    folder.write("sweep.toml", &sweep(5));
    folder.succeeds("run --config sweep.toml --backends sim --sim script.toml --format json --out out");
    folder.write("sweep.toml", &sweep(7));
    folder.succeeds("run --resume out").complains(&["0 of 4 cells are finished"]);
    assert!(folder.rows("out").iter().all(|row| items(&row["execute"]["samples_s"]).len() == 7));
}

#[test]
fn what_cannot_be_resumed_is_refused_in_one_line() {
    let folder = Folder::new();
    folder.script("none");
    folder.succeeds(SWEEP);
    folder.refuses_each(
        "run --resume",
        "missing => neither
        out --ops fft => omit the others
        out --external mine=true => the first start had no --external: omit it",
    );
    let mut report = folder.report("out");
    report["environment"]["host"]["cpu"] = "another CPU".into();
    folder.write("out/report.json", &report.to_string());
    folder.refuses("run --resume out", "--force");
    folder.succeeds("run --resume out --force");
}

#[test]
fn a_recorded_command_line_starts_no_program_and_loads_no_library() {
    let code =
        [("--external", "mine=./evil"), ("--python", "./evil"), ("--blas", "./evil"), ("--ops", "./evil.py")];
    for (option, value) in code {
        let folder = Folder::new();
        folder.script("none");
        folder.succeeds(SWEEP);
        let mut report = folder.report("out");
        let argv = report["environment"]["argv"].as_array_mut().unwrap();
        match argv.iter().position(|word| word == option) {
            Some(given) => argv[given + 1] = value.into(),
            None => argv.extend([option.into(), value.into()]),
        }
        folder.write("out/report.json", &report.to_string());
        let typed = format!("type it again, as in: gpubench run --resume out {option} {value}");
        folder.refuses("run --resume out", &typed);
    }
    let folder = Folder::new();
    folder.script("none");
    folder.succeeds(SWEEP);
    folder.write("evil.toml", "ops = 'evil.py'\n");
    let mut report = folder.report("out");
    report["environment"]["argv"].as_array_mut().unwrap().extend(["--config".into(), "evil.toml".into()]);
    folder.write("out/report.json", &report.to_string());
    folder
        .refuses("run --resume out", "evil.toml names evil.py, which a recorded command line may not start");
}

#[test]
fn a_folder_whose_name_is_not_utf_8_is_resumed_itself() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    folder.script("fail");
    folder.run_line(SWEEP).exits(1);
    folder.script("none");
    let name = std::ffi::OsStr::from_bytes(b"nu\xff");
    std::fs::rename(folder.path().join("out"), folder.path().join(name)).unwrap();
    Ended::of(folder.command("run --force --resume").arg(name)).good();
    let report = std::fs::read_to_string(folder.path().join(name).join("report.json")).unwrap();
    assert!(!report.contains("\"failed\""));
    let entries = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(entries.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count(), 1);
}

#[test]
fn a_run_that_is_resumed_in_another_folder_names_the_file_that_is_missing() {
    let folder = Folder::new();
    folder.script("none");
    folder.write("run.toml", "[[sweep]]\nops = [\"sin\"]\nsizes = [4]\nsamples = 2\nrounds = 1\n");
    folder.succeeds("run --config run.toml --backends sim --sim script.toml --format json --out out");
    for name in ["script.toml", "run.toml"] {
        std::fs::rename(folder.path().join(name), folder.path().join("out").join(name)).unwrap();
        folder.refuses("run --resume out", name);
    }
    folder.shell("mv out/run.toml out/script.toml .").good();
    folder.succeeds("run --resume out");
}

#[test]
fn an_interrupt_before_the_first_cell_keeps_the_earlier_results() {
    let folder = Folder::new();
    folder.script("none");
    folder.succeeds(SWEEP);
    let before = folder.read("out/report.json");
    folder.script_that_starts_late(HANGS);
    folder.interrupted(&format!("{SWEEP} --force"), "out/.gpubench.lock", Duration::from_millis(500));
    assert_eq!(folder.read("out/report.json"), before);
}

#[test]
fn a_program_replaced_during_a_run_starts_its_old_workers() {
    let folder = Folder::new();
    let crashes = HANGS.replace("hang", "crash");
    folder.write("script.toml", &format!("{crashes}[start]\ndelay = '1s'\n"));
    let program = folder.path().join("gpubench");
    std::fs::copy(GPUBENCH, &program).unwrap();
    let mut run = folder.command_of(program.to_str().unwrap(), SWEEP);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the run did not start", || folder.has("out/.gpubench.lock"));
    folder.write("new", "#!/bin/sh\nexit 9\n");
    std::fs::rename(folder.path().join("new"), &program).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(1));
    for row in folder.rows("out") {
        let expected = if row["n"] == 8 { "failed" } else { "measured" };
        assert_eq!(row["outcome"], expected, "{row}");
    }
}

#[test]
fn samples_of_cells_that_are_not_finished_stay_until_these_are_measured_again() {
    let folder = Folder::new();
    // The second of three rounds hangs: two checked executions and two samples of the first round are before it.
    let script = HANGS.replace("'hang'", "'hang', after = 5");
    folder.write("script.toml", &script);
    let line = SWEEP.replace("--rounds 1", "--rounds 3 --warmup 0");
    let cut_short = || {
        let rows = if folder.has("out/report.json") { folder.rows("out") } else { vec![] };
        rows.into_iter().filter(|row| row["execute"]["stopped"] == "cut-short").collect::<Vec<_>>()
    };
    let run = folder.spawn(&line);
    wait_until("no cell has samples", || !cut_short().is_empty());
    std::thread::sleep(Duration::from_millis(300));
    kill(run);
    let before = cut_short();
    assert!(!before.is_empty());
    // The resumed run is stopped before it reaches a cell.
    folder.script_that_starts_late(&script);
    folder.interrupted("run --resume out --force", "out/.gpubench.lock", Duration::from_millis(500));
    let rows = folder.rows("out");
    before.iter().for_each(|row| assert_eq!(samples(&rows, row), &row["execute"]["samples_s"]));
}

#[test]
fn rows_that_are_finished_are_compared_with_the_peaks_of_their_own_run() {
    let folder = Folder::new();
    let with_peaks =
        |read: &str, fault: &str| format!("{}[peaks]\nread = {read}\n", HANGS.replace("hang", fault));
    folder.write("script.toml", &with_peaks("1e12", "fail"));
    folder.run_line(SWEEP).exits(1);
    let read = || folder.report("out")["environment"]["backends"][0]["peaks"]["read"].as_f64();
    assert_eq!(read(), Some(1e12));
    folder.write("script.toml", &with_peaks("2e12", "none"));
    let ended = folder.succeeds("run --resume out --force");
    assert_lacks(&ended.complains(&["6 of 8 cells are finished"]).stderr, &["measuring peak"]);
    assert_eq!(read(), Some(1e12));

    // Nothing is finished, so nothing is compared with the earlier peaks.
    folder.write("script.toml", &with_peaks("1e12", "fail").replace("n = '8'", "n = '*'"));
    folder.run_line(&format!("{SWEEP} --force")).exits(1);
    folder.write("script.toml", &with_peaks("2e12", "none"));
    folder.succeeds("run --resume out --force");
    assert_eq!(read(), Some(2e12));
}
