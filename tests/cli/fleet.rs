//! Fleets: `merge`, what reads its files, and runs on several devices; on kept reports and on the simulated device.

use std::time::Duration;

use serde_json::Value;

use super::{Ended, FAIR, Folder, GPUBENCH};

const RUN: &str =
    "run --ops matmul,fft --sizes 4,8,16 --backends sim --sim devices.toml --quiet --format table,json";

/// Four devices, of which the third is 12 % slower at a lower power limit; everything scatters by 0.5 %.
const DEVICES: &str = r#"
[[device]]
power_limit_w = 700
[[device]]
power_limit_w = 700
[[device]]
power_limit_w = 550
factor = 1.12
[[device]]
power_limit_w = 700
[[rule]]
noise = 0.005
"#;

fn four() -> Folder {
    let folder = Folder::new();
    folder.write("devices.toml", &(FAIR.to_owned() + DEVICES));
    folder
}

fn names(fleet: &Value) -> Vec<&str> {
    fleet["members"].as_array().unwrap().iter().map(|member| member["name"].as_str().unwrap()).collect()
}

/// A kept report of an H200.
fn kept(run: &str) -> String {
    format!("{}/tests/fixtures/quick/{run}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn two_kept_reports_are_merged_and_shown_side_by_side() {
    let folder = Folder::new();
    let (first, second) = (kept("first"), kept("second"));
    let ended = folder.run(&["merge", &first, &format!("{second}/report.json"), "-o", "m.json"]).good();
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains("m.json contains 2 reports"), "{}", ended.stderr);
    let merged = folder.json("m.json");
    assert_eq!(merged["fleet_version"], 1);
    for (member, run) in merged["members"].as_array().unwrap().iter().zip([first, second]) {
        let report = gpubench::report::file::load(std::path::Path::new(&run)).unwrap();
        let report = serde_json::to_value(report).unwrap();
        assert_eq!(member["report"]["environment"]["backends"], report["environment"]["backends"]);
        assert_eq!(
            member["report"]["rows"].as_array().map(Vec::len),
            report["rows"].as_array().map(Vec::len)
        );
        assert!(member["name"].as_str().unwrap().contains("GPU 0"), "{}", member["name"]);
    }
    let shown = folder.succeeds("show m.json");
    assert!(shown.stdout.starts_with("2 reports, 2 runs of 1 device, "), "{}", shown.stdout);
    for expected in ["1 x NVIDIA H200", "GPU: median time", "CPU: median time", "max/min", "matmul  "] {
        assert!(shown.stdout.contains(expected), "{expected}: {}", shown.stdout);
    }
    let csv = folder.succeeds("show m.json --format csv").stdout;
    assert!(csv.starts_with("op,dtype,cache,n,density,seed,"), "{csv}");
    let table: Value = serde_json::from_str(&folder.succeeds("show m.json --format json").stdout).unwrap();
    assert_eq!(table["tables"][0]["columns"].as_array().map(Vec::len), Some(2));
    folder.succeeds("plot m.json --out charts --format svg");
    let chart = std::fs::read_to_string(folder.path().join("charts/speedup-matmul-f32.svg")).unwrap();
    let run = names(&merged)[0].rsplit(' ').next().unwrap();
    assert!(chart.contains(run), "the label of a member, as far as it distinguishes runs");
    folder.refuses("show m.json --tables", "add --member NAME");
}

#[test]
fn names_can_be_given_members_taken_out_and_fleets_taken_apart() {
    let folder = Folder::new();
    let (first, second) = (kept("first"), kept("second"));
    assert_eq!(folder.run(&["merge", &first, "-o", "one.json", "--names", "left, side"]).code, 2);
    folder.run(&["merge", &first, "-o", "one.json", "--names", "left"]).good();
    folder.run(&["merge", "one.json", &second, "-o", "two.json"]).good();
    let two = folder.json("two.json");
    assert_eq!(names(&two)[0], "left");
    let out = folder.run(&["show", "two.json", "--member", "left", "--format", "json"]).good();
    folder.write("out.json", &out.stdout);
    folder.succeeds("show out.json");
    assert!(folder.run(&["merge", "two.json", "-o", "-"]).good().stdout.contains("\"fleet_version\": 1"));
    folder.refuses("show two.json --member lfet", "did you mean 'left'?");
    folder.refuses("merge two.json one.json -o x.json", "are the same report: name it once");
}

