//! The results of a run: tables on stdout, files in its folder, exit codes, also after an interrupt.

use std::time::Duration;

use serde_json::Value;

use super::Folder;

const RUN: &str = "run --ops matmul --sizes 4,8 --samples 6 --backends sim --sim fair.toml";

fn rows(json: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(json).unwrap();
    assert_eq!(report["schema_version"], gpubench::report::SCHEMA_VERSION);
    assert!(report["environment"]["settings"]["sweeps"][0]["op"].is_string());
    report["rows"].as_array().unwrap().clone()
}

#[test]
fn a_run_prints_a_table_and_leaves_report_and_charts_in_its_folder() {
    let folder = Folder::new();
    let ended = folder.succeeds(&format!("{RUN} --out made/here"));
    assert!(ended.stdout.contains("matmul") && ended.stdout.contains("accelerator"), "{}", ended.stdout);
    let rows = rows(&folder.read("made/here/report.json"));
    assert_eq!(rows.len(), 4);
    for row in &rows {
        assert_eq!((row["op"].as_str(), row["outcome"].as_str()), (Some("matmul"), Some("measured")));
        assert_eq!(row["execute"]["samples_s"].as_array().map(Vec::len), Some(6));
        assert!(row["execute"]["median_s"].as_f64().unwrap() > 0.0);
        assert!(row["error"]["value"].as_f64().unwrap() <= row["error"]["bound"].as_f64().unwrap());
    }
    assert!(folder.read("made/here/report.csv").lines().count() == 1 + 4);
    assert!(folder.read("made/here/report.md").contains("matmul"));
    let names = folder.names_in("made/here");
    for chart in ["overview.png", "speedup-matmul-f32.png", "throughput-matmul-f32.png"] {
        assert!(names.iter().any(|name| name == chart), "{names:?}");
    }
}

#[test]
fn a_report_of_the_cpu_alone_names_its_facts_in_words_and_says_which_charts_need_both_sides() {
    let folder = Folder::new();
    let run = "run --backends cpu --ops sin --sizes 4 --samples 2 --rounds 1 --no-peaks --format md --out -";
    let text = folder.succeeds(run).stdout;
    let facts = text.split("### Backend cpu\n\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let lines: Vec<&str> = facts.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("- rayon threads: ")), "{facts}");
    assert!(lines.iter().any(|line| line.starts_with("- ready after: ")), "{facts}");
    assert!(!facts.contains('_') && !facts.contains('['), "{facts}");
    let two =
        "run --backends cpu --ops sin --sizes 4,8 --samples 2 --rounds 1 --no-peaks --format json --out out";
    folder.succeeds(two);
    folder.refuses("plot out --out charts --charts speedup", "speed-ups need times of both sides");
}

#[test]
fn without_out_the_results_are_in_a_new_folder_under_results() {
    let folder = Folder::new();
    for _ in 0..2 {
        folder.succeeds(&format!("{RUN} --quiet --format csv"));
    }
    let runs = folder.names_in("results");
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(folder.names_in(&format!("results/{run}")), ["report.csv", "report.json"]);
    }
}

