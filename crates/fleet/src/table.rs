//! Builds the table of a fleet: one line per case, one column per GPU or host, and the fastest column if it is clear.

use gpubench_model::Side;
use gpubench_model::report::Report;
use gpubench_text::grouped::grouped;
use serde::Serialize;

use super::best::{BestResult, Key, Timing, best, middle};
use super::facts::{Fact, of_gpu, of_host};
use super::identity::{Device, DeviceClass, device, gpu_class, host, host_class, host_name};
use super::outliers::MIN_DIFFERENCE;
use super::{Fleet, Member, names};

/// The times of one side of all members.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    pub side: Side,
    /// One entry per GPU, in the order of the members; or one per host, in the order in which they first occur.
    pub columns: Vec<Column>,
    /// One entry per case and cache state that any column has.
    pub lines: Vec<Line>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Column {
    pub name: String,
    /// Its device class: columns of the same class are compared.
    #[serde(serialize_with = "as_text")]
    pub kind: DeviceClass,
    /// Names of its members.
    pub members: Vec<String>,
    /// The physical GPU, if known; several columns may be runs of one GPU.
    #[serde(skip)]
    pub device: Option<Device>,
    /// Facts that may explain a difference from other columns.
    #[serde(skip)]
    pub(crate) facts: Vec<Fact>,
}

/// The times of a case and cache state.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    #[serde(flatten)]
    pub key: Key,
    /// One entry per column; `None` if the column does not have the case.
    pub times: Vec<Option<BestResult>>,
    /// The fastest column, if its 95 % interval lies below all others and it is faster by more than 3 %. Intervals do not
    /// include the variation between runs of one device.
    pub(crate) fastest: Option<usize>,
    /// The slowest time over the fastest among columns of one class; the largest such ratio of all classes.
    pub max_over_min: Option<f64>,
}

fn as_text<S: serde::Serializer>(kind: &DeviceClass, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(kind)
}

impl Table {
    /// Builds the table of a side; it has no columns if no member has rows on that side.
    pub fn of(fleet: &Fleet, side: Side) -> Table {
        match side {
            Side::Gpu => gpus(fleet),
            Side::Cpu => hosts(fleet),
        }
    }

    /// Returns the classes of its columns in the order in which they first occur, with the columns of each.
    pub fn kinds(&self) -> Vec<(&DeviceClass, Vec<usize>)> {
        grouped(self.columns.iter().enumerate().map(|(index, column)| (&column.kind, index)))
    }

    /// Returns whether any column has a time.
    pub(crate) fn has_times(&self) -> bool {
        self.lines.iter().any(|line| line.timed().next().is_some())
    }

    /// Returns whether at least two of these columns have a time for the same case.
    pub(crate) fn shares_times(&self, columns: &[usize]) -> bool {
        let timed = |line: &Line| columns.iter().filter(|&&column| line.timing(column).is_some()).count();
        self.lines.iter().any(|line| timed(line) >= 2)
    }

    /// Builds the table from its columns and their results.
    pub(super) fn assemble(side: Side, columns: Vec<Column>, found: Vec<Vec<(Key, BestResult)>>) -> Table {
        let mut lines: Vec<Line> = vec![];
        for (place, entries) in found.into_iter().enumerate() {
            for (key, best) in entries {
                let at = lines.iter().position(|line| line.key == key).unwrap_or_else(|| {
                    lines.push(Line {
                        key,
                        times: vec![None; columns.len()],
                        fastest: None,
                        max_over_min: None,
                    });
                    lines.len() - 1
                });
                lines[at].times[place] = Some(best);
            }
        }
        lines.sort_by(|a, b| a.key.order(&b.key));
        let mut table = Table { side, columns, lines };
        let groups: Vec<Vec<usize>> = table.kinds().into_iter().map(|(_, columns)| columns).collect();
        for line in &mut table.lines {
            line.fastest = line.clear_fastest();
            line.max_over_min = groups.iter().filter_map(|group| line.max_over_min(group)).reduce(f64::max);
        }
        table
    }
}

impl Line {
    pub fn timing(&self, column: usize) -> Option<&Timing> {
        self.times.get(column)?.as_ref()?.timing()
    }