#[test]
fn invalid_merges_are_refused_in_one_line() {
    let folder = Folder::new();
    let run =
        "run --ops fft --sizes 4 --samples 6 --backends sim --sim fair.toml --quiet --format json --out";
    folder.succeeds(&format!("{run} a"));
    folder.succeeds(&format!("{run} b"));
    folder.succeeds("merge a b -o m.json");
    folder.write("text.json", "hello");
    for (line, expected) in [
        ("merge -o x.json", "required arguments"),
        ("merge a b", "--out"),
        ("merge a b -o m.json", "m.json exists: choose another file with --out, or replace it with --force"),
        ("merge a b -o a", "a is a folder: name a file in it, such as --out a/fleet.json"),
        ("merge a a/report.json -o x.json", "a and a/report.json are the same report: name it once"),
        ("merge a m.json -o x.json", "are the same report"),
        ("merge a absent -o x.json", "cannot read absent"),
        ("merge a text.json -o x.json", "text.json: not a JSON object"),
        ("merge a b -o x.json --names c", "--names: 1 name for 2 reports"),
        ("merge a b -o x.json --names c,c", "two members are named"),
        ("merge a b -o nowhere/x.json", "cannot write nowhere/x.json"),
        ("compare m.json a", "a fleet of reports"),
        ("trend m.json", "show FLEET --member NAME"),
        ("baseline save x --from m.json a", "a fleet of reports"),
    ] {
        folder.refuses(line, expected);
    }
    folder.succeeds("merge a b -o m.json --force");
}

#[test]
fn every_device_has_a_run_of_its_own_and_the_slow_one_is_reported() {
    let folder = four();
    let ended = folder.succeeds(&format!("{RUN} --device all --out out"));
    assert_eq!(ended.stderr, "");
    for device in 0..4 {
        let report = folder.json(&format!("out/gpu{device}/report.json"));
        assert_eq!(report["environment"]["settings"]["options"]["device"], device);
        assert_eq!(report["environment"]["backends"][0]["description"]["device"], device);
        assert_eq!(report["rows"].as_array().map(Vec::len), Some(12));
    }
    let fleet = folder.json("out/fleet.json");
    assert_eq!(fleet["members"].as_array().map(Vec::len), Some(4));
    assert!(names(&fleet)[2].ends_with(" GPU 2"), "{:?}", names(&fleet));
    assert!(ended.stdout.starts_with("4 reports, 4 devices, 1 host\n"), "{}", ended.stdout);
    let text: String = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("slower than the median of 3 similar devices"), "{}", ended.stdout);
    assert!(
        text.contains("different from the others: power limit 550 W instead of 700 W"),
        "{}",
        ended.stdout
    );
    assert_eq!(ended.stdout.matches(" GPU 2 is 1").count(), 1, "{}", ended.stdout);
    assert_eq!(folder.succeeds("show out").stdout, ended.stdout);
    folder.refuses("compare out out", "name those of one device, such as out/gpu0");
}

#[test]
fn devices_can_be_chosen_and_results_are_replaced_only_by_force() {
    let folder = four();
    folder.succeeds(&format!("{RUN} --device 0,2 --out out"));
    assert!(folder.path().join("out/gpu2/report.json").exists());
    assert!(!folder.path().join("out/gpu1").exists());
    let again = format!("{RUN} --device 0,2 --out out");
    folder.refuses(&again, "out already contains a fleet.json");
    folder.refuses(&format!("{RUN} --device 1 --out out"), "out already contains a fleet.json");
    folder.succeeds(&format!("{again} --force"));
    // One device is an ordinary run, whose folder holds no fleet any more.
    folder.succeeds(&format!("{RUN} --device 1 --out out --force"));
    assert!(!folder.path().join("out/fleet.json").exists());
    folder.succeeds(&format!("{again} --force"));
    assert!(!folder.path().join("out/report.json").exists());
}

#[test]
fn invalid_runs_on_several_devices_are_refused_before_any_work() {
    let folder = four();
    folder.write(
        "absent.toml",
        "[start]\noutcome = \"unavailable\"\nreason = \"no such device\"\nfix = \"plug it in\"\n[[variant]]\nname = \"x\"\n",
    );
    for (line, expected) in [
        (format!("{RUN} --device 0,4 --out x"), "there is no device 4: this machine has 4, numbered from 0"),
        (format!("{RUN} --device none --out x"), "0,2, or all"),
        ("run --ops fft --sizes 4 --backends cpu --device all --out x".into(), "add cuda to --backends"),
        (
            "run --ops fft --sizes 4 --backends sim --sim absent.toml --device all --out x".into(),
            "no device can be used: sim: no such device (plug it in)",
        ),
        (
            "run --ops fft --sizes 4 --backends sim --sim devices.toml --device all --out - --format json"
                .into(),
            "give --out a folder",
        ),
        (
            "baseline save x --ops fft --sizes 4 --backends sim --sim devices.toml --device all".into(),
            "only 'gpubench run' takes several devices",
        ),
    ] {
        folder.refuses(&line, expected);
    }
    let missing =
        "run --ops fft --sizes 4 --backends sim --sim fair.toml --device 1 --quiet --out - --format csv";
    let skipped = folder.run_line(missing);
    assert_eq!(skipped.code, 2, "nothing was measured");
    for text in [&skipped.stdout, &skipped.stderr] {
        assert!(text.contains("there is no simulated device 1"), "{text}");
    }
}

