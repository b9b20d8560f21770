//! Combines the runs of one device, so that each device is judged once.

use gpubench_model::Side;
use gpubench_text::count::counted;
use gpubench_text::grouped::grouped;

use super::best::middle;
use super::names;
use super::table::{Column, Table};

/// Groups the columns of a table by device, in the order in which the devices first occur.
pub(crate) fn devices(table: &Table) -> Vec<Vec<usize>> {
    let columns = table.columns.iter().enumerate().map(|(index, column)| {
        // A column without a known device is its own group. A driver update between two runs changes the class of the
        // device, so these runs are not combined.
        ((column.device.as_ref().ok_or(index), &column.kind), index)
    });
    grouped(columns).into_iter().map(|(_, runs)| runs).collect()
}

/// Returns the table with one column per device, with the median run of each case.
pub(crate) fn by_device(table: &Table) -> Table {
    let devices = devices(table);
    if devices.len() == table.columns.len() {
        return table.clone();
    }
    let columns: Vec<Column> = devices.iter().map(|runs| joined(table, runs)).collect();
    let unique = names::numbered(columns.iter().map(|column| column.name.clone()).collect());
    let columns = columns.into_iter().zip(unique).map(|(column, name)| Column { name, ..column }).collect();
    let found = devices.iter().map(|runs| {
        let times = table.lines.iter().filter_map(|line| {
            let all = runs.iter().filter_map(|&run| line.times[run].clone()).collect();
            Some((line.key.clone(), middle(all)?))
        });
        times.collect()
    });
    Table::assemble(table.side, columns, found.collect())
}

fn joined(table: &Table, runs: &[usize]) -> Column {
    let first = &table.columns[runs[0]];
    let members = runs.iter().flat_map(|&run| table.columns[run].members.clone()).collect();
    let name = first.device.as_ref().filter(|_| runs.len() > 1).map(|device| device.name.clone());
    Column { name: name.unwrap_or_else(|| first.name.clone()), members, ..first.clone() }
}

/// Returns a line saying that runs of one device or host are combined; `None` if each was measured once.
pub(crate) fn repeated_runs(table: &Table) -> Option<String> {
    if table.side == Side::Cpu {
        return repeated_hosts(table);
    }
    let devices = devices(table);
    let several: Vec<&Vec<usize>> = devices.iter().filter(|runs| runs.len() > 1).collect();
    let runs: usize = several.iter().map(|runs| runs.len()).sum();
    let devices = counted(several.len(), "device");
    (!several.is_empty()).then(|| {
        format!("{runs} runs of {devices}: gpubench judges each device once, by the median run of each case.")
    })
}

/// The same for hosts, whose runs the table combines already.
fn repeated_hosts(table: &Table) -> Option<String> {
    let several = table.columns.iter().filter(|column| column.members.len() > 1);
    let counts: Vec<usize> = several.map(|column| column.members.len()).collect();
    let of_two = if counts.contains(&2) { " (of two, the faster)" } else { "" };
    (!counts.is_empty()).then(|| {
        format!(
            "{} runs on {}: each host's column has the median run of each case{of_two}.",
            counts.iter().sum::<usize>(),
            counted(counts.len(), "host")
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::example::{fleet, member};
    use crate::export::{TABLE, View};
    use crate::{Fleet, Table, findings};
    use gpubench_model::Side;
    use gpubench_model::report::{Outcome, Report};

    /// A run on the GPU at `address` of `host`, in the minute given.
    fn run(host: &str, address: &str, minute: u32, factor: f64) -> Report {
        let mut report = member(host, factor);
        report.environment.started = format!("2026-11-21T10:{minute:02}:00Z");
        report.environment.backends[1].description["pci_bus_id"] = address.into();
        report
    }

    fn text(fleet: &Fleet) -> String {
        TABLE.text(fleet, &View::default()).unwrap()
    }

    #[test]
    fn two_runs_of_one_gpu_are_one_device_and_no_pair_of_like_ones() {
        let fleet = fleet(vec![run("a", "0000:41:00.0", 0, 1.0), run("a", "0000:41:00.0", 1, 1.5)]);
        let text = text(&fleet);
        assert!(text.starts_with("2 reports, 2 runs of 1 device, 1 host\n  1 x NVIDIA H200"), "{text}");
        assert!(text.contains("2 runs of 1 device: gpubench judges each device once"), "{text}");
        assert!(!text.contains("similar device") && !text.contains("Outliers and differences"), "{text}");
        assert_eq!(Table::of(&fleet, Side::Gpu).columns.len(), 2, "runs stay side by side");
    }

    #[test]
    fn runs_without_a_gpu_make_no_table_of_gpus_and_the_hosts_column_says_how_it_was_made() {
        let without_gpu = |minute| {
            let mut report = run("vm", "0000:41:00.0", minute, 1.0);
            report.environment.backends[1].available = false;
            report.environment.backends[1].description = serde_json::json!({});
            for row in report.rows.iter_mut().filter(|row| row.side == Side::Gpu) {
                (row.outcome, row.execute) = (Outcome::Skipped, None);
            }
            report
        };
        let text = text(&fleet(vec![without_gpu(0), without_gpu(1)]));
        assert!(text.starts_with("2 reports, 1 host\n"), "{text}");
        assert!(!text.contains("cuda") && !text.contains("similar"), "{text}");
        let line =
            "2 runs on 1 host: each host's column has the median run of each case (of two, the faster).";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn gpus_at_other_addresses_or_on_other_hosts_are_other_devices() {
        for other in [run("a", "0000:C1:00.0", 1, 1.5), run("b", "0000:41:00.0", 1, 1.5)] {
            let text = text(&fleet(vec![run("a", "0000:41:00.0", 0, 1.0), other]));
            assert!(
                text.contains("2 reports, 2 devices, ") && text.contains("the only similar device"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_recorded_uuid_tells_devices_apart_where_addresses_do_not() {
        let mut reports = [run("vm", "0000:00:06.0", 0, 1.0), run("vm", "0000:00:06.0", 1, 1.5)];
        for (report, uuid) in reports.iter_mut().zip(["GPU-1", "GPU-2"]) {
            report.environment.backends[1].description["uuid"] = uuid.into();
        }
        assert!(text(&fleet(reports.to_vec())).starts_with("2 reports, 2 devices, "));
    }

    #[test]
    fn one_bad_run_of_three_makes_no_outlier_of_a_device() {
        let mut reports: Vec<Report> =
            ["a", "b", "c", "d"].iter().map(|host| run(host, "0000:41:00.0", 0, 1.0)).collect();
        reports.extend([run("a", "0000:41:00.0", 1, 1.0), run("a", "0000:41:00.0", 2, 1.5)]);
        let found = findings(&Table::of(&fleet(reports.clone()), Side::Gpu));
        assert!(found.is_empty(), "{found:?}");
        reports.push(run("a", "0000:41:00.0", 3, 1.5));
        reports.push(run("a", "0000:41:00.0", 4, 1.5));
        let found = findings(&Table::of(&fleet(reports), Side::Gpu));
        assert!(
            found[0].text.starts_with("a GPU 41:00.0 is 50 % slower than the median of 3 similar"),
            "{found:?}"
        );
    }
}
