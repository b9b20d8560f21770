mod sides;

use gpubench_report::report::{Environment, QuotaPauses, Report, example, variables};
use serde_json::{Value, json};

use super::*;
use crate::compare::Run;

/// A report with times on both sides and all facts that a run on a real machine records.
fn report() -> Report {
    let mut report = example::full();
    let environment = &mut report.environment;
    let sweep = |op: &str| {
        let sampling =
            json!({ "warmup": 2, "samples": null, "precision": null, "max_time_s": 2.0, "rounds": 3 });
        json!({ "op": op, "sampling": sampling })
    };
    environment.settings = json!({
        "isolate": true,
        "options": { "transfer": "pageable", "sim": null, "device": 0 },
        "sweeps": [sweep("matmul"), sweep("spgemm")],
    });
    let library = |name: &str, version: &str| gpubench_report::Finding {
        name: name.into(),
        path: Some(format!("/usr/lib/lib{name}.so")),
        version: Some(version.into()),
        ..Default::default()
    };
    environment.backends[0].description = json!({
        "threads": 16, "rayon_threads": 16, "simd": "avx512", "versions": { "numpy": "2.4.6" },
        "pinned": null, "memory_interleaved_over_nodes": [], "cold_caches": "copy",
    });
    environment.variables_rule = variables::RULE;
    environment.quota_pauses = Some(QuotaPauses { periods: 100, paused: 10 });
    environment.backends[0].libraries = vec![library("OpenBLAS", "0.3.26 Cooperlake, 16 threads")];
    environment.backends[1].description = json!({
        "device": 0, "name": "NVIDIA H200", "multiprocessors": 132, "memory_bytes": 150_109_880_320_u64,
        "mig_mode": false, "ecc": true, "driver_version": "580.159.04", "cuda_version": "13.0",
        "power_limit_w": 700.0, "sm_clock_max_mhz": 1980, "sm_clock_default_mhz": 1980,
        "memory_clock_khz": 3_201_000, "timing": { "blocking_kernel": true }, "persistence_mode": true,
    });
    environment.backends[1].libraries = vec![library("cuBLAS", "13.1.0"), library("cuFFT", "12.0.0")];
    report
}

fn runs(reports: &[Report]) -> Runs {
    let run = |report: &Report| Run { name: "report.json".into(), report: report.clone() };
    Runs { runs: reports.iter().map(run).collect(), ..Runs::default() }
}

/// The differences between the reports of both sides, as `fact severity: old | new`.
fn between(old: &[Report], new: &[Report]) -> Vec<String> {
    lines(&differences(&runs(old), &runs(new), &BTreeMap::new()))
}

/// The differences after a change of the new report.
fn after(change: impl Fn(&mut Report)) -> Vec<String> {
    let mut new = report();
    change(&mut new);
    between(&[report()], &[new])
}

fn lines(found: &[Difference]) -> Vec<String> {
    let line = |d: &Difference| format!("{} {}: {} | {}", d.fact, d.severity.name(), d.old, d.new);
    found.iter().map(line).collect()
}

/// Sets the value at a path in a report's environment.
fn set(report: &mut Report, path: &str, value: Value) {
    let mut environment = serde_json::to_value(&report.environment).unwrap();
    let (parent, key) = path.rsplit_once('/').unwrap();
    environment.pointer_mut(parent).unwrap()[key] = value;
    report.environment = serde_json::from_value(environment).unwrap();
}

/// Sets a key of the description of the CPU's (0) or the GPU's (1) backend.
fn describe(environment: &mut Environment, backend: usize, key: &str, value: Value) {
    environment.backends[backend].description[key] = value;
}

#[test]
fn equal_environments_have_no_differences() {
    assert!(after(|_| {}).is_empty());
    assert!(differences(&Runs::default(), &runs(&[report()]), &BTreeMap::new()).is_empty());
}

#[test]
fn copies_of_both_kinds_of_memory_contain_those_of_pageable_memory() {
    assert!(after(|new| new.environment.settings["options"]["transfer"] = json!("both")).is_empty());
    let [both, pinned] = ["both", "pinned"].map(|word| {
        let mut report = report();
        report.environment.settings["options"]["transfer"] = json!(word);
        report
    });
    assert_eq!(between(&[both], &[pinned]), ["transfer warn: pageable | pinned"]);
}

