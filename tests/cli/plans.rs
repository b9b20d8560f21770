//! The plan of a run: sweep files, command line and `--dry-run`.

use super::{Ended, Folder, assert_contains, assert_lacks, items};

#[test]
fn a_dry_run_names_every_cell_with_its_work_and_creates_nothing() {
    let folder = Folder::new();
    let before = folder.names();
    let run = "run --ops matmul,spgemm --sizes 4..16:x2 --dtypes all --backends sim --sim fair.toml --density 0.5 --dry-run";
    let ended = folder.succeeds(run);
    assert_eq!(ended.stderr, "");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 3 * 2 * 2 + 1);
    let fields: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(fields, ["matmul", "4", "f32", "-", "sim/host", "1.280e2", "1.920e2"]);
    assert!(lines[13].contains("spgemm") && lines[13].contains("0.5"), "{}", lines[13]);
    assert!(lines[25].starts_with("24 cells in 12 cases"), "{}", lines[25]);
    assert_eq!(folder.names(), before);
}

/// Returns the line of a dry run that says how long the run takes.
fn time(out: &str) -> Option<&str> {
    out.lines().find(|line| line.contains(" takes about "))
}

#[test]
fn a_dry_run_says_about_how_long_the_run_takes() {
    let folder = Folder::new();
    let of = |line: &str| {
        let out = folder.succeeds(&format!("run --dry-run {line}")).stdout;
        time(&out).unwrap_or_default().to_owned()
    };
    let (quick, peaks) = (of(""), ", with the peaks, which are measured once per machine.");
    assert!(quick.starts_with("The run takes about ") && quick.ends_with(peaks), "{quick}");
    let no_peaks = of("--no-peaks --backends cpu");
    assert!(no_peaks.contains(" to ") && !no_peaks.contains("peaks"), "{no_peaks}");
    assert_eq!(of("--budget 1s"), format!("The run takes about 1 s{peaks}"));
    assert!(of("--device all").starts_with("The run of each device takes about "));
    assert_eq!(of("--ops fft --backends sim --sim fair.toml"), "");
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
        let out = folder.run_line(&format!("run --dry-run {line}")).stdout;
        out.lines().find_map(|line| Some(line.strip_prefix("Refinement may add up to ")?.to_owned()))
    };
    let eight = Some("8 cells near crossovers (--no-refine prevents it).".to_owned());
    assert_eq!(may_add("--config mine.toml"), eight);
    assert_eq!(may_add("--config mine.toml --no-refine"), None);
    assert_eq!(may_add("--config mine.toml --sizes 4"), None, "one size has no crossover");
    let sim = "--backends sim --sim fair.toml --ops matmul";
    assert_eq!(may_add(&format!("{sim} --sizes 4,64")), None, "only the sizes that were named");
    assert_eq!(may_add(&format!("{sim} --sizes 4,64 --refine")), eight);
    assert!(may_add(&format!("{sim} --config article")).is_some(), "a built-in sweep refines");
    assert_eq!(may_add(&format!("{sim} --config article --sizes 4,64")), None);
    folder.refuses("run --refine --no-refine", "cannot be used with");
}

#[test]
fn the_passes_of_a_baseline_have_the_cells_of_the_plan_alone() {
    let folder = Folder::new();
    folder.write("mine.toml", REFINED);
    folder.succeeds("baseline save main --config mine.toml --samples 6 --quiet");
    let report = folder.report("results/baselines/main/pass-1");
    assert_eq!(report["environment"]["settings"]["refine"], false);
    assert_eq!(items(&report["rows"]).len(), 4);
}

