//! Tests which sides and runs are compared.

use gpubench_report::report::Clock;

use super::*;

#[test]
fn facts_of_a_side_of_which_no_times_are_compared_do_not_matter() {
    let mut new = report();
    new.environment.host.cpu = "AMD EPYC".into();
    describe(&mut new.environment, 1, "name", json!("NVIDIA H100"));
    let kept = |side| {
        let mut report = report();
        report.rows.retain(|row| row.side == side);
        between(&[report], &[new.clone()])
    };
    assert_eq!(kept(gpubench_report::Side::Gpu), ["gpu-model block: NVIDIA H200 | NVIDIA H100"]);
    assert_eq!(
        kept(gpubench_report::Side::Cpu),
        ["cpu-model block: Intel(R) Xeon(R) Platinum 8480C | AMD EPYC"]
    );
    // A backend without a time on one side is not compared.
    let mut failed = report();
    failed.rows.iter_mut().filter(|row| row.backend == "cuda").for_each(|row| row.execute = None);
    let found = between(&[failed], &[new]);
    assert_eq!(found, ["cpu-model block: Intel(R) Xeon(R) Platinum 8480C | AMD EPYC"]);
}

#[test]
fn simulated_times_do_not_depend_on_the_cpu_or_the_build() {
    let simulated = |mut report: Report| {
        for execute in report.rows.iter_mut().filter_map(|row| row.execute.as_mut()) {
            execute.clock = Clock::Simulated;
        }
        report
    };
    let mut new = report();
    new.environment.host.cpu = "AMD EPYC".into();
    new.environment.build_profile = Some("debug".into());
    assert!(between(&[simulated(report())], &[simulated(new)]).is_empty());
}

#[test]
fn a_fact_missing_on_one_side_is_a_difference_only_if_it_would_block() {
    let older = |r: &mut Report| {
        let environment = &mut r.environment;
        r.schema_version = 1;
        environment.build_profile = None;
        (environment.gpubench_revision, environment.git_revision) = (None, None);
        environment.host = gpubench_report::report::Host {
            governor: None,
            smt: None,
            numa_nodes: None,
            transparent_huge_pages: None,
            cpu_quota: None,
            last_level_cache_bytes: None,
            ..environment.host.clone()
        };
        for key in ["power_limit_w", "timing", "mig_mode"] {
            environment.backends[1].description.as_object_mut().unwrap().remove(key);
        }
        environment.settings = Value::Null;
    };
    let expected = ["mig-mode warn: off | not recorded", "build-profile warn: release | not recorded"];
    assert_eq!(after(older), expected);
    assert!(after(|r| r.environment.gpubench_revision = Some("0123abc".into())).is_empty());
}

#[test]
fn runs_of_one_side_that_differ_among_themselves_are_a_difference() {
    let with = |watts: f64| {
        let mut report = report();
        describe(&mut report.environment, 1, "power_limit_w", json!(watts));
        report.environment.gpubench_revision = Some("a".into());
        report.environment.git_revision = Some(format!("{watts}"));
        report.environment.host.os = format!("Debian, Linux {watts}");
        report
    };
    let mixed = [with(700.0), with(500.0), with(700.4)];
    let expected = [
        "power-limit warn: 700 W, 500 W | 700 W",
        "git-revision ignore: 700, 500, 700.4 | 700",
        "kernel ignore: Linux 700, Linux 500, Linux 700.4 | Linux 700",
    ];
    assert_eq!(between(&mixed, &[with(700.0)]), expected);
    assert_eq!(between(&mixed, &mixed)[0], "power-limit warn: 700 W, 500 W | 700 W, 500 W");
}

#[test]
fn a_policy_changes_how_much_a_difference_matters() {
    let severities =
        BTreeMap::from([("cpu-threads".into(), Severity::Block), ("gpu-model".into(), Severity::Ignore)]);
    let mut new = report();
    describe(&mut new.environment, 0, "threads", json!(8));
    describe(&mut new.environment, 1, "name", json!("NVIDIA H100"));
    new.environment.gpubench_revision = Some("0123abc".into());
    let mut old = report();
    old.environment.gpubench_revision = Some("abc0123".into());
    let found = lines(&differences(&runs(&[old]), &runs(&[new]), &severities));
    let expected = [
        "cpu-threads block: 16 | 8 (rayon 16, OpenBLAS 16)",
        "gpu-model ignore: NVIDIA H200 | NVIDIA H100",
        "gpubench-revision ignore: abc0123 | 0123abc",
    ];
    assert_eq!(found, expected);
}

#[test]
fn scripts_of_the_simulated_device_are_of_no_concern() {
    let with = |seed: u64| {
        let mut report = report();
        report.environment.backends[1].name = "sim".into();
        report.environment.backends[1].description = json!({ "device": "simulated", "seed": seed });
        report.environment.settings["options"]["sim"] = json!(format!("{seed}.toml"));
        report
    };
    let expected = ["sim-script ignore: file: 1.toml | file: 2.toml", "sim-script ignore: seed: 1 | seed: 2"];
    assert_eq!(between(&[with(1)], &[with(2)]), expected);
}
