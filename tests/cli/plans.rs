//! The plan of a run: sweep files, command line and `--dry-run`.

use super::{Ended, Folder};

#[test]
fn a_dry_run_names_every_cell_with_its_work_and_creates_nothing() {
    let folder = Folder::new();
    let before = folder.names();
    let ended = folder.run_line(
        "run --ops matmul,spgemm --sizes 4..16:x2 --dtypes all --backends sim --sim fair.toml --density 0.5 --dry-run",
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 3 * 2 * 2 + 1);
    let fields: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(fields, ["matmul", "4", "f32", "-", "sim/host", "1.280e2", "1.920e2"]);
    assert!(lines[13].contains("spgemm") && lines[13].contains("0.5"), "{}", lines[13]);
    assert!(lines[25].starts_with("24 cells in 12 cases"), "{}", lines[25]);
    assert_eq!(folder.names(), before);
}

/// Returns the line of a dry run that says how long the run takes.
fn expected_time(folder: &Folder, line: &str) -> Option<String> {
    let out = folder.succeeds(&format!("{line} --dry-run")).stdout;
    out.lines().find(|line| line.contains(" takes about ")).map(str::to_owned)
}

#[test]
fn a_dry_run_says_about_how_long_the_run_takes() {
    let folder = Folder::new();
    let of = |line: &str| expected_time(&folder, line).unwrap();
    let quick = of("run");
    assert!(quick.starts_with("The run takes about "), "{quick}");
    assert!(quick.ends_with(", with the peaks, which are measured once per machine."), "{quick}");
    let no_peaks = of("run --no-peaks --backends cpu");
    assert!(no_peaks.contains(" to ") && !no_peaks.contains("peaks"), "{no_peaks}");
    assert_eq!(
        of("run --budget 1s"),
        "The run takes about 1 s, with the peaks, which are measured once per machine."
    );
    assert!(of("run --device all").starts_with("The run of each device takes about "));
    assert_eq!(expected_time(&folder, "run --ops fft --backends sim --sim fair.toml"), None);
}

#[test]
fn the_reader_of_a_long_plan_may_go_away() {
    let folder = Folder::new();
    let line = "run --ops fft --sizes 1..20000:+1 --backends sim --sim fair.toml --dry-run";
    assert_eq!(folder.shell(&format!("set -o pipefail; $G {line} | head -n 1")).good().stderr, "");
}

/// A sweep of two sizes on the simulated device that asks for refinement.
const REFINED: &str = "backends = 'sim'\nsim = 'fair.toml'\nops = 'matmul'\nsizes = [4, 64]\nrefine = true\n";

#[test]
fn a_dry_run_says_how_many_cells_refinement_may_add() {
    let folder = Folder::new();
    folder.write("mine.toml", REFINED);
    let may_add = |line: &str| {
        let out = folder.run_line(&format!("{line} --dry-run")).stdout;
        out.lines().find_map(|line| Some(line.strip_prefix("Refinement may add up to ")?.to_owned()))
    };
    let eight = Some("8 cells near crossovers (--no-refine prevents it).".to_owned());
    assert_eq!(may_add("run --config mine.toml"), eight);
    assert_eq!(may_add("run --config mine.toml --no-refine"), None);
    assert_eq!(may_add("run --config mine.toml --sizes 4"), None, "one size has no crossover");
    let sim = "--backends sim --sim fair.toml --ops matmul";
    assert_eq!(may_add(&format!("run {sim} --sizes 4,64")), None, "only the sizes that were named");
    assert_eq!(may_add(&format!("run {sim} --sizes 4,64 --refine")), eight);
    assert!(may_add(&format!("run {sim} --config article")).is_some(), "a built-in sweep refines");
    assert_eq!(may_add(&format!("run {sim} --config article --sizes 4,64")), None);
    folder.refuses("run --refine --no-refine", "cannot be used with");
}

#[test]
fn the_passes_of_a_baseline_have_the_cells_of_the_plan_alone() {
    let folder = Folder::new();
    folder.write("mine.toml", REFINED);
    folder.succeeds("baseline save main --config mine.toml --samples 6 --quiet");
    let report = folder.json("results/baselines/main/pass-1/report.json");
    assert_eq!(report["environment"]["settings"]["refine"], false);
    assert_eq!(report["rows"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_dry_run_marks_what_cannot_run_and_does_not_count_its_time() {
    let folder = Folder::new();
    let run = |line: &str| {
        let ended = Ended::of(folder.command(line).env("GPUBENCH_MKL", "/nowhere/libmkl_rt.so.2"));
        (ended.stdout, ended.stderr)
    };
    let time = |out: &str| out.lines().find(|line| line.contains(" takes about ")).map(str::to_owned);
    let of = |sizes, variants| {
        run(&format!(
            "run --backends cpu --ops matmul --sizes {sizes} --variants {variants} --no-peaks --dry-run"
        ))
        .0
    };
    let small = of("16", "faer");
    assert!(!small.contains("cannot run") && time(&small).is_some(), "{small}");
    let mixed = of("16,1000000", "faer,mkl");
    assert_eq!(time(&mixed), time(&small), "{mixed}");
    assert_eq!(mixed.matches("  cannot run: needs 10.91 TiB of host memory, ").count(), 1, "{mixed}");
    let missing = "  cannot run: GPUBENCH_MKL=/nowhere/libmkl_rt.so.2 cannot be used: ";
    assert_eq!(mixed.matches(missing).count(), 2, "{mixed}");
    assert!(
        mixed.contains("\n3 cells cannot run here.\n") && mixed.contains("\n4 cells in 2 cases."),
        "{mixed}"
    );
    let huge = of("1000000", "faer");
    assert!(huge.contains("\nNone of 1 cell can run here.\n") && time(&huge).is_none(), "{huge}");
    let (_, ran) = run(
        "run --backends cpu --ops matmul --sizes 1000000 --variants faer --no-peaks --format json --out ran",
    );
    assert!(ran.contains("needs 10.91 TiB of host memory, "), "the run skips it for the same reason: {ran}");
}

#[test]
fn a_dry_run_marks_the_cells_of_a_gpu_that_is_not_there() {
    let folder = Folder::new();
    let line = "run --backends cpu,cuda --ops matmul --sizes 16 --variants faer,cublas --no-peaks";
    let dry = folder.succeeds(&format!("{line} --dry-run")).stdout;
    folder.run_line(&format!("{line} --samples 3 --format json --out ran"));
    let report = folder.json("ran/report.json");
    for row in report["rows"].as_array().unwrap() {
        let name = format!("{}/{}", row["backend"].as_str().unwrap(), row["variant"].as_str().unwrap());
        let listed = dry.lines().find(|line| line.contains(&name)).unwrap();
        match row["outcome"].as_str().unwrap() {
            "skipped" => assert!(
                listed.ends_with(&format!("cannot run: {}", row["reason"].as_str().unwrap())),
                "{listed}"
            ),
            _ => assert!(!listed.contains("cannot run"), "{listed}"),
        }
    }
}
