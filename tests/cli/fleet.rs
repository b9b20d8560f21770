//! Fleets: `merge`, what reads its files, and runs on several devices; on kept reports and on the simulated device.

use std::time::Duration;

use serde_json::Value;

use super::{Ended, FAIR, Folder, GPUBENCH, assert_contains, flat, items};

const RUN: &str =
    "run --ops matmul,fft --sizes 4,8,16 --backends sim --sim devices.toml --quiet --format table,json";

/// Four devices, of which the third is 12 % slower at a lower power limit; everything scatters by 0.5 %.
const DEVICES: &str = "
device = [
    { power_limit_w = 700 },
    { power_limit_w = 700 },
    { power_limit_w = 550, factor = 1.12 },
    { power_limit_w = 700 },
]
rule = [{ noise = 0.005 }]
";

/// A folder with `script.toml`: the two right variants, and `more`.
fn scripted(name: &str, more: &str) -> Folder {
    let folder = Folder::new();
    folder.write(name, &(FAIR.to_owned() + more));
    folder
}

fn four() -> Folder {
    scripted("devices.toml", DEVICES)
}

fn members(fleet: &Value) -> usize {
    items(&fleet["members"]).len()
}

fn names(fleet: &Value) -> Vec<&str> {
    items(&fleet["members"]).iter().map(|member| member["name"].as_str().unwrap()).collect()
}

