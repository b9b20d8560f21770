//! Small fleets for tests.

#![expect(clippy::unwrap_used, reason = "an example for tests")]

use gpubench_report::report::{Report, example};

use super::{FLEET_VERSION, Fleet, Member, Source, merge};

/// The cells of each member: op, size and median in seconds on the GPU; the CPU takes ten times as long.
const CELLS: [(&str, u64, f64); 4] =
    [("matmul", 1000, 60e-6), ("matmul", 2000, 400e-6), ("fft", 1000, 20e-6), ("svd", 100, 3e-3)];

/// The report of a host with one GPU whose times are multiplied by `factor`.
pub fn member(host: &str, factor: f64) -> Report {
    let mut report = example::empty();
    report.environment.host.name = host.into();
    report.environment.backends[1].description = serde_json::json!({
        "device": 0, "name": "NVIDIA H200", "driver_version": "580.1", "sm_clock_max_mhz": 1980,
        "power_limit_w": 700.0, "ecc": true,
    });
    for (op, n, seconds) in CELLS {
        report.rows.push(example::measured(op, n, "cpu", "host", 10.0 * seconds));
        report.rows.push(example::measured(op, n, "cuda", "best", factor * seconds));
    }
    report
}

/// A fleet of hosts `node1`, `node2` and so on, with one GPU each and the same times to a tenth of a percent.
pub fn alike(count: usize) -> Fleet {
    let members = (1..=count).map(|number| {
        let factor = 1.0 + 0.0005 * (number % 3) as f64;
        Member { name: format!("node{number} GPU 0"), report: member(&format!("node{number}"), factor) }
    });
    Fleet { fleet_version: FLEET_VERSION, members: members.collect() }
}

/// The fleet of these reports, named by their hosts and devices.
pub fn fleet(reports: Vec<Report>) -> Fleet {
    let sources = reports.into_iter().map(|report| Source { origin: "x".into(), name: None, report });
    merge(sources.collect(), None).unwrap()
}