#[test]
fn one_format_on_stdout_is_all_that_a_run_to_stdout_writes() {
    let folder = Folder::new();
    let before = folder.names();
    let ended = folder.run_line(&format!("{RUN} --quiet --out - --format json"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(rows(&ended.stdout).len(), 4);
    let csv = folder.run_line(&format!("{RUN} --quiet --out - --format csv"));
    assert_eq!(csv.stdout.lines().count(), 1 + 4);
    assert_eq!(folder.names(), before);
}

#[test]
fn results_are_replaced_only_by_force() {
    let folder = Folder::new();
    let run = format!("{RUN} --quiet --format json --out kept");
    folder.succeeds(&run);
    folder.refuses(&run, "kept already contains a report.json");
    assert_eq!(
        folder.run_line(&format!("{run} --force --seed 1 --seed 2")).code,
        2,
        "--seed twice is refused"
    );
    folder.succeeds(&format!("{run} --force --variants host"));
    assert_eq!(rows(&folder.read("kept/report.json")).len(), 2);
}

#[test]
fn a_run_that_names_nothing_is_the_quick_sweep_and_says_so() {
    let folder = Folder::new();
    let ended = folder.succeeds("run --sizes 3 --backends sim --sim fair.toml --out here --format table");
    assert!(ended.stderr.contains("this was the quick sweep"), "{}", ended.stderr);
    let rows = rows(&folder.read("here/report.json"));
    let mut ops: Vec<&str> = rows.iter().map(|row| row["op"].as_str().unwrap()).collect();
    ops.dedup();
    assert_eq!(ops, gpubench::op::MAIN_OPS);
}

#[test]
fn wrong_answers_and_failures_end_with_1_and_skips_with_0() {
    let folder = Folder::new();
    for (fault, code, outcome) in [
        ("answer = \"wrong\"", 1, "incorrect"),
        ("outcome = \"fail\"", 1, "failed"),
        ("outcome = \"crash\"", 1, "failed"),
        ("outcome = \"unavailable\"", 0, "skipped"),
    ] {
        let rule = format!("\n[[rule]]\nvariant = \"accelerator\"\n{fault}\n");
        folder.write("faulty.toml", &(folder.read("fair.toml") + &rule));
        let line = "run --ops fft --sizes 4 --backends sim --sim faulty.toml --quiet --out - --format json";
        let ended = folder.run_line(line);
        assert_eq!(ended.code, code, "{fault}: {}", ended.stderr);
        let rows = rows(&ended.stdout);
        let outcomes: Vec<_> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
        assert_eq!(outcomes, ["measured", outcome], "{fault}");
        assert!(rows[1]["execute"].is_null() && rows[1]["reason"].is_string(), "{fault}: {}", rows[1]);
    }
}

#[test]
fn a_required_backend_that_is_missing_ends_the_run_before_any_work() {
    let folder = Folder::new();
    folder.write(
        "absent.toml",
        "[start]\noutcome = \"unavailable\"\nreason = \"no such device\"\n[[variant]]\nname = \"x\"\n",
    );
    let run =
        "run --ops fft --sizes 4 --backends sim --sim absent.toml --quiet --format table,json --out new/here";
    folder.refuses(&format!("{run} --require sim"), "no such device");
    let ended = folder.run_line(run);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (2, ""),
        "every cell is skipped, so nothing was measured"
    );
    let reason = "gpubench: nothing was measured: no such device; gpubench doctor lists what is missing; the report is in new/here\n";
    assert_eq!(ended.stderr, reason);
    let json = folder.run_line(&format!(
        "{} --out - --format json",
        run.replace(" --format table,json --out new/here", "")
    ));
    assert_eq!((json.code, rows(&json.stdout).len()), (2, 1), "a program still gets the report");
}

#[test]
fn an_interrupted_run_ends_with_130_and_keeps_what_it_has() {
    let folder = Folder::new();
    let rule = "\n[[rule]]\nvariant = \"accelerator\"\noutcome = \"hang\"\n";
    folder.write("hanging.toml", &(folder.read("fair.toml") + rule));
    let line =
        "run --ops fft --sizes 4 --backends sim --sim hanging.toml --no-peaks --format json --out here";
    let stderr = folder.interrupted(line, "here/report.json", Duration::ZERO);
    assert!(stderr.contains("interrupted: the report has 1 of 2 cells"), "{stderr}");
    let rows = rows(&folder.read("here/report.json"));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["variant"], "host");
}

#[test]
fn the_look_of_charts_is_a_setting_that_the_report_keeps() {
    let folder = Folder::new();
    folder.succeeds(&format!("{RUN} --quiet --out here --format svg --theme dark --charts time,speedup"));
    let report = folder.json("here/report.json");
    assert_eq!(report["environment"]["settings"]["output"]["theme"], "dark");
    assert_eq!(report["environment"]["settings"]["output"]["charts"], serde_json::json!(["speedup", "time"]));
    folder.succeeds("plot here --out again --format svg --theme dark --charts time,speedup");
    for name in folder.names_in("again") {
        assert!(folder.read(&format!("here/{name}")) == folder.read(&format!("again/{name}")), "{name}");
    }
}

