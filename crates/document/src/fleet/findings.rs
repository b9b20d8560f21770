//! Finds outliers in a fleet: members that differ from similar ones, and missing times.

use super::finding::{self, FindingKind, FleetFinding, SimilarColumns};
use gpubench_analysis::fleet::best::BestResult;
use gpubench_analysis::fleet::outliers::{LogTime, against_others, find_outliers, is_far, pair};
use gpubench_analysis::fleet::table::{FleetLine, FleetTable};

/// Smallest excess over the deviation of its member for which an op is named.
const MIN_EXCESS: f64 = 0.01;

/// Returns the findings for a table with a column per device, by kind, then by size.
pub(super) fn findings(by_device: &FleetTable<'_>) -> Vec<FleetFinding> {
    let mut found = vec![];
    for (_, columns) in by_device.classes() {
        let similar = SimilarColumns { table: by_device, columns };
        found.extend(missing_times(&similar));
        match similar.columns.as_slice() {
            [] | [_] => {}
            &[first, second] => found.extend(differing_pair(&similar, first, second)),
            _ => found.extend(unusual(&similar)),
        }
    }
    found.extend(finding::mixed_classes(by_device));
    let size = |finding: &FleetFinding| finding.ratio.map_or(0.0, |ratio| -ratio.ln().abs());
    found.sort_by(|a, b| a.kind.cmp(&b.kind).then(size(a).total_cmp(&size(b))));
    found
}

/// Returns one line per device class without findings.
pub(super) fn no_outliers(by_device: &FleetTable<'_>, findings: &[FleetFinding]) -> Vec<String> {
    let has_finding = |column: &usize| {
        let name = &by_device.columns[*column].name;
        let of_side = findings.iter().filter(|finding| finding.side == by_device.side);
        of_side
            .filter(|finding| finding.kind != FindingKind::MixedClasses)
            .any(|finding| finding.name == *name)
    };
    let classes = by_device.classes().into_iter();
    classes
        .filter(|(_, columns)| by_device.shares_times(columns) && !columns.iter().any(has_finding))
        .map(|(class, columns)| finding::no_outliers(by_device.side, class, columns.len()))
        .collect()
}

fn log_times(table: &FleetTable<'_>, column: usize) -> Vec<Option<LogTime>> {
    let time =
        |line: &FleetLine| line.timing(column).map(|timing| LogTime::of(timing.median_s, timing.ci95_s));
    table.lines.iter().map(time).collect()
}

/// Returns the findings about members among at least three similar columns.
fn unusual(similar: &SimilarColumns<'_>) -> Vec<FleetFinding> {
    let SimilarColumns { table, columns } = similar;
    let times: Vec<_> = columns.iter().map(|&column| log_times(table, column)).collect();
    let of_member = |member: usize| {
        let log = against_others(&times, member)?;
        Some(similar.member(columns[member], log, most_affected(table, &times, member, log)))
    };
    find_outliers(&times).into_iter().filter_map(of_member).collect()
}

/// Returns the op that deviates most in the member's direction, with its deviation.
fn most_affected<'a>(
    table: &'a FleetTable<'_>,
    times: &[Vec<Option<LogTime>>],
    member: usize,
    whole: f64,
) -> Option<(&'a str, f64)> {
    let by_op = table.lines.chunk_by(|a, b| a.key.op == b.key.op);
    let mut first = 0;
    let ops = by_op.filter_map(|lines| {
        let range = first..first + lines.len();
        first = range.end;
        let times: Vec<_> = times.iter().map(|member| member[range.clone()].to_vec()).collect();
        Some((lines[0].key.op.as_str(), against_others(&times, member)?))
    });
    let most = ops.max_by(|a, b| (a.1 * whole).total_cmp(&(b.1 * whole)))?;
    (most.1 * whole.signum() > whole.abs() + MIN_EXCESS).then_some(most)
}

fn differing_pair(similar: &SimilarColumns<'_>, first: usize, second: usize) -> Option<FleetFinding> {
    let log = pair(&log_times(similar.table, first), &log_times(similar.table, second))?;
    let (slow, fast) = if log > 0.0 { (first, second) } else { (second, first) };
    is_far(log, 0.0).then(|| similar.pair(slow, fast, log.abs()))
}