#[test]
fn a_dry_run_marks_what_cannot_run_and_does_not_count_its_time() {
    let folder = Folder::new();
    let run = |options: &str| {
        let mut command = folder.command(&format!("run --backends cpu --ops matmul --no-peaks {options}"));
        Ended::of(command.env("GPUBENCH_MKL", "/nowhere/libmkl_rt.so.2"))
    };
    let of = |sizes, variants| run(&format!("--sizes {sizes} --variants {variants} --dry-run")).stdout;
    let (small, mixed, huge) = (of("16", "faer"), of("16,1000000", "faer,mkl"), of("1000000", "faer"));
    assert!(!small.contains("cannot run") && time(&small).is_some(), "{small}");
    assert_eq!(time(&mixed), time(&small), "{mixed}");
    assert_eq!(mixed.matches("  cannot run: needs 10.91 TiB of host memory, ").count(), 1, "{mixed}");
    let missing = "  cannot run: GPUBENCH_MKL=/nowhere/libmkl_rt.so.2 cannot be used: ";
    assert_eq!(mixed.matches(missing).count(), 2, "{mixed}");
    assert_contains(&mixed, &["\n3 cells cannot run here.\n", "\n4 cells in 2 cases."]);
    assert!(huge.contains("\nNone of 1 cell can run here.\n") && time(&huge).is_none(), "{huge}");
    // The run skips it for the same reason.
    run("--sizes 1000000 --variants faer --format json --out ran")
        .complains(&["needs 10.91 TiB of host memory, "]);
}

#[test]
fn a_dry_run_marks_the_cells_of_a_gpu_that_is_not_there() {
    let folder = Folder::new();
    let line = "run --backends cpu,cuda --ops matmul --sizes 16 --variants faer,cublas --no-peaks";
    let dry = folder.succeeds(&format!("{line} --dry-run")).stdout;
    folder.run_line(&format!("{line} --samples 3 --format json --out ran"));
    for row in folder.rows("ran") {
        let [backend, variant] = ["backend", "variant"].map(|key| row[key].as_str().unwrap());
        let listed = dry.lines().find(|line| line.contains(&format!("{backend}/{variant}"))).unwrap();
        match row["reason"].as_str().filter(|_| row["outcome"] == "skipped") {
            Some(reason) => assert!(listed.ends_with(&format!("cannot run: {reason}")), "{listed}"),
            None => assert_lacks(listed, &["cannot run"]),
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
    let no_gpu = "\nNo GPU found, so no cell of cuda is planned: ";
    for line in ["run --ops matmul,fft --sizes 16", "run quick", "run --ops fft --sizes 16 --variants *"] {
        let planned = dry(line);
        assert_contains(&planned, &["cpu/", no_gpu]);
        assert_lacks(&planned, &["cuda/"]);
    }
    // Who names a backend, a variant of it, or anything else of a GPU, gets the reason per cell.
    let named = [
        "--backends cpu,cuda",
        "--backends all",
        "--variants cublas,faer",
        "--versus cpu:cuda",
        "--device 0",
    ];
    for options in named {
        let planned = dry(&format!("run --ops matmul --sizes 16 {options}"));
        assert_contains(&planned, &["cuda/"]);
        assert_lacks(&planned, &["No GPU found"]);
    }
    folder.write("mine.toml", "[[sweep]]\nops = 'matmul'\nsizes = 16\nbackends = ['cpu', 'cuda']\n");
    assert!(dry("run --config mine.toml").contains("cuda/"));

    let run = "run --ops matmul --sizes 16 --samples 3 --no-peaks --quiet --format table,json";
    let shown = folder.succeeds(&format!("{run} -o out")).stdout;
    assert!(shown.starts_with("No GPU found (gpubench doctor)."), "{shown}");
    let report = folder.report("out");
    let (rows, environment) = (items(&report["rows"]), &report["environment"]);
    assert!(rows.iter().all(|row| row["backend"] == "cpu"), "{report}");
    assert_eq!(environment["planned_rows"], rows.len());
    let cuda = items(&environment["backends"]).iter().find(|backend| backend["name"] == "cuda").unwrap();
    assert!(cuda["available"] == false && cuda["reason"].is_string(), "{cuda}");
    assert!(folder.succeeds("show out").stdout.starts_with("No GPU found ("));
    let resumed = dry("run --resume out");
    assert_contains(&resumed, &["No GPU found"]);
    assert_lacks(&resumed, &["cuda/"]);
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
        assert_contains(&out, &[work, "since no run has measured the peaks here"]);
    }
    let out = folder.succeeds("run quick --backends cpu --budget 1m30s --dry-run").stdout;
    assert!(!out.contains(work), "a budget decides: {out}");
}
