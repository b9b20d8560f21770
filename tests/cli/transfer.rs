//! `--transfer`: copies with pageable and with pinned host memory, side by side or alone.

use serde_json::Value;

use super::{Folder, assert_contains, flat, items};

/// The GPU is slower than the CPU with pageable memory and faster with pinned memory, at N = 2048; at N = 64 it is slower
/// with both.
const SCRIPT: &str = "
variant = [{ name = 'host', side = 'cpu' }, { name = 'accelerator' }]
rule = [
    { variant = 'host', time = { per_element = '1.5ns', exponent = 2 } },
    { variant = 'accelerator', time = { base = '8us', per_element = '0.03ns', exponent = 2 } },
]
[peaks]
upload = { pageable = 5e9, pinned = 50e9 }
download = { pageable = 5e9, pinned = 50e9 }
";

const RUN: &str = "run --ops sin --sizes 64,2048 --samples 6 --backends sim --sim copies.toml --quiet";

/// Runs `options` after those of every run, and returns the folder with the run in `made`, and the screen.
fn run(script: &str, options: &str) -> (Folder, String) {
    let folder = Folder::new();
    folder.write("copies.toml", script);
    folder.succeeds(&format!("{RUN} --out made {options}"));
    let screen = folder.succeeds("show made").stdout;
    (folder, screen)
}

/// The phases of the GPU's row at N = 2048.
fn phases(report: &Value) -> Value {
    items(&report["rows"]).iter().find(|row| row["n"] == 2048 && row["side"] == "gpu").unwrap()["phases"]
        .clone()
}

/// The host seconds of the first repetition of a copy.
fn seconds(copy: &Value) -> f64 {
    copy["host_s"][0].as_f64().unwrap()
}

#[test]
fn both_kinds_of_memory_are_measured_by_default() {
    let (folder, screen) = run(SCRIPT, "--format json,csv");
    assert_contains(&flat(&screen), &[" pageable from N pinned ", "GPU 7.63x"]);
    assert!(folder.read("made/report.csv").contains("upload_pinned_host_s"));
    let report = folder.report("made");
    assert_eq!(report["environment"]["settings"]["options"]["transfer"], "both");
    let phases = phases(&report);
    for way in ["upload", "download"] {
        let (pageable, pinned) = (&phases[way], &phases["pinned"][way]);
        assert_eq!((&pageable["memory"], &pinned["memory"]), (&"pageable".into(), &"pinned".into()));
        assert_eq!((pageable["bytes"].as_u64(), pinned["bytes"].as_u64()), (Some(16 << 20), Some(16 << 20)));
        assert!(seconds(pageable) > 9.0 * seconds(pinned), "{phases}");
    }
    let speed_ups = &report["answer"]["sections"][0]["sizes"][1]["speed_ups"];
    let ratio = |kind: &str| speed_ups[kind]["ratio"]["value"].as_f64().unwrap();
    assert!(ratio("end_to_end") < 1.0 && ratio("end_to_end_pinned") > 1.0, "{speed_ups}");
}

#[test]
fn one_kind_of_memory_alone_is_named_by_the_legend_and_compared_with_a_run_of_both() {
    let (folder, _) = run(SCRIPT, "--format json");
    for memory in ["pageable", "pinned"] {
        folder.succeeds(&format!("{RUN} --out {memory} --transfer {memory} --format json"));
        let screen = folder.succeeds(&format!("show {memory}")).stdout;
        let report = folder.report(memory);
        let phases = phases(&report);
        assert_eq!((&phases["upload"]["memory"], phases.get("pinned")), (&memory.into(), None));
        let kinds = report["answer"]["sections"][0]["sizes"][1]["speed_ups"].as_object().unwrap();
        assert_eq!(kinds.keys().collect::<Vec<_>>(), ["end_to_end", "kernel", "resident"]);
        assert_contains(&flat(&screen), &[&format!(" op N {memory} from N or plain ")]);
    }
    for (new, warns) in [("made", false), ("pinned", true)] {
        let ended = folder.run_line(&format!("compare pageable {new} --format json"));
        assert_eq!(ended.stdout.contains("\"transfer\""), warns, "{}", ended.stdout);
    }
    folder.refuses(&format!("{RUN} --transfer pined --out never"), "did you mean 'pinned'?");
}

#[test]
fn memory_that_cannot_be_locked_costs_the_pinned_copies_and_no_cell() {
    let scarce = format!("{SCRIPT}[[device]]\nlockable_bytes = 1000000\n");
    let (folder, _) = run(&scarce, "--format json");
    let report = folder.report("made");
    assert!(phases(&report).get("pinned").is_none());
    let rows = items(&report["rows"]);
    assert!(rows.iter().all(|row| row["outcome"] == "measured"), "{report}");
    let small = rows.iter().find(|row| row["n"] == 64 && row["side"] == "gpu").unwrap();
    assert!(small["phases"]["pinned"].is_object(), "so little memory can be locked");
    folder.run_line(&format!("{RUN} --out again --transfer pinned")).exits(1);
    assert_contains(&folder.read("again/report.json"), &["page-locked host memory"]);
}
