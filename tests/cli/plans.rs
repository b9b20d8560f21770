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

/// Returns whether this machine has files of an NVIDIA driver, so that CUDA belongs to every plan.
fn has_driver() -> bool {
    ["/proc/driver/nvidia", "/dev/nvidiactl", "/dev/nvmap", "/dev/nvhost-gpu", "/dev/dxg"]
        .iter()
        .any(|file| std::path::Path::new(file).exists())
}

#[test]
fn a_gpu_that_is_absent_and_not_asked_for_is_not_planned() {
    if has_driver() {
        return;
    }
    let folder = Folder::new();
    let dry = |line: &str| folder.succeeds(&format!("{line} --dry-run")).stdout;
    for line in ["run --ops matmul,fft --sizes 16", "run quick", "run --ops fft --sizes 16 --variants *"] {
        let planned = dry(line);
        assert!(!planned.contains("cuda/") && planned.contains("cpu/"), "{line}: {planned}");
        assert!(planned.contains("\nNo GPU found, so no cell of cuda is planned: "), "{line}: {planned}");
    }
    // Who names a backend, a variant of it, or anything else of a GPU, gets the reason per cell.
    for line in [
        "run --ops matmul --sizes 16 --backends cpu,cuda",
        "run --ops matmul --sizes 16 --backends all",
        "run --ops matmul --sizes 16 --variants cublas,faer",
        "run --ops matmul --sizes 16 --versus cpu:cuda",
        "run --ops matmul --sizes 16 --device 0",
    ] {
        let planned = dry(line);
        assert!(planned.contains("cuda/") && !planned.contains("No GPU found"), "{line}: {planned}");
    }
    folder.write("mine.toml", "[[sweep]]\nops = 'matmul'\nsizes = 16\nbackends = ['cpu', 'cuda']\n");
    assert!(dry("run --config mine.toml").contains("cuda/"));

    let run = "run --ops matmul --sizes 16 --samples 3 --no-peaks --quiet --format table,json";
    let shown = folder.succeeds(&format!("{run} -o out")).stdout;
    assert!(shown.starts_with("No GPU found (gpubench doctor)."), "{shown}");
    let report = folder.json("out/report.json");
    assert!(report["rows"].as_array().unwrap().iter().all(|row| row["backend"] == "cpu"), "{report}");
    assert_eq!(report["environment"]["planned_rows"], report["rows"].as_array().unwrap().len());
    let backends = report["environment"]["backends"].as_array().unwrap();
    let cuda = backends.iter().find(|backend| backend["name"] == "cuda").unwrap();
    assert!(cuda["available"] == false && cuda["reason"].is_string(), "{cuda}");
    assert!(folder.succeeds("show out").stdout.starts_with("No GPU found ("));
    let resumed = folder.succeeds("run --resume out --dry-run").stdout;
    assert!(resumed.contains("No GPU found") && !resumed.contains("cuda/"), "{resumed}");
}

#[test]
fn the_expected_time_is_a_narrow_range_and_says_what_it_rests_on() {
    let folder = Folder::new();
    let (cpu, work) = ("--backends cpu --no-peaks --dry-run", "That rests on the work of the cells");
    let seconds = |text: &str| {
        let (value, unit) = text.trim().split_once(' ').unwrap();
        value.parse::<f64>().unwrap()
            * [("s", 1.0), ("min", 60.0), ("h", 3600.0)].iter().find(|(name, _)| *name == unit).unwrap().1
    };
    for sweep in ["quick", "article", "--ops elementwise,fft,solve --sizes 100,200,400"] {
        let out = folder.succeeds(&format!("run {sweep} {cpu}")).stdout;
        let range = out.lines().find_map(|line| line.strip_prefix("The run takes about ")).unwrap();
        let (least, most) = range.trim_end_matches('.').split_once(" to ").unwrap();
        // Without known peaks, those of usual machines widen it.
        assert!(seconds(most) < 4.0 * seconds(least), "{sweep}: {range}");
        assert!(out.contains(work) && out.contains("since no run has measured the peaks here"), "{out}");
    }
    let out = folder.succeeds("run quick --backends cpu --budget 1m30s --dry-run").stdout;
    assert!(!out.contains(work), "a budget decides: {out}");
}