fn missing_times(similar: &SimilarColumns<'_>) -> Vec<FleetFinding> {
    let (lines, columns) = (&similar.table.lines, &similar.columns);
    let missing = |&column: &usize| {
        let is_missing = |line: &usize| {
            matches!(lines[*line].times[column], Some(BestResult::Untimed(_)))
                && columns.iter().any(|&other| lines[*line].timing(other).is_some())
        };
        let missing: Vec<usize> = (0..lines.len()).filter(is_missing).collect();
        (!missing.is_empty()).then(|| similar.missing_times(column, &missing))
    };
    columns.iter().filter_map(missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::fleet::Fleet;
    use gpubench_analysis::fleet::example::{alike, fleet, member};
    use gpubench_analysis::fleet::table::tables;
    use gpubench_report::Side;
    use gpubench_report::report::example::without_time;
    use gpubench_report::report::{Outcome, Report};

    fn texts(fleet: &Fleet, side: Side) -> Vec<String> {
        let [_, by_device] = tables(fleet, side);
        let found = findings(&by_device);
        found.iter().map(|finding| format!("{}; {}", finding.text, finding.next)).collect()
    }

    fn eight(change: impl Fn(&mut Report)) -> Fleet {
        let hosts = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let mut reports = hosts.map(|host| member(host, 1.0));
        change(&mut reports[2]);
        fleet(reports.to_vec())
    }

    fn scale(report: &mut Report, op: &str, factor: f64) {
        let rows = report.rows.iter_mut().filter(|row| row.case.op == op && row.side == Side::Gpu);
        rows.filter_map(|row| row.execute.as_mut()).for_each(|execute| execute.scale(factor));
    }

    #[test]
    fn a_slow_gpu_or_host_is_reported_with_its_worst_op_and_its_differences() {
        let gpu = eight(|report| {
            for (op, factor) in [("matmul", 1.12), ("fft", 1.08), ("svd", 1.05)] {
                scale(report, op, factor);
            }
            report.environment.backends[1].description["power_limit_w"] = 550.0.into();
        });
        let expected = "c GPU 0 is 10 % slower than the median of 7 similar devices (most in matmul: 12 %); \
        different from the others: power limit 550 W instead of 700 W";
        assert_eq!(texts(&gpu, Side::Gpu), [expected]);
        assert_eq!(texts(&gpu, Side::Cpu), Vec::<String>::new());
        let host = eight(|report| {
            let rows = report.rows.iter_mut().filter(|row| row.side == Side::Cpu);
            rows.filter_map(|row| row.execute.as_mut()).for_each(|execute| execute.scale(1.5));
            report.environment.host.governor = Some("powersave".into());
        });
        let expected = "c is 50 % slower than the median of 7 similar hosts; \
        different from the others: governor powersave instead of performance";
        assert_eq!(texts(&host, Side::Cpu), [expected]);
    }

    #[test]
    fn two_devices_that_differ_are_reported_without_saying_which_is_unusual() {
        let two = |factor: f64| texts(&fleet(vec![member("a", 1.0), member("b", factor)]), Side::Gpu);
        let found = two(1.08);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("b GPU 0 is 8 % slower than a GPU 0, the only similar device"),
            "{found:?}"
        );
        assert_eq!(two(1.02), Vec::<String>::new());
    }

    #[test]
    fn missing_times_are_reported_first() {
        let fleet = eight(|report| {
            report.rows[1] = without_time("matmul", 1000, "cuda", "best", Outcome::Failed, "a crash", None);
        });
        let found = texts(&fleet, Side::Gpu);
        let expected = "c GPU 0 has no time for 1 case that similar devices measured: matmul N=1000 f32, cold cache (failed: a crash)";
        assert!(found[0].starts_with(expected), "{found:?}");
    }

    #[test]
    fn devices_of_one_model_with_another_driver_are_reported_and_not_judged() {
        let fleet = eight(|report| {
            scale(report, "matmul", 3.0);
            report.environment.backends[1].description["driver_version"] = "550.1".into();
        });
        let found = texts(&fleet, Side::Gpu);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("NVIDIA H200 devices have 2 configurations"), "{found:?}");
        assert!(found[0].contains("1 with driver 550.1, up to 1980 MHz (c GPU 0)"), "{found:?}");
    }

    #[test]
    fn a_fleet_without_outliers_says_so() {
        let lines = |count: usize, side: Side| {
            let fleet = alike(count);
            let [_, by_device] = tables(&fleet, side);
            no_outliers(&by_device, &findings(&by_device))
        };
        let expected = "No outlier among 4 similar devices: NVIDIA H200 (driver 580.1, up to 1980 MHz).";
        assert_eq!(lines(4, Side::Gpu), [expected]);
        let expected = "The 2 similar hosts differ by at most 3 %: Intel Xeon Platinum 8480C (16 CPUs).";
        assert_eq!(lines(2, Side::Cpu), [expected]);
    }
}