/// Changes of an environment, and the difference that each makes: `PATH VALUE => FACT SEVERITY: OLD | NEW`.
const CHANGES: &str = r#"
/backends/1/description/name "NVIDIA H100" => gpu-model block: NVIDIA H200 | NVIDIA H100
/backends/1/description/multiprocessors 60 => gpu-multiprocessors block: 132 | 60
/backends/1/description/mig_mode true => mig-mode block: off | on
/host/cpu "AMD EPYC" => cpu-model block: Intel(R) Xeon(R) Platinum 8480C | AMD EPYC
/host/cpu_identity "family 6, model 85, stepping 7" => cpu-model block: generation: family 6, model 143, stepping 8 | generation: family 6, model 85, stepping 7
/other_programs 0.94 => other-programs inconclusive: 5.0 % | 94 %
/quota_pauses { "periods": 112, "paused": 103 } => quota-pauses warn: 10 % | 92 %
/backends/0/description/pinned [0, 1] => pinning warn: not bound | 0, 1
/host/transparent_huge_pages "always" => huge-pages warn: madvise | always
/backends/0/description/memory_interleaved_over_nodes [0, 1] => numa-interleaving warn: none | 0, 1
/backends/0/timer_overhead/thread_speeds/slowest_s 1e-3 => thread-speeds warn: 1.02 | 1.96
/backends/0/description/cold_caches "clflushopt" => cache-flush warn: cpu: copy | cpu: clflushopt
/host/load_average 3.5 => load ignore: 0.40 | 3.50
/backends/1/description/persistence_mode false => gpu-persistence ignore: on | off
/build_profile "debug" => build-profile block: release | debug
/host/threads 8 => cpus warn: 16 | 8
/host/cpu_quota null => cpu-quota warn: 15.5 CPUs | no limit
/host/governor "powersave" => governor warn: performance | powersave
/host/smt false => smt warn: on | off
/host/numa_nodes 2 => numa warn: 1 | 2
/host/last_level_cache_bytes 62914560 => last-level-cache warn: 105 MiB | 60.0 MiB
/backends/0/description/simd "avx2" => simd warn: avx512 | avx2
/backends/0/libraries/0/version "0.3.29 Cooperlake, 16 threads" => blas warn: OpenBLAS: 0.3.26 Cooperlake | OpenBLAS: 0.3.29 Cooperlake
/backends/0/description/versions { "numpy": "2.5.0" } => blas warn: cpu/numpy: 2.4.6 | cpu/numpy: 2.5.0
/backends/1/description/power_limit_w 500.0 => power-limit warn: 700 W | 500 W
/backends/1/description/sm_clock_max_mhz 1755 => gpu-clock-limit warn: maximum: 1980 MHz | maximum: 1755 MHz
/backends/1/description/memory_bytes 75000000000 => gpu-memory warn: 140 GiB | 69.8 GiB
/backends/1/description/ecc false => ecc warn: on | off
/backends/1/description/driver_version "550.54.15" => driver warn: 580.159.04 | 550.54.15
/backends/1/description/cuda_version "12.4" => cuda-version warn: 13.0 | 12.4
/backends/1/libraries/0/version "13.2.0" => gpu-libraries warn: cuBLAS: 13.1.0 | cuBLAS: 13.2.0
/backends/1/description/timing { "blocking_kernel": false } => gpu-timing warn: blocking kernel | no blocking kernel
/settings/options/transfer "pinned" => transfer warn: pageable | pinned
/settings/sweeps/0/sampling/precision 0.07 => precision warn: matmul: by default | matmul: 7 %
/settings/sweeps/1/sampling/samples 30 => samples warn: spgemm: until precise | spgemm: 30
/settings/sweeps/1/sampling/warmup 5 => warmup warn: spgemm: 2 | spgemm: 5
/settings/sweeps/1/sampling/rounds 5 => rounds warn: spgemm: 3 | spgemm: 5
/settings/isolate false => isolation warn: worker processes | one process
/variables/OMP_NUM_THREADS "4" => variables warn: OMP_NUM_THREADS: unset | OMP_NUM_THREADS: 4
/variables/MKL_VERBOSE "1" => variables warn: MKL_VERBOSE: unset | MKL_VERBOSE: 1 (prints each call)
/gpubench_version "0.2.0" => gpubench-version warn: 0.1.0 | 0.2.0
/host/name "other" => host-name ignore: node | other
/host/os "Linux 7" => os ignore: Linux 6.8 | Linux 7
/host/memory_bytes 68719476736 => memory ignore: 128 GiB | 64.0 GiB
/backends/1/description/device 1 => gpu-ordinal ignore: 0 | 1
/backends/1/libraries/0/path "/opt/libcuBLAS.so" => library-paths ignore: cuBLAS: /usr/lib/libcuBLAS.so | cuBLAS: /opt/libcuBLAS.so
/variables/CUDA_HOME "/opt" => path-variables ignore: CUDA_HOME: unset | CUDA_HOME: /opt
"#;

/// Facts that tests of their own change, below.
const CHANGED_ELSEWHERE: &str =
    "cpu-threads gpubench-revision git-revision gpu-programs gpu-throttling kernel max-time sim-script";

