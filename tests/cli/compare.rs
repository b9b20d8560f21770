//! `compare`: each exit code, each verdict, what it prints, and what it refuses; on the simulated device.

use serde_json::Value;

use super::{Ended, FAIR, Folder, items};

/// Two variants with noise, and what `more` adds.
pub(super) fn script(seed: u32, more: &str) -> String {
    let variants = FAIR.replace("seed = 1", &format!("seed = {seed}"));
    let noise = "time = { base = '100us', per_element = '1us' }\nnoise = 0.02\noutliers = 0.01";
    format!("{variants}[[rule]]\n{noise}\n{more}")
}

pub(super) const SLOWER: &str =
    "[[rule]]\nop = \"fft\"\nvariant = \"accelerator\"\nn = 8\ntime = \"260us\"\n";
pub(super) const WRONG: &str = "[[rule]]\nop = \"fft\"\nvariant = \"host\"\nanswer = \"wrong\"\n";
const FAILING: &str = "[[rule]]\nop = \"matmul\"\nvariant = \"host\"\nn = 4\noutcome = \"fail\"\n";

impl Folder {
    /// A run of the sweep under `name`, by a script with `seed` and `more`.
    pub(super) fn sim(&self, name: &str, seed: u32, more: &str) {
        self.sim_of(name, seed, more, "--ops matmul,fft --sizes 4,8");
    }

    /// As [`Folder::sim`], with the ops and sizes of `sweep`.
    fn sim_of(&self, name: &str, seed: u32, more: &str, sweep: &str) {
        self.write(&format!("{name}.toml"), &script(seed, more));
        let line = format!("run {sweep} --backends sim --sim {name}.toml --quiet --format json --out {name}");
        let ended = self.run_line(&line);
        assert!(ended.code <= 1, "{}", ended.stderr);
    }

    fn compare(&self, rest: &str) -> Ended {
        self.run_line(&format!("compare {rest}"))
    }

    /// The comparison as JSON; its exit code must be the program's.
    pub(super) fn compared(&self, rest: &str) -> Value {
        let ended = self.compare(&format!("{rest} --format json"));
        let comparison = ended.json();
        assert_eq!(comparison["gate"]["exit_code"], ended.code);
        comparison
    }
}

