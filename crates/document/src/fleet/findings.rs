//! Finds outliers and differences in a fleet: members that differ from similar ones, and missing times.

use std::collections::BTreeMap;

use gpubench_analysis::compare::environment::differences;
use gpubench_analysis::compare::{Run, Runs, Severity};
use gpubench_analysis::fleet::best::{BestResult, LineKey};
use gpubench_analysis::fleet::identity::DeviceClass;
use gpubench_analysis::fleet::outliers::{LogTime, against_others, find_outliers, is_far, pair};
use gpubench_analysis::fleet::table::{FleetLine, FleetTable};
use gpubench_report::Side;
use gpubench_report::report::Report;
use gpubench_text::count::{self, counted};
use gpubench_text::grouped::grouped;
use serde::Serialize;

use crate::blocks::Remark;
use crate::table::Tone;

/// Maximum number of cases or members named in a sentence; the others are counted.
const MAX_NAMED: usize = 4;

/// Kinds of findings, in the order in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum FindingKind {
    /// A GPU or host lacks times that similar ones have.
    MissingTimes,
    /// A GPU or host is slower or faster than similar ones overall.
    Member,
    /// Two similar ones differ, and it is unknown which is the outlier.
    Pair,
    /// Devices of one model have different configurations.
    MixedClasses,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct FleetFinding {
    kind: FindingKind,
    side: Side,
    name: String,
    /// Time of the device or host over that of similar ones, if the finding is about times.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    text: String,
    next: String,
}

impl FleetFinding {
    /// Returns the finding as a remark. What `next` names is often a recorded difference, so it follows in the sentence.
    pub(super) fn remark(&self) -> Remark {
        let (kind, tone) = match (self.kind, self.ratio) {
            (FindingKind::MissingTimes, _) => ("missing", Tone::Wrong),
            (FindingKind::MixedClasses, _) => ("mixed", Tone::Inconclusive),
            (FindingKind::Pair, _) => ("differ", Tone::Inconclusive),
            (_, Some(ratio)) if ratio > 1.0 => ("slower", Tone::Worse),
            _ => ("faster", Tone::Better),
        };
        Remark { kind: kind.into(), tone, text: format!("{}; {}", self.text, self.next), ..Remark::default() }
    }
}

/// Returns the findings for a table with a column per device, by kind, then by size.
pub(super) fn findings(by_device: &FleetTable<'_>) -> Vec<FleetFinding> {
    let mut found = mixed_classes(by_device);
    for (_, columns) in by_device.classes() {
        found.extend(missing_times(by_device, &columns));
        match columns.as_slice() {
            [] | [_] => {}
            &[first, second] => found.extend(differing_pair(by_device, first, second)),
            _ => found.extend(unusual(by_device, &columns)),
        }
    }
    let size = |finding: &FleetFinding| finding.ratio.map_or(0.0, |ratio| -ratio.ln().abs());
    found.sort_by(|a, b| a.kind.cmp(&b.kind).then(size(a).total_cmp(&size(b))));
    found
}

/// Returns one line per device class without findings.
pub(super) fn no_outliers(by_device: &FleetTable<'_>, findings: &[FleetFinding]) -> Vec<String> {
    let side = by_device.side;
    let has_finding = |column: &usize| {
        let name = &by_device.columns[*column].name;
        let about = |finding: &FleetFinding| finding.side == side && finding.name == *name;
        findings.iter().any(|finding| finding.kind != FindingKind::MixedClasses && about(finding))
    };
    let classes = by_device.classes().into_iter();
    let quiet = classes
        .filter(|(_, columns)| by_device.shares_times(columns) && !columns.iter().any(has_finding))
        .map(|(class, columns)| match columns.len() {
            2 => format!("The 2 similar {} differ by at most 3 %: {class}.", noun(side, 2)),
            count => format!("No outlier among {count} similar {}: {class}.", noun(side, count)),
        });
    quiet.collect()
}

fn log_times(table: &FleetTable<'_>, column: usize) -> Vec<Option<LogTime>> {
    let time =
        |line: &FleetLine| line.timing(column).map(|timing| LogTime::of(timing.median_s, timing.ci95_s));
    table.lines.iter().map(time).collect()
}

/// Returns the findings about members among at least three similar columns.
fn unusual(table: &FleetTable<'_>, columns: &[usize]) -> Vec<FleetFinding> {
    let times: Vec<_> = columns.iter().map(|&column| log_times(table, column)).collect();
    let (side, others) = (table.side, columns.len() - 1);
    let of_member = |member: usize| {
        let (log, column) = (against_others(&times, member)?, columns[member]);
        let name = table.columns[column].name.clone();
        let like = format!("the median of {others} similar {}", noun(side, others));
        let text = format!("{name} {}", compared(log, &like));
        let next = differing(table, column, columns);
        let next = next.unwrap_or_else(|| "its report shows no difference from the others".into());
        Some(FleetFinding { kind: FindingKind::Member, side, name, ratio: Some(log.exp()), text, next })
    };
    find_outliers(&times).into_iter().filter_map(of_member).collect()
}

/// Returns the finding about two similar members that differ.
fn differing_pair(table: &FleetTable<'_>, first: usize, second: usize) -> Option<FleetFinding> {
    let log = pair(&log_times(table, first), &log_times(table, second))?;
    let (slow, fast) = if log > 0.0 { (first, second) } else { (second, first) };
    let (log, side) = (log.abs(), table.side);
    let [name, other] = [slow, fast].map(|column| table.columns[column].name.clone());
    let (what, noun) = (compared(log, &other), noun(side, 1));
    let text =
        format!("{name} {what}, the only similar {noun}: with two, gpubench cannot say which is unusual");
    let next = differing(table, slow, &[slow, fast]).unwrap_or_else(|| "measure a third similar one".into());
    let ratio = Some(log.exp());
    is_far(log, 0.0).then_some(FleetFinding { kind: FindingKind::Pair, side, name, ratio, text, next })
}