#[test]
fn each_fact_is_found_with_its_severity_and_both_values() {
    let mut unseen: BTreeSet<&str> = FACTS.iter().map(|fact| fact.name).collect();
    for line in CHANGES.trim().lines() {
        let (change, expected) = line.split_once(" => ").unwrap();
        let (path, value) = change.split_once(' ').unwrap();
        assert_eq!(after(|r| set(r, path, serde_json::from_str(value).unwrap())), [expected]);
        unseen.remove(expected.split(' ').next().unwrap());
    }
    assert_eq!(unseen, CHANGED_ELSEWHERE.split(' ').collect());
}

#[test]
fn half_the_threads_warn_and_name_libraries_with_another_number() {
    assert_eq!(
        after(|r| describe(&mut r.environment, 0, "threads", json!(8))),
        ["cpu-threads warn: 16 | 8 (rayon 16, OpenBLAS 16)"]
    );
    let all = after(|r| {
        describe(&mut r.environment, 0, "threads", json!(8));
        describe(&mut r.environment, 0, "rayon_threads", json!(8));
        r.environment.backends[0].libraries[0].version = Some("0.3.26 Cooperlake, 8 threads".into());
    });
    assert_eq!(all, ["cpu-threads warn: 16 | 8"]);
    // Threads of libraries do not count where each row has its own.
    let found = after(|r| {
        r.environment.backends[0].libraries[0].version = Some("0.3.26 Cooperlake, 1 thread".into());
        r.rows.iter_mut().for_each(|row| row.threads = Some(4));
    });
    assert!(found.is_empty(), "{found:?}");
}

/// Changes each value that a report records about its environment, one at a time.
#[test]
fn no_recorded_condition_is_left_out_of_the_comparison() {
    // Values that name or describe the run, or that follow from others.
    const NO_CONDITIONS: &str = "/argv /elapsed_s /planned_rows /started /variables_rule /warnings \
        /backends/0/available /backends/0/name /backends/0/startup_s /backends/0/timer_overhead/clock_s \
        /backends/0/libraries/0/name /backends/1/available /backends/1/name /backends/1/startup_s \
        /backends/1/timer_overhead /backends/1/libraries/0/name /backends/1/libraries/1/name \
        /settings/options/sim /settings/options/device /settings/sweeps/0/op /settings/sweeps/1/op";
    fn leaves(value: &Value, path: String, found: &mut Vec<String>) {
        match value {
            Value::Object(items) => {
                items.iter().for_each(|(key, item)| leaves(item, format!("{path}/{key}"), found))
            }
            Value::Array(items) if !items.is_empty() => {
                items.iter().enumerate().for_each(|(at, item)| leaves(item, format!("{path}/{at}"), found));
            }
            _ => found.push(path),
        }
    }
    let mut old = report();
    old.environment.variables.insert("OMP_NUM_THREADS".into(), "4".into());
    let recorded = serde_json::to_value(&old.environment).unwrap();
    let mut paths = vec![];
    leaves(&recorded, String::new(), &mut paths);
    // What a search for libraries would say of them.
    let is_of_search = |path: &str| ["/fix", "/problem", "/serves"].iter().any(|end| path.ends_with(end));
    let is_condition = |path: &str| !NO_CONDITIONS.split(' ').any(|start| path.starts_with(start));
    paths.retain(|path| is_condition(path) && !is_of_search(path));
    assert!(paths.len() > 50, "{paths:?}");
    for path in paths {
        let mut changed = recorded.clone();
        let leaf = changed.pointer_mut(&path).unwrap();
        *leaf = match leaf.clone() {
            Value::Bool(on) => json!(!on),
            Value::Number(number) if number.is_u64() => json!(2 * number.as_u64().unwrap() + 80),
            Value::Number(number) => json!(2.0 * number.as_f64().unwrap() + 0.85),
            Value::String(text) => json!(format!("another {text}")),
            _ if path.starts_with("/settings") => json!(5.0),
            _ => json!([0, 1]),
        };
        let environment = serde_json::from_value(changed).unwrap();
        let new = Report { environment, ..old.clone() };
        assert!(!between(&[old.clone()], &[new]).is_empty(), "{path} has changed");
    }
}

#[test]
fn a_busy_machine_is_named_on_each_side_even_if_both_were_busy() {
    let with = |share| {
        let mut report = report();
        report.environment.other_programs = share;
        report
    };
    let found = |old: &[Option<f64>], new: &[Option<f64>]| {
        let [old, new] =
            [old, new].map(|side| runs(&side.iter().map(|share| with(*share)).collect::<Vec<_>>()));
        let found = differences(&old, &new, &BTreeMap::new());
        (lines(&found), found.into_iter().flat_map(|difference| difference.disturbed).collect::<Vec<_>>())
    };
    let quiet = [Some(0.04), Some(0.09)];
    assert_eq!(found(&quiet, &quiet), (vec![], vec![]));
    let (lines, sides) = found(&quiet, &[Some(0.94), Some(0.97)]);
    assert_eq!(
        (lines[0].as_str(), sides[0].as_str()),
        ("other-programs inconclusive: 4.0 % | 94 %, 97 %", "NEW")
    );
    assert_eq!(found(&[Some(0.9)], &quiet).1, ["OLD"]);
    assert_eq!(found(&[Some(0.9)], &[Some(0.9)]).1, ["OLD", "NEW"]);
    assert_eq!(found(&[None], &[Some(0.9)]).0, ["other-programs inconclusive: not recorded | 90 %"]);
}

