//! Finds outliers in a fleet: members and cells that differ from similar ones, and missing times.

use super::best::BestResult;
use super::devices::{self, by_device};
use super::finding::{Finding, Group, Kind};
use super::finding_texts;
use super::outliers::{
    MIN_MEMBERS, Outliers, Reading, against_others, cell_against_others, find_outliers, is_far, pair,
};
use super::table::Table;

/// Returns the findings for a table, by kind, then by size.
///
/// Runs of one device are combined first, because they are not separate devices.
pub fn findings(table: &Table) -> Vec<Finding> {
    let table = &by_device(table);
    let mut found = vec![];
    for (_, columns) in table.kinds() {
        let group = Group { table, columns };
        found.extend(missing_times(&group));
        match group.columns.len() {
            0 | 1 => {}
            2 => found.extend(differing_pair(&group)),
            _ => found.extend(unusual(&group)),
        }
    }
    found.extend(finding_texts::mixed_classes(table));
    let size = |finding: &Finding| finding.ratio.map_or(0.0, |ratio| -ratio.ln().abs());
    found.sort_by(|a, b| a.kind.cmp(&b.kind).then(size(a).total_cmp(&size(b))));
    found
}

/// Returns one line if runs of one device are combined, and one line per device class without findings.
pub(crate) fn no_outliers(table: &Table, findings: &[Finding]) -> Vec<String> {
    let joined = devices::repeated_runs(table);
    let table = &by_device(table);
    let has_finding = |columns: &[usize]| {
        let names = || columns.iter().map(|&column| table.columns[column].name.as_str());
        let of_side = findings.iter().filter(|finding| finding.side == table.side);
        of_side
            .filter(|finding| finding.kind != Kind::MixedClasses)
            .any(|finding| names().any(|name| name == finding.name))
    };
    let is_compared = |columns: &[usize]| table.shares_times(columns) && !has_finding(columns);
    let lines = table.kinds().into_iter().filter(|(_, columns)| is_compared(columns));
    let lines = lines.map(|(kind, columns)| finding_texts::no_outliers(table, kind, columns.len()));
    joined.into_iter().chain(lines).collect()
}

/// Returns the readings of a column, one entry per line of the table.
fn readings(table: &Table, column: usize) -> Vec<Option<Reading>> {
    let reading = |line: &super::Line| {
        let timing = line.timing(column)?;
        Reading::of(timing.median_s, timing.ci95_s)
    };
    table.lines.iter().map(reading).collect()
}

/// Returns the findings about members and cells among at least three similar columns.
fn unusual(group: &Group<'_>) -> Vec<Finding> {
    debug_assert!(group.columns.len() >= MIN_MEMBERS);
    let table = group.table;
    let times: Vec<Vec<Option<Reading>>> =
        group.columns.iter().map(|&column| readings(table, column)).collect();
    let Outliers { members, cells } = find_outliers(&times);
    let mut found = vec![];
    for &member in &members {
        let Some(log) = against_others(&times, member) else { continue };
        let most = most_affected(table, &times, member, log);
        found.push(finding_texts::member(group, group.columns[member], log, most));
    }
    for (member, line) in cells {
        let Some(log) = cell_against_others(&times, member, line) else { continue };
        let whole = against_others(&times, member).filter(|_| members.contains(&member));
        found.push(finding_texts::cell(group, group.columns[member], line, log, whole));
    }
    found
}

/// Smallest excess over its member's deviation for which an op is named.
const MIN_EXCESS: f64 = 0.01;

/// Returns the op that deviates most in the member's direction, with its deviation.
fn most_affected<'a>(
    table: &'a Table,
    times: &[Vec<Option<Reading>>],
    member: usize,
    whole: f64,
) -> Option<(&'a str, f64)> {
    let mut ops: Vec<&str> = table.lines.iter().map(|line| line.key.op.as_str()).collect();
    ops.dedup();
    let of_op = |op: &&'a str| {
        let only = |readings: &Vec<Option<Reading>>| -> Vec<Option<Reading>> {
            readings
                .iter()
                .zip(&table.lines)
                .filter(|(_, line)| line.key.op == *op)
                .map(|(r, _)| *r)
                .collect()
        };
        let times: Vec<Vec<Option<Reading>>> = times.iter().map(only).collect();
        Some((*op, against_others(&times, member)?))
    };
    let found = ops.iter().filter_map(of_op);
    let most = found.max_by(|a, b| (a.1 * whole).total_cmp(&(b.1 * whole)))?;
    (most.1 * whole.signum() > whole.abs() + MIN_EXCESS).then_some(most)
}

