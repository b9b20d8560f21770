//! The results of a run: tables on stdout, files in its folder, exit codes.

use serde_json::Value;

use super::{Folder, items};

const RUN: &str = "run --ops matmul --sizes 4,8 --samples 6 --backends sim --sim fair.toml";

fn rows(report: &Value) -> &Vec<Value> {
    assert_eq!(report["schema_version"], gpubench::report::SCHEMA_VERSION);
    assert!(report["environment"]["settings"]["sweeps"][0]["op"].is_string());
    items(&report["rows"])
}

#[test]
fn a_run_prints_a_table_and_leaves_report_and_charts_in_its_folder() {
    let folder = Folder::new();
    folder.succeeds(&format!("{RUN} --out made/here")).prints(&["matmul", "accelerator"]);
    let report = folder.report("made/here");
    let rows = rows(&report);
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!((row["op"].as_str(), row["outcome"].as_str()), (Some("matmul"), Some("measured")));
        assert_eq!(items(&row["execute"]["samples_s"]).len(), 6);
        assert!(row["execute"]["median_s"].as_f64().unwrap() > 0.0);
        assert!(row["error"]["value"].as_f64().unwrap() <= row["error"]["bound"].as_f64().unwrap());
    }
    assert!(folder.read("made/here/report.csv").lines().count() == 1 + 4);
    assert!(folder.read("made/here/report.md").contains("matmul"));
    for chart in ["overview.png", "speedup-matmul-f32.png", "throughput-matmul-f32.png"] {
        assert!(folder.has(&format!("made/here/{chart}")), "{chart}");
    }
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
    let ended = folder.succeeds(&format!("{RUN} --quiet --out - --format json"));
    assert_eq!((rows(&ended.json()).len(), ended.stderr.as_str()), (4, ""));
    let csv = folder.run_line(&format!("{RUN} --quiet --out - --format csv"));
    assert_eq!(csv.stdout.lines().count(), 1 + 4);
    assert_eq!(folder.names(), before);
}

#[test]
fn a_run_that_names_nothing_is_the_quick_sweep_and_says_so() {
    let folder = Folder::new();
    let ended = folder.succeeds("run --sizes 3 --backends sim --sim fair.toml --out here --format table");
    ended.complains(&["this was the quick sweep"]);
    let rows = folder.rows("here");
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
        let report = folder.run_line(line).exits(code).json();
        let rows = rows(&report);
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
    // Every cell is skipped, so nothing was measured.
    let ended = folder.run_line(run).exits(2);
    let reason = "gpubench: nothing was measured: no such device; gpubench doctor lists what is missing; the report is in new/here\n";
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", reason));
    let to_stdout = run.replace("--format table,json --out new/here", "--out - --format json");
    let report = folder.run_line(&to_stdout).exits(2).json();
    assert_eq!(rows(&report).len(), 1, "a program still gets the report");
}

#[test]
fn charts_are_drawn_again_from_a_report_alone_in_the_look_that_is_asked_for() {
    let folder = Folder::new();
    folder.succeeds(&format!("{RUN} --quiet --out here --format svg --theme dark --charts time,overview"));
    let output = &folder.report("here")["environment"]["settings"]["output"];
    assert_eq!(
        (&output["theme"], &output["charts"]),
        (&"dark".into(), &serde_json::json!(["overview", "time"]))
    );
    folder.succeeds("plot here --out again --format svg --theme dark --charts time,overview");
    let names = folder.names_in("again");
    assert_eq!(names.len(), 2, "{names:?}");
    for name in names {
        assert!(name.starts_with("time-") || name == "overview.svg", "{name}");
        assert!(folder.read(&format!("here/{name}")) == folder.read(&format!("again/{name}")), "{name}");
    }
    folder.succeeds("plot here --out charts --format svg");
    assert_ne!(folder.read("again/overview.svg"), folder.read("charts/overview.svg"), "light is the default");
    assert!(folder.has("charts/speedup-matmul-f32.svg"));
    folder.refuses("plot here --out charts --format svg", "--force");
    folder.refuses("plot absent --out charts", "absent");
}

#[test]
fn show_alone_shows_the_newest_run_and_ops_select_rows() {
    let folder = Folder::new();
    folder.fair("--ops svd --sizes 4", "results/b");
    let run = "run --ops fft,matmul --sizes 4,8 --backends sim --sim fair.toml --quiet --format table,json --out results/a";
    let ran = folder.succeeds(run);
    let shown = folder.succeeds("show");
    assert_eq!(shown.stdout, ran.stdout);
    assert_eq!(shown.stderr, "gpubench: results/a is the newest run in results\n");
    let json = folder.succeeds("show results/a --ops fft --format json").json();
    let rows = items(&json["rows"]);
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
    folder.refuses_each(
        "show",
        "nowhere => cannot read nowhere
        made --format png => gpubench plot
        made --format md,csv => one format
        made --format yaml => unknown format 'yaml'",
    );
}