    fn timed(&self) -> impl Iterator<Item = (usize, &Timing)> {
        (0..self.times.len()).filter_map(|column| Some((column, self.timing(column)?)))
    }

    /// Returns the fastest of at least two columns, if the difference is clear.
    fn clear_fastest(&self) -> Option<usize> {
        let (fastest, timing) = self.timed().min_by(|a, b| a.1.median_s.total_cmp(&b.1.median_s))?;
        let mut others = self.timed().filter(|(column, _)| *column != fastest).peekable();
        others.peek()?;
        let apart = |other: &Timing| {
            let is_relevant = other.median_s > timing.median_s * (1.0 + MIN_DIFFERENCE);
            other.has_interval && timing.ci95_s[1] < other.ci95_s[0] && is_relevant
        };
        (timing.has_interval && others.all(|(_, other)| apart(other))).then_some(fastest)
    }

    fn max_over_min(&self, group: &[usize]) -> Option<f64> {
        let times: Vec<f64> =
            group.iter().filter_map(|&column| Some(self.timing(column)?.median_s)).collect();
        let (low, high) =
            times.iter().fold((f64::INFINITY, 0.0), |(low, high), &t| (t.min(low), t.max(high)));
        (times.len() >= 2).then(|| high / low)
    }
}

fn gpus(fleet: &Fleet) -> Table {
    let (mut columns, mut found) = (vec![], vec![]);
    for Member { name, report } in &fleet.members {
        let entries = best(report, Side::Gpu);
        if let Some(kind) = gpu_class(report).filter(|_| !entries.is_empty()) {
            let members = vec![name.clone()];
            columns.push(Column {
                name: name.clone(),
                kind,
                members,
                device: device(report),
                facts: of_gpu(report),
            });
            found.push(entries);
        }
    }
    Table::assemble(Side::Gpu, columns, found)
}

/// Builds the table of hosts. Runs on several GPUs of a host each time its CPU, so a host has the median run of each case.
fn hosts(fleet: &Fleet) -> Table {
    let (mut columns, mut found) = (vec![], vec![]);
    for (_, group) in grouped(fleet.members.iter().map(|member| (host(&member.report), member))) {
        let reports: Vec<&Report> = group.iter().map(|member| &member.report).collect();
        let entries = shared(&reports);
        if !entries.is_empty() {
            columns.push(Column {
                name: host_name(reports[0]),
                kind: host_class(reports[0]),
                members: group.iter().map(|member| member.name.clone()).collect(),
                device: None,
                facts: of_host(&reports),
            });
            found.push(entries);
        }
    }
    // Different machines may have the same name, such as that of an image.
    let unique = names::numbered(columns.iter().map(|column| column.name.clone()).collect());
    columns.iter_mut().zip(unique).for_each(|(column, name)| column.name = name);
    Table::assemble(Side::Cpu, columns, found)
}