fn missing_times(table: &FleetTable<'_>, columns: &[usize]) -> Vec<FleetFinding> {
    let missing = |&column: &usize| {
        let lines = table.lines.iter().filter_map(|line| match &line.times[column] {
            Some(BestResult::Untimed(missing)) => Some((line, missing)),
            _ => None,
        });
        let lines = lines.filter(|(line, _)| columns.iter().any(|&other| line.timing(other).is_some()));
        let listed: Vec<String> = lines
            .map(|(line, missing)| {
                let reason = missing.reason.as_deref().map(|reason| format!(": {reason}"));
                format!("{} ({}{})", case(&line.key), missing.outcome.name(), reason.unwrap_or_default())
            })
            .collect();
        let (owner, side, cases) = (&table.columns[column], table.side, counted(listed.len(), "case"));
        let (name, nouns) = (owner.name.clone(), noun(side, 2));
        let is_complete = listed.is_empty();
        let text = format!("{name} has no time for {cases} that similar {nouns} measured: {}", named(listed));
        let next = format!("rows: gpubench show FLEET --member '{}' --all-variants", owner.members[0]);
        let kind = FindingKind::MissingTimes;
        (!is_complete).then_some(FleetFinding { kind, side, name, ratio: None, text, next })
    };
    columns.iter().filter_map(missing).collect()
}

/// Returns the facts of `gpubench compare` in which a column differs from most of the others among `columns`.
fn differing(table: &FleetTable<'_>, column: usize, columns: &[usize]) -> Option<String> {
    let runs = |column: usize| {
        let report = table.columns[column].reports[0];
        let rows = report.rows.iter().filter(|row| row.side == table.side).cloned().collect();
        let environment = report.environment.clone();
        let report = Report { schema_version: report.schema_version, environment, rows };
        Runs { runs: vec![Run { name: String::new(), report }], ..Runs::default() }
    };
    let own = runs(column);
    let others = columns.iter().filter(|other| **other != column);
    let found = others.flat_map(|other| differences(&runs(*other), &own, &BTreeMap::new()));
    let found = found.filter(|difference| difference.severity != Severity::Ignore);
    let by_value = grouped(found.map(|difference| ((difference.fact, difference.new), difference.old)));
    let most = by_value.into_iter().filter(|(_, others)| 2 * others.len() >= columns.len());
    let texts = most.map(|((fact, own), others)| format!("{fact} {own} instead of {}", others[0]));
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| format!("different from the others: {}", texts.join(", ")))
}

fn mixed_classes(table: &FleetTable<'_>) -> Vec<FleetFinding> {
    let by_model = grouped(table.classes().into_iter().map(|class| (&class.0.model, class)));
    let several = by_model.into_iter().filter(|(_, classes)| classes.len() > 1);
    let finding = |(model, classes): (&String, Vec<(&DeviceClass, Vec<usize>)>)| {
        let (_, rarest) = classes.iter().min_by_key(|(_, columns)| columns.len())?;
        let listed = classes.iter().map(|(class, columns)| {
            let names = columns.iter().map(|&column| table.columns[column].name.clone());
            let details = if class.details.is_empty() { "nothing recorded" } else { &class.details };
            format!("{} with {details} ({})", columns.len(), named(names.collect()))
        });
        let text = format!(
            "{model} {} have {} configurations, which gpubench does not compare: {}",
            noun(table.side, 2),
            classes.len(),
            listed.collect::<Vec<_>>().join(", ")
        );
        Some(FleetFinding {
            kind: FindingKind::MixedClasses,
            side: table.side,
            name: table.columns[rarest[0]].name.clone(),
            ratio: None,
            text,
            next: "to compare them, give all the same driver, clocks and CPUs".into(),
        })
    };
    several.filter_map(finding).collect()
}

/// `matmul N=1000 f32, cold cache`.
fn case(key: &LineKey) -> String {
    let variant = key.variant.as_ref().map(|variant| format!(" {variant}")).unwrap_or_default();
    let LineKey { case, cache, .. } = key;
    format!("{}{variant} {}, {cache} cache", case.op, case.without_op())
}

pub(super) fn noun(side: Side, count: usize) -> String {
    count::noun(count, if side == Side::Gpu { "device" } else { "host" })
}

fn named(mut all: Vec<String>) -> String {
    if all.len() > MAX_NAMED {
        let more = format!("{} more", all.len() - MAX_NAMED);
        all.splice(MAX_NAMED.., [more]);
    }
    all.join(", ")
}

/// Says how much slower or faster than `other` something is: `is 8 % slower than a GPU 0`.
fn compared(log: f64, other: &str) -> String {
    let by = 100.0 * (log.exp() - 1.0).abs();
    match log > 0.0 {
        _ if log >= 2f64.ln() => format!("takes {:.1} times as long as {other}", log.exp()),
        true => format!("is {by:.0} % slower than {other}"),
        false => format!("takes {by:.0} % less time than {other}"),
    }
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
    fn a_slow_gpu_or_host_is_reported_with_its_differences() {
        let gpu = eight(|report| {
            for (op, factor) in [("matmul", 1.12), ("fft", 1.08), ("svd", 1.05)] {
                scale(report, op, factor);
            }
            report.environment.backends[1].description["power_limit_w"] = 550.0.into();
        });
        let expected = "c GPU 0 is 10 % slower than the median of 7 similar devices; \
        different from the others: power-limit 550 W instead of 700 W";
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