fn differing_pair(group: &Group<'_>) -> Option<Finding> {
    let &[first, second] = group.columns.as_slice() else { return None };
    let log = pair(&readings(group.table, first), &readings(group.table, second))?;
    let (slow, fast) = if log > 0.0 { (first, second) } else { (second, first) };
    is_far(log, 0.0).then(|| finding_texts::pair(group, slow, fast, log.abs()))
}

/// Returns the findings about columns that lack times which a similar column has.
fn missing_times(group: &Group<'_>) -> Vec<Finding> {
    let lines = &group.table.lines;
    let lost_by = |&column: &usize| {
        let is_lost = |line: &usize| {
            let elsewhere = || group.columns.iter().any(|&other| lines[*line].timing(other).is_some());
            matches!(lines[*line].times[column], Some(BestResult::Untimed(_))) && elsewhere()
        };
        let lost: Vec<usize> = (0..lines.len()).filter(is_lost).collect();
        (!lost.is_empty()).then(|| finding_texts::missing_times(group, column, &lost))
    };
    group.columns.iter().filter_map(lost_by).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fleet;
    use crate::example::{alike, fleet, member};
    use gpubench_model::Side;
    use gpubench_model::report::example::without_time;
    use gpubench_model::report::{Outcome, Report};

    fn texts(fleet: &Fleet, side: Side) -> Vec<String> {
        let found = findings(&Table::of(fleet, side));
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
    fn a_slow_gpu_is_reported_with_its_worst_op_and_with_what_is_different_about_it() {
        let fleet = eight(|report| {
            for (op, factor) in [("matmul", 1.12), ("fft", 1.08), ("svd", 1.05)] {
                scale(report, op, factor);
            }
            report.environment.backends[1].description["power_limit_w"] = 550.0.into();
        });
        let expected = "c GPU 0 is 10 % slower than the median of 7 similar devices (most in matmul: 12 %); \
        different from the others: power limit 550 W instead of 700 W";
        assert_eq!(texts(&fleet, Side::Gpu), [expected]);
        assert_eq!(texts(&fleet, Side::Cpu), Vec::<String>::new());
    }

    #[test]
    fn a_slow_host_is_reported_by_its_cpu_times() {
        let fleet = eight(|report| {
            let rows = report.rows.iter_mut().filter(|row| row.side == Side::Cpu);
            rows.filter_map(|row| row.execute.as_mut()).for_each(|execute| execute.scale(1.5));
            report.environment.host.governor = Some("powersave".into());
        });
        let expected = "c is 50 % slower than the median of 7 similar hosts; \
        different from the others: governor powersave instead of performance";
        assert_eq!(texts(&fleet, Side::Cpu), [expected]);
    }

    #[test]
    fn a_single_slow_cell_is_reported_with_the_variant_that_made_it_so() {
        let fleet = eight(|report| {
            scale(report, "fft", 2.5);
            report
                .rows
                .iter_mut()
                .filter(|row| row.case.op == "fft")
                .for_each(|row| row.variant = "slow".into());
        });
        let found = texts(&fleet, Side::Gpu);
        assert_eq!(found.len(), 1, "{found:?}");
        let expected = "fft N=1000 f32, cold cache: c GPU 0 takes 2.5 times as long as the median of 7 similar devices \
        (its best variant is slow; for most others it is best); ";
        assert!(found[0].starts_with(expected), "{found:?}");
        assert!(found[0].contains("--member 'c GPU 0'"), "{found:?}");
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
            scale(report, "fft", 2.5);
        });
        let found = texts(&fleet, Side::Gpu);
        let expected = "c GPU 0 has no time for 1 case that similar devices measured: matmul N=1000 f32, cold cache (failed: a crash)";
        assert!(found[0].starts_with(expected), "{found:?}");
        assert_eq!(found.len(), 2);
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
        let table = Table::of(&alike(4), Side::Gpu);
        assert!(findings(&table).is_empty());
        assert_eq!(
            no_outliers(&table, &[]),
            ["No outlier among 4 similar devices: NVIDIA H200 (driver 580.1, up to 1980 MHz)."]
        );
        let table = Table::of(&alike(2), Side::Cpu);
        assert_eq!(
            no_outliers(&table, &[]),
            ["The 2 similar hosts differ by at most 3 %: Intel Xeon Platinum 8480C (16 CPUs)."]
        );
    }
}
