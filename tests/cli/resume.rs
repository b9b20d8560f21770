//! Runs that are stopped, killed, or cannot save: nothing finished is lost, and `--resume` goes on.

use std::process::{Child, Stdio};
use std::time::Duration;

use gpubench_text::count::counted;
use serde_json::Value;

use crate::cli::{Ended, Folder, GPUBENCH, wait_until};

/// Two variants, which have a worker each, whose cells of N = 8 never end.
pub(crate) const HANGS: &str = r#"
seed = 1
[[variant]]
name = "host"
side = "cpu"
[[variant]]
name = "accelerator"
library = "libx"
[[rule]]
n = "8"
outcome = "hang"
"#;

pub(crate) const SWEEP: &str = "run --backends sim --sim script.toml --ops sin --sizes 4,8,16,32 --samples 6 --rounds 1 \
                                --format json --out out";

fn lines(folder: &Folder, file: &str) -> usize {
    std::fs::read_to_string(folder.path().join(file)).map_or(0, |text| text.lines().count())
}

/// Starts the sweep of which one size hangs, and waits until it does.
pub(crate) fn hanging(folder: &Folder, more: &str) -> Child {
    folder.write("script.toml", HANGS);
    let run = folder.spawn(&format!("{SWEEP}{more}"));
    wait_until("no cell was finished", || lines(folder, "out/journal.jsonl") >= 2);
    std::thread::sleep(Duration::from_millis(400));
    run
}

/// Starts the sweep of which one size hangs, and kills it there; returns the rows of the journal.
fn killed(folder: &Folder) -> Vec<Value> {
    let mut run = hanging(folder, "");
    run.kill().unwrap();
    run.wait().unwrap();
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
    folder.refuses("run --resume out", "the script of sim was");
    let ended = folder.succeeds("run --resume out --force");
    let expected =
        format!("resumed: {} of 8 cells are finished; {} are left", finished.len(), 8 - finished.len());
    assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
    let report = folder.json("out/report.json");
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    assert!(rows.iter().all(|row| row["outcome"] == "measured"));
    for row in &finished {
        assert_eq!(samples(rows, row), &row["execute"]["samples_s"], "taken over");
    }
    assert!(!folder.path().join("out/journal.jsonl").exists());
    let again = folder.succeeds("run --resume out");
    assert!(again.stderr.contains("8 of 8 cells are finished; 0 are left"), "{}", again.stderr);
    assert_eq!(folder.json("out/report.json")["rows"], report["rows"]);
    let dry = folder.succeeds("run --resume out --dry-run").stdout;
    assert_eq!(dry, "All cells of the run are finished; nothing is left to measure.\n");
}

