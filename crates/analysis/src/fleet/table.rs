//! Builds the tables of a fleet: one line per case, one column per GPU or host, and the fastest column if it is clear.

use gpubench_report::Side;
use gpubench_report::report::Report;
use gpubench_text::grouped::grouped;
use serde::Serialize;

use super::best::{BestResult, LineKey, Timing, best, middle};
use super::identity::{DeviceClass, device_key, device_name, gpu_class, host_class};
use super::outliers::MIN_DIFFERENCE;
use super::{Fleet, names};

/// The times of one side of all members.
#[derive(Clone, Debug, Serialize)]
pub struct FleetTable<'a> {
    /// The side whose times it has.
    pub side: Side,
    /// One entry per run or device, in the order in which they first occur among the members.
    pub columns: Vec<FleetColumn<'a>>,
    /// One entry per case and cache state that any column has.
    pub lines: Vec<FleetLine>,
}

/// A column: a member or device, with its time in each line.
#[derive(Clone, Debug, Serialize)]
pub struct FleetColumn<'a> {
    /// Name of the member or device.
    pub name: String,
    /// Only columns of the same class are compared.
    pub kind: DeviceClass,
    /// Names of the members whose times the column has.
    pub members: Vec<String>,
    /// Reports of these members.
    #[serde(skip)]
    pub reports: Vec<&'a Report>,
}

/// The times of a case and cache state.
#[derive(Clone, Debug, Serialize)]
pub struct FleetLine {
    /// The case.
    #[serde(flatten)]
    pub key: LineKey,
    /// One entry per column; `None` if the column does not have the case.
    pub times: Vec<Option<BestResult>>,
    /// The fastest column, if its 95 % interval lies below all others and it is faster by more than 3 %.
    pub fastest: Option<usize>,
    /// The slowest time over the fastest among columns of one class; the largest such ratio of all classes.
    pub max_over_min: Option<f64>,
}

type ColumnResults<'a> = (FleetColumn<'a>, Vec<(LineKey, BestResult)>);

/// Returns the table with a column per GPU run or host, and that with a column per device, which has the median runs.
pub fn tables(fleet: &Fleet, side: Side) -> [FleetTable<'_>; 2] {
    let runs = fleet.members.iter().filter_map(|member| {
        let report = &member.report;
        let kind = match side {
            Side::Cpu => host_class(report),
            Side::Gpu => gpu_class(report)?,
        };
        let members = vec![member.name.clone()];
        let column = FleetColumn { name: member.name.clone(), kind, members, reports: vec![report] };
        Some((column, best(report, side)))
    });
    let runs: Vec<ColumnResults<'_>> = runs.collect();
    let by_device = assemble(side, by_device(side, &runs));
    match side {
        // Runs on several GPUs of a host each time its CPU.
        Side::Cpu => [by_device.clone(), by_device],
        Side::Gpu => [assemble(side, runs), by_device],
    }
}

/// Combines the runs of each device, so that a device is judged once.
fn by_device<'a>(side: Side, runs: &[ColumnResults<'a>]) -> Vec<ColumnResults<'a>> {
    let keyed = runs.iter().enumerate().map(|(index, run)| {
        // A run of an unknown device stays alone. A driver update between two runs changes the class of the device, so
        // these runs are not combined.
        ((device_key(run.0.reports[0], side).ok_or(index), &run.0.kind), run)
    });
    let combined = grouped(keyed).into_iter().map(|((_, kind), runs)| {
        let (first, _) = runs[0];
        let is_run = side == Side::Gpu && runs.len() == 1;
        let column = FleetColumn {
            name: if is_run { first.name.clone() } else { device_name(first.reports[0], side) },
            kind: kind.clone(),
            members: runs.iter().flat_map(|(column, _)| column.members.clone()).collect(),
            reports: runs.iter().flat_map(|(column, _)| column.reports.clone()).collect(),
        };
        let results = grouped(runs.into_iter().flat_map(|(_, results)| results.clone()));
        (column, results.into_iter().filter_map(|(key, all)| Some((key, middle(all)?))).collect())
    });
    combined.collect()
}