#[test]
fn charts_are_drawn_again_from_a_report_alone() {
    let folder = Folder::new();
    folder.succeeds(&format!("{RUN} --quiet --out here --format json"));
    folder.succeeds("plot here --out charts --format svg");
    let names = folder.names_in("charts");
    assert!(names.contains(&"overview.svg".to_owned()), "{names:?}");
    folder.succeeds("plot here --out dark --format svg --theme dark");
    assert_eq!(folder.names_in("dark"), names);
    assert_ne!(folder.read("dark/overview.svg"), folder.read("charts/overview.svg"));
    folder.refuses("plot here --out charts --format svg", "--force");
    folder.succeeds("plot here --out some --format svg --charts time,overview");
    let names = folder.names_in("some");
    assert!(names.iter().all(|name| name.starts_with("time-") || name == "overview.svg"), "{names:?}");
    assert_eq!(names.len(), 2, "{names:?}");
    folder.refuses("plot absent --out charts", "absent");
}

#[test]
fn show_alone_shows_the_newest_run_and_ops_select_rows() {
    let folder = Folder::new();
    folder.succeeds(
        "run --ops svd --sizes 4 --backends sim --sim fair.toml --quiet --format json --out results/b",
    );
    let run = "run --ops fft,matmul --sizes 4,8 --backends sim --sim fair.toml --quiet --format table,json --out results/a";
    let ran = folder.succeeds(run);
    let shown = folder.succeeds("show");
    assert_eq!(shown.stdout, ran.stdout);
    assert_eq!(shown.stderr, "gpubench: results/a is the newest run in results\n");
    let json: Value =
        serde_json::from_str(&folder.succeeds("show results/a --ops fft --format json").stdout).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert!(rows.len() == 4 && rows.iter().all(|row| row["op"] == "fft"), "{rows:?}");
    assert_eq!(json["environment"]["planned_rows"], 4);
    let text = folder.succeeds("show results/a --ops fft --tables").stdout;
    assert!(text.contains("fft") && !text.contains("matmul"), "{text}");
    folder.refuses("show results/b --ops fft", "results/b: --ops: no row is of fft (ops in it: svd)");
}

#[test]
fn a_report_is_shown_again_as_its_run_showed_it() {
    let folder = Folder::new();
    let ran = folder.succeeds(&format!("{RUN} --quiet --out made --format table,md,csv"));
    for report in ["made", "made/report.json"] {
        assert_eq!(folder.run_line(&format!("show {report}")).stdout, ran.stdout);
    }
    for format in ["json", "md", "csv"] {
        let shown = folder.run_line(&format!("show made --format {format}"));
        assert_eq!(shown.stdout, folder.read(&format!("made/report.{format}")), "{format}");
    }
    folder.refuses("show", "there is no report below results: create one with 'gpubench run'");
    folder.refuses("show nowhere", "cannot read nowhere");
    folder.refuses("show made --format png", "gpubench plot");
    folder.refuses("show made --format md,csv", "one format");
    folder.refuses("show made --format yaml", "unknown format 'yaml'");
}

#[test]
fn a_copy_of_a_library_that_was_not_chosen_is_named_once_per_run() {
    let folder = Folder::new();
    let variant = |name: &str, library: &str| {
        format!("[[variant]]\nname = '{name}'\nside = 'cpu'\nlibrary = '{library}'\n")
    };
    let copies =
        variant("open", "open") + &variant("open-numpy", "open-numpy") + &variant("open-scipy", "open-scipy");
    folder.write("copies.toml", &(copies + "[[rule]]\nvariant = 'open'\ntime = '1ms'\n"));
    let sim = "--backends sim --sim copies.toml --no-peaks --format json -o out";
    let ended = folder.succeeds(&format!("run --ops matmul,fft,solve,svd --sizes 8,16,32 {sim}"));
    let report = folder.json("out/report.json");
    let reasons = report["rows"].as_array().unwrap().iter().filter_map(|row| row["reason"].as_str());
    let passed_over = reasons.filter(|reason| reason.contains("another copy of the library, was chosen"));
    assert!(passed_over.count() > 4, "the other copies of every op: {}", ended.stderr);
    let lines = ended.stderr.lines().filter(|line| line.contains("another copy of the library, was chosen"));
    assert_eq!(lines.count(), 1, "{}", ended.stderr);
}