#[test]
fn the_worst_run_decides_the_exit_code_and_a_dry_run_touches_nothing() {
    let folder = four();
    let faulty = FAIR.to_owned() + "[[device]]\n[[device]]\n[[rule]]\nvariant = 'host'\noutcome = 'fail'\n";
    folder.write("faulty.toml", &faulty);
    let line = "run --ops fft --sizes 4 --backends sim --sim faulty.toml --quiet --format json --device all --out out";
    assert_eq!(folder.run_line(line).code, 1);
    let before = folder.names();
    let dry = folder.succeeds(&format!("{RUN} --device all --dry-run"));
    assert!(
        dry.stdout.ends_with("These cells are measured once per device (--device all).\n"),
        "{}",
        dry.stdout
    );
    assert_eq!(folder.names(), before);
}

#[test]
fn an_interrupt_ends_all_runs_and_finished_ones_are_merged() {
    let folder = Folder::new();
    let hanging =
        "[[device]]\n[[device]]\n[[device]]\n[[rule]]\nvariant = 'accelerator'\nn = 8\noutcome = 'hang'\n";
    folder.write("hanging.toml", &(FAIR.to_owned() + hanging));
    let line = "run --ops fft --sizes 4,8 --backends sim --sim hanging.toml --quiet --format json --device all --out out";
    folder.interrupted(line, "out/gpu0/report.json", Duration::ZERO);
    assert_eq!(folder.json("out/fleet.json")["members"].as_array().map(Vec::len), Some(1));
    let left = folder.names_in("out");
    assert_eq!(left.len(), 2, "no folder is left of the runs that were not made: {left:?}");
}

#[test]
fn a_folder_of_runs_and_an_unknown_member_are_refused_with_what_to_name() {
    let folder = Folder::new();
    for run in ["first", "second"] {
        folder.succeeds(&format!(
            "run --ops fft --sizes 4 --backends sim --sim fair.toml --quiet --format json --out runs/{run}"
        ));
    }
    for line in ["show runs", "merge runs -o x.json", "report runs -o x.html", "plot runs --out x"] {
        folder.refuses(
            line,
            "runs contains no report.json but folders of runs: name one, such as runs/first; ",
        );
    }
    folder.succeeds("merge runs/first runs/second -o fleet.json");
    let message = folder.run_line("show fleet.json --member absent").stderr;
    for name in names(&folder.json("fleet.json")) {
        assert!(message.contains(&format!("'{name}'")), "names that contain commas are quoted: {message}");
    }
}

/// A shell script of the documentation, run with this program and a stand-in for Slurm's `srun` on the PATH.
fn script(folder: &Folder, name: &str, variables: &[(&str, &str)]) -> Ended {
    let bin = folder.path().join("bin");
    if !bin.exists() {
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(GPUBENCH, bin.join("gpubench")).unwrap();
        folder.write("bin/srun", "#!/bin/sh\nshift\nexec \"$@\"\n");
        folder.shell("chmod +x bin/srun").good();
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let script = format!("{}/docs/fleet/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut command = folder.command_of("bash", &script);
    Ended::of(command.env("PATH", path).envs(variables.iter().copied()))
}

#[test]
fn the_scripts_for_slurm_measure_and_merge() {
    let folder = four();
    let sweep = "--ops fft --sizes 4,8 --backends sim --sim devices.toml --require sim --format json";
    for task in ["0", "1", "2"] {
        script(&folder, "slurm-array.sh", &[("SWEEP", sweep), ("SLURM_ARRAY_TASK_ID", task)]).good();
    }
    assert!(folder.path().join("results/fleet/2/report.json").exists());
    let merged = script(&folder, "slurm-merge.sh", &[]).good();
    assert!(merged.stdout.starts_with("3 reports, 3 devices, 1 host\n"), "{}", merged.stdout);
    // Without an array there is no task to name.
    assert_ne!(script(&folder, "slurm-array.sh", &[("SWEEP", sweep)]).code, 0);
}

#[test]
fn a_file_that_cannot_be_written_costs_no_other_device_its_run() {
    let folder = four();
    std::fs::create_dir_all(folder.path().join("out/gpu0/report.csv")).unwrap();
    let ended = folder.run_line(&format!("{RUN},csv --device all --force --out out"));
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("report.csv"), "{}", ended.stderr);
    assert_eq!(folder.json("out/fleet.json")["members"].as_array().map(Vec::len), Some(4));
}