/// Combines the runs on one host: the median run of each case.
fn shared(reports: &[&Report]) -> Vec<(Key, BestResult)> {
    let found = grouped(reports.iter().flat_map(|report| best(report, Side::Cpu)));
    found.into_iter().filter_map(|(key, all)| Some((key, middle(all)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FLEET_VERSION;
    use crate::example::{alike, fleet, member};
    use gpubench_model::report::Outcome;
    use gpubench_model::report::example::without_time;

    #[test]
    fn a_line_per_case_and_a_column_per_gpu_and_host() {
        let fleet = alike(3);
        let gpus = Table::of(&fleet, Side::Gpu);
        let names: Vec<&str> = gpus.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["node1 GPU 0", "node2 GPU 0", "node3 GPU 0"]);
        let lines: Vec<(&str, u64)> =
            gpus.lines.iter().map(|line| (line.key.op.as_str(), line.key.n)).collect();
        assert_eq!(lines, [("matmul", 1000), ("matmul", 2000), ("fft", 1000), ("svd", 100)]);
        assert_eq!(gpus.lines[0].timing(2).unwrap().median_s, 60e-6);
        assert_eq!(gpus.kinds().len(), 1);
        let hosts = Table::of(&fleet, Side::Cpu);
        assert_eq!(hosts.columns[0].name, "node1");
        assert_eq!(hosts.lines[3].timing(1).unwrap().median_s, 30e-3);
    }

    #[test]
    fn the_fastest_is_marked_only_if_the_difference_is_clear() {
        let marked = |factor: f64| {
            let table = Table::of(&fleet(vec![member("a", 1.0), member("b", factor)]), Side::Gpu);
            (table.lines[0].fastest, table.lines[0].max_over_min)
        };
        assert_eq!(marked(1.01).0, None, "runs of one device differ by as much");
        assert_eq!(marked(1.04).0, Some(0));
        assert!((marked(0.98).1.unwrap() - 1.0 / 0.98).abs() < 1e-12);
        let mut wide = member("b", 1.04);
        for execute in wide.rows.iter_mut().filter_map(|row| row.execute.as_mut()) {
            execute.ci95_s[0] = 0.95 * execute.median_s;
        }
        assert_eq!(Table::of(&fleet(vec![member("a", 1.0), wide]), Side::Gpu).lines[0].fastest, None);
        let mut few = member("b", 2.0);
        for execute in few.rows.iter_mut().filter_map(|row| row.execute.as_mut()) {
            execute.samples_s.truncate(3);
        }
        assert_eq!(Table::of(&fleet(vec![member("a", 1.0), few]), Side::Gpu).lines[0].fastest, None);
        assert_eq!(Table::of(&fleet(vec![member("a", 1.0)]), Side::Gpu).lines[0].fastest, None);
    }

    #[test]
    fn a_host_with_several_gpus_has_one_column_with_its_middle_run() {
        let mut reports = vec![member("a", 1.0), member("a", 1.1), member("a", 1.2), member("b", 1.0)];
        for (index, report) in reports.iter_mut().enumerate() {
            report.environment.backends[1].description["device"] = index.into();
            report.rows[0].execute.as_mut().unwrap().scale(1.0 + index as f64);
        }
        let table = Table::of(&fleet(reports), Side::Cpu);
        let columns: Vec<(&str, usize)> =
            table.columns.iter().map(|column| (column.name.as_str(), column.members.len())).collect();
        assert_eq!(columns, [("a", 3), ("b", 1)]);
        let timing = table.lines[0].timing(0).unwrap();
        assert!((timing.median_s - 2.0 * 600e-6).abs() < 1e-9);
        assert!(
            timing.ci95_s[0] <= 600e-6 * 1.001 && timing.ci95_s[1] >= 1.8e-3 * 0.999,
            "{:?}",
            timing.ci95_s
        );
    }

    #[test]
    fn hosts_of_one_name_that_are_different_machines_have_columns_of_their_own() {
        let mut other = member("a", 1.0);
        other.environment.host.memory_bytes *= 2;
        let table = Table::of(&fleet(vec![member("a", 1.0), other]), Side::Cpu);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["a", "a (2)"]);
    }

    #[test]
    fn max_over_min_is_among_similar_columns_and_other_kinds_do_not_count() {
        let mut other = member("c", 50.0);
        other.environment.backends[1].description["name"] = "NVIDIA L4".into();
        let table = Table::of(&fleet(vec![member("a", 1.0), member("b", 1.1), other]), Side::Gpu);
        assert_eq!(table.kinds().len(), 2);
        assert!((table.lines[0].max_over_min.unwrap() - 1.1).abs() < 1e-12);
    }

    #[test]
    fn a_case_without_a_time_stays_with_its_outcome() {
        let mut broken = member("b", 1.0);
        broken.rows[1] = without_time("matmul", 1000, "cuda", "best", Outcome::Failed, "a crash", None);
        let table = Table::of(&fleet(vec![member("a", 1.0), broken]), Side::Gpu);
        assert!(
            matches!(&table.lines[0].times[1], Some(BestResult::Untimed(missing)) if missing.outcome == Outcome::Failed)
        );
        assert_eq!(table.lines[0].max_over_min, None);
    }

    #[test]
    fn a_fleet_without_gpus_has_no_columns_of_them() {
        let mut report = member("a", 1.0);
        report.rows.retain(|row| row.side == Side::Cpu);
        let fleet =
            Fleet { fleet_version: FLEET_VERSION, members: vec![Member { name: "a".into(), report }] };
        assert!(Table::of(&fleet, Side::Gpu).columns.is_empty());
    }
}