#[test]
fn rows_of_other_settings_are_measured_again() {
    let folder = Folder::new();
    folder.write("script.toml", &HANGS.replace("hang", "none"));
    let sweep = |samples: u32| format!("[[sweep]]\nops = [\"sin\"]\nsizes = [4, 8]\nsamples = {samples}\n");
    folder.write("sweep.toml", &sweep(5));
    folder.succeeds("run --config sweep.toml --backends sim --sim script.toml --format json --out out");
    folder.write("sweep.toml", &sweep(7));
    let ended = folder.succeeds("run --resume out");
    assert!(ended.stderr.contains("0 of 4 cells are finished"), "{}", ended.stderr);
    let report = folder.json("out/report.json");
    assert!(
        report["rows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| { row["execute"]["samples_s"].as_array().unwrap().len() == 7 })
    );
}

#[test]
fn what_cannot_be_resumed_is_refused_in_one_line() {
    let folder = Folder::new();
    folder.write("script.toml", &HANGS.replace("hang", "none"));
    folder.succeeds(SWEEP);
    folder.refuses("run --resume missing", "neither");
    folder.refuses("run --resume out --ops fft", "omit the others");
    folder.refuses("run --resume out --external mine=true", "the first start had no --external: omit it");
    let report = folder.read("out/report.json");
    let cpu = folder.json("out/report.json")["environment"]["host"]["cpu"].to_string();
    folder.write("out/report.json", &report.replace(&cpu, "\"another CPU\""));
    folder.refuses("run --resume out", "--force");
    folder.succeeds("run --resume out --force");
}

/// Changes the recorded command line as somebody else could have.
fn record(folder: &Folder, words: &[&str]) {
    let mut report = folder.json("out/report.json");
    report["environment"]["argv"].as_array_mut().unwrap().extend(words.iter().map(|word| (*word).into()));
    folder.write("out/report.json", &report.to_string());
}

#[test]
fn a_recorded_command_line_starts_no_program_and_loads_no_library() {
    for (option, value) in [("--external", "mine=./evil"), ("--python", "./evil"), ("--blas", "./evil")] {
        let folder = Folder::new();
        folder.write("script.toml", &HANGS.replace("hang", "none"));
        folder.succeeds(SWEEP);
        record(&folder, &[option, value]);
        let typed = format!("type it again, as in: gpubench run --resume out {option} {value}");
        folder.refuses("run --resume out", &typed);
    }
}

#[test]
fn a_folder_whose_name_is_not_utf_8_is_resumed_itself() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    folder.write("script.toml", &HANGS.replace("hang", "fail"));
    assert_eq!(folder.run_line(SWEEP).code, 1);
    folder.write("script.toml", &HANGS.replace("hang", "none"));
    let name = std::ffi::OsStr::from_bytes(b"nu\xff");
    std::fs::rename(folder.path().join("out"), folder.path().join(name)).unwrap();
    Ended::of(folder.command("run --force --resume").arg(name)).good();
    let report = std::fs::read_to_string(folder.path().join(name).join("report.json")).unwrap();
    assert!(!report.contains("\"failed\""));
    let folders =
        std::fs::read_dir(folder.path()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(folders.count(), 1);
}

#[test]
fn a_run_that_is_resumed_in_another_folder_says_where_its_files_are_missing() {
    let folder = Folder::new();
    folder.write("script.toml", &HANGS.replace("hang", "none"));
    folder.write("run.toml", "[[sweep]]\nops = [\"sin\"]\nsizes = [4]\nsamples = 2\nrounds = 1\n");
    folder.succeeds("run --config run.toml --backends sim --sim script.toml --format json --out out");
    let where_to = "of the first start is not here: resume in the folder where the run was started, or put the file here";
    let moved =
        |name: &str| std::fs::rename(folder.path().join(name), folder.path().join("out").join(name)).unwrap();
    moved("script.toml");
    folder.refuses("run --resume out", &format!("--resume: the script 'script.toml' {where_to}"));
    moved("run.toml");
    folder.refuses("run --resume out", &format!("--resume: the sweep file 'run.toml' {where_to}"));
    std::fs::rename(folder.path().join("out/run.toml"), folder.path().join("run.toml")).unwrap();
    std::fs::rename(folder.path().join("out/script.toml"), folder.path().join("script.toml")).unwrap();
    folder.succeeds("run --resume out");
}

#[test]
fn two_runs_never_write_to_one_folder() {
    let folder = Folder::new();
    let mut first = hanging(&folder, "");
    folder.refuses(&format!("{SWEEP} --force"), "another run of gpubench writes to out");
    first.kill().unwrap();
    first.wait().unwrap();
    folder.write("script.toml", &HANGS.replace("hang", "none"));
    folder.succeeds(&format!("{SWEEP} --force"));
}

#[test]
fn an_interrupt_before_the_first_cell_keeps_the_earlier_results() {
    let folder = Folder::new();
    folder.write("script.toml", &HANGS.replace("hang", "none"));
    folder.succeeds(SWEEP);
    let before = folder.read("out/report.json");
    folder.write("script.toml", &format!("[start]\ndelay = \"60s\"\n{}", HANGS.replace("seed = 1", "")));
    folder.interrupted(&format!("{SWEEP} --force"), "out/.gpubench.lock", Duration::from_millis(500));
    assert_eq!(folder.read("out/report.json"), before);
}

#[test]
fn a_full_disk_costs_the_files_and_not_the_run() {
    let folder = Folder::new();
    folder.write("script.toml", &HANGS.replace("hang", "none"));
    let Ended { code, stdout, stderr } =
        folder.shell(&format!("ulimit -f 4; exec $G {}", SWEEP.replace("json", "table,json")));
    assert_eq!(code, 2, "{stderr}");
    assert!(stdout.contains("sin") && stdout.contains("32"), "the table is printed all the same: {stdout}");
    assert!(stderr.contains("the run goes on"), "{stderr}");
    assert!(stderr.contains("[8/8]"), "{stderr}");
    assert!(stderr.lines().last().unwrap().starts_with("gpubench: cannot write"), "{stderr}");
}

#[test]
fn a_program_replaced_during_a_run_starts_its_old_workers() {
    let folder = Folder::new();
    let crashes = HANGS.replace("hang", "crash");
    folder.write("script.toml", &format!("[start]\ndelay = \"1s\"\n{crashes}").replace("seed = 1\n", ""));
    let program = folder.path().join("gpubench");
    std::fs::copy(GPUBENCH, &program).unwrap();
    let mut run = folder.command_of(program.to_str().unwrap(), SWEEP);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the run did not start", || folder.path().join("out/.gpubench.lock").exists());
    folder.write("new", "#!/bin/sh\nexit 9\n");
    std::fs::rename(folder.path().join("new"), &program).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(1));
    let report = folder.json("out/report.json");
    for row in report["rows"].as_array().unwrap() {
        let expected = if row["n"] == 8 { "failed" } else { "measured" };
        assert_eq!(row["outcome"], expected, "{row}");
    }
}