#[test]
fn programs_and_throttling_of_the_gpu_are_read_from_its_rows() {
    let change = |change: fn(&mut gpubench_report::report::Execute)| {
        after(|report| {
            let rows = report.rows.iter_mut().filter(|row| row.backend == "cuda");
            rows.filter_map(|row| row.execute.as_mut()).for_each(change);
        })
    };
    let found = change(|execute| execute.conditions[0][1].others = vec!["python3 (4711)".into()]);
    assert_eq!(found, ["gpu-programs inconclusive: python3: not running | python3: running"]);
    let found = change(|execute| execute.throttled = execute.samples_s.len() as u32);
    assert_eq!(found, ["gpu-throttling warn: 0 % | 100 %"]);
}

/// Reports of before the prefixes lack most variables.
#[test]
fn a_variable_that_an_earlier_version_did_not_record_is_no_difference() {
    let found = |rule| {
        let mut old = report();
        old.environment.variables_rule = rule;
        let mut new = report();
        for name in ["MKL_VERBOSE", "OMP_NUM_THREADS"] {
            new.environment.variables.insert(name.into(), "1".into());
        }
        between(&[old], &[new])
    };
    assert_eq!(found(0), ["variables warn: OMP_NUM_THREADS: unset | OMP_NUM_THREADS: 1"]);
    assert_eq!(found(variables::RULE).len(), 2);
}

#[test]
fn items_with_the_same_difference_share_an_entry_most_severe_first() {
    let found = after(|r| {
        r.environment.gpubench_version = "0.2.0".into();
        r.environment.host.os = "Debian 12, Linux 6.9".into();
        describe(&mut r.environment, 1, "name", json!("NVIDIA H100"));
        (0..2).for_each(|sweep| set(r, &format!("/settings/sweeps/{sweep}/sampling/max_time_s"), json!(0.2)));
    });
    let expected = [
        "gpu-model block: NVIDIA H200 | NVIDIA H100",
        "max-time warn: matmul, spgemm: 2 s | matmul, spgemm: 0.2 s",
        "gpubench-version warn: 0.1.0 | 0.2.0",
        "os ignore: Linux 6.8 | Debian 12",
    ];
    assert_eq!(found, expected);
}

#[test]
fn harmless_jitter_is_no_difference() {
    let found = after(|r| {
        describe(&mut r.environment, 1, "sm_clock_max_mhz", json!(1981));
        describe(&mut r.environment, 1, "power_limit_w", json!(699.6));
        describe(&mut r.environment, 1, "driver_version", json!(" 580.159.04\n"));
        r.environment.host.memory_bytes -= 1 << 28;
        r.environment.host.cpu_quota = Some(15.501);
        r.environment.backends[1].libraries.pop();
    });
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_documentation_lists_every_fact_with_its_default() {
    let row = |fact: &EnvironmentFact| {
        let (name, severity) = (fact.name, fact.severity.name());
        format!("| `{name}` | {severity} | {} | {} |\n", fact.concerns.words(), fact.summary)
    };
    let table: String = FACTS.iter().map(row).collect();
    let documentation = include_str!("../../../../../../docs/compare-policy.md");
    assert!(
        documentation.contains(&format!("|---|---|---|---|\n{table}\n")),
        "docs/compare-policy.md has not:\n{table}"
    );
    let names: BTreeSet<&str> = FACTS.iter().map(|fact| fact.name).collect();
    assert_eq!(names.len(), FACTS.len(), "a name occurs twice");
}

#[test]
fn every_pair_of_values_must_be_within_the_tolerance() {
    let mhz =
        |figure: f64| FactValue { figure: Some(figure), ..FactValue::text("", &format!("{figure} MHz")) };
    let [low, middle, high] = [1980.0, 1981.0, 1982.0].map(mhz);
    assert!(same(&[&low, &middle, &low], Tolerance::Absolute(1.0)));
    assert!(!same(&[&low, &middle, &high], Tolerance::Absolute(1.0)));
    assert!(
        same(&[&low, &high], Tolerance::Relative(0.01)) && !same(&[&low, &high], Tolerance::Relative(0.001))
    );
    assert!(!same(&[&low, &FactValue::text("", "no limit")], Tolerance::Relative(1.0)));
}