/// A kept report of an H200.
fn kept(run: &str) -> String {
    format!("{}/tests/fixtures/quick/{run}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn two_kept_reports_are_merged_and_shown_side_by_side() {
    let folder = Folder::new();
    let (first, second) = (kept("first"), kept("second"));
    let ended = folder.succeeds(&format!("merge {first} {second}/report.json -o m.json"));
    assert_eq!(ended.complains(&["m.json contains 2 reports"]).stdout, "");
    let merged = folder.json("m.json");
    assert_eq!(merged["fleet_version"], 1);
    for (member, run) in items(&merged["members"]).iter().zip([first, second]) {
        let report = gpubench::report::file::load(std::path::Path::new(&run)).unwrap();
        let report = serde_json::to_value(report).unwrap();
        assert_eq!(member["report"]["environment"]["backends"], report["environment"]["backends"]);
        assert_eq!(items(&member["report"]["rows"]).len(), items(&report["rows"]).len());
        assert!(member["name"].as_str().unwrap().contains("GPU 0"), "{}", member["name"]);
    }
    let shown = folder.succeeds("show m.json");
    assert!(shown.stdout.starts_with("2 reports, 2 runs of 1 device, "), "{}", shown.stdout);
    shown.prints(&["1 x NVIDIA H200", "GPU: median time", "CPU: median time", "max/min", "matmul  "]);
    let csv = folder.succeeds("show m.json --format csv").stdout;
    assert!(csv.starts_with("op,dtype,cache,n,shape,density,matrix,seed,"), "{csv}");
    let table = folder.succeeds("show m.json --format json").json();
    assert_eq!(items(&table["tables"][0]["columns"]).len(), 2);
    folder.succeeds("plot m.json --out charts --format svg");
    let run = names(&merged)[0].rsplit(' ').next().unwrap();
    let has_run = folder.read("charts/speedup-matmul-f32.svg").contains(run);
    assert!(has_run, "the label of a member, as far as it distinguishes runs");
    folder.refuses("show m.json --tables", "add --member NAME");
}

#[test]
fn names_can_be_given_members_taken_out_and_fleets_taken_apart() {
    let folder = Folder::new();
    let (first, second) = (kept("first"), kept("second"));
    folder.run(&["merge", &first, "-o", "one.json", "--names", "left, side"]).exits(2);
    folder.succeeds(&format!("merge {first} -o one.json --names left"));
    folder.succeeds(&format!("merge one.json {second} -o two.json"));
    assert_eq!(names(&folder.json("two.json"))[0], "left");
    folder.write("out.json", &folder.succeeds("show two.json --member left --format json").stdout);
    folder.succeeds("show out.json");
    folder.succeeds("merge two.json -o -").prints(&["\"fleet_version\": 1"]);
    folder.refuses("show two.json --member lfet", "did you mean 'left'?");
    folder.refuses("merge two.json one.json -o x.json", "are the same report: name it once");
}

#[test]
fn invalid_merges_are_refused_in_one_line() {
    let folder = Folder::new();
    folder.fair("--ops fft --sizes 4", "a");
    folder.fair("--ops fft --sizes 4", "b");
    folder.succeeds("merge a b -o m.json");
    folder.write("text.json", "hello");
    folder.refuses_each(
        "",
        "merge -o x.json => required arguments
        merge a b => --out
        merge a b -o m.json => m.json exists: name another file with --out, or replace it with --force
        merge a b -o a => a is a folder: name a file in it, such as --out a/fleet.json
        merge a a/report.json -o x.json => a and a/report.json are the same report: name it once
        merge a text.json -o x.json => text.json: not a JSON object
        merge a b -o x.json --names c => --names: 1 name for 2 reports
        merge a b -o nowhere/x.json => cannot write nowhere/x.json
        compare m.json a => a fleet of reports
        trend m.json => show FLEET --member NAME
        baseline save x --from m.json a => a fleet of reports",
    );
    folder.succeeds("merge a b -o m.json --force");
}

#[test]
fn every_device_has_a_run_of_its_own_and_the_slow_one_is_reported() {
    let folder = four();
    let ended = folder.succeeds(&format!("{RUN} --device all --out out"));
    assert_eq!(ended.stderr, "");
    for device in 0..4 {
        let report = folder.report(&format!("out/gpu{device}"));
        assert_eq!(report["environment"]["settings"]["options"]["device"], device);
        assert_eq!(report["environment"]["backends"][0]["description"]["device"], device);
        assert_eq!(items(&report["rows"]).len(), 12);
    }
    let fleet = folder.json("out/fleet.json");
    assert_eq!(members(&fleet), 4);
    assert!(names(&fleet)[2].ends_with(" GPU 2"), "{:?}", names(&fleet));
    assert!(ended.stdout.starts_with("4 reports, 4 devices, 1 host\n"), "{}", ended.stdout);
    let (slow, limit) = ("slower than the median of 3 similar devices", "power-limit 550 W instead of 700 W");
    assert_contains(&flat(&ended.stdout), &[slow, &format!("different from the others: {limit}")]);
    assert_eq!(ended.stdout.matches(" GPU 2 is 1").count(), 1, "{}", ended.stdout);
    assert_eq!(folder.succeeds("show out").stdout, ended.stdout);
    folder.refuses("compare out out", "name those of one device, such as out/gpu0");
}

#[test]
fn devices_can_be_chosen_and_results_are_replaced_only_by_force() {
    let folder = four();
    let run = format!("{RUN} --out out --device");
    folder.succeeds(&format!("{run} 0,2"));
    assert!(folder.has("out/gpu2/report.json") && !folder.has("out/gpu1"));
    folder.refuses(&format!("{run} 0,2"), "out already contains a fleet.json");
    folder.refuses(&format!("{run} 1"), "out already contains a fleet.json");
    folder.succeeds(&format!("{run} 0,2 --force"));
    // One device is an ordinary run, whose folder holds no fleet any more.
    folder.succeeds(&format!("{run} 1 --force"));
    assert!(!folder.has("out/fleet.json"));
    folder.succeeds(&format!("{run} 0,2 --force"));
    assert!(!folder.has("out/report.json"));
}

#[test]
fn invalid_runs_on_several_devices_are_refused_before_any_work() {
    let folder = four();
    folder.write(
        "absent.toml",
        "[start]\noutcome = \"unavailable\"\nreason = \"no such device\"\nfix = \"plug it in\"\n[[variant]]\nname = \"x\"\n",
    );
    folder.refuses_each(
        "",
        "run --ops fft --sizes 4 --backends sim --sim devices.toml --device 0,4 --out x => there is no device 4: this machine \
         has 4, numbered from 0
        run --ops fft --sizes 4 --backends sim --sim devices.toml --device none --out x => 0,2, or all
        run --ops fft --sizes 4 --backends cpu --device all --out x => add cuda to --backends
        run --ops fft --sizes 4 --backends sim --sim absent.toml --device all --out x => no device can be used: sim: no such \
         device (plug it in)
        run --ops fft --sizes 4 --backends sim --sim devices.toml --device all --out - --format json => give --out a folder
        baseline save x --ops fft --sizes 4 --backends sim --sim devices.toml --device all => only 'gpubench run' takes \
         several devices",
    );
    let missing =
        "run --ops fft --sizes 4 --backends sim --sim fair.toml --device 1 --quiet --out - --format csv";
    let reason = ["there is no simulated device 1"];
    folder.run_line(missing).exits(2).prints(&reason).complains(&reason);
}

#[test]
fn the_worst_run_decides_the_exit_code_and_a_dry_run_touches_nothing() {
    let folder = scripted(
        "devices.toml",
        "[[device]]\n[[device]]\n[[rule]]\nop = 'fft'\nvariant = 'host'\noutcome = 'fail'\n",
    );
    folder.run_line(&format!("{RUN} --device all --out out")).exits(1);
    let before = folder.names();
    let dry = folder.succeeds(&format!("{RUN} --device all --dry-run")).stdout;
    assert!(dry.ends_with("These cells are measured once per device (--device all).\n"), "{dry}");
    assert_eq!(folder.names(), before);
}

#[test]
fn an_interrupt_ends_all_runs_and_finished_ones_are_merged() {
    let hanging =
        "[[device]]\n[[device]]\n[[device]]\n[[rule]]\nvariant = 'accelerator'\nn = 8\noutcome = 'hang'\n";
    let folder = scripted("hanging.toml", hanging);
    let line = "run --ops fft --sizes 4,8 --backends sim --sim hanging.toml --quiet --format json --device all --out out";
    folder.interrupted(line, "out/gpu0/report.json", Duration::ZERO);
    assert_eq!(members(&folder.json("out/fleet.json")), 1);
    let left = folder.names_in("out");
    assert_eq!(left.len(), 2, "no folder is left of the runs that were not made: {left:?}");
}

#[test]
fn a_folder_of_runs_and_an_unknown_member_are_refused_with_what_to_name() {
    let folder = Folder::new();
    folder.fair("--ops fft --sizes 4", "runs/first");
    folder.fair("--ops fft --sizes 4", "runs/second");
    let expected = "runs contains no report.json but folders of runs: name one, such as runs/first; ";
    ["show runs", "merge runs -o x.json"].iter().for_each(|line| folder.refuses(line, expected));
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
    assert!(folder.has("results/fleet/2/report.json"));
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
    ended.exits(2).complains(&["report.csv"]);
    assert_eq!(members(&folder.json("out/fleet.json")), 4);
}