/// The cells of a comparison with that verdict, as `OP N VARIANT`.
pub(super) fn cells(comparison: &Value, verdict: &str) -> Vec<String> {
    let name = |cell: &Value| format!("{} {} {}", text(&cell["op"]), cell["n"], text(&cell["variant"]));
    items(&comparison["cells"]).iter().filter(|cell| cell["verdict"] == verdict).map(name).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn each_verdict_has_its_cells_and_its_exit_code() {
    let folder = Folder::new();
    for (seed, name, more) in [
        (1, "old", ""),
        (2, "new", ""),
        (2, "slower", SLOWER),
        (2, "wrong", WRONG),
        (4, "still-wrong", WRONG),
        (3, "failing", FAILING),
    ] {
        folder.sim(name, seed, more);
    }
    folder.sim_of("part", 2, "", "--ops matmul --sizes 4,8");
    folder.sim_of("one", 1, "", "--ops fft --sizes 4 --variants host");
    let of_fft = ["fft 4 host", "fft 8 host"];
    for (line, exit_code, verdict, count, names) in [
        ("one one", 0, "same", 1, &["fft 4 host"][..]),
        ("old old", 0, "same", 8, &[]),
        ("old slower --threshold 20%", 1, "slower", 1, &["fft 8 accelerator"]),
        // The other way round it is a gain.
        ("slower old --threshold 20% --accept-inconclusive", 0, "faster", 1, &["fft 8 accelerator"]),
        ("old wrong --threshold 50%", 1, "newly-incorrect", 2, &of_fft),
        ("old failing --threshold 50%", 1, "newly-failed", 1, &["matmul 4 host"]),
        ("wrong old --threshold 50%", 0, "new", 2, &[]),
        ("wrong still-wrong --threshold 50%", 0, "not-measured", 2, &[]),
        ("old part --threshold 50%", 3, "missing", 4, &[]),
        ("old part --threshold 50% --accept-missing", 0, "missing", 4, &[]),
        ("part old --threshold 50%", 0, "new", 4, &[]),
    ] {
        let comparison = folder.compared(line);
        let found = cells(&comparison, verdict);
        assert_eq!((&comparison["gate"]["exit_code"], found.len()), (&exit_code.into(), count), "{line}");
        assert!(names.is_empty() || found == names, "{line}: {found:?}");
        let conclusion = ["pass", "regression", "", "inconclusive"][exit_code];
        assert_eq!(comparison["gate"]["conclusion"], conclusion, "{line}");
    }
    assert_eq!(folder.compared("one one")["gate"]["reason"], "the only cell is not worse");
    assert!(text(&folder.compared("old old")["notes"][0]["text"]).contains("the same run"));
    let slower = "old slower --threshold 20%";
    assert_eq!(folder.compared(slower)["cells"][0]["verdict"], "slower", "it is first");
    folder.compare(slower).prints(&["\n  Worst  fft N=8 "]);

    // Noise that could hide a regression.
    let noisy = "old new --threshold 0.5%";
    let inconclusive = folder.compared(noisy);
    assert!(cells(&inconclusive, "inconclusive").len() >= 4, "{inconclusive}");
    let next = text(&inconclusive["gate"]["next"]);
    assert!(next.contains("--accept-inconclusive") && next.starts_with("give "), "{next}");
    let table = folder.compare(noisy).exits(3).prints(&[" inconclusive"]).stdout;
    assert!(!table.contains("maybe slower"), "{table}");
    folder.compare(&format!("{noisy} --accept-inconclusive")).good();
}

#[test]
fn two_percent_everywhere_is_a_regression_by_its_mean_in_every_format() {
    let folder = Folder::new();
    let slower = "[[rule]]\ntime = { base = \"102us\", per_element = \"1.02us\" }\n";
    for k in 1..=3 {
        folder.sim(&format!("old-{k}"), k, "");
        folder.sim(&format!("new-{k}"), 10 + k, slower);
    }
    let sides = "--old old-1 old-2 old-3 --new new-1 new-2 new-3";
    let found = folder.compared(sides);
    assert!(found["gate"]["exit_code"] == 1 && cells(&found, "slower").is_empty(), "{found}");
    let all = &found["mean_changes"][0];
    assert_eq!((&all["cells"], &all["verdict"]), (&8.into(), &"slower".into()), "{all}");
    assert!((all["ratio"].as_f64().unwrap() - 1.02).abs() < 0.01, "{all}");
    for (format, expected) in [
        ("table", "  Worst  mean of all 8 cells: 1.0"),
        ("md", "| slower | all 8 cells | 1.0"),
        ("junit", "name=\"mean/all\"><failure type=\"slower\""),
        ("github", "::error title=mean slower%3A all 8 cells::1.0"),
    ] {
        folder.compare(&format!("{sides} --format {format}")).exits(1).prints(&[expected]);
    }
    // A change that does not count for a mean reports no regression, and neither does nothing.
    assert_ne!(folder.compare(&format!("{sides} --mean-threshold 5%")).code, 1);
    folder.write("gate.toml", "mean-threshold = \"5%\"\n");
    assert_ne!(folder.compare(&format!("{sides} --policy gate.toml")).code, 1);
}

#[test]
fn earlier_runs_let_one_run_per_side_detect_smaller_changes() {
    let folder = Folder::new();
    for k in 1..=5 {
        folder.sim(&format!("past-{k}"), k, "");
    }
    folder.sim("old", 6, "");
    folder.sim("new", 7, "[[rule]]\nop = \"fft\"\nvariant = \"host\"\nn = 8\ntime = \"220us\"\n");
    let slower = |rest: &str| {
        let found = folder.compared(&format!("old new {rest}"));
        (cells(&found, "slower").len(), text(&found["notes"][0]["text"]).starts_with("one run per side"))
    };
    assert_eq!(slower(""), (0, true));
    assert_eq!(slower("--history past-1 past-2 past-3 past-4 past-5"), (1, false));
}

#[test]
fn wrong_usage_and_unreadable_files_exit_2_with_advice_in_one_line() {
    let folder = Folder::new();
    folder.sim("old", 1, "");
    folder.write("broken.json", "{\"schema_version\": 2, \"rows\": [");
    for made in ["empty", "loose", "main", "results/baselines/main"] {
        std::fs::create_dir_all(folder.path().join(made)).unwrap();
    }
    for file in ["loose/run1.json", "loose/run2.json", "results/baselines/main/baseline.json"] {
        folder.write(file, "{}");
    }
    folder.refuses_each(
        "compare",
        "old => compare takes two reports
         => compare takes two reports
        old old old => compare takes two reports, not 3: OLD and NEW; for several per side write --old A B C
        old nowhere => cannot read nowhere
        old broken.json => not JSON
        old old --threshold 5 => '5' is not a percentage: write 5%, with the percent sign
        old old --mean-threshold 5 => with the percent sign
        old old --history old => is also a run of OLD or NEW
        old old --history nowhere => cannot read nowhere
        old old --format yaml => unknown format 'yaml'
        old old --format json,md => name a folder for several with --out
        old old --policy nowhere.toml => nowhere.toml
        --old old old --new old => are the same run
        --old old => --new
        --plan nowhere => cannot read nowhere
        --plan old --out gate => cannot be used with
        old old --slowdown 3% => cannot be used with '--slowdown <PERCENT>'
        --slowdown 3% => --plan
        old old --force => --out
        old empty => empty contains no report.json: give the folder of a run
        old results/baselines => or a baseline such as results/baselines/main",
    );
}

#[test]
fn files_go_into_a_folder_and_are_replaced_only_by_force() {
    let folder = Folder::new();
    folder.sim("old", 1, "");
    let line = "old old --out gate --format table,json,md,junit,csv,bmf,github-action-benchmark";
    let table = folder.compare(line).good().prints(&["pass"]).stdout;
    let kinds = ["benchmark.json", "bmf.json", "csv", "json", "junit.xml", "md", "txt"];
    assert_eq!(folder.names_in("gate"), kinds.map(|kind| format!("compare.{kind}")));
    assert_eq!(folder.read("gate/compare.txt"), table);
    folder.compare(line).exits(2).complains(&["--force"]);
    folder.compare(&format!("{line} --force")).good();
    // Without --format there are two, and each is written once.
    for (line, expected) in [
        ("old old --out two", "gpubench: wrote two/compare.txt\ngpubench: wrote two/compare.json\n"),
        ("old old --out one --format csv,csv", "gpubench: wrote one/compare.csv\n"),
    ] {
        assert_eq!(folder.compare(line).good().prints(&["pass"]).stderr, expected);
    }
    folder.compare("old old --out - --format json").json();
}

#[test]
fn an_unwritable_summary_changes_neither_annotations_nor_exit_code() {
    let folder = Folder::new();
    folder.sim("old", 1, "");
    folder.sim("new", 2, SLOWER);
    let mut command = folder.command("compare old new --threshold 20% --format github");
    let ended = Ended::of(command.env("GITHUB_STEP_SUMMARY", "nowhere/summary.md")).exits(1);
    let ended = ended.prints(&["::error"]).complains(&["cannot add the summary to nowhere/summary.md"]);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}

#[test]
fn a_plan_needs_more_runs_for_smaller_changes() {
    let folder = Folder::new();
    folder.sim("old", 1, "");
    let advice = "Name a larger --slowdown, lower the variation";
    let plan = folder.compare("--plan old --slowdown 3%").good();
    plan.prints(&["--threshold 1.5%", "assumed", advice]);
}

/// The path of a kept result.
fn kept(name: &str) -> String {
    format!("{}/tests/fixtures/gate/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn runs_of_a_real_machine_pass_as_they_are_and_fail_when_made_slower() {
    let folder = Folder::new();
    let compared =
        |new: &str| folder.compared(&format!("{} {} --accept-missing", kept("baseline"), kept(new)));
    let repeat = compared("repeat");
    assert!(repeat["gate"]["exit_code"] != 1 && cells(&repeat, "slower").is_empty());
    let tiled = compared("tiled");
    assert_eq!(tiled["gate"]["exit_code"], 1);
    assert_eq!(cells(&tiled, "slower"), ["matmul 1000 cublas", "matmul 2000 cublas"]);
    let half = compared("half");
    assert_eq!(half["gate"]["exit_code"], 1);
    assert_eq!(half["environment"][0]["fact"], "cpu-threads");
    assert!(cells(&half, "slower").len() >= 8, "{half}");
}

#[test]
fn a_gate_that_judged_nothing_does_not_pass() {
    let folder = Folder::new();
    folder.sim_of("matmul", 1, "", "--ops matmul --sizes 4");
    folder.sim_of("fft", 1, "", "--ops fft --sizes 4");
    for flags in ["--accept-missing --accept-inconclusive", "--cross-machine"] {
        folder.compare(&format!("matmul fft {flags}")).exits(2).prints(&["no cell has a time on both sides"]);
    }
    folder.sim("old", 1, "");
    folder.sim("new", 2, "");
    let mut report = folder.report("new");
    for row in report["rows"].as_array_mut().unwrap() {
        row["inputs"] = "0000000000000000".into();
    }
    folder.write("other.json", &report.to_string());
    let different = folder.compared("old other.json --accept-inconclusive --accept-missing");
    assert_eq!(different["gate"]["exit_code"], 2);
    folder.write("all.toml", "[[cell]]\nop = \"*\"\nignore = true\n");
    let ignored = folder.compared("old new --policy all.toml");
    assert_eq!(ignored["gate"]["exit_code"], 2);
    assert!(text(&ignored["gate"]["reason"]).contains("ignores every cell"));
}
