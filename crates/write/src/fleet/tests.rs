//! Tests of every format of a fleet: members, times side by side, marks, findings.

use gpubench_document::table::WIDTH;
use gpubench_report::Side;
use gpubench_report::report::example::without_time;
use gpubench_report::report::{Outcome, Report};
use gpubench_text::csv::records;

use super::*;
use gpubench_analysis::fleet::example::{alike, fleet, member};

fn shown(fleet: &Fleet, format: &str) -> String {
    FORMATS.find(format).unwrap().text(fleet, &Screen { width: WIDTH, color: false }).unwrap()
}

/// Four hosts, of which the second's GPU is 10 % slower at a lower power limit.
fn odd() -> Fleet {
    let mut reports = ["a", "b", "c", "d"].map(|host| member(host, if host == "b" { 1.1 } else { 1.0 }));
    reports[1].environment.backends[1].description["power_limit_w"] = 550.0.into();
    fleet(reports.to_vec())
}

#[test]
fn the_table_has_a_line_per_case_and_lists_outliers() {
    let text = shown(&odd(), "table");
    let expected = "4 reports, 4 devices, 4 hosts

4 x NVIDIA H200 (driver 580.1, up to 1980 MHz)
4 x Intel Xeon Platinum 8480C (16 CPUs)

GPU: median time of the best correct variant, f32, cold cache
  op         N  a GPU 0  b GPU 0  c GPU 0  d GPU 0  max/min
  matmul  1000  60.0 µs  66.0 µs  60.0 µs  60.0 µs    1.10x
";
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.contains("\nmax/min: slowest / fastest among devices or hosts of the same kind\n"),
        "{text}"
    );
    let finding = "Outliers and differences:
  slower  b GPU 0 is 10 % slower than the median of 3 similar devices; different from the others:
          power-limit 550 W instead of 700 W

No outlier among 4 similar hosts: Intel Xeon Platinum 8480C (16 CPUs).
";
    assert!(text.ends_with(finding), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
}

#[test]
fn the_fastest_is_marked_and_the_mark_explained() {
    let mut reports = vec![member("a", 1.0), member("b", 1.5)];
    reports[1].rows[3] = without_time("matmul", 2000, "cuda", "best", Outcome::Failed, "a crash", None);
    let text = shown(&fleet(reports), "table");
    for part in ["60.0 µs*", "\n* fastest", "failed"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!shown(&alike(2), "table").contains("* fastest"));
}

#[test]
fn columns_that_vary_are_shown_and_shared_ones_are_in_the_title() {
    let mut fleet = odd();
    for member in &mut fleet.members {
        let mut hot = member.report.rows[0].clone();
        hot.cache = gpubench_report::case::Cache::Hot;
        member.report.rows.push(hot);
        member.report.rows[2].case.density = Some(0.01);
    }
    let text = shown(&fleet, "table");
    assert!(text.contains("CPU: median time of the best correct variant, f32\n"), "{text}");
    assert!(text.contains("  op      cache  density     N"), "{text}");
}

#[test]
fn markdown_has_both_tables_and_the_findings() {
    let text = shown(&odd(), "md");
    assert!(text.starts_with("# gpubench fleet\n\n4 reports, 4 devices, 4 hosts\n"), "{text}");
    assert!(text.contains("| op | N | a GPU 0 | b GPU 0 | c GPU 0 | d GPU 0 | max/min |"), "{text}");
    assert!(text.contains("## Outliers and differences\n\n- b GPU 0 is 10 % slower"), "{text}");
}

#[test]
fn csv_has_a_column_per_gpu_and_per_host_in_seconds() {
    let records = records(&shown(&odd(), "csv")).unwrap();
    assert_eq!(records.len(), 1 + 4);
    assert!(records.iter().all(|record| record.len() == records[0].len()));
    let place = |heading: &str| records[0].iter().position(|found| found == heading).unwrap();
    assert_eq!(records[1][place("GPU s: b GPU 0")].parse::<f64>().unwrap(), 66e-6);
    assert_eq!(records[1][place("CPU s: d")].parse::<f64>().unwrap(), 600e-6);
    assert_eq!(records[1][place("GPU max/min")].parse::<f64>().unwrap(), 1.1);
    assert_eq!(records[1][place("CPU fastest")], "");
}

#[test]
fn json_has_tables_and_findings_and_not_the_reports() {
    let value: serde_json::Value = serde_json::from_str(&shown(&odd(), "json")).unwrap();
    assert_eq!(value["fleet_table_version"], 2);
    assert_eq!(value["members"][1]["name"], "b GPU 0");
    let line = &value["tables"][0]["lines"][0];
    assert_eq!((line["op"].as_str(), line["n"].as_u64()), (Some("matmul"), Some(1000)));
    assert_eq!(line["times"][1]["median_s"].as_f64(), Some(1.1 * 60e-6));
    assert!((line["max_over_min"].as_f64().unwrap() - 1.1).abs() < 1e-9);
    let finding = &value["findings"][0];
    assert_eq!((finding["kind"].as_str(), finding["side"].as_str()), (Some("member"), Some("gpu")));
    assert!((finding["ratio"].as_f64().unwrap() - 1.1).abs() < 1e-9);
    assert!(value["members"][0]["report"].is_null());
}

/// A run on the GPU at `address` of `host`, in the minute given.
fn run(host: &str, address: &str, minute: u32, factor: f64) -> Report {
    let mut report = member(host, factor);
    report.environment.started = format!("2026-11-21T10:{minute:02}:00Z");
    report.environment.backends[1].description["pci_bus_id"] = address.into();
    report
}

#[test]
fn runs_without_a_gpu_share_the_column_of_their_host() {
    let without_gpu = |minute| {
        let mut report = run("vm", "0000:41:00.0", minute, 1.0);
        report.environment.backends[1].available = false;
        report.environment.backends[1].description = serde_json::json!({});
        for row in report.rows.iter_mut().filter(|row| row.side == Side::Gpu) {
            (row.outcome, row.execute) = (Outcome::Skipped, None);
        }
        report
    };
    let text = shown(&fleet(vec![without_gpu(0), without_gpu(1)]), "table");
    assert!(text.starts_with("2 reports, 1 host\n"), "{text}");
    assert!(!text.contains("cuda") && !text.contains("similar"), "{text}");
}

#[test]
fn gpus_differ_by_uuid_or_else_by_host_and_address() {
    let first = || run("a", "0000:41:00.0", 0, 1.0);
    let mut twins = [first(), run("a", "0000:41:00.0", 1, 1.5)];
    for (report, uuid) in twins.iter_mut().zip(["GPU-1", "GPU-2"]) {
        report.environment.backends[1].description["uuid"] = uuid.into();
    }
    let by_address = [first(), run("a", "0000:C1:00.0", 1, 1.5)];
    let by_host = [first(), run("b", "0000:41:00.0", 1, 1.5)];
    for pair in [twins, by_address, by_host] {
        let text = shown(&fleet(pair.to_vec()), "table");
        assert!(text.contains("2 reports, 2 devices, ") && text.contains(" is 50 % slower than "), "{text}");
    }
}