fn assemble(side: Side, columns: Vec<ColumnResults<'_>>) -> FleetTable<'_> {
    let columns = columns.into_iter().filter(|(_, results)| !results.is_empty());
    let (mut columns, found): (Vec<FleetColumn<'_>>, Vec<_>) = columns.unzip();
    // Different machines may have the same name, such as that of an image.
    let unique = names::numbered(&columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>());
    columns.iter_mut().zip(unique).for_each(|(column, name)| column.name = name);
    let mut lines: Vec<FleetLine> = vec![];
    for (column, results) in found.into_iter().enumerate() {
        for (key, best) in results {
            let index = lines.iter().position(|line| line.key == key).unwrap_or_else(|| {
                let times = vec![None; columns.len()];
                lines.push(FleetLine { key, times, fastest: None, max_over_min: None });
                lines.len() - 1
            });
            lines[index].times[column] = Some(best);
        }
    }
    lines.sort_by(|a, b| a.key.order(&b.key));
    let mut table = FleetTable { side, columns, lines };
    let classes: Vec<Vec<usize>> = table.classes().into_iter().map(|(_, columns)| columns).collect();
    for line in &mut table.lines {
        line.fastest = line.clear_fastest();
        line.max_over_min = classes.iter().filter_map(|columns| line.max_over_min(columns)).reduce(f64::max);
    }
    table
}

impl FleetTable<'_> {
    /// Returns the classes of the columns in the order in which they first occur, with the columns of each.
    pub fn classes(&self) -> Vec<(&DeviceClass, Vec<usize>)> {
        grouped(self.columns.iter().enumerate().map(|(index, column)| (&column.kind, index)))
    }

    /// Returns whether any column has a time.
    pub fn has_times(&self) -> bool {
        self.lines.iter().any(|line| (0..line.times.len()).any(|column| line.timing(column).is_some()))
    }

    /// Returns whether at least two of these columns have a time for the same case.
    pub fn shares_times(&self, columns: &[usize]) -> bool {
        let timed =
            |line: &FleetLine| columns.iter().filter(|&&column| line.timing(column).is_some()).count();
        self.lines.iter().any(|line| timed(line) >= 2)
    }
}

impl FleetLine {
    /// Returns the time in a column, if there is one.
    pub fn timing(&self, column: usize) -> Option<&Timing> {
        self.times.get(column)?.as_ref()?.timing()
    }

    fn clear_fastest(&self) -> Option<usize> {
        let timed = || (0..self.times.len()).filter_map(|column| Some((column, self.timing(column)?)));
        let (fastest, timing) = timed().min_by(|a, b| a.1.median_s.total_cmp(&b.1.median_s))?;
        let is_clear = |other: &Timing| {
            let is_relevant = other.median_s > timing.median_s * (1.0 + MIN_DIFFERENCE);
            other.has_interval && timing.ci95_s[1] < other.ci95_s[0] && is_relevant
        };
        let all_clear = timed().all(|(column, other)| column == fastest || is_clear(other));
        (timing.has_interval && timed().count() >= 2 && all_clear).then_some(fastest)
    }

    fn max_over_min(&self, columns: &[usize]) -> Option<f64> {
        let times = || columns.iter().filter_map(|&column| Some(self.timing(column)?.median_s));
        let (max, min) = (times().reduce(f64::max)?, times().reduce(f64::min)?);
        (times().count() >= 2).then(|| max / min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::example::{fleet, member};
    use gpubench_report::report::Execute;

    /// Returns the table of the runs on a side.
    fn of(fleet: &Fleet, side: Side) -> FleetTable<'_> {
        let [runs, _] = tables(fleet, side);
        runs
    }

    fn names<'a>(table: &'a FleetTable<'_>) -> Vec<&'a str> {
        table.columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn the_fastest_is_marked_only_if_the_difference_is_clear() {
        let marked = |factor: f64, change: fn(&mut Execute)| {
            let mut second = member("b", factor);
            second.rows.iter_mut().filter_map(|row| row.execute.as_mut()).for_each(change);
            let fleet = fleet(vec![member("a", 1.0), second]);
            let line = of(&fleet, Side::Gpu).lines.swap_remove(0);
            (line.fastest, line.max_over_min.unwrap())
        };
        assert_eq!(marked(1.01, |_| ()).0, None, "runs of one device differ by as much");
        assert_eq!(marked(1.04, |_| ()).0, Some(0));
        assert!((marked(0.98, |_| ()).1 - 1.0 / 0.98).abs() < 1e-12);
        assert_eq!(marked(1.04, |execute| execute.ci95_s[0] = 0.95 * execute.median_s).0, None);
        assert_eq!(marked(2.0, |execute| execute.samples_s.truncate(3)).0, None);
        assert_eq!(of(&fleet(vec![member("a", 1.0)]), Side::Gpu).lines[0].fastest, None);
    }

    #[test]
    fn a_host_with_several_gpus_has_one_column_with_its_median_run() {
        let mut reports = vec![member("a", 1.0), member("a", 1.1), member("a", 1.2), member("b", 1.0)];
        for (index, report) in reports.iter_mut().enumerate() {
            report.environment.backends[1].description["device"] = index.into();
            report.rows[0].execute.as_mut().unwrap().scale(1.0 + index as f64);
        }
        let fleet = fleet(reports);
        let table = of(&fleet, Side::Cpu);
        let members: Vec<usize> = table.columns.iter().map(|column| column.members.len()).collect();
        assert_eq!((names(&table), members), (vec!["a", "b"], vec![3, 1]));
        let timing = table.lines[0].timing(0).unwrap();
        assert!((timing.median_s - 2.0 * 600e-6).abs() < 1e-9);
        let [low, high] = timing.ci95_s;
        assert!(low <= 600e-6 * 1.001 && high >= 1.8e-3 * 0.999, "{low} to {high}");
    }

    #[test]
    fn different_machines_of_one_name_have_columns_of_their_own() {
        let mut other = member("a", 1.0);
        other.environment.host.memory_bytes *= 2;
        assert_eq!(names(&of(&fleet(vec![member("a", 1.0), other]), Side::Cpu)), ["a", "a (2)"]);
    }

    #[test]
    fn max_over_min_compares_columns_of_one_class_only() {
        let mut other = member("c", 50.0);
        other.environment.backends[1].description["name"] = "NVIDIA L4".into();
        let fleet = fleet(vec![member("a", 1.0), member("b", 1.1), other]);
        let table = of(&fleet, Side::Gpu);
        assert_eq!(table.classes().len(), 2);
        assert!((table.lines[0].max_over_min.unwrap() - 1.1).abs() < 1e-12);
    }
}