#[test]
fn samples_of_cells_that_are_not_finished_stay_until_these_are_measured_again() {
    let folder = Folder::new();
    // The second of three rounds hangs: two checked executions and two samples of the first round are before it.
    let script = HANGS.replace("outcome = \"hang\"", "outcome = \"hang\"\nafter = 5");
    folder.write("script.toml", &script);
    let line = SWEEP.replace("--rounds 1", "--rounds 3 --warmup 0");
    let cut_short = || {
        let Ok(text) = std::fs::read_to_string(folder.path().join("out/report.json")) else { return vec![] };
        let report: Value = serde_json::from_str(&text).unwrap();
        let rows = report["rows"].as_array().unwrap();
        rows.iter().filter(|row| row["execute"]["stopped"] == "cut-short").cloned().collect::<Vec<_>>()
    };
    let mut run = folder.spawn(&line);
    wait_until("no cell has samples", || !cut_short().is_empty());
    std::thread::sleep(Duration::from_millis(300));
    run.kill().unwrap();
    run.wait().unwrap();
    let before = cut_short();
    assert!(!before.is_empty());
    // The resumed run is stopped before it reaches a cell.
    folder.write("script.toml", &format!("[start]\ndelay = \"60s\"\n{}", script.replace("seed = 1", "")));
    folder.interrupted("run --resume out --force", "out/.gpubench.lock", Duration::from_millis(500));
    let rows = folder.json("out/report.json");
    for row in &before {
        assert_eq!(samples(rows["rows"].as_array().unwrap(), row), &row["execute"]["samples_s"]);
    }
}

#[test]
fn rows_that_are_finished_are_compared_with_the_peaks_of_their_own_run() {
    let folder = Folder::new();
    let with_peaks =
        |read: &str, fault: &str| format!("{}[peaks]\nread = {read}\n", HANGS.replace("hang", fault));
    folder.write("script.toml", &with_peaks("1e12", "fail"));
    assert_eq!(folder.run_line(SWEEP).code, 1);
    let read = || folder.json("out/report.json")["environment"]["backends"][0]["peaks"]["read"].as_f64();
    assert_eq!(read(), Some(1e12));
    folder.write("script.toml", &with_peaks("2e12", "none"));
    let ended = folder.succeeds("run --resume out --force");
    assert!(ended.stderr.contains("6 of 8 cells are finished"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("measuring peak"), "{}", ended.stderr);
    assert_eq!(read(), Some(1e12));

    // Nothing is finished, so nothing is compared with the earlier peaks.
    folder.write("script.toml", &with_peaks("1e12", "fail").replace("n = \"8\"", "n = \"*\""));
    assert_eq!(folder.run_line(&format!("{SWEEP} --force")).code, 1);
    folder.write("script.toml", &with_peaks("2e12", "none"));
    folder.succeeds("run --resume out --force");
    assert_eq!(read(), Some(2e12));
}
