//! The plan of a run: sweep files, command line and `--dry-run`.

use super::{Folder, assert_contains, assert_lacks, items};

#[test]
fn a_dry_run_names_every_cell_with_its_work_and_creates_nothing() {
    let folder = Folder::new();
    let before = folder.names();
    let run = "run --ops matmul,spgemm --sizes 4..16:x2 --dtypes f32,f64 --backends sim --sim fair.toml --density 0.5 --dry-run";
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

#[test]
fn the_reader_of_a_long_plan_may_go_away() {
    let folder = Folder::new();
    let line = "run --ops fft --sizes 1..20000:+1 --backends sim --sim fair.toml --dry-run";
    assert_eq!(folder.shell(&format!("set -o pipefail; $G {line} | head -n 1")).good().stderr, "");
}

#[test]
fn a_list_of_ten_thousand_problems_is_planned_in_two_seconds() {
    let folder = Folder::new();
    let line = |index: u32| format!("{{\"op\":\"matmul\",\"m\":{index},\"n\":{},\"k\":7}}\n", 20_000 - index);
    folder.write("calls.jsonl", &(1..=10_000).map(line).collect::<String>());
    // Seconds of the processor, so that other tests next to this one do not count.
    let run =
        "ulimit -t 2; $G run --problems calls.jsonl --backends sim --sim fair.toml --dry-run | tail -n 1";
    let planned = folder.shell(&format!("set -o pipefail; {run}")).good().stdout;
    assert!(planned.contains("in 10000 cases"), "{planned}");
}

/// A sweep of two sizes on the simulated device that asks for refinement.
const REFINED: &str = "backends = 'sim'\nsim = 'fair.toml'\nops = 'matmul'\nsizes = [4, 64]\nrefine = true\n";

#[test]
fn the_passes_of_a_baseline_have_the_cells_of_the_plan_alone() {
    let folder = Folder::new();
    folder.write("mine.toml", REFINED);
    folder.succeeds("baseline save main --config mine.toml --samples 6 --quiet");
    let report = folder.report("results/baselines/main/pass-1");
    assert_eq!(report["environment"]["settings"]["refine"], false);
    assert_eq!(items(&report["rows"]).len(), 4);
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
